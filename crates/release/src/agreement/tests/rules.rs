//! Every rule is checked, and says where it is broken and what to do.

use super::*;

#[test]
fn every_rule_of_the_release_section_is_checked() {
    for (from, to, rule, parts) in [
        (
            "id = \"loans-2026q4\"\n",
            "",
            Rule::MissingKey,
            &["a.toml:5:1: `id` is missing in [release]", "loans-2026q4"][..],
        ),
        (
            "\"loans-2026q4\"",
            "\"../etc\"",
            Rule::BadText,
            &["a.toml:6:6", "it names files", "lower-case"],
        ),
        ("\"loans-2026q4\"", "\"Loans\"", Rule::BadText, &["lower-case letters"]),
        ("\"loans-2026q4\"", "\"-\"", Rule::BadText, &["lower-case letters"]),
        ("\"loans-2026q4\"", "\"\"", Rule::BadText, &["lower-case letters"]),
        ("\"loans-2026q4\"", "7", Rule::WrongType, &["is an integer", "text in quotes"]),
        ("epsilon = \"1.0\"", "", Rule::MissingKey, &["add epsilon = \"1.0\""]),
        ("\"1.0\"", "\"0\"", Rule::OutOfRange, &["more than 0 and at most 100"]),
        ("\"1.0\"", "\"0.00\"", Rule::OutOfRange, &["more than 0"]),
        ("\"1.0\"", "\"-1\"", Rule::OutOfRange, &["more than 0"]),
        ("\"1.0\"", "\"100.1\"", Rule::OutOfRange, &["at most 100"]),
        (
            "\"1.0\"",
            "\"1e0\"",
            Rule::OutOfRange,
            &["`1e0` is not a decimal number", "without exponent"],
        ),
        ("\"1.0\"", "\"1.\"", Rule::OutOfRange, &["not a decimal number"]),
        ("\"1.0\"", "\"0.0000000001\"", Rule::OutOfRange, &["too many digits"]),
        ("\"1.0\"", "1", Rule::WrongType, &["write it in quotes: \"1\""]),
        ("\"1.0\"", "true", Rule::WrongType, &["a truth value", "decimal number in quotes"]),
        ("specializations = 10", "specializations = \"aut\"", Rule::UnknownWord, &["\"auto\""]),
        (
            "specializations = 10",
            "specializations = 10\nexpected_records = 5",
            Rule::DoesNotApply,
            &["the number of specializations is given", "\"auto\""],
        ),
        (
            "specializations = 10",
            "expected_records = 0",
            Rule::OutOfRange,
            &["`expected_records` in [release] is 0"],
        ),
        ("specializations = 10", "specializations = 0", Rule::OutOfRange, &["from 1 to 1024"]),
        ("specializations = 10", "specializations = 1025", Rule::OutOfRange, &["from 1 to 1024"]),
        (
            "specializations = 10",
            "specializations = 86",
            Rule::OutOfRange,
            &["allow only 85", "use at most 85"],
        ),
        (
            "specializations = 10",
            "specializations = 99999999999999999999",
            Rule::OutOfRange,
            &["too large"],
        ),
        (
            "specializations = 10",
            "specializations = \"10\"",
            Rule::WrongType,
            &["a whole number without quotes"],
        ),
        ("max_records = 100000", "max_records = 0", Rule::OutOfRange, &["from 1 to 100000000"]),
        (
            "utility = \"max\"",
            "utility = \"mx\"",
            Rule::UnknownWord,
            &["did you mean \"max\"?", "\"leaf-max\""],
        ),
        ("utility = \"max\"", "utility = \"entropy\"", Rule::UnknownWord, &["use one of: \"max\""]),
        (
            "selection = \"exponential\"",
            "selection = \"best\"",
            Rule::UnknownWord,
            &["permute-and-flip"],
        ),
        ("noise = \"two-party\"", "noise = \"none\"", Rule::UnknownWord, &["\"joint\""]),
        (
            "noise = \"two-party\"",
            "noise = \"single\"",
            Rule::DoesNotApply,
            &["use \"two-party\" or \"joint\""],
        ),
        (
            "structure_share = \"0.5\"",
            "structure_share = \"1\"",
            Rule::OutOfRange,
            &["a part of 1"],
        ),
        (
            "structure_share = \"0.5\"",
            "structure_share = \"0\"",
            Rule::OutOfRange,
            &["a part of 1"],
        ),
        ("structure_share = \"0.5\"", "structure_share = 0.5", Rule::WrongType, &["\"0.5\""]),
        (
            "profile = \"default\"",
            "profile = \"papers\"",
            Rule::UnknownWord,
            &["did you mean \"paper\"?"],
        ),
        (
            "profile = \"default\"",
            "overlap_check = true",
            Rule::DoesNotApply,
            &["horizontal", "remove"],
        ),
    ] {
        assert_refused(&with(LOANS, from, to), rule, parts);
    }
}

