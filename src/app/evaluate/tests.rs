use super::group::Summary;
use super::released::{Released, rows};
use super::*;
use crate::Error;
use crate::agreement::Agreement;
use crate::error::Status;
use crate::math::Randomness;
use crate::privacy::Budget;
use crate::publish::artefacts::{MANIFEST, Output, RELEASE};
use crate::publish::manifest::Draft;
use crate::release::diffgen::single;
use crate::release::judge::distance::distances;
use crate::release::judge::generalize::Generalization;
use crate::release::judge::tree::{Kind, Tree, UNSEEN};
use crate::table::{Candidate, CutValue, Cuts, Specialization, parse_csv};
use proptest::prelude::*;

const AGREEMENT: &str = r#"
[release]
id = "loans"
partition = "local"
epsilon = "1.0"
specializations = 2
max_records = 100
[class]
column = "approved"
values = ["Y", "N"]
[[attribute]]
name = "job"
kind = "categorical"
taxonomy = { Any_Job = { Professional = ["Engineer", "Lawyer"], Artist = ["Dancer", "Writer"] } }
[[attribute]]
name = "salary"
kind = "numeric"
min = 18
max = 99
step = 1
"#;
/// Artists are refused, professionals get a loan from 50 on.
const RELEASED: &str = "job,salary,approved,count
Professional,[18..49],Y,1
Professional,[18..49],N,30
Professional,[50..99],Y,40
Professional,[50..99],N,0
Artist,[18..49],Y,0
Artist,[18..49],N,25
Artist,[50..99],Y,2
Artist,[50..99],N,30
";
const TEST: &str = "job,salary,approved
Engineer,20,N
Engineer,49,Y
Lawyer,50,Y
Lawyer,99,Y
Dancer,30,N
Writer,80,N
Writer,81,Y
Dancer,90,N
";

fn agreement(text: &str) -> Agreement {
    Agreement::parse("agreement.toml", text.as_bytes(), &|_| Err(String::new())).unwrap()
}

fn table(agreement: &Agreement, csv: &str) -> Table {
    let reading = Reading {
        schema: &agreement.schema,
        owner: None,
        identifier: None,
        max_records: MAX_RECORDS,
    };
    parse_csv("test.csv", csv.as_bytes(), &reading, &|_| {}).unwrap()
}

/// Any_Job divided, and salary at 50.
fn cuts(agreement: &Agreement) -> Cuts {
    let mut cuts = Cuts::topmost(&agreement.schema);
    for (attribute, split) in [(0, None), (1, Some(50 - 18))] {
        let candidate = Candidate { attribute, value: cuts.of(attribute)[0] };
        cuts.specialize(&Specialization { candidate, split }).unwrap();
    }
    cuts
}

#[test]
fn the_small_example_is_judged_as_by_hand() {
    let agreement = agreement(AGREEMENT);
    let cuts = cuts(&agreement);
    let mut values = Generalization::new(&cuts);
    let rows = rows(RELEASE, RELEASED.as_bytes(), &mut values).unwrap();
    assert_eq!(rows.len(), 6, "rows whose count is 0 are left out");
    let test = table(&agreement, TEST);
    // One record of each class: professionals with low and high salary, artists.
    let train = table(&agreement, "job,salary,approved\nLawyer,50,Y\nDancer,18,N\n");
    let found = assess(&values, &rows, &test, Some(&train)).unwrap();
    // Wrong are the professional with 49 and the artist with 81.
    assert_eq!((found.leaves, found.total, found.accuracy), (4, 128.0, 6.0 / 8.0));
    let distances = found.distances.unwrap();
    // 71 of 128 are professionals, 72 earn 50 or more, 43 are approved; half are in the records.
    let one_way = (71.0 / 128.0 - 0.5) + (72.0 / 128.0 - 0.5) + (0.5 - 43.0 / 128.0);
    assert!((distances.one_way - one_way / 3.0).abs() < 1e-12, "{distances:?}");
    // Pairs: what is in one record of the two is there for a half, the rest for nothing.
    let job_salary = (32.0 + 31.0) / 128.0; // Σ of what the release has too much
    let job_class = (30.0 + 2.0) / 128.0;
    let salary_class = (1.0 + 30.0) / 128.0;
    let two_way = (job_salary + job_class + salary_class) / 3.0;
    assert!((distances.two_way.unwrap() - two_way).abs() < 1e-12, "{distances:?}");
}

