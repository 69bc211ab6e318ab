//! The traces of the game paper's table, and what holds of every game.

use proptest::prelude::*;

use super::*;
use crate::agreement::{Agreement, Model};
use crate::release::lkc::specialize;
use crate::table::{Reading, parse_csv};

const W2: &str = "[release]\nid = \"w\"\npartition = \"local\"\nmodel = \"lkc\"\nmax_records = 100\n\
    [lkc]\nacknowledge = \"not differentially private\"\nscore = \"gain-ratio\"\n\
    [[lkc.requirement]]\nattributes = [\"sex\", \"job\"]\nk = 4\n\
    [[lkc.requirement]]\nattributes = [\"sex\", \"salary\"]\nk = 5\n\
    [class]\ncolumn = \"class\"\nvalues = [\"Y\", \"N\"]\n\
    [[attribute]]\nname = \"sex\"\nkind = \"categorical\"\ntaxonomy = { ANY = [\"M\", \"F\"] }\n\
    [[attribute]]\nname = \"job\"\nkind = \"categorical\"\n\
    taxonomy = { ANY = { Blue = { NonTech = [\"Janitor\", \"Mover\"], Tech = [\"Carpenter\", \"Technician\"] }, \
    White = { Manager = [], Prof = [\"Accountant\", \"Lawyer\"] } } }\n\
    [[attribute]]\nname = \"salary\"\nkind = \"numeric\"\nmin = 1\nmax = 98\nstep = 1\n";

/// Sex, job, salary, people of the first and of the second class.
const ROWS: [(&str, &str, u32, usize, usize); 10] = [
    ("M", "Janitor", 30, 0, 3),
    ("M", "Mover", 32, 0, 4),
    ("M", "Carpenter", 35, 2, 3),
    ("F", "Technician", 37, 3, 1),
    ("F", "Manager", 42, 4, 2),
    ("F", "Manager", 44, 3, 0),
    ("M", "Accountant", 44, 3, 0),
    ("F", "Accountant", 44, 3, 0),
    ("M", "Lawyer", 44, 2, 0),
    ("F", "Lawyer", 44, 1, 0),
];

fn read(csv: &str) -> (Agreement, Table) {
    let agreement = Agreement::parse("a.toml", W2.as_bytes(), &|_| Err(String::new())).unwrap();
    let reading =
        Reading { schema: &agreement.schema, owner: None, identifier: None, max_records: 100 };
    let table = parse_csv("t.csv", csv.as_bytes(), &reading, &|_| ()).unwrap();
    (agreement, table)
}

fn w2() -> (Agreement, Table) {
    let mut csv = "sex,job,salary,class\n".to_owned();
    for (sex, job, salary, yes, no) in ROWS {
        csv += &format!("{sex},{job},{salary},Y\n").repeat(yes);
        csv += &format!("{sex},{job},{salary},N\n").repeat(no);
    }
    read(&csv)
}

fn owners(of: &[&[usize]]) -> Vec<Owner> {
    let owner = |(place, of): (usize, &&[usize])| Owner {
        name: char::from(b'A' + place as u8).to_string(),
        attributes: of.to_vec(),
    };
    of.iter().enumerate().map(owner).collect()
}

fn fair(defecting: &[usize]) -> Strategies {
    Strategies { slack: Some("1/100".parse().unwrap()), defecting: defecting.to_vec() }
}

fn play_it<'t>(
    (agreement, table): &'t (Agreement, Table),
    owners: &[Owner],
    how: &Strategies,
) -> Played<'t> {
    let Model::Syntactic(terms) = &agreement.model else { panic!("another model") };
    play(&agreement.schema, terms, table, owners, how).unwrap()
}

fn number(rational: &Rational) -> String {
    rational.decimal_nearest(4)
}

fn steps(played: &Played<'_>) -> Vec<String> {
    let winner = |round: &Round| {
        let (owner, _) = round.won.as_ref()?;
        let Bid::Offers { what, .. } = &round.bids[*owner] else { panic!("the silent won") };
        Some(what.clone())
    };
    played.rounds.iter().filter_map(winner).collect()
}

const SEX: usize = 0;
const JOB: usize = 1;
const SALARY: usize = 2;

#[test]
fn without_the_rule_the_game_is_what_one_party_does() {
    let table = w2();
    let played = play_it(&table, &owners(&[&[SEX], &[JOB, SALARY]]), &Strategies::default());
    let Model::Syntactic(terms) = &table.0.model else { panic!("another model") };
    let alone = specialize(&table.0.schema, terms, &table.1).unwrap();
    assert_eq!(played.cuts().made(), alone.cuts().made());
    assert_eq!(number(&played.contributions[1]), "1.6360");
    let last = &played.rounds.last().unwrap().bids;
    assert!(last.iter().all(|bid| matches!(bid, Bid::Silent(Silence::NothingValid))));
}

