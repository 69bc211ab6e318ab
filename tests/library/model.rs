//! A release model from agreement to report through the library, as ARCHITECTURE.md says how to add
//! one: the command has no line for it.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use diptych::agreement::Agreement;
use diptych::net::{Identity, Stop};
use diptych::privacy::ledger;
use diptych::publish::data::Source;
use diptych::publish::local::{Entered, Wanted};
use diptych::publish::party::Party;
use diptych::publish::rows::{self, Values};
use diptych::publish::run::{self, Options, Side};
use diptych::publish::{Watcher, local, report, verify};
use diptych::release::{Step, examine};
use sha2::{Digest, Sha256};

const ALONE: &str = r#"
[release]
id = "exact"
partition = "local"
model = "exact-counts"
max_records = 100
[class]
column = "ill"
values = ["yes", "no"]
[[attribute]]
name = "job"
kind = "categorical"
taxonomy = { Any_Job = ["Engineer", "Writer"] }
"#;

/// Keeps what is said, and the phases.
#[derive(Default)]
struct Ear(Mutex<Vec<String>>);

impl Watcher for Ear {
    fn say(&self, line: &str) {
        self.0.lock().unwrap().push(line.to_owned());
    }

    fn step(&self, step: Step) {
        if let Step::Began { phase, .. } = step {
            self.say(&format!("phase {phase}"));
        }
    }
}

fn agreement(text: &str) -> Agreement {
    Agreement::parse("exact.toml", text.as_bytes(), &|_| Err("no files here".to_owned())).unwrap()
}

#[test]
fn a_model_without_epsilon_goes_from_agreement_to_report_through_the_library() {
    let place = tempfile::tempdir().unwrap();
    let (data, out) = (place.path().join("people.csv"), place.path().join("release"));
    fs::write(&data, "job,ill\nWriter,yes\nEngineer,no\nWriter,no\n").unwrap();
    let (agreement, ear) = (agreement(ALONE), Ear::default());
    assert!(agreement.plain_words().contains("Nothing: the counts are exact."));
    assert_eq!(Agreement::from_canonical(agreement.canonical().as_bytes()).unwrap(), agreement);

    let (ledger, cap) = (place.path().join("ledger.jsonl"), "1".parse().unwrap());
    let entered =
        Some(Entered { ledger: &ledger, new: !ledger.exists(), cap: &cap, data_set: None });
    let data = Source::file(&data);
    let wanted = Wanted { data: &data, out: &out, compact: false, entered, identity: None };
    local::release(&agreement, &wanted, &ear).unwrap();
    let said = ear.0.into_inner().unwrap().join("\n");
    assert!(said.contains("phase counting") && said.contains("promise: none"), "{said}");

    assert_eq!(
        fs::read_to_string(out.join("release.csv")).unwrap(),
        "job,ill,count\nAny_Job,yes,1\nAny_Job,no,2\n"
    );
    let (_, found) = verify::check(&out).unwrap();
    assert!(found.contains(&"promise    none: the counts are exact".to_owned()), "{found:?}");
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("none: the counts are exact") && !page.contains("What was spent"));
    assert!(!page.contains("Differentially private") && !page.contains("noise"));
    assert_eq!(report::write_page(&out, None, false).unwrap(), out.join("report.html"));

    let history = ledger::read(&ledger).unwrap();
    let debit = &history.runs()[0].debit;
    assert_eq!((&debit.epsilon, &debit.cap, &debit.delta), (&None, &None, &None));
    assert_eq!(debit.promise.as_deref(), Some("none: the counts are exact"));
    assert!(
        history.spent("people.csv").is_zero()
            && history.cap("people.csv", ledger::Reader::Anybody).is_none()
    );
}

#[test]
fn a_delta_that_is_something_else_than_a_small_number_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let (data, out) = (place.path().join("people.csv"), place.path().join("release"));
    fs::write(&data, "job,ill\nWriter,yes\nEngineer,no\n").unwrap();
    let terms = "epsilon = \"1\"\nspecializations = 1\nmax_records";
    let text = ALONE.replace("model = \"exact-counts\"\n", "").replace("max_records", terms);
    let data = Source::file(&data);
    let wanted = Wanted { data: &data, out: &out, compact: false, entered: None, identity: None };
    local::release(&agreement(&text), &wanted, &Ear::default()).unwrap();
    verify::check(&out).unwrap();
    let manifest = fs::read_to_string(out.join("manifest.json")).unwrap();
    for forged in ["0\\nsigned     by Bank, sha256:00", "0.01", "", "-1", "1e-50"] {
        let changed = manifest.replace("\"delta\": \"0\"", &format!("\"delta\": \"{forged}\""));
        assert_ne!(changed, manifest);
        fs::write(out.join("manifest.json"), changed).unwrap();
        let refused = verify::check(&out).unwrap_err();
        assert!(refused.message().contains("δ of at most 2^-40"), "{forged}: {refused}");
    }
}

