//! Every rule of an agreement broken once, and properties of what is accepted.

mod properties;

use super::*;

const LOANS: &str = include_str!("../../examples/loans/agreement.toml");
const JOB_CSV: &str = include_str!("../../examples/loans/job.csv");

fn files(name: &str) -> Result<Vec<u8>, String> {
    match name {
        "job.csv" => Ok(JOB_CSV.as_bytes().to_vec()),
        _ => Err("no such file".to_owned()),
    }
}

fn parse(text: &str) -> Result<Agreement, Problems> {
    match Agreement::parse("a.toml", text.as_bytes(), &files) {
        Ok(agreement) => Ok(agreement),
        Err(Error::Invalid(problems)) => Err(problems),
        Err(other) => panic!("{other}"),
    }
}

fn loans() -> Agreement {
    parse(LOANS).unwrap()
}

/// `text` with one piece replaced, which must be there.
fn with(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

/// The loans, horizontally.
fn horizontal() -> String {
    let text = with(LOANS, "partition = \"vertical\"", "partition = \"horizontal\"");
    let text = with(&text, "[id]\ncolumn = \"id\"\nnormalize = [\"trim\", \"uppercase\"]\n", "");
    text.replace("owner = \"p1\"\n", "").replace("owner = \"p2\"\n", "")
}

/// The loans of one party.
fn local() -> String {
    let text = with(&horizontal(), "\"horizontal\"", "\"local\"");
    let text = with(&text, "noise = \"two-party\"", "");
    let parties = text.find("[parties.p1]").unwrap()..text.find("[class]").unwrap();
    let text = with(&text, &text[parties], "");
    with(&text, "[crypto]\npaillier_bits = 3072\n", "")
}

/// The one problem of a text: its rule and how it is shown.
fn only_problem(text: &str) -> (Rule, String) {
    let problems = parse(text).unwrap_err();
    assert_eq!(problems.count(), 1, "{problems}");
    let problem = problems.iter().next().unwrap();
    (problem.rule, problem.to_string())
}

fn assert_refused(text: &str, rule: Rule, parts: &[&str]) {
    let (found, shown) = only_problem(text);
    assert_eq!(found, rule, "{shown}");
    for part in parts {
        assert!(shown.contains(part), "{part:?} is not in: {shown}");
    }
}

#[test]
fn the_example_is_read_as_it_stands() {
    let agreement = loans();
    assert_eq!(agreement.id, "loans-2026q4");
    assert_eq!(agreement.epsilon, "1".parse().unwrap());
    assert_eq!(agreement.schema.attributes.len(), 3);
    assert_eq!(agreement.identifier().unwrap().column, "id");
    assert_eq!(agreement.parties().unwrap().p2.name, "Loan company");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/loans/agreement.toml");
    assert_eq!(Agreement::load(&path).unwrap(), agreement);
    assert!(parse(&horizontal()).is_ok() && parse(&local()).is_ok());
    let unsaid = with(&horizontal(), "selection = \"exponential\"", "");
    assert_eq!(parse(&unsaid).unwrap().selection, Selection::PermuteAndFlip);
}

#[test]
fn what_is_left_out_is_filled_in_as_documented() {
    let (mut short, mut full) = (LOANS.to_owned(), LOANS.to_owned());
    for (line, default) in [
        ("utility = \"max\"", "utility = \"leaf-max\""),
        ("selection = \"exponential\"", "selection = \"exponential\""),
        ("noise = \"two-party\"", "noise = \"joint\""),
        ("structure_share = \"0.5\"", "structure_share = \"0.7\""),
        ("profile = \"default\"", "profile = \"default\""),
        ("[crypto]\npaillier_bits = 3072", "[crypto]\npaillier_bits = 3072"),
    ] {
        short = with(&short, line, "");
        full = with(&full, line, default);
    }
    let full = parse(&full).unwrap();
    assert_eq!(parse(&short).unwrap().hash(), full.hash());
    let canonical = full.canonical();
    for default in ["\"on_bad_value\":\"refuse\"", "\"paillier_bits\":3072", "\"noise\":\"joint\""]
    {
        assert!(canonical.contains(default), "{canonical}");
    }
}

#[test]
fn a_misspelt_key_is_reported_once_with_what_was_meant() {
    for (from, to, meant) in [
        ("max_records", "max_record", "max_records"),
        ("[class]", "[clas]", "class"),
        ("[parties.p2]", "[parties.p3]", "p2"),
        ("taxonomy_file", "taxonomy_fil", "taxonomy_file"),
        ("min = 18", "mim = 18", "min"),
    ] {
        let remedy = format!("did you mean `{meant}`?");
        assert_refused(&with(LOANS, from, to), Rule::UnknownKey, &["unknown key", &remedy]);
    }
    let stranger = with(LOANS, "[class]", "[colour]\n[class]");
    assert_refused(&stranger, Rule::UnknownKey, &["remove it; known here are: release, parties"]);
}

#[test]
fn messages_read_as_a_newcomer_would_want_them() {
    let text = with(LOANS, "structure_share", "structure_shares");
    let (_, shown) = only_problem(&text);
    assert_eq!(
        shown,
        "a.toml:13:1: unknown key `structure_shares` in [release]\n  did you mean `structure_share`?"
    );
    let (_, shown) = only_problem(&with(LOANS, "epsilon = \"1.0\"", "epsilon = 1.0"));
    assert_eq!(
        shown,
        "a.toml:8:11: `epsilon` in [release] is a number without quotes, which would not be \
         exact\n  write it in quotes: \"1.0\""
    );
}

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
        ("specializations = 10", "", Rule::MissingKey, &["add specializations = 10"]),
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
    assert_eq!(parse(&paper).unwrap().profile, Profile::Paper);
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
        (
            "[crypto]\npaillier_bits = 3072",
            "[crypto]\npaillier_bits = 2560",
            Rule::OutOfRange,
            &["2048"],
        ),
        (
            "[crypto]\npaillier_bits = 3072",
            "[crypto]\npaillier_bits = 1024",
            Rule::OutOfRange,
            &["2048"],
        ),
        (
            "[crypto]\npaillier_bits = 3072",
            "[crypto]\nbits = 3072",
            Rule::UnknownKey,
            &["paillier_bits"],
        ),
    ] {
        assert_refused(&with(LOANS, from, to), rule, parts);
    }
    assert_eq!(parse(&with(LOANS, &b1, &b1.replace('b', "B"))).unwrap(), loans());
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
        (sex, "taxonomy = { A = [\"b\"] }\non_bad_value = \"c\"", Rule::UnknownWord, &["no leaf"]),
        (sex, "taxonomy = { A = [\"b\"] }\non_bad_value = \"A\"", Rule::UnknownWord, &["no leaf"]),
        (
            sex,
            "taxonomy = { A = [\"bad\"] }\non_bad_value = \"bda\"",
            Rule::UnknownWord,
            &["no leaf"],
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
    let attributes = parse(&text).unwrap().schema.attributes;
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
    assert!(parse(&text).unwrap().plain_words().contains("overlap check is off"));
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
    assert_refused(&text, Rule::Taxonomy, &["separates items"]);
}

