mod union;

use super::*;
use crate::error::Kind;
use crate::table::Dialect;
use proptest::prelude::*;

fn form(columns: Columns) -> Form {
    Form::new(columns, "ill", vec!["AIDS".to_owned()])
}

fn read(text: &str, form: &Form) -> Result<Paths, Error> {
    read_bytes(text.as_bytes(), form)
}

fn read_bytes(bytes: &[u8], form: &Form) -> Result<Paths, Error> {
    Paths::read(("paths.csv", Dialect::default()), bytes, form, &|_| {})
}

fn wide() -> Form {
    form(Columns::Wide { id: Some("id".to_owned()), path: "path".to_owned() })
}

fn long() -> Form {
    let [id, location, time] = ["id", "place", "time"].map(str::to_owned);
    form(Columns::Long { id, location, time })
}

fn refusal(text: &str, form: &Form) -> String {
    read(text, form).unwrap_err().to_string()
}

#[test]
fn both_forms_read_the_same_paths_and_bins_and_stays_fall_together() {
    let one = read("id,path,ill\n1,b2>d3,Flu\n2,,AIDS\n3,d3>b@7,Flu\n4,b2>d3,Flu\n", &wide());
    let one = one.unwrap();
    // Rows are in order, and those that are the same are one.
    assert_eq!(
        (one.rows(), one.of(0), one.of(1), one.of(2)),
        (3, &[][..], &[0, 1][..], &[1, 2][..])
    );
    assert_eq!((one.len(), one.instances(), &one.people[..]), (4, 6, &[1, 2, 1][..]));
    assert_eq!((one.told(), one.alone()), ((4, vec![1]), 2));
    let text = "id,place,time,ill\n1,d,3,Flu\n1,b,2,Flu\n3,b,7,Flu\n3,d,3,Flu\n";
    let two = read(text, &long()).unwrap();
    assert_eq!((&two.pairs, two.of(0), two.of(1)), (&one.pairs, one.of(1), one.of(2)));
    let coarse = Form { bin: 4, collapse: true, ..long() };
    let text = "id,place,time,ill\n1,d,1,Flu\n1,d,3,Flu\n1,d,5,Flu\n1,b,9,Flu\n";
    let three = read(text, &coarse).unwrap();
    let names: Vec<_> =
        three.of(0).iter().map(|pair| three.pairs[*pair as usize].clone()).collect();
    assert_eq!(names, [(0, "d".to_owned()), (2, "b".to_owned())]);
    let wide = Form { bin: 4, collapse: true, ..wide() };
    let four = read("id,path,ill\n1,d1>d3>d5>b9,Flu\n", &wide).unwrap();
    assert_eq!((&four.pairs, four.of(0)), (&three.pairs, three.of(0)));
}

#[test]
fn a_row_can_stand_for_many_people_and_values_can_be_agreed() {
    let columns = Columns::Wide { id: None, path: "path".to_owned() };
    let agreed = Form {
        count: Some("count".to_owned()),
        values: Some(vec!["Flu".to_owned(), "AIDS".to_owned()]),
        most: 9,
        ..form(columns)
    };
    let paths = read("path,ill,count\nb2>d3,Flu,5\nb2>d3,AIDS,3\nb2,Flu,1\n", &agreed).unwrap();
    assert_eq!((paths.len(), paths.rows(), paths.alone()), (9, 3, 1));
    assert_eq!(paths.told(), (9, vec![3]));
    let mut csv = Vec::new();
    paths.write("ill", &mut csv).unwrap();
    let rows = ["b2,Flu\n", &"b2>d3,AIDS\n".repeat(3), &"b2>d3,Flu\n".repeat(5)].concat();
    assert_eq!(String::from_utf8(csv).unwrap(), format!("path,ill\n{rows}"));
    for (rows, said) in [
        ("b2,Flu,10\n", "more than 9 people"),
        ("b2,Flu,0\n", "line 2: a count is not one"),
        ("b2,Flu,1\nb2,Flu,-1\n", "line 3: a count is not one"),
        ("b2,Flue,1\n", "line 2: `Flue` is not an agreed value of `ill`; is it `Flu`?"),
        ("b2,Flu\n", "line 2: 2 fields where the first line has 3"),
        ("b2,Flu,1\n\n\nb,Flu,1\n", "line 5: `b` is not a place and a time"),
    ] {
        let refused = refusal(&format!("path,ill,count\n{rows}"), &agreed);
        assert!(refused.contains(said), "{refused}");
    }
}