/// Runs both parties over loopback, to the end.
fn run_two(
    place: &Path,
    agreement: &Agreement,
    pems: &[impl AsRef<str>; 2],
    rows: [&str; 2],
) -> [Party; 2] {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let party = |index: usize, meeting: &str| {
        let directory = place.join(format!("p{}", index + 1));
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join("identity.pem"), pems[index].as_ref()).unwrap();
        fs::write(directory.join("table.csv"), rows[index]).unwrap();
        let text = format!(
            "role = \"p{}\"\ndata = \"table.csv\"\nidentity = \"identity.pem\"\n\
             {meeting} = \"{free}\"\nledger = \"ledger.jsonl\"\nout = \"release\"\ncap = \"3\"\n\
             data_set = \"people\"\nwait_seconds = 30\n",
            index + 1
        );
        let party = Party::parse("party.toml", text.as_bytes(), &directory).unwrap();
        Party { new_ledger: true, ..party }
    };
    let both = [party(0, "listen"), party(1, "connect")];
    let side = |party: &Party| {
        let side = Side::new(agreement, party, &Ear::default()).unwrap();
        run::run(&side, Options { record: true, ..Options::default() }, &Ear::default()).unwrap();
    };
    std::thread::scope(|scope| {
        scope.spawn(|| side(&both[0]));
        side(&both[1]);
    });
    both
}

fn two_parties(prints: &[impl std::fmt::Display; 2]) -> String {
    format!(
        "[parties.p1]\nname = \"North\"\nfingerprint = \"{}\"\n\
         [parties.p2]\nname = \"South\"\nfingerprint = \"{}\"\n",
        prints[0], prints[1]
    )
}

#[test]
fn two_parties_run_a_model_without_epsilon_and_sign_its_release() {
    let place = tempfile::tempdir().unwrap();
    let pems = [(); 2].map(|()| Identity::generate_pem("x").unwrap());
    let prints = pems.each_ref().map(|pem| Identity::from_pem(pem).unwrap().fingerprint());
    let text = ALONE.replace("\"local\"", "\"horizontal\"") + &two_parties(&prints);
    let rows = ["job,ill\nWriter,yes\nWriter,no\n", "job,ill\nEngineer,no\n"];
    let [north, south] = run_two(place.path(), &agreement(&text), &pems, rows);
    let read = |party: &Path| fs::read_to_string(party.join("manifest.json")).unwrap();
    assert_eq!(read(&north.out), read(&south.out));
    for party in [&north, &south] {
        let (_, found) = verify::check(&party.out).unwrap();
        assert_eq!(found.iter().filter(|line| line.starts_with("signed")).count(), 2, "{found:?}");
        let csv = fs::read_to_string(party.out.join("release.csv")).unwrap();
        assert_eq!(csv, "job,ill,count\nAny_Job,yes,1\nAny_Job,no,2\n");
        let costs = fs::read_to_string(party.out.join("private/costs.json")).unwrap();
        assert!(costs.contains("\"as_forecast\": true"), "{costs}");
        assert!(ledger::read(&party.ledger).unwrap().runs()[0].debit.epsilon.is_none());
    }
}

#[test]
fn keys_of_another_model_are_refused_and_so_is_a_model_that_nobody_knows() {
    let parse = |text: &str| {
        Agreement::parse("x.toml", text.as_bytes(), &|_| Err(String::new()))
            .unwrap_err()
            .to_string()
    };
    let epsilon = parse(&ALONE.replace("max_records", "epsilon = \"1\"\nmax_records"));
    assert!(epsilon.contains("unknown key `epsilon`"), "{epsilon}");
    let model = parse(&ALONE.replace("exact-counts", "exact-count"));
    assert!(model.contains("did you mean \"exact-counts\"?"), "{model}");
}

const LKC: &str = r#"
    [release]
    id = "ill"
    partition = "local"
    model = "lkc"
    max_records = 100
    [lkc]
    acknowledge = "not differentially private"
    l = 1
    k = 2
    c = "0.5"
    sensitive = "ill"
    protect = ["flu"]
    [class]
    column = "well"
    values = ["yes", "no"]
    [[attribute]]
    name = "job"
    kind = "categorical"
    taxonomy = { Any_Job = ["Engineer", "Writer"] }
    [[attribute]]
    name = "sex"
    kind = "categorical"
    taxonomy = { Any = ["m", "f"] }
    [[attribute]]
    name = "ill"
    kind = "categorical"
    taxonomy = { Ill = ["flu", "none"] }