#[test]
fn all_problems_are_reported_at_once_in_the_order_of_the_file() {
    let text = with(LOANS, "step = 1", "step = 0");
    let text = with(&text, "\"1.0\"", "\"one\"");
    let text = with(&text, "\"Y\", \"N\"", "\"Y\"");
    let problems = parse(&text).unwrap_err();
    let lines: Vec<usize> =
        problems.iter().map(|problem| problem.location.as_ref().unwrap().line).collect();
    assert_eq!(lines.len(), 3, "{problems}");
    assert!(lines.is_sorted(), "{lines:?}");
}

#[test]
fn a_flood_of_problems_is_cut_short() {
    let flood: String = (0..100_000).map(|key| format!("k{key} = 1\n")).collect();
    let problems = parse(&format!("{flood}{LOANS}")).unwrap_err();
    assert_eq!(problems.count(), 100_000);
    assert!(problems.iter().count() <= 40);
    assert!(problems.to_string().ends_with("more"));
}

#[test]
fn bytes_that_are_no_toml_are_refused_with_their_place() {
    assert_refused("[release\n", Rule::Syntax, &["a.toml:1:", "this is not TOML"]);
    assert_refused("a = 1\na = 2\n", Rule::Syntax, &["a.toml:2:1", "duplicate key"]);
    let error = Agreement::parse("a.toml", b"a = 1\nb = \"\xff\"", &files).unwrap_err();
    assert!(error.to_string().starts_with("a.toml:2:6: the file is not UTF-8"), "{error}");
    let huge = vec![b'#'; MAX_FILE_BYTES + 1];
    let error = Agreement::parse("a.toml", &huge, &files).unwrap_err();
    assert!(error.to_string().contains("larger than 4 MiB"), "{error}");
    let with_mark = format!("\u{feff}{LOANS}");
    assert_eq!(parse(&with_mark).unwrap(), loans());
}