#[test]
fn a_wrong_partition_is_the_only_thing_reported() {
    let text = with(LOANS, "\"vertical\"", "\"diagonal\"");
    assert_refused(&text, Rule::UnknownWord, &["a.toml:7:13", "\"horizontal\""]);
    let text = with(LOANS, "partition = \"vertical\"", "");
    assert_refused(&text, Rule::MissingKey, &["same people, different columns"]);
}

#[test]
fn the_paper_profile_fixes_its_four_choices() {
    let paper = with(LOANS, "profile = \"default\"", "profile = \"paper\"");
    let paper = with(&paper, CRYPTO, "");
    assert_eq!(terms(&parse(&paper).unwrap()).profile, Profile::Paper);
    for (from, to) in [
        ("utility = \"max\"", "utility = \"leaf-max\""),
        ("selection = \"exponential\"", "selection = \"permute-and-flip\""),
        ("noise = \"two-party\"", "noise = \"joint\""),
        ("structure_share = \"0.5\"", "structure_share = \"0.7\""),
    ] {
        let key = from.split(' ').next().unwrap();
        let remedy = format!("remove `{key}`, or use profile = \"default\"");
        assert_refused(
            &with(&paper, from, to),
            Rule::DoesNotApply,
            &["profile = \"paper\" fixes it", &remedy],
        );
    }
}

#[test]
fn every_rule_of_the_parties_is_checked() {
    let b1 = format!("sha256:{}", "b1".repeat(32));
    let c1 = format!("sha256:{}", "1c".repeat(32));
    for (from, to, rule, parts) in [
        ("name = \"Bank\"\n", "", Rule::MissingKey, &["`name` is missing in [parties.p1]"][..]),
        ("\"Bank\"", "\"Loan company\"", Rule::Duplicate, &["different names"]),
        ("\"Bank\"", "\" Bank\"", Rule::BadText, &["white space"]),
        ("\"Bank\"", "\"Ba\\u202enk\"", Rule::BadText, &["invisible character", "\\u{202e}"]),
        (&b1, &c1, Rule::Duplicate, &["same fingerprint", "diptych keygen"]),
        (&b1, "sha256:b1", Rule::BadText, &["64 hexadecimal digits", "diptych keygen"]),
        (&b1, &b1[7..], Rule::BadText, &["sha256:"]),
        (&b1, &b1.replace('b', "g"), Rule::BadText, &["64 hexadecimal digits"]),
        (CRYPTO, "[crypto]\npaillier_bits = 2560\n", Rule::OutOfRange, &["2048"]),
        (CRYPTO, "[crypto]\npaillier_bits = 1024\n", Rule::OutOfRange, &["2048"]),
        (CRYPTO, "[crypto]\nbits = 3072\n", Rule::UnknownKey, &["paillier_bits"]),
        (
            "\"transfers\"",
            "\"transfer\"",
            Rule::UnknownWord,
            &["`count_table` in [crypto]", "paillier"],
        ),
    ] {
        assert_refused(&with(LOANS, from, to), rule, parts);
    }
    assert_eq!(parse(&with(LOANS, &b1, &b1.replace('b', "B"))).unwrap(), loans());
}