"#;
const PEOPLE: &str = "job,sex,ill,well\nWriter,m,flu,yes\nWriter,m,none,no\nEngineer,f,none,no\n\
                      Engineer,f,none,no\nEngineer,m,flu,yes\n";

#[test]
fn a_table_of_groups_goes_from_agreement_to_page_with_its_warning_and_stands_alone() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("people.csv");
    fs::write(&data, PEOPLE).unwrap();
    let (ledger, cap) = (place.path().join("ledger.jsonl"), "1".parse().unwrap());
    let data = Source::file(&data);
    let ear = Ear::default();
    let release = |text: &str, name: &str| {
        let out = place.path().join(name);
        let entered =
            Some(Entered { ledger: &ledger, new: !ledger.exists(), cap: &cap, data_set: None });
        let wanted = Wanted { data: &data, out: &out, compact: false, entered, identity: None };
        local::release(&agreement(text), &wanted, &ear).map(|_| out)
    };
    let agreed = agreement(LKC);
    assert_eq!(Agreement::from_canonical(agreed.canonical().as_bytes()).unwrap(), agreed);
    assert!(agreed.plain_words().contains("ATTENTION: This is not differential privacy."));
    let out = release(LKC, "one").unwrap();
    // By sex two of three men would have the flu.
    assert_eq!(
        fs::read_to_string(out.join("release.csv")).unwrap(),
        "job,sex,ill,well,count\nEngineer,Any,flu,yes,1\nEngineer,Any,flu,no,0\n\
         Engineer,Any,none,yes,0\nEngineer,Any,none,no,2\nWriter,Any,flu,yes,1\nWriter,Any,flu,no,0\n\
         Writer,Any,none,yes,0\nWriter,Any,none,no,1\n"
    );
    let warning = "Nobody stands alone with all their values. Where that matters";
    let (_, found) = verify::check(&out).unwrap();
    assert!(found.iter().any(|line| line.contains("smallest 2, largest part 1 of 2")), "{found:?}");
    assert!(found.iter().any(|line| line.contains(warning)), "{found:?}");
    assert!(fs::read_to_string(out.join("report.html")).unwrap().contains(warning));
    let how = fs::read_to_string(out.join("private/how.txt")).unwrap();
    assert!(how.contains("sex: Any stays") && how.contains("2 have flu"), "{how}");
    let to = place.path().join("rows.csv");
    let written = rows::write(&out, &to, Values::Generalized, false, &Stop::default()).unwrap();
    assert!(written.rows == 5 && written.warning.unwrap().contains(warning));
    assert_eq!(written.columns[1], "sex: not divided: its only value is Any");

    let history = ledger::read(&ledger).unwrap();
    let debit = &history.runs()[0].debit;
    assert!(debit.epsilon.is_none() && debit.promise.as_ref().unwrap().contains("2 people"));
    let diffgen = LKC.replace("model = \"lkc\"", "epsilon = \"1\"\nspecializations = 1");
    let start = diffgen.find("[lkc]").unwrap()..diffgen.find("[class]").unwrap();
    let diffgen = diffgen.replace(&diffgen[start], "");
    for (text, name) in [(LKC, "two"), (diffgen.as_str(), "three")] {
        let refused = release(text, name).unwrap_err().to_string();
        assert!(refused.contains("accept_composition = true"), "{refused}");
        let accepted = text.replace("max_records", "accept_composition = true\nmax_records");
        release(&accepted, name).unwrap();
    }
    assert!(ear.0.into_inner().unwrap().iter().any(|line| line.contains(warning)));
    // Whoever changes a count must change the hash too, and is still found.
    let csv = fs::read_to_string(out.join("release.csv")).unwrap();
    let changed = csv.replace("Engineer,Any,flu,yes,1", "Engineer,Any,flu,yes,3");
    let hash = |text: &str| diptych::math::hex::encode(Sha256::digest(text));
    let manifest = fs::read_to_string(out.join("manifest.json")).unwrap();
    fs::write(out.join("manifest.json"), manifest.replace(&hash(&csv), &hash(&changed))).unwrap();
    fs::write(out.join("release.csv"), changed).unwrap();
    let refused = verify::check(&out).unwrap_err().to_string();
    assert!(refused.contains("job Engineer: of 5 people 3 have flu"), "{refused}");
}