#[test]
fn deep_nesting_is_refused_whatever_it_is_made_of() {
    let sex = "taxonomy = { Any_Sex = [\"Male\", \"Female\"] }";
    let dotted = vec!["a"; 79].join(".");
    let inline = format!("{}1{}", format!("{{ {dotted} = ").repeat(70), "}".repeat(70));
    let tables = format!("{}[]{}", "{ a = ".repeat(50_000), "}".repeat(50_000));
    let lists = format!("{{ a = {}{} }}", "[".repeat(50_000), "]".repeat(50_000));
    for deep in [inline, tables, lists] {
        let problems = parse(&with(LOANS, sex, &format!("taxonomy = {deep}"))).unwrap_err();
        let problem = problems.iter().next().unwrap();
        assert!(matches!(problem.rule, Rule::TooLarge | Rule::Syntax), "{problem}");
    }
    let json = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(Agreement::from_canonical(json.as_bytes()).is_err());
    let deepest = |levels: usize| {
        let open: String = (0..levels - 1).map(|level| format!("{{ v{level} = ")).collect();
        let tree = format!("{open}[\"leaf\"]{}", "}".repeat(levels - 1));
        parse(&with(LOANS, sex, &format!("taxonomy = {tree}")))
    };
    let agreement = deepest(crate::table::MAX_DEPTH).unwrap();
    assert_eq!(Agreement::from_canonical(agreement.canonical().as_bytes()).unwrap(), agreement);
    let (rule, shown) = match deepest(crate::table::MAX_DEPTH + 1) {
        Err(problems) => {
            let problem = problems.iter().next().unwrap();
            (problem.rule, problem.to_string())
        }
        Ok(_) => panic!("accepted"),
    };
    assert!(rule == Rule::Taxonomy && shown.contains("flatter"), "{shown}");
}

#[test]
fn thousands_of_levels_of_dotted_keys_do_not_exhaust_a_small_stack() {
    let sex = "taxonomy = { Any_Sex = [\"Male\", \"Female\"] }";
    let dotted = vec!["a"; 79].join(".");
    let inline = format!("{}1{}", format!("{{ {dotted} = ").repeat(79), "}".repeat(79));
    let text = with(LOANS, sex, &format!("taxonomy = {inline}"));
    let small = std::thread::Builder::new().stack_size(256 << 10);
    let reader = small.spawn(move || parse(&text).unwrap_err().to_string()).unwrap();
    assert!(reader.join().unwrap().contains("nested too deeply"));
}

#[test]
fn many_large_taxonomies_are_refused_before_they_fill_the_memory() {
    let lines: String = (1..crate::table::MAX_VALUES).map(|leaf| format!("{leaf};Any\n")).collect();
    let mut text = local();
    for attribute in 0..5 {
        text += &format!(
            "\n[[attribute]]\nname = \"a{attribute}\"\nkind = \"categorical\"\n\
             taxonomy_file = \"big.csv\"\n"
        );
    }
    let read =
        |name: &str| if name == "big.csv" { Ok(lines.clone().into_bytes()) } else { files(name) };
    let error = Agreement::parse("a.toml", text.as_bytes(), &read).unwrap_err();
    assert!(error.to_string().contains("together have more than 262144 values"), "{error}");
}

#[test]
fn pipes_and_directories_are_not_read() {
    let place = tempfile::tempdir().unwrap();
    let error = Agreement::load(place.path()).unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
    let error = Agreement::load(&place.path().join("missing.toml")).unwrap_err();
    assert!(matches!(error, Error::Unreadable { .. }), "{error}");
    assert!(matches!(Agreement::load(Path::new("/dev/zero")), Err(Error::Unreadable { .. })));
}