#[test]
fn how_people_are_counted_goes_with_partition_and_profile() {
    let paper = with(LOANS, "profile = \"default\"", "profile = \"paper\"");
    assert_refused(&paper, Rule::DoesNotApply, &["`count_table` in [crypto]", "\"paillier\""]);
    let counted = with(&horizontal(), "[crypto]\n", CRYPTO);
    let parts = &["`count_table` in [crypto]", "vertical", "remove `count_table`"];
    assert_refused(&counted, Rule::DoesNotApply, parts);
}

#[test]
fn every_rule_of_identifier_and_class_is_checked() {
    let rules = "normalize = [\"trim\", \"uppercase\"]";
    for (from, to, rule, parts) in [
        (
            "[id]\ncolumn = \"id\"\nnormalize = [\"trim\", \"uppercase\"]\n",
            "",
            Rule::MissingKey,
            &["add a section [id]"][..],
        ),
        ("column = \"id\"", "", Rule::MissingKey, &["`column` is missing in [id]"]),
        (rules, "", Rule::MissingKey, &["'a1 ' and 'A1'", "[] compares exactly"]),
        (rules, "normalize = \"trim\"", Rule::WrongType, &["a list"]),
        (rules, "normalize = [\"upper\"]", Rule::UnknownWord, &["uppercase"]),
        (rules, "normalize = [\"trim\", \"trim\"]", Rule::Duplicate, &["twice"]),
        (rules, "normalize = [\"uppercase\", \"lowercase\"]", Rule::DoesNotApply, &["keep one"]),
        ("column = \"approved\"", "", Rule::MissingKey, &["`column` is missing in [class]"]),
        ("values = [\"Y\", \"N\"]", "", Rule::MissingKey, &["add values"]),
        ("values = [\"Y\", \"N\"]", "values = [\"Y\"]", Rule::OutOfRange, &["from 2 to 256"]),
        ("values = [\"Y\", \"N\"]", "values = [\"Y\", \"Y\"]", Rule::Duplicate, &["`Y` twice"]),
        ("values = [\"Y\", \"N\"]", "values = [\"Y\", 1]", Rule::WrongType, &["text in quotes"]),
        ("values = [\"Y\", \"N\"]", "values = \"YN\"", Rule::WrongType, &["a list"]),
        (
            "column = \"approved\"",
            "column = \"id\"",
            Rule::Duplicate,
            &["`id` names [class] and [id]"],
        ),
        ("column = \"approved\"", "column = \"job\"", Rule::Duplicate, &["rename"]),
        ("column = \"approved\"", "column = \"count\"", Rule::Duplicate, &["column of counts"]),
    ] {
        assert_refused(&with(LOANS, from, to), rule, parts);
    }
    let also = |line: &str| with(LOANS, rules, &format!("{rules}\n{line}"));
    for (line, rule, parts) in [
        ("min_common = -1", Rule::OutOfRange, &["`min_common` in [id] is -1", "from 0 to"][..]),
        ("min_common = \"5\"", Rule::WrongType, &["a whole number without quotes"]),
        (
            "min_common = 100001",
            Rule::OutOfRange,
            &["no party has more than 100000 records", "raise `max_records`"],
        ),
        ("rehearse = \"lables\"", Rule::UnknownWord, &["did you mean \"labels\"?"]),
        ("rehearse = 1", Rule::WrongType, &["true, false, \"labels\" or \"noisy\""]),
        ("rehearse_epsilon = \"0.1\"", Rule::DoesNotApply, &["add rehearse = \"noisy\""]),
        (
            "rehearse = \"labels\"\nrehearse_epsilon = \"0.1\"",
            Rule::DoesNotApply,
            &["remove `rehearse_epsilon`"],
        ),
        (
            "rehearse = \"noisy\"\nrehearse_epsilon = 0.1",
            Rule::WrongType,
            &["without quotes", "\"0.1\""],
        ),
        (
            "rehearse = \"noisy\"\nrehearse_epsilon = \"0\"",
            Rule::OutOfRange,
            &["at least 0.000001"],
        ),
        (
            "rehearse = \"noisy\"\nrehearse_epsilon = \"0.0000009\"",
            Rule::OutOfRange,
            &["`rehearse_epsilon` in [id] is 0.0000009"],
        ),
        (
            "rehearse = \"noisy\"\nrehearse_epsilon = \"13.1\"",
            Rule::OutOfRange,
            &["at most 13; 0.05 is usual"],
        ),
        ("rehearse = \"noisy\"\nrehearse_epsilon = \"-1\"", Rule::OutOfRange, &["is -1"]),
        ("matching = \"opr\"", Rule::UnknownWord, &["did you mean \"oprf\"?"]),
    ] {
        assert_refused(&also(line), rule, parts);
    }
    assert!(parse(&also("min_common = 100000")).is_ok());
    for usual in ["min_common = 1", "rehearse = false", "matching = \"oprf\""] {
        assert_eq!(parse(&also(usual)).unwrap().hash(), loans().hash(), "{usual}");
    }
    let noisy = |more: &str| parse(&also(&format!("rehearse = \"noisy\"\n{more}"))).unwrap();
    for same in ["", "rehearse_epsilon = \"0.05\"", "rehearse_epsilon = \"0.050\""] {
        assert_eq!(noisy(same).hash(), noisy("").hash(), "{same}");
    }
    assert_eq!(noisy("").rehearse_epsilon(), "0.05".parse().ok());
    let least = noisy("rehearse_epsilon = \"0.000001\"");
    assert_eq!(least.rehearse_epsilon(), "0.000001".parse().ok());
    assert!(least.hash() != noisy("").hash() && loans().rehearse_epsilon().is_none());
    assert_eq!(Agreement::from_canonical(least.canonical().as_bytes()).unwrap(), least);
    let reordered = with(LOANS, rules, "normalize = [\"uppercase\", \"trim\"]");
    assert_eq!(parse(&reordered).unwrap().hash(), loans().hash());
}