#[test]
fn what_fails_after_the_release_is_in_place_leaves_it_entered_as_finished() {
    let place = tempfile::tempdir().unwrap();
    let (data, out) = (place.path().join("people.csv"), place.path().join("one"));
    fs::write(&data, PEOPLE).unwrap();
    fs::create_dir(&out).unwrap();
    fs::write(out.join("private"), "in the way").unwrap();
    let (ledger, cap) = (place.path().join("ledger.jsonl"), "1".parse().unwrap());
    let (data, ear) = (Source::file(&data), Ear::default());
    let release = |out: &Path| {
        let entered =
            Some(Entered { ledger: &ledger, new: !ledger.exists(), cap: &cap, data_set: None });
        let wanted = Wanted { data: &data, out, compact: false, entered, identity: None };
        local::release(&agreement(LKC), &wanted, &ear)
    };
    release(&out).unwrap();
    verify::check(&out).unwrap();
    let said = ear.0.lock().unwrap().join("\n");
    assert!(said.contains("how it came about is not told"), "{said}");
    let history = ledger::read(&ledger).unwrap();
    assert_eq!(history.runs()[0].status, ledger::Status::Finished);
    let refused = release(&place.path().join("two")).unwrap_err().to_string();
    assert!(refused.contains("accept_composition = true"), "{refused}");
}

#[test]
fn the_page_says_what_no_requirement_is_about_and_that_rows_and_classes_are_no_facts() {
    let flowing = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let page = flowing(&agreement(LKC).plain_words());
    for part in [
        "`well` and `ill` are released as they are.",
        "Whoever knows a person's `well`: it is released as it is and counts as no fact",
        "a person with several counts several times",
    ] {
        assert!(page.contains(part), "{part} is not in: {page}");
    }
    let gap = "Each requirement holds only for whoever knows no more than the facts that it names";
    assert!(!page.contains(gap) && !page.contains("No requirement is about"), "{page}");
    let listed = |names: &str| {
        let (l, listed) = ("l = 1\n    k = 2\n    c = \"0.5\"", names.replace('\'', "\""));
        LKC.replace(l, &format!("requirement = [{listed}]"))
    };
    let one = agreement(&listed("{ attributes = ['job'], l = 1, k = 2 }"));
    let page = flowing(&one.plain_words());
    assert_eq!(page.matches(gap).count(), 2, "promised, and not covered: {page}");
    assert_eq!(page.matches("No requirement is about sex").count(), 2, "{page}");
    let csv = "job,sex,ill,well,count\nWriter,m,none,yes,1\nWriter,f,none,yes,1\n";
    let seen = |agreed: &Agreement| examine::released(agreed, csv.as_bytes()).unwrap();
    let warning = seen(&one).warning.unwrap();
    assert!(warning.contains("the facts that a single requirement of its agreement names"));
    assert!(warning.contains("Nothing is promised where somebody knows sex."), "{warning}");
    let split =
        "{ attributes = ['job'], l = 1, k = 2 }, { attributes = ['sex'], l = 1, k = 1, c = '0.5' }";
    let two = agreement(&listed(split));
    let page = flowing(&two.plain_words());
    assert!(page.contains(gap) && !page.contains("No requirement is about"), "{page}");
    let warning = seen(&two).warning.unwrap();
    assert!(!warning.contains("at most 1 of these") && !warning.contains("Nothing is promised"));
    assert!(
        seen(&agreement(&LKC.replace("k = 2", "k = 1"))).warning.unwrap().contains("at most 1 of")
    );
}

#[test]
fn what_would_take_too_long_to_test_is_refused_by_the_agreement_and_by_the_file() {
    let many = |attributes: usize, l: usize| {
        let each = (0..attributes).map(|n| {
            format!(
                "[[attribute]]\nname = \"a{n}\"\nkind = \"categorical\"\n\
                 taxonomy = {{ A = [\"b\", \"c\"] }}\n"
            )
        });
        let text = LKC.split("[[attribute]]").next().unwrap().replace("l = 1", &format!("l = {l}"));
        let text =
            text.replace("c = \"0.5\"\n    sensitive = \"ill\"\n    protect = [\"flu\"]\n", "");
        let text = text + &each.collect::<String>();
        Agreement::parse("x.toml", text.as_bytes(), &|_| Err(String::new()))
    };
    for (attributes, l) in [(22, 11), (250, 125)] {
        let refused = many(attributes, l).unwrap_err().to_string();
        assert!(refused.contains("combinations of attributes to test, above 1000000"), "{refused}");
    }
    many(250, 250).unwrap();
    // 646,646 combinations on the way to all of 10, of up to 2000 groups.
    let agreed = many(21, 10).unwrap();
    let names: Vec<String> = (0..21).map(|n| format!("a{n}")).collect();
    let mut csv = names.join(",") + ",well,count\n";
    for row in 0..2000u64 {
        let bits = row.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 43;
        (0..21).for_each(|n| csv += if bits >> n & 1 == 0 { "b," } else { "c," });
        csv += "yes,1\n";
    }
    let refused = examine::released(&agreed, csv.as_bytes()).unwrap_err().to_string();
    assert!(refused.contains("too many combinations to check"), "{refused}");
    let few: String = csv.lines().take(3).map(|line| format!("{line}\n")).collect();
    let refused = examine::released(&agreed, few.as_bytes()).unwrap_err().to_string();
    assert!(refused.contains("1 people"), "{refused}");
}

