//! Paths of two organisations with different people, each anonymized at home.

use std::process::Command;

use diptych::privacy::ledger::Status;

use crate::AS_FORECAST;
use crate::couple::{BANK, COMPANY, Couple, Running};

const RIDES: &str = r#"
[release]
id = "rides"
partition = "horizontal"
model = "trajectory"
max_records = 100
overlap_check = true

[parties.p1]
name = "Bank"
fingerprint = "P1"

[parties.p2]
name = "Loan company"
fingerprint = "P2"

[id]
column = "id"
normalize = ["uppercase"]

[trajectory]
acknowledge = "not differentially private"
l = 2
k = 2
c = "0.5"
protect = ["AIDS"]
support = "0.25"
id = "id"

[class]
column = "ill"
values = ["AIDS", "Flu", "Fever", "Diabetes"]
"#;
/// Table 4.1 of the thesis, which loses c4 and b2.
const FIRST: &str = "id,path,ill,note\nm1,b2>d3>c4>f6>c7,AIDS,MARKERCELL\nm2,f6>c7>e8,Flu,MARKERCELL\n\
                     m3,d3>c4>f6>e8,Fever,MARKERCELL\nm4,b2>c5>c7>e8,Flu,MARKERCELL\n\
                     m5,d3>c7>e8,Fever,MARKERCELL\nm6,c5>f6>e8,Diabetes,MARKERCELL\n\
                     m7,b2>f6>c7>e8,Diabetes,MARKERCELL\nm8,b2>c5>f6>c7,AIDS,MARKERCELL\n";
/// Of the other party, which loses c5.
const SECOND: &str = "path,ill,id\nb2>f6,Flu,n1\nb2>f6>g9,AIDS,n2\nb2>g9,Fever,n3\nf6>g9,Flu,n4\n\
                      c5>f6,Fever,n5\nf6,Fever,n6\n";
/// Both without c4, b2 and c5.
const RELEASED: &str = "path,ill,count\nd3>f6>c7,AIDS,1\nd3>f6>e8,Fever,1\nd3>c7>e8,Fever,1\n\
                        f6,Flu,1\nf6,Fever,2\nf6>c7,AIDS,1\nf6>c7>e8,Flu,1\nf6>c7>e8,Diabetes,1\n\
                        f6>e8,Diabetes,1\nf6>g9,AIDS,1\nf6>g9,Flu,1\nc7>e8,Flu,1\ng9,Fever,1\n";

pub fn couple() -> Couple {
    Couple::with(RIDES, [FIRST.to_owned(), SECOND.to_owned()])
}

#[test]
fn paths_of_two_parties_are_released_together_and_signed_by_both() {
    let couple = couple();
    for outcome in couple.run() {
        outcome
            .assert(0, &["the run is in both ledgers", "has its copy", "not differential privacy"]);
        let phases = outcome.phases();
        assert!(phases.iter().any(|phase| phase == "suppression"), "{phases:?}");
        outcome.assert(0, &["are alone on the whole path: 3 sightings can identify them"]);
    }
    couple.assert_released();
    assert_eq!(couple.read(BANK, "release/release.csv"), RELEASED);
    for who in [BANK, COMPANY] {
        let runs = couple.runs(who);
        assert_eq!((runs.len(), runs[0].status), (1, Status::Finished));
        assert!(runs[0].debit.epsilon.is_none() && runs[0].debit.promise.is_some());
        let costs = couple.read(who, "release/private/costs.json");
        assert!(costs.contains(AS_FORECAST) && costs.contains("\"common_records\": 0"), "{costs}");
        let page = couple.read(who, "release/report.html");
        assert!(page.contains("This is not differential privacy") && page.contains("f6&gt;g9"));
        let how = couple.read(who, "release/private/how.txt");
        assert!(how.contains("the peer took out "), "{how}");
        let (_, said) = couple.verify(who);
        assert!(said.contains("every set of pairs is as agreed: smallest 2"), "{said}");
    }
    // What one party noted of its people never reaches the other, nor do identifiers.
    for name in
        ["release.csv", "manifest.json", "report.html", "private/how.txt", "private/costs.json"]
    {
        let text = couple.read(COMPANY, &format!("release/{name}"));
        assert!(!text.contains("MARKERCELL") && !text.contains("m1"), "{name}");
    }
    let rows = couple.path(BANK, "rows.csv");
    let mut command = Command::new(env!("CARGO_BIN_EXE_diptych"));
    command.args(["rows", "--release"]).arg(couple.path(BANK, "release")).arg("--out").arg(&rows);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(couple.read(BANK, "rows.csv").lines().count(), 15);

    // Nothing adds up without ε: a second release of the same data needs a word.
    let command = couple.command(BANK, "", None);
    couple.edit(BANK, "party.toml", "\"release\"", "\"again\"");
    Running::start(command).end().assert(2, &["accept_composition = true"]);
}

#[test]
fn a_dry_run_of_paths_tells_what_the_other_would_read_and_its_bytes() {
    let couple = couple();
    let mut command = couple.command(BANK, "", None);
    let output = command.arg("--dry-run").output().unwrap();
    let page = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "no ε; promised is not differential privacy but groups",
        "Bank and Loan company each read the other's anonymized rows",
        "the release less its own rows",
        "each learns which pairs of place and time the other took out",
        "The paths of Loan company are not known yet: they are assumed to be as many and as long as yours",
        "suppression",
        "The run is aborted after",
    ] {
        assert!(page.contains(words), "{words:?} is not in\n{page}");
    }
    assert!(!page.contains("tree") && !couple.path(BANK, "ledger.jsonl").exists(), "{page}");
}

#[test]
fn paths_that_cannot_be_released_are_refused_before_anything_is_spent_and_people_in_both_after() {
    let couple = couple();
    couple.write(BANK, "table.csv", "id,path,ill\nm1,a1,AIDS\nm2,a1,AIDS\n");
    Running::start(couple.command(BANK, "", None)).end().assert(2, &["2 of 2 have AIDS"]);
    assert!(couple.runs(BANK).is_empty());

    couple.write(BANK, "table.csv", FIRST);
    couple.edit(COMPANY, "table.csv", "n6", "M6");
    for (who, outcome) in couple.run().iter().enumerate() {
        outcome.assert(4, &["1 people are in both tables", "the run is in the ledger"]);
        assert!(!couple.has_release(who));
        assert_eq!(couple.runs(who)[0].status, Status::Aborted);
    }
}