#[test]
fn every_rule_of_an_attribute_is_checked() {
    let sex = "taxonomy = { Any_Sex = [\"Male\", \"Female\"] }";
    for (from, to, rule, parts) in [
        (
            "name = \"job\"\n",
            "",
            Rule::MissingKey,
            &["`name` is missing in [[attribute]] number 1"][..],
        ),
        ("name = \"job\"", "name = \"sex\"", Rule::Duplicate, &["`sex`"]),
        (
            "owner = \"p1\"\n",
            "",
            Rule::MissingKey,
            &["attribute `job`", "owner = \"p1\" or \"p2\""],
        ),
        ("owner = \"p1\"", "owner = \"p3\"", Rule::UnknownWord, &["\"p1\""]),
        (
            "owner = \"p1\"",
            "owner = \"p2\"",
            Rule::MissingKey,
            &["no attribute has owner = \"p1\""],
        ),
        ("kind = \"categorical\"\n", "", Rule::MissingKey, &["add kind"]),
        ("kind = \"categorical\"", "kind = \"text\"", Rule::UnknownWord, &["\"numeric\""]),
        ("kind = \"categorical\"", "kind = \"set\"", Rule::DoesNotApply, &["only a local release"]),
        ("taxonomy_file = \"job.csv\"", "", Rule::MissingKey, &["taxonomy_file = \"job.csv\""]),
        ("\"job.csv\"", "\"job.txt\"", Rule::TaxonomyFile, &[".toml, .json or .csv"]),
        (
            "\"job.csv\"",
            "\"jobs.csv\"",
            Rule::TaxonomyFile,
            &["no such file", "directory of the agreement"],
        ),
        ("\"job.csv\"", "\"/etc/job.csv\"", Rule::TaxonomyFile, &["relative path"]),
        ("\"job.csv\"", "\"../job.csv\"", Rule::TaxonomyFile, &["relative path"]),
        ("\"job.csv\"", "\"a/../../job.csv\"", Rule::TaxonomyFile, &["relative path"]),
        ("\"job.csv\"", "\"\"", Rule::TaxonomyFile, &["relative path"]),
        ("\"job.csv\"", "\"job.csv\"\ntaxonomy = { A = [] }", Rule::DoesNotApply, &["remove one"]),
        ("\"job.csv\"", "\"job.csv\"\nmin = 1", Rule::DoesNotApply, &["only a numeric attribute"]),
        (sex, "taxonomy = {}", Rule::Taxonomy, &["is empty"]),
        (sex, "taxonomy = [\"a\"]", Rule::Taxonomy, &["cannot be a list", "write a table"]),
        (sex, "taxonomy = { A = \"b\" }", Rule::Taxonomy, &["cannot be text"]),
        (sex, "taxonomy = { A = [1] }", Rule::Taxonomy, &["cannot be an integer"]),
        (sex, "taxonomy = { A = [], B = [] }", Rule::Taxonomy, &["second root"]),
        (sex, "taxonomy = { A = [\"b\", \"b\"] }", Rule::Taxonomy, &["a.toml:44:24", "twice"]),
        (sex, "taxonomy = { A = [\"A\"] }", Rule::Taxonomy, &["twice"]),
        (sex, "taxonomy = { A = [\"\"] }", Rule::Taxonomy, &["empty"]),
        (
            sex,
            "taxonomy = { A = [\"b\"] }\non_bad_value = \"c\"",
            Rule::UnknownWord,
            &["not a leaf"],
        ),
        (
            sex,
            "taxonomy = { A = [\"b\"] }\non_bad_value = \"A\"",
            Rule::UnknownWord,
            &["not a leaf"],
        ),
        (
            sex,
            "taxonomy = { A = [\"bad\"] }\non_bad_value = \"bda\"",
            Rule::UnknownWord,
            &["not a leaf"],
        ),
        (
            sex,
            "taxonomy = { A = [\"b\"] }\non_bad_value = \"droop\"",
            Rule::UnknownWord,
            &["did you mean \"drop\"?"],
        ),
        (sex, "taxonomy = { A = [\"b\"] }\non_bad_value = 1", Rule::WrongType, &["\"refuse\""]),
        ("min = 18", "", Rule::MissingKey, &["do not look it up in the data"]),
        ("max = 99", "", Rule::MissingKey, &["the largest value"]),
        ("step = 1", "", Rule::MissingKey, &["add step = 1"]),
        ("step = 1", "step = 0", Rule::OutOfRange, &["not positive"]),
        ("step = 1", "step = 0.5", Rule::WrongType, &["write it in quotes: \"0.5\""]),
        ("step = 1", "step = 4", Rule::OutOfRange, &["use max 98 or 102"]),
        ("max = 99", "max = 17", Rule::OutOfRange, &["swap"]),
        ("max = 99", "max = \"9 9\"", Rule::OutOfRange, &["not a decimal"]),
        ("max = 99", "max = 2000000000", Rule::OutOfRange, &["larger step"]),
        (
            "step = 1",
            "step = 1\ntaxonomy = { A = [] }",
            Rule::DoesNotApply,
            &["`min`, `max` and `step`"],
        ),
        ("step = 1", "step = 1\non_bad_value = 17", Rule::UnknownWord, &["from 18 to 99"]),
    ] {
        assert_refused(&with(LOANS, from, to), rule, parts);
    }
    let single_brackets = LOANS.replacen("[[attribute]]", "[attribute]", 1);
    assert_refused(&single_brackets, Rule::Syntax, &["this is not TOML"]);
    let no_attribute = &LOANS[..LOANS.find("[[attribute]]").unwrap()];
    assert_refused(no_attribute, Rule::MissingKey, &["[[attribute]]"]);
    assert_refused(
        &format!("{no_attribute}[attribute]\nname=\"a\""),
        Rule::WrongType,
        &["two brackets"],
    );
}