#[test]
fn what_is_wrong_with_an_agreement_on_groups_is_said() {
    let parse = |from: &str, to: &str| {
        let text = LKC.replace(from, to);
        assert_ne!(text, LKC, "{from}");
        let read = Agreement::parse("x.toml", text.as_bytes(), &|_| Err(String::new()));
        read.unwrap_err().to_string()
    };
    for (from, to, said) in [
        ("acknowledge = \"not differentially private\"", "", "`acknowledge` is missing"),
        ("not differentially private", "yes", "cannot be \"yes\""),
        ("l = 1", "l = 3", "there are 2 attributes to know"),
        ("k = 2\n", "", "`k` is missing"),
        ("c = \"0.5\"", "c = \"0\"", "is 0"),
        ("c = \"0.5\"", "c = \"1.5\"", "is 1.5"),
        ("k = 2\n    c = \"0.5\"", "k = 1", "requires nothing"),
        ("sensitive = \"ill\"\n    protect = [\"flu\"]", "", "no attribute is sensitive"),
        ("protect = [\"flu\"]", "protect = [\"flue\"]", "did you mean \"flu\"?"),
        ("sensitive = \"ill\"", "sensitive = \"i\"", "there is no attribute `i`"),
        ("partition = \"local\"", "partition = \"horizontal\"", "section [parties] is missing"),
        ("k = 2\n", "k = 2\nlinkage = \"sealed\"\n", "`linkage` in [lkc] does not apply"),
        ("model = \"lkc\"", "model = \"diffgen\"", "[lkc] does not apply"),
        ("max_records", "epsilon = \"1\"\nmax_records", "unknown key `epsilon`"),
        (
            "l = 1\n    k = 2\n    c = \"0.5\"",
            "requirement = [{ attributes = [\"ill\"], k = 2 }]",
            "not an attribute that is generalized",
        ),
    ] {
        let found = parse(from, to);
        assert!(found.contains(said), "{said:?} is not in: {found}");
    }
}

#[test]
fn the_best_table_of_a_lattice_is_released_and_too_large_a_lattice_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let (data, out) = (place.path().join("people.csv"), place.path().join("release"));
    fs::write(&data, PEOPLE).unwrap();
    let lattice = LKC.replace("\"lkc\"", "\"lattice\"").replace("[lkc]", "[lattice]");
    let agreed = agreement(&lattice);
    assert_eq!(Agreement::from_canonical(agreed.canonical().as_bytes()).unwrap(), agreed);
    let data = Source::file(&data);
    let wanted = Wanted { data: &data, out: &out, compact: false, entered: None, identity: None };
    local::release(&agreed, &wanted, &Ear::default()).unwrap();
    verify::check(&out).unwrap();
    let how = fs::read_to_string(out.join("private/how.txt")).unwrap();
    let found = "4 elements, 2 as required, 1 of them maximal\njob: Engineer, Writer | sex: Any\n";
    assert_eq!(how, found);
    let parse = |text: &str| {
        let read = Agreement::parse("x.toml", text.as_bytes(), &|_| Err(String::new()));
        read.unwrap_err().to_string()
    };
    let number = "kind = \"numeric\"\nmin = 0\nmax = 9\nstep = 1";
    let text = lattice.replace("taxonomy = { Any = [\"m\", \"f\"] }", "");
    let text = text.replacen(
        "name = \"sex\"\n    kind = \"categorical\"",
        &format!("name = \"sex\"\n{number}"),
        1,
    );
    assert!(parse(&text).contains("is a number, which has no levels"), "{}", parse(&text));
    let many: String = (0..20)
        .map(|n| {
            format!(
                "[[attribute]]\nname = \"a{n}\"\nkind = \"categorical\"\ntaxonomy = {{ A = [\"b\", \"c\"] }}\n"
            )
        })
        .collect();
    let refused = parse(&(lattice + &many));
    assert!(refused.contains("above 1000000") && refused.contains("model = \"lkc\""), "{refused}");
}

const RIDES: &str = r#"
    [release]
    id = "rides"
    partition = "local"
    model = "trajectory"
    max_records = 8
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
/// Table 4.1 of the thesis.
const PATHS: &str = "id,path,ill\n1,b2>d3>c4>f6>c7,AIDS\n2,f6>c7>e8,Flu\n3,d3>c4>f6>e8,Fever\n\
                     4,b2>c5>c7>e8,Flu\n5,d3>c7>e8,Fever\n6,c5>f6>e8,Diabetes\n\
                     7,b2>f6>c7>e8,Diabetes\n8,b2>c5>f6>c7,AIDS\n";