#[test]
fn the_baselines_are_the_raw_tree_and_the_larger_class() {
    let agreement = agreement(AGREEMENT);
    let mut csv = "job,salary,approved\n".to_owned();
    for salary in 18..100 {
        csv += &format!("Lawyer,{salary},{}\n", if salary < 70 { "N" } else { "Y" });
    }
    let train = table(&agreement, &csv);
    let test = table(&agreement, "job,salary,approved\nLawyer,69,N\nLawyer,70,Y\nDancer,99,Y\n");
    assert_eq!(baselines(&agreement.schema, &test, &train).unwrap(), (1.0, 1.0 / 3.0));
    let nobody = table(&agreement, "job,salary,approved\n");
    assert!(baselines(&agreement.schema, &nobody, &train).is_err());
    // Without records to learn from, the first class is as good as any.
    assert_eq!(baselines(&agreement.schema, &test, &nobody).unwrap(), (2.0 / 3.0, 2.0 / 3.0));
}

#[test]
fn sets_are_compared_as_wholes_and_unknown_ones_fall_to_the_larger_class() {
    let text = AGREEMENT.replace("kind = \"categorical\"", "kind = \"set\"");
    let agreement = agreement(&text);
    let mut cuts = Cuts::topmost(&agreement.schema);
    let candidate = Candidate { attribute: 0, value: cuts.of(0)[0] };
    cuts.specialize(&Specialization { candidate, split: None }).unwrap();
    let mut values = Generalization::new(&cuts);
    let csv = "job,salary,approved,count\nProfessional|Artist,[18..99],Y,50\n\
               Artist,[18..99],N,60\n";
    let rows = rows(RELEASE, csv.as_bytes(), &mut values).unwrap();
    assert_eq!(rows.kinds, [Kind::Nominal(2), Kind::Nominal(1)]);
    let test = table(
        &agreement,
        "job,salary,approved\nDancer|Lawyer,20,Y\nWriter|Dancer,20,N\nEngineer,20,N\n",
    );
    let records = values.records(&test).unwrap();
    assert_eq!(records.columns[0], [0, 1, UNSEEN]);
    assert_eq!(Tree::learn(&rows).accuracy(&records), Some(1.0));
    // 50/110 and 60/110 against thirds, the class the same: 1/3 is where the release has nothing.
    let found = distances(&rows, &records);
    assert!((found.one_way - (1.0 / 3.0 + (2.0 / 3.0 - 60.0 / 110.0)) / 2.0).abs() < 1e-12);
    let raw = raw(&agreement.schema, &test).unwrap();
    assert_eq!((raw.columns.len(), &raw.columns[1]), (5, &vec![1, 0, 0]), "one per item");
}

#[test]
fn a_summary_has_the_deviation_of_a_sample() {
    assert_eq!(Summary::of(&[1.0, 2.0, 3.0]), Summary { mean: 2.0, deviation: 1.0 });
    assert_eq!(Summary::of(&[5.0]), Summary { mean: 5.0, deviation: 0.0 });
    assert_eq!(Summary::of(&[]), Summary { mean: 0.0, deviation: 0.0 });
}

/// A release on disk, made from a hundred records.
fn on_disk() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let agreement = agreement(AGREEMENT);
    let mut csv = "job,salary,approved\n".to_owned();
    for (salary, job) in (18..98).zip(["Engineer", "Writer", "Dancer", "Lawyer"].iter().cycle()) {
        csv += &format!("{job},{salary},{}\n", if salary < 60 { "N" } else { "Y" });
    }
    let mut rng = Randomness::seeded(5);
    let budget = Budget::new(&"1".parse().unwrap());
    let records = table(&agreement, &csv);
    let release = single::release(&agreement, &records, budget, &mut rng, &|_| {}).unwrap();
    let plan = crate::release::plan::alone(&agreement).unwrap();
    let output = Output::prepare(place.path(), &agreement, &plan, false).unwrap();
    let draft = Draft::new(&agreement, &release, &plan.promise, None).unwrap();
    output.write(&release, &draft.release, &draft.signed(&[]).unwrap(), false).unwrap();
    place
}

fn judged(directory: &Path) -> Result<Judged, Error> {
    let released = Released::open(directory)?;
    let agreement = agreement(AGREEMENT);
    let test = table(&agreement, TEST);
    judge(&released, &Records { test, train: None, baselines: None })
}

#[test]
fn a_written_release_is_read_back_with_its_cuts() {
    let place = on_disk();
    let released = Released::open(place.path()).unwrap();
    let cuts = released.cuts().unwrap();
    assert_eq!(cuts.made().len(), 2);
    let total: f64 = judged(place.path()).unwrap().assessment.total;
    let csv = std::fs::read_to_string(place.path().join(RELEASE)).unwrap();
    let counts = csv.lines().skip(1).filter_map(|line| line.rsplit(',').next());
    assert_eq!(counts.map(|count| count.parse::<f64>().unwrap()).sum::<f64>(), total);
    let all: Vec<CutValue> = (0..2).flat_map(|attribute| cuts.of(attribute).to_vec()).collect();
    assert_eq!(all.len() as u64, if cuts.leaves() == 4 { 4 } else { all.len() as u64 });
}