#[test]
fn values_that_do_not_fit_may_be_dropped_or_mapped() {
    use crate::table::OnBadValue;
    let text = with(LOANS, "\"job.csv\"", "\"job.csv\"\non_bad_value = \"Writer\"");
    let text = with(&text, "step = 1", "step = 1\non_bad_value = \"18.0\"");
    let text = with(&text, "name = \"sex\"", "name = \"sex\"\non_bad_value = \"drop\"");
    let attributes = parse(&text).unwrap().schema.attributes.clone();
    assert!(matches!(attributes[0].on_bad_value, OnBadValue::MapToLeaf(_)));
    assert_eq!(attributes[1].on_bad_value, OnBadValue::Drop);
    assert_eq!(attributes[2].on_bad_value, OnBadValue::MapToNumber(18.into()));
}

#[test]
fn what_a_horizontal_release_cannot_have_is_refused() {
    let text = horizontal();
    for (from, to, rule, parts) in [
        (
            "utility = \"max\"",
            "utility = \"info-gain\"",
            Rule::DoesNotApply,
            &["use \"leaf-max\""][..],
        ),
        (
            "name = \"job\"",
            "name = \"job\"\nowner = \"p1\"",
            Rule::DoesNotApply,
            &["both hold every column"],
        ),
        (
            "[class]",
            "[id]\ncolumn = \"id\"\nnormalize = []\n[class]",
            Rule::DoesNotApply,
            &["`overlap_check` is off"],
        ),
        ("max_records", "overlap_check = true\nmax_records", Rule::MissingKey, &["[id]"]),
        (
            "max_records",
            "overlap_check = \"yes\"\nmax_records",
            Rule::WrongType,
            &["true or false"],
        ),
        ("max = 99", "max = 1042", Rule::OutOfRange, &["1025 points", "larger step"]),
        ("kind = \"categorical\"", "kind = \"set\"", Rule::DoesNotApply, &["local"]),
    ] {
        assert_refused(&with(&text, from, to), rule, parts);
    }
    assert!(parse(&with(&text, "max = 99", "max = 1041")).is_ok());
    let checked = with(&text, "max_records", "overlap_check = true\nmax_records");
    let checked = with(&checked, "[class]", "[id]\ncolumn = \"id\"\nnormalize = []\n[class]");
    let words = parse(&checked).unwrap().plain_words();
    assert!(words.contains("EXCEPT: the overlap check is on"), "{words}");
    for key in ["min_common = 2", "rehearse = true", "matching = \"oprf\""] {
        let matched = with(&checked, "normalize = []", &format!("normalize = []\n{key}"));
        assert_refused(&matched, Rule::DoesNotApply, &["hold different people", "remove"]);
    }
    // Sizes are known then, so what is signed says 2ε, to the peer and to a watcher.
    let words = flowing(&words);
    let peer = "the promise towards the other party is that for a record replaced by another, and \
                its factor that of 2ε: at most 7.39.";
    let watcher = "the lengths of messages tell how many records each party has. For a watcher who \
                   also has the release, only the promise for a record replaced by another holds";
    for part in [peer, watcher, "A person who is in both tables has twice the loss"] {
        assert!(words.contains(part), "{part} is not in:\n{words}");
    }
    assert!(!words.contains("do not learn how many records"), "{words}");
    let words = flowing(&parse(&text).unwrap().plain_words());
    assert!(words.contains("overlap check is off"), "{words}");
    assert!(words.contains("do not learn how many records the other has"), "{words}");
    assert!(!words.contains("replaced by another") && !words.contains("lengths of"), "{words}");
    // Where each adds its own noise, each hears the other's part of what decides.
    let automatic = with(&text, "specializations = 10\n", "");
    for (noise, part) in [
        ("two-party", "how many records the other has, with the other's noise on it"),
        ("joint", "how many records both have together, with noise on it"),
    ] {
        let agreed = with(&automatic, "noise = \"two-party\"", &format!("noise = \"{noise}\""));
        let words = flowing(&parse(&agreed).unwrap().plain_words());
        assert!(words.contains(part), "{part} is not in:\n{words}");
        assert!(words.contains("is left out while there are others (`auto`)"), "{words}");
    }
}