/// Table 4.2, where c4 and b2 are taken out.
const RELEASED: &str = "path,ill,count\nd3>f6>c7,AIDS,1\nd3>f6>e8,Fever,1\nd3>c7>e8,Fever,1\n\
                        c5>f6>c7,AIDS,1\nc5>f6>e8,Diabetes,1\nc5>c7>e8,Flu,1\nf6>c7>e8,Flu,1\n\
                        f6>c7>e8,Diabetes,1\n";
const ALONE_ON_PATH: &str = "6 people are alone on the whole path: 3 sightings can identify them.";

/// Releases paths below a directory, with one ledger.
fn release_paths(
    place: &Path,
    (text, rows, name): (&str, &str, &str),
    ear: &Ear,
) -> Result<PathBuf, String> {
    let (out, data) = (place.join(name), place.join("paths.csv"));
    fs::write(&data, rows).map_err(|error| error.to_string())?;
    let (ledger, cap) = (place.join("ledger.jsonl"), "1".parse());
    let cap = cap.map_err(|_| "1 is not a cap")?;
    let entered =
        Some(Entered { ledger: &ledger, new: !ledger.exists(), cap: &cap, data_set: None });
    let data = Source::file(&data);
    let wanted = Wanted { data: &data, out: &out, compact: true, entered, identity: None };
    local::release(&agreement(text), &wanted, ear).map_err(|refused| refused.to_string())?;
    Ok(out)
}

#[test]
fn paths_go_from_agreement_to_page_with_their_warning() {
    let place = tempfile::tempdir().unwrap();
    let (agreed, ear) = (agreement(RIDES), Ear::default());
    assert_eq!(Agreement::from_canonical(agreed.canonical().as_bytes()).unwrap(), agreed);
    let page = agreed.plain_words().split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "ATTENTION: This is not differential privacy.",
        "each combination of a path and of `ill` (AIDS, Flu, Fever, Diabetes)",
        "Whoever knows at most 2 pairs of place and time of a person is left with at least 2 people",
        "at most the part 0.5 of them with any one of ill AIDS",
        "Whoever knows 3 or more pairs of a person",
    ] {
        assert!(page.contains(part), "{part} is not in: {page}");
    }
    let out = release_paths(place.path(), (RIDES, PATHS, "one"), &ear).unwrap();
    assert_eq!(fs::read_to_string(out.join("release.csv")).unwrap(), RELEASED);
    let (manifest, found) = verify::check(&out).unwrap();
    assert!(found.iter().any(|line| line.contains("smallest 2, largest part 1 of 2")), "{found:?}");
    assert!(found.iter().any(|line| line.contains(ALONE_ON_PATH)), "{found:?}");
    // What was taken out is not published.
    assert_eq!(manifest.value(&["cuts"]).unwrap().as_array().unwrap().len(), 0);
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains(ALONE_ON_PATH) && page.contains("<td>d3&gt;f6&gt;c7</td>"), "{page}");
    assert!(!page.contains("How the values were divided") && !page.contains("specializations"));
    let how = fs::read_to_string(out.join("private/how.txt")).unwrap();
    assert!(how.contains("c4: 2 people, ended 3 violating sets, broke 1 frequent"), "{how}");
    assert!(how.contains("maximal frequent sets: 9, of which 5 are whole"), "{how}");
    let said = ear.0.lock().unwrap().join("\n");
    assert!(said.contains(ALONE_ON_PATH) && said.contains("phase suppressing"), "{said}");

    let to = place.path().join("rows.csv");
    let written = rows::write(&out, &to, Values::Generalized, false, &Stop::default()).unwrap();
    assert!(written.rows == 8 && written.warning.unwrap().contains(ALONE_ON_PATH));
    assert!(written.columns.is_empty(), "paths are not divided: {:?}", written.columns);
    assert!(fs::read_to_string(&to).unwrap().starts_with("path,ill\nd3>f6>c7,AIDS\n"));
    let concrete = Values::Concrete { seed: None, undivided: false };
    let refused = rows::write(&out, &to, concrete, false, &Stop::default());
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("paths are concrete"), "{refused}");
}

