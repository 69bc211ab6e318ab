//! What is promised towards the peer is one value: ledger, signed page, report and dry run agree on it.

use diptych::agreement::Agreement;
use diptych::privacy::{Differential, Towards};
use diptych::release::plan;

use crate::couple::{BANK, COMPANY, Couple, Running};

/// The sentence of every signed page that names what becomes of ε towards the peer, for ε 1.
fn on_page(promised: &Differential) -> String {
    let times = promised.towards_peer.factor();
    let factor = ((times as f64).exp() * 100.0).ceil() / 100.0;
    format!("factor that of {times}ε: at most {factor:.2}.")
}

/// The dry run of a party, in one line.
fn dry_run(couple: &Couple) -> String {
    let mut command = couple.command(BANK, "", None);
    let dry = Running::start({
        command.arg("--dry-run");
        command
    });
    let dry = dry.end();
    in_one_line(&format!("{} {}", dry.result, dry.said))
}

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn ledger_page_report_and_dry_run_have_the_same_promise_towards_the_peer() {
    let checked = |mut couple: Couple, expected: Option<Towards>| {
        let text = couple.read(BANK, "agreement.toml");
        let agreement =
            Agreement::parse("a", text.as_bytes(), &|_| Err("no files".to_owned())).unwrap();
        let promise = plan::together(&agreement).unwrap().promise;
        assert_eq!(promise.differential().map(|promised| promised.towards_peer), expected);

        couple.more = "wait_seconds = 20\ncap_towards_peer = \"1.9\"";
        let dry = dry_run(&couple);
        let refused =
            dry.contains("the run would be refused: ") && dry.contains("towards the peer");
        assert_eq!(refused, expected == Some(Towards::Twice), "{dry}");

        couple.more = "wait_seconds = 20\ncap_towards_peer = \"2\"";
        let dry = dry_run(&couple);
        couple.run().iter().for_each(|outcome| outcome.assert(0, &[]));
        let page = in_one_line(&agreement.plain_words());
        let report = in_one_line(&couple.read(BANK, "release/report.html"));
        let twice = "2ε: at most 7.39";
        let Some(promised) = promise.differential() else {
            assert!(!page.contains(twice) && !report.contains(twice) && !dry.contains(twice));
            assert!(dry.contains("towards the peer ε 0 of 2; 1 run without ε"), "{dry}");
            for who in [BANK, COMPANY] {
                assert_eq!(couple.runs(who)[0].epsilon_towards_peer(), None);
            }
            return;
        };
        let epsilon = promised.epsilon_towards_peer();
        for who in [BANK, COMPANY] {
            let runs = couple.runs(who);
            assert_eq!(runs[0].epsilon_towards_peer(), Some(epsilon.clone()));
            assert_eq!(runs[0].debit.towards_peer, expected);
        }
        for words in [
            format!("towards the peer ε {epsilon} of 2"),
            format!("towards Loan company ε {epsilon} and δ ≤ "),
            format!("for {} ", promised.towards_peer.reason()),
        ] {
            assert!(dry.contains(&words), "{words:?} is not in {dry}");
        }
        for text in [&page, &report, &dry] {
            let text =
                text.replace("the factor towards the other party is that of", "factor that of");
            let named = text.contains(&on_page(promised));
            assert_eq!(named, expected == Some(Towards::Twice), "{text}");
            assert_eq!(text.contains(twice), named, "{text}");
        }
    };
    checked(Couple::new(40), Some(Towards::Twice));
    checked(Couple::one_class(40, BANK), Some(Towards::Twice));
    // The same agreement but for what decides on the factor.
    checked(Couple::hidden(40, BANK, None), Some(Towards::Twice));
    checked(Couple::hidden(40, BANK, Some(64)), Some(Towards::Once));
    checked(Couple::horizontal(40), Some(Towards::Once));
    checked(Couple::horizontal(40).in_groups(), None);
}