#[test]
fn what_a_local_release_cannot_have_is_refused() {
    let text = local();
    for (from, to, parts) in [
        (
            "[class]",
            "[parties.p1]\nname = \"a\"\n[class]",
            &["one party only", "remove [parties]"][..],
        ),
        ("[class]", "[crypto]\npaillier_bits = 3072\n[class]", &["one party only"]),
        ("[class]", "[id]\ncolumn = \"id\"\nnormalize = []\n[class]", &["remove [id]"]),
        ("name = \"job\"", "name = \"job\"\nowner = \"p1\"", &["one party holds every column"]),
        ("utility", "noise = \"joint\"\nutility", &["only one noise"]),
        ("utility", "overlap_check = false\nutility", &["overlap_check"]),
    ] {
        assert_refused(&with(&text, from, to), Rule::DoesNotApply, parts);
    }
    assert!(parse(&with(&text, "kind = \"categorical\"", "kind = \"set\"")).is_ok());
    let barred = "kind = \"set\"\ntaxonomy = { A = [\"a|b\"] }";
    let text = with(&text, "kind = \"categorical\"\ntaxonomy_file = \"job.csv\"", barred);
    assert_refused(&text, Rule::Taxonomy, &["separates the values of a set"]);
}

/// The loans with the class at one party, and nothing that this rules out.
fn one_class(owner: &str) -> String {
    let text = with(LOANS, "column = \"approved\"", "column = \"approved\"\nowner = \"OWNER\"");
    let text = with(&text, "selection = \"exponential\"", "selection = \"permute-and-flip\"");
    with(&text, "OWNER", owner)
}