#[test]
fn sex_against_job_and_salary_ends_after_one_each() {
    let (table, owners) = (w2(), owners(&[&[SEX], &[JOB, SALARY]]));
    let honest = play_it(&table, &owners, &fair(&[]));
    assert_eq!(steps(&honest), ["salary: [1..98]", "sex: ANY"]);
    let last = &honest.rounds[2].bids;
    assert!(matches!(last[0], Bid::Silent(Silence::NothingValid)), "{last:?}");
    assert!(matches!(last[1], Bid::Silent(Silence::Ahead { of: 0 })), "{last:?}");
    // Who defects gets what it would have got.
    for (owner, benefit) in [(0, "0.3827"), (1, "0.1348")] {
        assert_eq!(number(&honest.benefit(owner)), benefit);
        let alone = play_it(&table, &owners, &fair(&[owner]));
        assert_eq!(number(&alone.benefit(owner)), benefit);
        assert!(matches!(alone.rounds[0].bids[owner], Bid::Silent(Silence::Defects)));
    }
}

#[test]
fn job_and_sex_against_salary_take_turns() {
    let (table, owners) = (w2(), owners(&[&[JOB, SEX], &[SALARY]]));
    let honest = play_it(&table, &owners, &fair(&[]));
    assert_eq!(
        steps(&honest),
        [
            "salary: [1..98]",
            "job: ANY",
            "job: Blue",
            "salary: [1..36]",
            "sex: ANY",
            "salary: [37..98]",
            "job: White"
        ]
    );
    assert_eq!(honest.contributions.iter().map(number).collect::<Vec<_>>(), ["0.8707", "0.8083"]);
    for (owner, benefit) in [(0, "0.3827"), (1, "0.2723")] {
        assert_eq!(number(&play_it(&table, &owners, &fair(&[owner])).benefit(owner)), benefit);
    }
    let three = play_it(&table, &self::owners(&[&[SEX], &[JOB], &[SALARY]]), &fair(&[]));
    assert_eq!(steps(&three), ["salary: [1..98]", "job: ANY", "sex: ANY"]);
}

#[test]
fn nobody_who_defects_pays_and_if_all_do_nothing_happens() {
    let (table, owners) = (w2(), owners(&[&[JOB, SEX], &[SALARY]]));
    let played = play_it(&table, &owners, &fair(&[0, 1]));
    assert_eq!((played.rounds.len(), played.cuts().made().len()), (1, 0));
    assert_eq!(
        played.quality,
        Quality { people: 34, groups: 1, discernibility: 1156, majority: 21 }
    );
}

#[test]
fn discounts_are_those_of_the_theorem() {
    let rounded = |value: f64| (value * 1e4).round() / 1e4;
    for (owners, equal, turns) in [(2, 0.5, 0.6180), (3, 0.5774, 0.6823), (4, 0.6300, 0.7245)] {
        assert_eq!(rounded(discount_of_equal_shares(owners)), equal);
        assert_eq!(rounded(discount_of_turns(owners)), turns);
    }
    // One now or one a round later: the later one is worth it at 1 alone.
    assert_eq!(smallest_discount(&[0.0, 1.0], &[1.0]), Some(1.0));
    assert_eq!(smallest_discount(&[0.0, 2.0], &[1.0]), Some(0.5));
    assert_eq!(smallest_discount(&[1.0], &[1.0, 0.0]), Some(0.0));
    assert_eq!(smallest_discount(&[1.0], &[1.0, 0.1]), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn under_the_rule_no_owner_gets_far_ahead_and_benefits_are_others_contributions(
        rows in prop::collection::vec((0usize..10, 0usize..10, 0u32..98, any::<bool>()), 5..60),
        holders in prop::collection::vec(0usize..3, 3), percent in 0u64..40, defecting in 0usize..4,
    ) {
        let mut csv = "sex,job,salary,class\n".to_owned();
        for (sex, job, salary, yes) in rows {
            let class = if yes { "Y" } else { "N" };
            csv += &format!("{},{},{},{class}\n", ROWS[sex].0, ROWS[job].1, salary + 1);
        }
        let table = read(&csv);
        let of = |owner| (0..3).filter(|place| holders[*place] == owner).collect::<Vec<usize>>();
        let held: Vec<Vec<usize>> = (0..3).map(of).collect();
        let owners = owners(&held.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let slack = Rational::new(percent, 100u64).unwrap();
        let defecting = if defecting < 3 { vec![defecting] } else { vec![] };
        let how = Strategies { slack: Some(slack.clone()), defecting: defecting.clone() };
        let Model::Syntactic(terms) = &table.0.model else { panic!("another model") };
        let played = play(&table.0.schema, terms, &table.1, &owners, &how)?;
        let mut paid = vec![Rational::zero(); 3];
        let mut largest = vec![Rational::zero(); 3];
        for round in &played.rounds {
            let Some((owner, score)) = &round.won else { break };
            paid[*owner] = &paid[*owner] + score;
            largest[*owner] = largest[*owner].clone().max(score.clone());
            for one in 0..3 {
                let least = paid.iter().min().unwrap();
                prop_assert!(paid[one] <= &(least + &slack) + &largest[one]);
            }
        }
        prop_assert_eq!(&paid, &played.contributions);
        let all = paid.iter().fold(Rational::zero(), |sum, one| &sum + one);
        for (owner, paid) in paid.iter().enumerate() {
            prop_assert_eq!(&(&played.benefit(owner) + paid), &all);
            prop_assert!(!defecting.contains(&owner) || paid.is_zero());
        }
    }
}