#[test]
fn paths_in_rows_of_pairs_are_the_same_paths_need_a_word_to_be_a_second_release_and_are_tested_again()
 {
    let (place, ear) = (tempfile::tempdir().unwrap(), Ear::default());
    let release =
        |text: &str, rows: &str, name| release_paths(place.path(), (text, rows, name), &ear);
    let out = release(RIDES, PATHS, "one").unwrap();
    let long: String = PATHS.lines().skip(1).fold("ill,id,at,minute\n".to_owned(), |text, line| {
        let cells: Vec<&str> = line.split(',').collect();
        let pairs = cells[1].split('>').map(|pair| pair.split_at(1));
        let row = |(place, time)| format!("{},{},{place},{time}\n", cells[2], cells[0]);
        text + &pairs.map(row).collect::<String>()
    });
    let by_pairs =
        RIDES.replace("id = \"id\"", "id = \"id\"\nlocation = \"at\"\ntime = \"minute\"");
    let refused = release(&by_pairs, &long, "two").unwrap_err();
    assert!(refused.contains("accept_composition = true"), "{refused}");
    let by_pairs = by_pairs.replace("max_records", "accept_composition = true\nmax_records");
    let two = release(&by_pairs, &long, "two").unwrap();
    assert_eq!(fs::read_to_string(two.join("release.csv")).unwrap(), RELEASED);
    let history = ledger::read(&place.path().join("ledger.jsonl")).unwrap();
    let debit = &history.runs()[0].debit;
    assert!(debit.epsilon.is_none() && debit.promise.as_ref().unwrap().contains("2 people"));

    // Whoever changes a value must change the hash too, and is still found.
    let changed = RELEASED.replace("d3>f6>e8,Fever", "d3>f6>e8,AIDS");
    let hash = |text: &str| diptych::math::hex::encode(Sha256::digest(text));
    let manifest = fs::read_to_string(out.join("manifest.json")).unwrap();
    let forged = manifest.replace(&hash(RELEASED), &hash(&changed));
    fs::write(out.join("manifest.json"), forged).unwrap();
    fs::write(out.join("release.csv"), changed).unwrap();
    let refused = verify::check(&out).unwrap_err().to_string();
    assert!(refused.contains("too few people have d3, or it tells too much"), "{refused}");
}

#[test]
fn paths_that_do_not_fit_or_cannot_be_released_are_refused_and_nothing_is_written() {
    let place = tempfile::tempdir().unwrap();
    let (data, out) = (place.path().join("paths.csv"), place.path().join("one"));
    let refusal = |text: &str, rows: &str| {
        fs::write(&data, rows).unwrap();
        let data = Source::file(&data);
        let wanted =
            Wanted { data: &data, out: &out, compact: false, entered: None, identity: None };
        let refused = local::release(&agreement(text), &wanted, &Ear::default()).unwrap_err();
        assert!(!out.join("release.csv").exists());
        refused.to_string()
    };
    for (text, rows, said) in [
        (
            RIDES.to_owned(),
            PATHS.replace("Fever", "Feber"),
            "line 4: `Feber` is not an agreed value",
        ),
        (RIDES.to_owned(), PATHS.replace("8,b2", "7,b2"), "line 9: an identifier comes twice"),
        (RIDES.to_owned(), format!("{PATHS}9,b2,Flu\n"), "more than 8 people"),
        (RIDES.replace("\"0.5\"", "\"0.2\""), PATHS.to_owned(), "2 of 8 have AIDS"),
        (
            RIDES.replace("k = 2", "k = 9").replace("max_records = 8", "max_records = 9"),
            PATHS.to_owned(),
            "8 paths are fewer than k = 9",
        ),
    ] {
        let refused = refusal(&text, &rows);
        assert!(refused.contains(said), "{refused}");
    }
    let parse = |text: String| {
        let refused = Agreement::parse("a.toml", text.as_bytes(), &|_| Err("no file".to_owned()));
        refused.unwrap_err().to_string()
    };
    for (from, to, said) in [
        ("\"local\"", "\"vertical\"", "model = \"trajectory\" is for one party"),
        ("k = 2", "k = 9", "`k` is 9, but there are never more than 8 people"),
        ("[\"AIDS\"]", "[\"AID\"]", "did you mean \"AIDS\"?"),
        ("column = \"ill\"", "column = \"path\"", "is both the `path` and the `column`"),
        ("l = 2", "l = 17", "from 1 to 16"),
        ("[trajectory]", "[lkc]", "section [trajectory] is missing"),
    ] {
        let refused = parse(RIDES.replacen(from, to, 1));
        assert!(refused.contains(said), "{said} is not in: {refused}");
    }
}

/// Every file below a directory, as text.
fn texts(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(texts(&path));
        } else {
            found.push(String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned());
        }
    }
    found
}