#[test]
fn what_a_class_at_one_party_rules_out_is_refused_with_what_to_write() {
    for owner in ["p1", "p2"] {
        let text = one_class(owner);
        assert!(parse(&text).is_ok(), "{owner}");
        assert!(parse(&with(&text, "utility = \"max\"", "utility = \"leaf-max\"")).is_ok());
        for (from, to, parts) in [
            (
                "utility = \"max\"",
                "utility = \"info-gain\"",
                &["cannot be \"info-gain\"", "use \"leaf-max\" or \"max\", or owner = \"both\""][..],
            ),
            ("\"permute-and-flip\"", "\"exponential\"", &["use \"permute-and-flip\""]),
            (
                "count_table = \"transfers\"",
                "count_table = \"paillier\"",
                &["counted by transfers", "remove `count_table`"],
            ),
            (
                "\"uppercase\"]\n",
                "\"uppercase\"]\nrehearse = \"labels\"\n",
                &["nothing to compare it with", "use rehearse = \"noisy\", or true"],
            ),
        ] {
            assert_refused(&with(&text, from, to), Rule::DoesNotApply, parts);
        }
        let rehearsed = with(&text, "\"uppercase\"]\n", "\"uppercase\"]\nrehearse = true\n");
        assert!(parse(&rehearsed).is_ok());
    }
    let mut paper = with(&one_class("p1"), "profile = \"default\"", "profile = \"paper\"");
    for line in ["selection = \"permute-and-flip\"", CRYPTO] {
        paper = with(&paper, line, "");
    }
    let parts = &["in the papers both have it", "owner = \"both\" in [class]"];
    assert_refused(&paper, Rule::DoesNotApply, parts);
    assert_refused(&one_class("p3"), Rule::UnknownWord, &["`owner` in [class]", "\"both\""]);
    for other in [horizontal(), local()] {
        let owned = with(&other, "column = \"approved\"", "column = \"approved\"\nowner = \"p1\"");
        let parts = &["`owner` in [class] does not apply", "every column", "remove `owner`"];
        assert_refused(&owned, Rule::DoesNotApply, parts);
    }
}