#[test]
fn only_the_canonical_form_is_read_as_canonical() {
    let canonical = loans().canonical();
    assert_eq!(Agreement::from_canonical(canonical.as_bytes()).unwrap(), loans());
    for (from, to) in [
        (",", ", "),
        ("\"epsilon\":\"1\"", "\"epsilon\":\"1.0\""),
        ("\"epsilon\":\"1\"", "\"epsilon\":\"1\",\"epsilon\":\"1\""),
        ("sha256:b1", "sha256:B1"),
        ("\"Bank\"", "\"\\u0042ank\""),
        ("\"min\":\"18\"", "\"min\":18"),
    ] {
        let changed = with(&canonical, from, to);
        let result = Agreement::from_canonical(changed.as_bytes());
        assert!(matches!(result, Err(Error::NotCanonical)), "{to}: {result:?}");
    }
    for (from, to) in [
        ("diptych-agreement-1", "diptych-agreement-2"),
        ("\"name\":\"Male\"", "\"name\":\"Male\",\"name\":\"Male\""),
        ("\"max_records\":100000", "\"max_records\":1e5"),
    ] {
        let changed = with(&canonical, from, to);
        let result = Agreement::from_canonical(changed.as_bytes());
        assert!(matches!(result, Err(Error::Invalid(_))), "{to}: {result:?}");
    }
    assert!(Agreement::from_canonical(format!("{canonical}\n").as_bytes()).is_err());
    assert!(Agreement::from_canonical(LOANS.as_bytes()).is_err());
}

#[test]
fn the_first_difference_is_named_in_one_sentence() {
    let ours = loans().canonical();
    let says = |text: &str| {
        let theirs = parse(text).unwrap().canonical();
        first_difference(&ours, &theirs).unwrap().to_string()
    };
    assert_eq!(first_difference(&ours, &ours), None);
    assert_eq!(
        says(&with(LOANS, "\"1.0\"", "\"0.5\"")),
        "the agreements differ in release.epsilon: ours says \"1\", theirs says \"0.5\""
    );
    assert_eq!(
        says(&with(LOANS, "max = 99", "max = 100")),
        "the agreements differ in attribute \"salary\".max: ours says \"99\", theirs says \"100\""
    );
    assert_eq!(
        says(&with(LOANS, "\"Male\", \"Female\"", "\"Female\", \"Male\"")),
        "the agreements differ in attribute \"sex\".taxonomy.children number 1.name: ours says \
         \"Male\", theirs says \"Female\""
    );
    assert!(says(&horizontal()).contains("release.partition: ours says \"vertical\""));
    assert!(
        says(&with(LOANS, "\"Y\", \"N\"", "\"Y\", \"N\", \"?\""))
            .contains("ours has nothing there")
    );
    let hostile = first_difference(&ours, &format!("\x1b[2J{}", "x".repeat(1_000_000))).unwrap();
    let shown = hostile.to_string();
    assert!(shown.len() < 500 && !shown.contains('\x1b'), "{shown}");
}

#[test]
fn the_plain_words_say_what_an_officer_must_know() {
    let words = loans().plain_words();
    for part in [
        "loans-2026q4",
        &loans().hash().to_string(),
        "P1 is Bank",
        "Loan company",
        "ε = 1",
        "2.72",
        "7.39",
        "2^-40",
        "which of its own people",
        "do not follow the protocol",
        "`job`, held by Bank",
        "Any_Job (Professional (Engineer, Lawyer), Artist (Dancer, Writer))",
        "divided at 19, 20, and so on",
        "ledger",
    ] {
        let flowing = words.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flowing.contains(part), "{part} is not in:\n{words}");
    }
    assert!(words.lines().all(|line| line.chars().count() <= 80), "{words}");
    let weak = parse(&with(LOANS, "\"1.0\"", "\"8\"")).unwrap().plain_words();
    assert!(weak.contains("ATTENTION") && !words.contains("ATTENTION"));
    let alone = parse(&local()).unwrap().plain_words();
    assert!(!alone.contains("Signed") && !alone.contains("Paillier"), "{alone}");
}