#[test]
fn tables_that_are_not_of_paths_are_refused_with_the_place() {
    for (text, said) in [
        ("id,path,ill\n1,b2>d3,Flu\n1,b2,Flu\n", "line 3: an identifier comes twice"),
        ("id,path,ill\n1,d3>b2,Flu\n", "line 2: a path is at two places"),
        ("id,path,ill\n1,d3>b3,Flu\n", "line 2: a path is at two places"),
        ("id,path,ill\n1,d,Flu\n", "`d` is not a place and a time"),
        ("id,path,ill\n1,d99999999999999999999,Flu\n", "is not a place and a time"),
        ("id,way,ill\n1,d3,Flu\n", "the column `path` is missing"),
        ("", "the file is empty"),
    ] {
        let refused = refusal(text, &wide());
        assert!(refused.contains(said), "{refused}");
    }
    let nowhere = refusal("id,place,time,ill\n1,\u{a0},1,Flu\n", &long());
    assert!(nowhere.contains("the place is empty"), "{nowhere}");
    let two = refusal("id,place,time,ill\n1,d,1,Flu\n1,b,2,AIDS\n", &long());
    assert!(two.contains("line 3: a person has two sensitive values"), "{two}");
    let two = refusal("id,place,time,ill\n1,d,1,Flu\n1,b,1,Flu\n", &long());
    assert!(two.contains("at two places at one time"), "{two}");
}

#[test]
fn what_would_take_too_long_is_refused_before_it_begins() {
    let path: Vec<String> = (0..400).map(|time| format!("a{time}")).collect();
    let text = format!("id,path,ill\n1,{0},Flu\n2,{0},None\n", path.join(">"));
    let paths = read(&text, &wide()).unwrap();
    let terms = Terms { l: 7, k: 2, c: (1, 1), support: 2, score: Score::Gain };
    let refused = anonymize(&paths, &terms).unwrap_err();
    assert!(refused.message().starts_with("this would take about"), "{refused}");
    assert_eq!(paths.most_increments(2), 2 * (400 + 400 * 399 / 2));
    assert_eq!(paths.most_steps(2), paths.most_increments(2));
    // Both paths have the same sets of three pairs; the parts of each are 4.
    let threes = 400 * 399 * 398 / 6;
    assert_eq!(paths.most_steps(3), paths.most_increments(3) + threes * 4);
    for l in [0, MOST_KNOWN + 1, usize::MAX] {
        let terms = Terms { l, ..terms.clone() };
        let refused = anonymize(&paths, &terms).unwrap_err();
        assert!(refused.message().starts_with(&format!("`l` is {l}: ")), "{refused}");
        assert!(terms.warning(1).contains("sightings can identify them"));
    }
    assert_eq!(paths.most_steps(usize::MAX), u128::MAX);
    // A set of 400 pairs would be gone into as deep; all of its parts are frequent.
    let refused = frequent::find(&paths, &paths.index(), 2);
    assert!(refused.unwrap_err().message().contains("sets of pairs are frequent"));
}

#[test]
fn what_is_left_is_tested_as_a_whole_again() {
    let mut rows = [["a1,AIDS"; 2], ["a1>a5,Flu"; 2], ["a5,AIDS"; 2]].concat();
    rows.extend(["b2,Flu", "c2,Flu", "d2,Flu", "e2,Flu"]);
    let read = |rows: &[&str]| {
        let rows: String = (1..).zip(rows).map(|(id, row)| format!("{id},{row}\n")).collect();
        read(&format!("id,path,ill\n{rows}"), &wide()).unwrap()
    };
    let terms = Terms { l: 2, k: 2, c: (1, 2), support: 2, score: Score::GainPerLoss };
    let paths = read(&rows);
    assert_eq!(whole(&paths, &terms), Ok(()), "4 of 10");
    let refused = anonymize(&paths, &terms).unwrap_err();
    let left =
        "what is left once 4 paths have lost all their pairs is not as required: 4 of 6 have AIDS";
    assert!(refused.message().starts_with(left), "{refused}");
    assert!(refused.to_string().contains("raise `c`, or lower `k` or `l`"), "{refused}");
    assert_eq!(anonymize(&paths, &Terms { c: (2, 3), ..terms.clone() }).unwrap().paths.len(), 6);
    // No set of pairs is violated in what would have been left.
    let left = read(&rows[..6]);
    assert!(violating::find(&left, &left.index(), 2, &terms.rule()).unwrap().sets.is_empty());
    assert!(whole(&left, &terms).is_err());
    let alone = read(&rows[6..]);
    let refused = anonymize(&alone, &terms).unwrap_err().to_string();
    assert!(refused.contains("0 paths are fewer than k = 2"), "{refused}");
}

