//! Dates, booleans, edges and missing values, divided between two parties in each way.

use super::two_parties::{alone, assert_equal, assert_release_forecast, together};
use super::*;
use crate::protocol::coins::TapeCoins;
use crate::role::Role;

fn mixed(partition: &str) -> Agreement {
    let owner = |role: &str| match partition {
        "vertical" => format!("owner = \"{role}\"\n"),
        _ => String::new(),
    };
    let id = if partition == "vertical" {
        "[id]\ncolumn = \"id\"\nnormalize = [\"trim\"]\n"
    } else {
        ""
    };
    let text = format!(
        "[release]\nid = \"kinds\"\npartition = \"{partition}\"\nmax_records = 1000\n\
         epsilon = \"4\"\nspecializations = 5\n\
         [parties.p1]\nname = \"A\"\nfingerprint = \"sha256:{}\"\n\
         [parties.p2]\nname = \"B\"\nfingerprint = \"sha256:{}\"\n{id}\
         [class]\ncolumn = \"class\"\nvalues = [\"Y\", \"N\"]\n\
         [[attribute]]\nname = \"visit\"\n{p1}kind = \"date\"\nmin = \"2020-01-01\"\n\
         max = \"2021-12-31\"\nstep = \"quarter\"\nmissing = \"category\"\n\
         [[attribute]]\nname = \"smokes\"\n{p1}kind = \"boolean\"\nmissing = \"category\"\n\
         [[attribute]]\nname = \"dose\"\n{p2}kind = \"numeric\"\nedges = [0, 0.5, 1, 2, 5, 10]\n\
         missing = \"category\"\noutside = \"nearest\"\n\
         [[attribute]]\nname = \"job\"\n{p2}kind = \"categorical\"\nmissing = \"category\"\n\
         taxonomy = {{ Any = {{ A = [\"a\", \"b\"], C = [\"c\", \"d\"] }} }}\n",
        "11".repeat(32),
        "22".repeat(32),
        p1 = owner("p1"),
        p2 = owner("p2"),
    );
    Agreement::parse("kinds.toml", text.as_bytes(), &|_| Err("no files here".to_owned()))
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The columns of one party, or all, of the records from `first` on.
fn cells(agreement: &Agreement, owner: Option<Role>, people: std::ops::Range<usize>) -> Table {
    let visits = ["2020-01-01", "2020-05-17", "", "2021-12-31"];
    let (smokes, doses) = (["yes", "0", ""], ["0", "0.7", "", "5", "99"]);
    let jobs = ["a", "b", "c", "d", ""];
    let mut csv = "id,class,visit,smokes,dose,job\n".to_owned();
    for id in people {
        let class = if id % 4 == 2 || id % 5 > 2 { "Y" } else { "N" };
        let (visit, smokes) = (visits[id % 4], smokes[id % 3]);
        csv += &format!("{id},{class},{visit},{smokes},{},{}\n", doses[id % 5], jobs[id * 3 % 5]);
    }
    let identifier = agreement.identifier().filter(|_| owner.is_some());
    let reading = Reading { schema: &agreement.schema, owner, identifier, max_records: 1000 };
    parse_csv("kinds.csv", csv.as_bytes(), &reading, &|_| {}).unwrap()
}

fn assert_same(partition: &str, tables: [Table; 2], agreement: &Agreement, common: usize) {
    let joined = cells(agreement, None, 0..30);
    let lengths = [tables[0].len(), tables[1].len()];
    for seed in 0..3 {
        let (expected, tape) = alone(agreement, &joined, seed);
        let outcome = together(agreement, [&tables[0], &tables[1]], TapeCoins::pair(&tape));
        let made = expected.table.cuts.made();
        let seen = (&outcome.transcripts, &outcome.costs);
        assert_release_forecast(agreement, seen, lengths, common, made);
        for party in [outcome.p1, outcome.p2] {
            assert_equal(agreement, &party.unwrap().release, &expected, seed);
        }
        let written = text(&expected);
        assert!(written.contains("missing"), "{partition}: {written}");
    }
}

#[test]
fn two_parties_with_different_columns_release_them_as_one_would() {
    let agreement = mixed("vertical");
    let tables = Role::BOTH.map(|owner| cells(&agreement, Some(owner), 0..30));
    assert_same("vertical", tables, &agreement, 30);
}

#[test]
fn two_parties_with_different_people_release_them_as_one_would() {
    let agreement = mixed("horizontal");
    let tables = [0..12, 12..30].map(|people| cells(&agreement, None, people));
    assert_same("horizontal", tables, &agreement, 0);
}
