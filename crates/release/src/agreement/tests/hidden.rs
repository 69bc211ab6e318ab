//! Releases in which nobody learns who is common.

use super::*;
use crate::agreement::Membership;

const RULES: &str = "\"uppercase\"]\n";

/// The loans with membership hidden, and nothing that this rules out.
fn hidden(owner: &str, more: &str) -> String {
    let owned = format!("column = \"approved\"\nowner = \"{owner}\"");
    let text = with(LOANS, "column = \"approved\"", &owned);
    let text = with(&text, "selection = \"exponential\"", "selection = \"permute-and-flip\"");
    let text = with(&text, "noise = \"two-party\"", "noise = \"joint\"");
    with(&text, RULES, &format!("{RULES}membership = \"hidden\"\n{more}"))
}

#[test]
fn what_hidden_membership_rules_out_is_refused_with_what_to_write() {
    for owner in ["p1", "p2"] {
        let text = hidden(owner, "");
        let agreement = parse(&text).unwrap();
        assert_eq!(agreement.membership(), Membership::Hidden { pad_to: None });
        assert_eq!(agreement.matching().unwrap().min_common, 0);
        for (from, to, parts) in [
            (
                &format!("owner = \"{owner}\"\nvalues")[..],
                "owner = \"both\"\nvalues",
                &["both parties hold the class", "add owner = \"p1\" or owner = \"p2\" in [class]"]
                    [..],
            ),
            ("utility = \"max\"", "utility = \"leaf-max\"", &["use utility = \"max\""]),
            ("utility = \"max\"", "utility = \"info-gain\"", &["cannot be \"info-gain\""]),
            ("\"joint\"", "\"two-party\"", &["neither party knows", "use noise = \"joint\""]),
            ("\"permute-and-flip\"", "\"exponential\"", &["use \"permute-and-flip\""]),
            ("\"hidden\"\n", "\"hidden\"\nmin_common = 1\n", &["remove `min_common`"]),
            ("\"hidden\"\n", "\"hidden\"\nrehearse = true\n", &["use rehearse = \"noisy\""]),
            ("\"hidden\"\n", "\"hidden\"\nmatching = \"ffdhe3072\"\n", &["remove `matching`"]),
            ("epsilon = \"1.0\"", "epsilon = \"13.5\"", &["ε = 13.5", "at most 13"]),
        ] {
            assert_refused(&with(&text, from, to), Rule::DoesNotApply, parts);
        }
        let usual =
            with(&text, "\"hidden\"\n", "\"hidden\"\nmatching = \"oprf\"\nrehearse = false\n");
        assert_eq!(parse(&usual).unwrap().hash(), agreement.hash());
        let fine = with(&text, "max = 99", "max = 1042");
        let parts = &["1025 points", "a release with hidden membership allows 1024"];
        assert_refused(&fine, Rule::OutOfRange, parts);
        assert!(parse(&with(&text, "max = 99", "max = 1041")).is_ok());
    }
    let shown = with(LOANS, RULES, &format!("{RULES}membership = \"shown\"\n"));
    assert_eq!(parse(&shown).unwrap().hash(), loans().hash());
    let padded = with(LOANS, RULES, &format!("{RULES}pad_to = 5\n"));
    let parts = &["`pad_to` in [id] does not apply", "add membership = \"hidden\""];
    assert_refused(&padded, Rule::DoesNotApply, parts);
    for (pad_to, rule, part) in [
        ("0", Rule::OutOfRange, "from 1 to"),
        ("100001", Rule::OutOfRange, "`max_records` in [release] is 100000"),
        ("\"5\"", Rule::WrongType, "without quotes"),
    ] {
        assert_refused(&hidden("p1", &format!("pad_to = {pad_to}\n")), rule, &[part]);
    }
    let agreement = parse(&hidden("p1", "pad_to = 100000\n")).unwrap();
    assert_eq!(agreement.pad_to(), Some(100_000));
    let again = Agreement::from_canonical(agreement.canonical().as_bytes()).unwrap();
    assert_eq!(again, agreement);
}

#[test]
fn what_is_left_out_is_what_hidden_membership_needs() {
    let mut text = hidden("p2", "");
    for line in [
        "utility = \"max\"                   # max | leaf-max | info-gain\n",
        "noise = \"joint\"               # two-party | joint\n",
    ] {
        text = with(&text, line, "");
    }
    assert_eq!(parse(&text).unwrap().hash(), parse(&hidden("p2", "")).unwrap().hash());
}

#[test]
fn the_page_says_what_the_parties_do_not_learn() {
    let words = |more: &str| flowing(&parse(&hidden("p1", more)).unwrap().plain_words());
    let sizes = words("");
    for part in [
        "learn neither which of their people are in the other's data nor, beyond what is named here, \
         how many are",
        "Each learns how many records the other has.",
        "replaced by somebody else's, and its factor that of 2ε: at most 7.39.",
        "Every split of a number is told to both as soon as it is drawn",
        "the lengths of messages tell how many records each party has. For a watcher",
        "From 1 to 100,000 records from each party take part",
        "assumption that learning parity with noise (LPN) is hard",
        "however few people are in both tables",
    ] {
        assert!(sizes.contains(part), "{part} is not in:\n{sizes}");
    }
    let counted = "A noisy number of common people is told to both before the first choice.";
    assert!(!sizes.contains(counted), "the number of specializations is agreed");
    let auto = with(&hidden("p1", ""), "specializations = 10", "specializations = \"auto\"");
    assert!(flowing(&parse(&auto).unwrap().plain_words()).contains(counted));
    let padded = words("pad_to = 50000\n");
    for part in [
        "messages are those of two tables of 50,000 (`pad_to`). Pauses between them can tell roughly",
        "at most 2.72 times as likely with it as without it, and the reverse. Whether the person is \
         there at all is covered too.",
        "From 1 to 50,000 records from each party take part",
    ] {
        assert!(padded.contains(part), "{part} is not in:\n{padded}");
    }
    assert!(!padded.contains("Whoever watches the network"), "{padded}");
    for page in [&sizes, &padded] {
        assert!(
            !page.contains("min_common") && !page.contains("which of its own people"),
            "{page}"
        );
        assert!(!page.contains("not protected by ε: agree to it only"), "{page}");
    }
}
