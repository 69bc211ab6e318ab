//! Every rule of an agreement broken once, and properties of what is accepted.

mod aids;
mod hidden;
mod kinds;
mod limits;
mod properties;
mod rules;

use super::*;

const LOANS: &str = include_str!("../../../../vectors/generate/loans.toml");
const JOB_CSV: &str = include_str!("../../../../examples/loans/job.csv");

const CRYPTO: &str = "[crypto]\ncount_table = \"transfers\"\n";

fn files(name: &str) -> Result<Vec<u8>, String> {
    match name {
        "job.csv" => Ok(JOB_CSV.as_bytes().to_vec()),
        _ => Err("no such file".to_owned()),
    }
}

fn parse(text: &str) -> Result<Agreement, Problems> {
    Agreement::parse("a.toml", text.as_bytes(), &files)
        .map_err(|error| error.origin::<Problems>().unwrap().clone())
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
    let text = with(&text, CRYPTO, "[crypto]\npaillier_bits = 3072\n");
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

pub fn terms(agreement: &Agreement) -> &diffgen::Terms {
    match &agreement.model {
        Model::DiffGen(terms) => terms,
        _ => panic!("another model"),
    }
}

#[test]
fn the_example_is_read_as_it_stands() {
    let agreement = loans();
    assert_eq!(agreement.id, "loans-2026q4");
    assert_eq!(agreement.epsilon(), Some(&"1".parse().unwrap()));
    assert_eq!(agreement.schema.attributes.len(), 3);
    assert_eq!(agreement.identifier().unwrap().column, "id");
    assert_eq!(agreement.parties().unwrap().p2.name, "Loan company");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/loans/agreement.toml");
    let example = Agreement::load(&path).unwrap();
    assert_eq!(example.schema, agreement.schema);
    assert_eq!(example.parties(), agreement.parties());
    assert!(parse(&horizontal()).is_ok() && parse(&local()).is_ok());
    let unsaid = with(&horizontal(), "selection = \"exponential\"", "");
    assert_eq!(terms(&parse(&unsaid).unwrap()).selection, Selection::PermuteAndFlip);
}

#[test]
fn what_is_left_out_is_filled_in_as_documented() {
    let (mut short, mut full) = (LOANS.to_owned(), LOANS.to_owned());
    for (line, default) in [
        ("utility = \"max\"", "utility = \"leaf-max\""),
        ("selection = \"exponential\"", "selection = \"permute-and-flip\""),
        ("noise = \"two-party\"", "noise = \"joint\""),
        ("structure_share = \"0.5\"", "structure_share = \"0.7\""),
        ("profile = \"default\"", "profile = \"default\""),
        (CRYPTO, "[crypto]\ncount_table = \"transfers\"\ntransfers = \"auto\"\n"),
    ] {
        short = with(&short, line, "");
        full = with(&full, line, default);
    }
    let full = parse(&full).unwrap();
    assert_eq!(parse(&short).unwrap().hash(), full.hash());
    let canonical = full.canonical();
    for default in
        ["\"on_bad_value\":\"refuse\"", "\"count_table\":\"transfers\"", "\"noise\":\"joint\""]
    {
        assert!(canonical.contains(default), "{canonical}");
    }
}

#[test]
fn a_key_length_counts_only_where_a_key_is_made() {
    let remarks = |text: &str| {
        let (agreement, remarks) = read::from_toml("a.toml", text.as_bytes(), &files).unwrap();
        (agreement, remarks.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let crypto = |lines: &str| with(LOANS, CRYPTO, &format!("[crypto]\n{lines}\n"));
    assert_eq!(remarks(LOANS).1, [""; 0]);
    for (lines, form) in [
        ("paillier_bits = 2048", CountTable::Transfers),
        ("count_table = \"transfers\"\npaillier_bits = 3072", CountTable::Transfers),
    ] {
        let (agreement, remarks) = remarks(&crypto(lines));
        assert_eq!((terms(&agreement).count_table, agreement.hash()), (Some(form), loans().hash()));
        let [remark] = &remarks[..] else { panic!("{remarks:?}") };
        assert!(remark.contains("a.toml:5") && remark.contains("no effect"), "{remark}");
        assert!(!agreement.canonical().contains("paillier"));
    }
    let (agreement, said) = remarks(&crypto("count_table = \"paillier\"\npaillier_bits = 2048"));
    assert_eq!(terms(&agreement).paillier_bits, Some(2048));
    assert_eq!(said, [""; 0]);
    assert!(agreement.plain_words().contains("Paillier keys of 2048 bits"));
    assert!(!loans().plain_words().contains("Paillier"));

    let paper = with(LOANS, "profile = \"default\"", "profile = \"paper\"");
    let (agreement, said) = remarks(&with(&paper, CRYPTO, "[crypto]\npaillier_bits = 2048\n"));
    assert_eq!(terms(&agreement).count_table, Some(CountTable::Paillier));
    assert_eq!((terms(&agreement).paillier_bits, said.len()), (Some(2048), 0));

    // The horizontal exponential mechanism makes a key, permute-and-flip does not.
    let (agreement, said) = remarks(&horizontal());
    assert_eq!((terms(&agreement).count_table, said.len()), (None, 0));
    assert_eq!(terms(&agreement).paillier_bits, Some(3072));
    let (agreement, said) =
        remarks(&with(&horizontal(), "\"exponential\"", "\"permute-and-flip\""));
    assert_eq!((terms(&agreement).paillier_bits, said.len()), (None, 1));
    assert!(!agreement.canonical().contains("crypto"));
}

#[test]
fn transfers_may_be_told_not_to_rest_on_lpn() {
    let without =
        parse(&with(LOANS, CRYPTO, &format!("{CRYPTO}transfers = \"no-lpn\"\n"))).unwrap();
    assert_eq!(terms(&without).transfers, Some(Transfers::NoLpn));
    assert_ne!(without.hash(), loans().hash());
    assert!(without.plain_words().contains("(`no-lpn`)"));
    assert_eq!(terms(&loans()).transfers, Some(Transfers::Auto));
    assert!(loans().plain_words().contains("(LPN)") && loans().plain_words().contains("(`auto`)"));
    let paper = with(LOANS, "profile = \"default\"", "profile = \"paper\"");
    let paper = parse(&with(&paper, CRYPTO, "")).unwrap();
    assert_eq!(terms(&paper).transfers, None);
    assert!(!paper.plain_words().contains("LPN"));
}

#[test]
fn people_are_matched_by_the_function_unless_something_else_is_said_or_the_papers_are_followed() {
    let by = |agreement: &Agreement| agreement.matching().unwrap().by;
    let rules = "normalize = [\"trim\", \"uppercase\"]";
    let said =
        |text: &str, word: &str| with(text, rules, &format!("{rules}\nmatching = \"{word}\""));
    assert_eq!(by(&loans()), MatchBy::Oprf);
    assert!(!loans().canonical().contains("matching"));
    let paper = with(LOANS, "profile = \"default\"", "profile = \"paper\"");
    let paper = with(&paper, CRYPTO, "");
    assert_eq!(by(&parse(&paper).unwrap()), MatchBy::Ristretto255);
    for (text, word) in [(LOANS, "ristretto255"), (LOANS, "ffdhe3072"), (&paper, "ffdhe3072")] {
        let agreement = parse(&said(text, word)).unwrap();
        assert_eq!(by(&agreement).word(), word);
        assert_ne!(agreement.hash(), parse(text).unwrap().hash());
        assert!(agreement.plain_words().contains(&format!("(`{word}`)")));
    }
    let same = parse(&said(&paper, "ristretto255")).unwrap();
    assert_eq!(same.hash(), parse(&paper).unwrap().hash());
    assert!(loans().plain_words().contains("(`oprf`)"));
    let (rule, shown) = only_problem(&said(&paper, "oprf"));
    assert!(rule == Rule::DoesNotApply && shown.contains("commutative encryption"), "{shown}");
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
        assert!(result.unwrap_err().message().contains("not in canonical form"), "{to}");
    }
    for (from, to) in [
        ("diptych-agreement-2", "diptych-agreement-3"),
        ("\"name\":\"Male\"", "\"name\":\"Male\",\"name\":\"Male\""),
        ("\"max_records\":100000", "\"max_records\":1e5"),
    ] {
        let changed = with(&canonical, from, to);
        let result = Agreement::from_canonical(changed.as_bytes());
        assert!(result.unwrap_err().origin::<Problems>().is_some(), "{to}");
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

/// A page without line breaks.
fn flowing(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ")
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
        "ledger keeps the sum",
        "data that this agreement admits",
        "timing is outside ε",
        "Whoever watches the network: the lengths of messages tell how many records each party \
         has, and how many people are in both tables",
        "only the promise for a record replaced by another holds, with the factor of 2ε: at most \
         7.39",
    ] {
        let flowing = flowing(&words);
        assert!(flowing.contains(part), "{part} is not in:\n{words}");
    }
    assert!(words.lines().all(|line| line.chars().count() <= 80), "{words}");
    let weak = parse(&with(LOANS, "\"1.0\"", "\"8\"")).unwrap().plain_words();
    assert!(weak.contains("ATTENTION") && !words.contains("ATTENTION"));
    let alone = parse(&local()).unwrap().plain_words();
    assert!(!alone.contains("Signed") && !alone.contains("Paillier"), "{alone}");
    assert!(!alone.contains("watches the network"), "{alone}");
    // A release by one may be made without a ledger.
    assert!(flowing(&alone).contains("only if it is given a ledger"), "{alone}");
    assert!(!alone.contains("ledger keeps"), "{alone}");
}

#[test]
fn the_words_say_what_a_rehearsal_tells_and_what_it_tells_that_there_is_a_release() {
    let with_lines = |lines: &str| {
        let text = with(LOANS, "\"uppercase\"]\n", &format!("\"uppercase\"]\n{lines}\n"));
        flowing(&parse(&text).unwrap().plain_words())
    };
    let silent = flowing(&loans().plain_words());
    assert!(!silent.contains("rehearse"), "{silent}");
    assert!(silent.contains("if nobody is in both tables (`min_common` 1)"), "{silent}");
    assert!(silent.contains("From 1 to 100,000 records from each party"), "{silent}");
    let words = with_lines("min_common = 0");
    assert!(words.contains("however few people are in both tables"), "{words}");
    let words = with_lines("min_common = 5000\nrehearse = true");
    for part in [
        "A run ends without a release, and its ε is spent, if fewer than 5,000 people are in both \
         tables (`min_common` 5,000). That there is a release tells that at least so many are; ε does \
         not cover that.",
        "exactly how many people are in both tables, but not who. So they know before a run whether \
         it would end for such a reason. It spends no ε and is not protected by it",
        "one exact rehearsal for a data set and a peer, under whatever agreement, and one more for \
         each line that the data's owner adds to it (`diptych ledger allow-rehearsal`)",
        "learn whether it is the same at both, and stop if it is not. The ε of that run is spent \
         then.",
    ] {
        assert!(words.contains(part), "{part} is not in:\n{words}");
    }
    let words = with_lines("rehearse = \"labels\"");
    for part in [
        "and for how many of them the column `approved` differs (`rehearse` \"labels\"), but not who",
        "stop if it is not, having learned for how many people it differs. The ε of that",
    ] {
        assert!(words.contains(part), "{part} is not in:\n{words}");
    }
    let words = with_lines("rehearse = \"noisy\"");
    for part in [
        "with noise added, which neither knows, but not who. In 19 of 20 rehearsals the noise is at \
         most 60. Each rehearsal spends ε 0.05 (`rehearse_epsilon`)",
        "at most 1.06 times as likely",
        "a record replaced by another: at most 1.11.",
        "stop if it is not. The ε of that run is spent",
    ] {
        assert!(words.contains(part), "{part} is not in:\n{words}");
    }
}

#[test]
fn a_class_of_both_is_the_same_agreement_and_one_of_a_party_another() {
    let owned = |owner: &str| {
        let line = format!("column = \"approved\"\nowner = \"{owner}\"");
        let text = with(LOANS, "column = \"approved\"", &line);
        with(&text, "selection = \"exponential\"", "selection = \"permute-and-flip\"")
    };
    let both = with(LOANS, "selection = \"exponential\"", "selection = \"permute-and-flip\"");
    let both = parse(&both).unwrap();
    assert_eq!(parse(&owned("both")).unwrap().hash(), both.hash());
    let [first, second] = ["p1", "p2"].map(|owner| parse(&owned(owner)).unwrap());
    assert_ne!(first.hash(), both.hash());
    assert_ne!(first.hash(), second.hash());
    assert!(first.canonical().contains("\"class\":{\"column\":\"approved\",\"owner\":\"p1\","));
    // What is left out is what this form can do.
    let bare = with(&owned("p1"), "selection = \"permute-and-flip\"", "");
    let bare = parse(&with(&bare, "utility = \"max\"", "")).unwrap();
    let said = with(&owned("p1"), "utility = \"max\"", "utility = \"leaf-max\"");
    assert_eq!(bare.hash(), parse(&said).unwrap().hash());
    assert_eq!(Agreement::from_canonical(first.canonical().as_bytes()).unwrap(), first);

    // A reader can tell the three cases apart.
    let words = [&both, &first, &second].map(|agreement| flowing(&agreement.plain_words()));
    for (case, parts) in [
        (0, ["(Y, N), which both hold.", "they learn whether it is the same at both"]),
        (
            1,
            [
                "(Y, N), which Bank alone holds.",
                "Bank alone holds the column `approved`. Loan company needs no such column, and \
                 learns of it only what the release and the splits named here tell. - Every split \
                 of a number of Loan company is told to both as soon as it is drawn, used or not.",
            ],
        ),
        (
            2,
            [
                "(Y, N), which Loan company alone holds.",
                "Every split of a number of Bank is told to both as soon as it is drawn",
            ],
        ),
    ] {
        for part in parts {
            for (page, words) in words.iter().enumerate() {
                assert_eq!(words.contains(part), page == case, "{part}: {words}");
            }
        }
    }
}

#[test]
fn only_the_footnote_names_cryptographic_methods() {
    let hidden = with(LOANS, "column = \"approved\"", "column = \"approved\"\nowner = \"p1\"");
    let hidden = with(&hidden, "selection = \"exponential\"", "selection = \"permute-and-flip\"");
    let hidden = with(&hidden, "\"two-party\"", "\"joint\"");
    let hidden = with(&hidden, "\"uppercase\"]\n", "\"uppercase\"]\nmembership = \"hidden\"\n");
    let horizontal = horizontal();
    for text in [LOANS, &hidden, &horizontal] {
        let words = flowing(&parse(text).unwrap().plain_words());
        let (main, rest) = words.split_once("Footnote: cryptographic methods").unwrap();
        for method in ["LPN", "oprf", "oblivious", "Paillier", "`transfers`"] {
            assert!(!main.contains(method), "{method} is in:\n{main}");
        }
        assert!(rest.contains("oblivious"), "{rest}");
    }
    assert!(!parse(&local()).unwrap().plain_words().contains("Footnote"));
}

#[test]
fn the_page_makes_one_statement_of_the_factor_and_says_what_it_is_not() {
    for text in [LOANS, &local()] {
        let words = flowing(&parse(text).unwrap().plain_words());
        assert!(!words.contains("almost as well"), "{words}");
        for part in [
            "changes the odds that anybody gives to that record being in the data by a factor of at most",
            "It is not a legal finding that the published data are anonymous",
        ] {
            assert!(words.contains(part), "{part} is not in:\n{words}");
        }
    }
}

#[test]
fn what_is_declared_is_on_the_page_and_in_the_hash() {
    let lines = "purpose = \"To see who repays late.\"\nretention = \"30 days\"\n\
                 contacts = [\"Bank: dpo@bank.example\"]\nvalid_until = \"2027-03-31\"\n";
    let declared = parse(&with(LOANS, "[release]\n", &format!("[release]\n{lines}"))).unwrap();
    let words = flowing(&declared.plain_words());
    for part in [
        "Purpose: To see who repays late.",
        "Retention: 30 days",
        "Contact: Bank: dpo@bank.example",
        "valid until the end of 2027-03-31 (UTC). Later runs are refused.",
    ] {
        assert!(words.contains(part), "{part} is not in:\n{words}");
    }
    assert!(!loans().plain_words().contains("Purpose"));
    for line in lines.lines() {
        let other = with(LOANS, "[release]\n", &format!("[release]\n{line}\n"));
        let other = parse(&other).unwrap();
        assert!(other.hash() != declared.hash() && other.hash() != loans().hash(), "{line}");
        let key = line.split(' ').next().unwrap();
        let said = first_difference(&loans().canonical(), &other.canonical()).unwrap().to_string();
        assert!(said.contains(&format!("differ in release.{key}: ours has nothing")), "{said}");
        assert_eq!(Agreement::from_canonical(other.canonical().as_bytes()).unwrap(), other);
    }
}

#[test]
fn each_party_fills_in_its_cap_where_a_budget_is_spent() {
    let cap = "cap, the largest total ε of all releases of its data: ____";
    assert_eq!(flowing(&loans().plain_words()).matches(cap).count(), 2);
    assert!(!parse(&local()).unwrap().plain_words().contains(cap));
}