#[test]
fn records_lie_in_shards_where_what_they_count_tells_the_other_party_nothing() {
    let scale = "\n[scale]\nshards = 4\n";
    for (text, part) in [
        (LOANS.to_owned(), "People are dealt into 4 shards by a hash"),
        (horizontal(), "keep its records in 4 shards of its own and add up what they count"),
        (with(&horizontal(), "\"default\"", "\"paper\""), "The other party sees nothing of it."),
    ] {
        let agreement = parse(&(text + scale)).unwrap();
        assert_eq!(agreement.shards, Some(4));
        let words = flowing(&agreement.plain_words());
        assert!(words.contains(part), "{words}");
    }
    let checked = with(&horizontal(), "max_records", "overlap_check = true\nmax_records");
    let checked = with(&checked, "[class]", "[id]\ncolumn = \"id\"\nnormalize = []\n[class]");
    assert!(parse(&checked).is_ok());
    let grouped = "[lkc]\nacknowledge = \"not differentially private\"\nk = 5\n";
    let terms = horizontal().find("epsilon").unwrap()..horizontal().find("max_records").unwrap();
    let groups = with(&horizontal(), &horizontal()[terms], "model = \"lkc\"\n");
    let groups = with(&groups, "[crypto]\npaillier_bits = 3072\n", grouped);
    for (text, parts) in [
        (checked, &["in every shard", "remove `shards`, or `overlap_check` and [id]"][..]),
        (groups, &["model = \"diffgen\" alone", "remove `shards`"]),
        (local(), &["[scale] does not apply", "two parties", "remove [scale]"]),
    ] {
        assert_refused(&(text + scale), Rule::DoesNotApply, parts);
    }
}

#[test]
fn numbers_of_the_party_without_the_class_have_few_points_and_the_refusal_names_a_step() {
    // P2 has the salary.
    let fine = |owner: &str| with(&one_class(owner), "max = 99", "max = 2066");
    assert!(parse(&fine("p2")).is_ok());
    let parts = &[
        "attribute `salary` has 2049 points from min to max; a party without the class allows 1024",
        "use a larger step, such as 3",
    ];
    assert_refused(&fine("p1"), Rule::OutOfRange, parts);
    assert!(parse(&with(&fine("p1"), "step = 1", "step = 3")).is_ok());
    assert!(parse(&with(&one_class("p1"), "max = 99", "max = 1041")).is_ok(), "1024 points");
}

#[test]
fn groups_of_two_parties_need_the_class_at_both_and_the_refusal_says_why() {
    let mut text = one_class("p2");
    let start = text.find("epsilon").unwrap();
    let end = text.find("max_records").unwrap();
    text.replace_range(start..end, "model = \"lkc\"\n");
    let text = with(&text, CRYPTO, "");
    let text = format!("{text}\n[lkc]\nacknowledge = \"not differentially private\"\nk = 5\n");
    let parts = &[
        "`owner` in [class] cannot be \"p2\" with model = \"lkc\"",
        "both must have it",
        "owner = \"both\" in [class]",
    ];
    assert_refused(&text, Rule::DoesNotApply, parts);
}