#[test]
fn two_parties_hide_people_in_groups_as_one_would_and_keep_their_own_rows_to_themselves() {
    let pems = [(); 2].map(|()| Identity::generate_pem("x").unwrap());
    let prints = pems.each_ref().map(|pem| Identity::from_pem(pem).unwrap().fingerprint());
    let alone = |text: &str| {
        let place = tempfile::tempdir().unwrap();
        let data = place.path().join("people.csv");
        fs::write(&data, PEOPLE).unwrap();
        let (data, out) = (Source::file(&data), place.path().join("alone"));
        let wanted =
            Wanted { data: &data, out: &out, compact: false, entered: None, identity: None };
        local::release(&agreement(text), &wanted, &Ear::default()).unwrap();
        fs::read_to_string(out.join("release.csv")).unwrap()
    };
    let rows: Vec<Vec<&str>> = PEOPLE.lines().skip(1).map(|row| row.split(',').collect()).collect();
    let mut tables = [String::from("id,job,well,note\n"), String::from("id,sex,ill,well,note\n")];
    for (number, row) in rows.iter().enumerate() {
        tables[0] += &format!("c{number},{},{},NORTHMARKER\n", row[0], row[3]);
        tables[1] += &format!("c{number},{},{},{},SOUTHMARKER\n", row[1], row[2], row[3]);
    }
    tables[0] += "NORTHMARKER,Writer,yes,x\n";
    tables[1] += "SOUTHMARKER,f,flu,no,x\n";
    let owned = |text: &str, name: &str, owner: &str| {
        let name = format!("name = \"{name}\"");
        text.replace(&name, &format!("{name}\nowner = \"{owner}\""))
    };
    let vertical = LKC.replace("\"local\"", "\"vertical\"");
    let vertical = owned(&owned(&owned(&vertical, "job", "p1"), "sex", "p2"), "ill", "p2")
        + "[id]\ncolumn = \"id\"\nnormalize = []\n";
    let paper = vertical.replace("max_records", "profile = \"paper\"\nmax_records");
    let by_max = LKC.replace("k = 2", "k = 2\n    score = \"max\"");
    let horizontal = by_max.replace("\"local\"", "\"horizontal\"");
    let (header, rows) = PEOPLE.split_once('\n').unwrap();
    let mut halves =
        ["NORTH", "SOUTH"].map(|name| format!("{header},note\n").replace("note", name));
    for (number, row) in rows.lines().enumerate() {
        let name = ["NORTHMARKER", "SOUTHMARKER"][number % 2];
        halves[number % 2] += &format!("{row},{name}\n");
    }
    for (text, tables, told, alone) in [
        (vertical, &tables, "Of single people nothing is told", alone(LKC)),
        (paper, &tables, "for every common person by name", alone(LKC)),
        (horizontal, &halves, "the other's exact counts of every row", alone(&by_max)),
    ] {
        let agreement = agreement(&(text + &two_parties(&prints)));
        let words = agreement.plain_words().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(told) && words.contains("k and c promise nothing"), "{words}");
        assert_eq!(Agreement::from_canonical(agreement.canonical().as_bytes()).unwrap(), agreement);

        let place = tempfile::tempdir().unwrap();
        let both = run_two(place.path(), &agreement, &pems, [&tables[0], &tables[1]]);
        for (party, theirs) in both.iter().zip(["SOUTHMARKER", "NORTHMARKER"]) {
            assert_eq!(fs::read_to_string(party.out.join("release.csv")).unwrap(), alone);
            let (_, found) = verify::check(&party.out).unwrap();
            assert!(
                found.iter().any(|line| line.contains("every group is as agreed")),
                "{found:?}"
            );
            assert_eq!(found.iter().filter(|line| line.starts_with("signed")).count(), 2);
            let page = fs::read_to_string(party.out.join("report.html")).unwrap();
            assert!(page.contains("This is not differential privacy"));
            let costs = fs::read_to_string(party.out.join("private/costs.json")).unwrap();
            assert!(costs.contains("\"as_forecast\": true"), "{costs}");
            let how = fs::read_to_string(party.out.join("private/how.txt")).unwrap();
            assert!(how.contains("was specialized") || how.contains("stays"), "{how}");
            let directory = party.out.parent().unwrap();
            assert!(texts(directory).iter().all(|text| !text.contains(theirs)), "{theirs}");
            let history = ledger::read(&party.ledger).unwrap();
            let debit = &history.runs()[0].debit;
            assert!(debit.epsilon.is_none() && debit.promise.is_some());
            // Without ε nothing adds up: a further release of the same data is refused.
            let party = Party { new_ledger: false, ..party.clone() };
            let again = Side::new(&agreement, &party, &Ear::default()).unwrap();
            let refused = run::run(&again, Options::default(), &Ear::default()).unwrap_err();
            assert!(refused.message().contains("accept_composition"), "{refused}");
        }
    }
}