#[test]
fn terms_that_ask_for_nothing_are_refused_and_values_and_identifiers_are_trimmed() {
    let text = "id,path,ill\n1,b2,AIDS\n2,b2,Flu\n";
    let said = |k, c, protect: &[&str]| {
        let protect = protect.iter().map(|value| (*value).to_owned()).collect();
        let paths = read(text, &Form { protect, ..wide() }).unwrap();
        let terms = Terms { l: 1, k, c, support: 1, score: Score::Gain };
        terms.ask_for_something(&paths).map(|()| paths.told().1).map_err(|e| e.to_string())
    };
    assert_eq!(said(1, (1, 2), &[" AIDS "]), Ok(vec![1]));
    assert_eq!(said(2, (1, 1), &[]), Ok(vec![]));
    for (k, c, protect, problem) in [
        (1, (1, 1), &["AIDS"][..], "nothing is required"),
        (2, (1, 2), &[], "no value is protected"),
        (2, (1, 2), &["AIDS", "AIDS "], "named twice"),
        (2, (1, 1), &["AlDS"], "did you mean `AIDS`?"),
    ] {
        let refused = said(k, c, protect).unwrap_err();
        assert!(refused.contains(problem), "{refused}");
    }
    let twice = refusal("id,path,ill\n1,b2,Flu\n 1 ,b2,Flu\n", &wide());
    assert!(twice.contains("an identifier comes twice"), "{twice}");
    let one = "id,place,time,ill\n1,d,1,Flu\n 1,b,2,Flu\n";
    assert_eq!(read(one, &long()).unwrap().len(), 1);
    let many = Form { protect: vec![String::new(); 256], ..wide() };
    assert!(refusal(text, &many).contains("more than 255"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn nothing_is_violated_afterwards_and_neither_order_nor_threads_matter(
        rows in prop::collection::vec((0u32..1 << 10, 0usize..3), 4..60), l in 1usize..5, k in 2u64..5,
    ) {
        let line = |(id, (bits, ill)): (usize, &(u32, usize))| {
            let times = (0..10).filter(|time| bits >> time & 1 == 1);
            let path: Vec<String> = times.map(|t| format!("{}{t}", ["a", "b"][(bits >> 9) as usize])).collect();
            format!("{id},{},{}\n", path.join(">"), ["AIDS", "Flu", "None"][*ill])
        };
        let head = "id,path,ill\n".to_owned();
        let one = head.clone() + &rows.iter().enumerate().map(line).collect::<String>();
        let two = head + &rows.iter().enumerate().rev().map(line).collect::<String>();
        let terms = Terms { l, k, c: (3, 4), support: 3, score: Score::GainPerLoss };
        let run = |text: &str| {
            let paths = read(text, &wide()).unwrap();
            let made = match anonymize(&paths, &terms) {
                Ok(made) => made,
                Err(error) => {
                    assert_eq!(error.kind(), Kind::Unmet, "{error}");
                    let is_left = error.message().starts_with("what is left");
                    assert!(is_left || whole(&paths, &terms).is_err());
                    return None;
                }
            };
            assert_eq!(whole(&made.paths, &terms), Ok(()));
            let left = violating::find(&made.paths, &made.paths.index(), l, &terms.rule()).unwrap();
            assert!(left.sets.is_empty());
            // Nothing is left out of a search that finds nothing.
            assert_eq!(u128::from(left.increments), made.paths.most_increments(l));
            let raw = violating::find(&paths, &paths.index(), l, &terms.rule()).unwrap();
            assert!(u128::from(raw.increments) <= paths.most_increments(l));
            let mut csv = Vec::new();
            made.paths.write("ill", &mut csv).unwrap();
            Some(csv)
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        prop_assert_eq!(run(&one), pool.install(|| run(&two)));
    }
}

proptest! {
    #[test]
    fn whatever_a_file_holds_there_are_paths_or_a_reason(
        body in "[a-c0-9@>,\"\n\r é]{0,80}", bytes in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        for form in [wide(), long()] {
            for head in ["id,path,ill\n", "id,place,time,ill\n", ""] {
                let _ = read_bytes(&[head.as_bytes(), body.as_bytes()].concat(), &form);
                let _ = read_bytes(&[head.as_bytes(), &bytes].concat(), &form);
            }
        }
    }
}

#[test]
fn made_up_paths_are_the_same_for_a_seed_and_can_be_read() {
    use generate::{World, write};
    let form = Form { sensitive: "sensitive".to_owned(), ..wide() };
    for (world, mean) in [(World::City, 6..10), (World::Metro { headway: 5, delay: 0 }, 6..11)] {
        let text = |seed| {
            let mut out = Vec::new();
            write(world, 500, seed, &mut out).unwrap();
            out
        };
        assert_eq!(text(1), text(1));
        assert_ne!(text(1), text(2));
        let paths = read_bytes(&text(1), &form).unwrap();
        let mean_length = paths.instances() as usize / paths.len();
        assert!(mean.contains(&mean_length), "{mean_length}");
    }
}

/// All sets of at most `l` pairs that occur, each with its people and those who have AIDS.
fn counted(paths: &Paths, l: usize) -> std::collections::BTreeMap<Vec<u32>, (u64, u64)> {
    let mut all = std::collections::BTreeMap::new();
    let protected = paths.values.iter().position(|value| value == "AIDS");
    for row in 0..paths.rows() {
        let (pairs, people) = (paths.of(row), u64::from(paths.people[row]));
        let told = if Some(paths.sensitive[row] as usize) == protected { people } else { 0 };
        for chosen in 1u32..1 << pairs.len() {
            let part = (0..pairs.len()).filter(|place| chosen >> place & 1 == 1);
            let set: Vec<u32> = part.map(|place| pairs[place]).collect();
            if set.len() <= l {
                let counts: &mut (u64, u64) = all.entry(set).or_default();
                *counts = (counts.0 + people, counts.1 + told);
            }
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn searches_find_what_trying_everything_finds(
        rows in prop::collection::vec((0u32..1 << 8, 0usize..3), 1..40),
        l in 1usize..6, k in 1u64..6, support in 1u64..6,
    ) {
        let line = |(id, (bits, ill)): (usize, &(u32, usize))| {
            let times = (0..8).filter(|time| bits >> time & 1 == 1);
            let path: Vec<String> = times.map(|time| format!("a{time}")).collect();
            format!("{id},{},{}\n", path.join(">"), ["AIDS", "Flu", "None"][*ill])
        };
        let text = "id,path,ill\n".to_owned() + &rows.iter().enumerate().map(line).collect::<String>();
        let paths = read(&text, &wide()).unwrap();
        let terms = Terms { l, k, c: (1, 2), support, score: Score::Gain };
        let rule = terms.rule();
        let all = counted(&paths, 8);
        let bad = |set: &[u32]| all.get(set).is_some_and(|(n, told)| *n < k || !rule.allows(*n, *told));
        let parts = |set: &[u32]| -> Vec<Vec<u32>> {
            let chosen = 1u32..(1 << set.len()) - 1;
            let part = |bits: u32| (0..set.len()).filter(|p| bits >> p & 1 == 1).map(|p| set[p]).collect();
            chosen.map(part).collect()
        };
        let is_minimal = |set: &&Vec<u32>| {
            set.len() <= l && bad(set) && !parts(set).iter().any(|part| bad(part))
        };
        let mut minimal: Vec<Vec<u32>> = all.keys().filter(is_minimal).cloned().collect();
        minimal.sort_by_key(|set| (set.len(), set.clone()));
        let found = violating::find(&paths, &paths.index(), l, &rule).unwrap();
        prop_assert_eq!(found.sets.iter().map(<[u32]>::to_vec).collect::<Vec<_>>(), minimal);
        let often: Vec<&Vec<u32>> = all.iter().filter(|(_, (n, _))| *n >= support).map(|(set, _)| set).collect();
        let within = |a: &[u32], b: &[u32]| a.len() < b.len() && a.iter().all(|pair| b.contains(pair));
        let mut maximal: Vec<Vec<u32>> = often.iter()
            .filter(|set| !often.iter().any(|other| within(set, other)))
            .map(|set| (*set).clone()).collect();
        maximal.sort_by_key(|set| (set.len(), set.clone()));
        let found = frequent::find(&paths, &paths.index(), support).unwrap();
        prop_assert_eq!(found.iter().map(<[u32]>::to_vec).collect::<Vec<_>>(), maximal);
    }
}

#[test]
fn more_violating_sets_than_can_be_kept_are_refused() {
    // Any two of 40 places at different times are seen together once.
    let path: Vec<String> = (0..40).map(|time| format!("a{time}")).collect();
    let rows = (0..40).map(|id| format!("{id},a{id},Flu\n")).collect::<String>();
    let text = format!("id,path,ill\n{rows}x,{},Flu\n", path.join(">"));
    let paths = read(&text, &wide()).unwrap();
    let terms = Terms { l: 2, k: 2, c: (1, 1), support: 2, score: Score::Gain };
    let find = |most| {
        violating::find_at_most(&paths, &paths.index(), 2, &terms.rule(), most)
            .map(|f| f.sets.len())
    };
    assert_eq!(find(780).unwrap(), 40 * 39 / 2);
    let refused = find(779).unwrap_err();
    assert!(refused.message().starts_with("more than 779 sets of pairs"), "{refused}");
    assert!(refused.to_string().contains("use a smaller `l`"), "{refused}");
}