#[test]
fn what_does_not_belong_together_is_refused_with_its_place() {
    let place = on_disk();
    let manifest = place.path().join(MANIFEST);
    let whole = std::fs::read_to_string(&manifest).unwrap();
    let refused = |text: &str| {
        std::fs::write(&manifest, text).unwrap();
        let failure = judged(place.path()).err().unwrap();
        assert_eq!(failure.status(), Status::WrongInput);
        assert!(failure.advice().is_some() && failure.message().contains("manifest.json"));
        failure.message().to_owned()
    };
    assert!(refused("{").contains("line 1"));
    assert!(refused("[]").contains("no `agreement`"));
    assert!(refused(&whole.replacen("\"cuts\"", "\"cut\"", 1)).contains("no list `cuts`"));
    let other = refused(&whole.replacen("\"attribute\": \"", "\"attribute\": \"x", 1));
    assert!(other.contains("cuts[0]: `x"), "{other}");
    let sum = refused(&whole.replacen("\"sha256\": \"", "\"sha256\": \"0", 1));
    assert!(sum.contains("release.csv: not the release"), "{sum}");
    std::fs::write(&manifest, &whole).unwrap();
    assert!(judged(place.path()).is_ok());
    std::fs::remove_file(place.path().join(RELEASE)).unwrap();
    assert!(judged(place.path()).err().unwrap().message().contains("release.csv"));
}

#[test]
fn rows_that_do_not_fit_the_cuts_are_refused_with_their_line() {
    let agreement = agreement(AGREEMENT);
    let cuts = cuts(&agreement);
    for (from, to, problem) in [
        ("job,", "jobs,", ":1: the columns are not"),
        (
            "Artist,[18..49],Y",
            "Painter,[18..49],Y",
            ":6: column `job`: `Painter` is not on the cut",
        ),
        ("Artist,[18..49],Y", "Artist,[18..48],Y", ":6: column `salary`"),
        ("Artist,[18..49],Y", "Artist,[18..49],y", ":6: column `approved`: `y` is not a class"),
        ("Y,40", "Y,-4", ":4: `-4` is not a count"),
        ("Y,40", "Y,4,0", ":4: 5 fields in place of 4"),
    ] {
        let csv = RELEASED.replacen(from, to, 1);
        let failure = rows(RELEASE, csv.as_bytes(), &mut Generalization::new(&cuts)).err().unwrap();
        assert!(failure.message().contains(problem), "{}", failure.message());
    }
    let empty = rows(RELEASE, b"", &mut Generalization::new(&cuts)).err().unwrap();
    assert!(empty.message().contains(":1: the file is empty"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_table_makes_the_reader_panic(mut csv in prop::collection::vec(any::<u8>(), 0..200),
        keep in 0usize..RELEASED.len()
    ) {
        let agreement = agreement(AGREEMENT);
        let cuts = cuts(&agreement);
        let _ = rows(RELEASE, &csv, &mut Generalization::new(&cuts));
        csv.splice(0..0, RELEASED.as_bytes()[..keep].iter().copied());
        if let Err(failure) = rows(RELEASE, &csv, &mut Generalization::new(&cuts)) {
            prop_assert!(failure.message().starts_with("release.csv:"), "{}", failure.message());
        }
    }

    #[test]
    fn no_manifest_makes_the_reader_panic(at in any::<prop::sample::Index>(),
        length in 0usize..12, new in "[\\[\\]{}\"a-z0-9.,: ]{0,12}"
    ) {
        thread_local! { static PLACE: tempfile::TempDir = on_disk(); }
        PLACE.with(|place| {
            let manifest = place.path().join(MANIFEST);
            let whole = std::fs::read_to_string(&manifest).unwrap();
            let mut text: Vec<char> = whole.chars().collect();
            let at = at.index(text.len());
            text.splice(at..(at + length).min(text.len()), new.chars());
            std::fs::write(&manifest, text.iter().collect::<String>()).unwrap();
            let found = judged(place.path());
            std::fs::write(&manifest, whole).unwrap();
            if let Err(failure) = found {
                assert_eq!(failure.status(), Status::WrongInput, "{}", failure.message());
            }
        });
    }
}

#[test]
fn a_release_of_nobody_has_a_total_of_0() {
    let nobody: f64 = std::iter::empty::<f64>().sum();
    assert_eq!(whole(nobody), "0");
    assert_eq!(whole(12.4), "12");
}
