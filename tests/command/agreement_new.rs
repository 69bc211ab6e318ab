//! From a CSV file to an agreement, as a person or a script meets it.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::program::{diptych, diptych_with_input};

const BANK: &str = "id,job,country,approved\nc-1,Engineer,DE,Y\nc-2,Lawyer,FR,N\n";
const COMPANY: &str = "salary;sex;approved;id\n30;M;Y;c-1\n4000;F;N;c-2\n";

fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("bank.csv"), BANK).unwrap();
    std::fs::write(place.path().join("company.csv"), COMPANY).unwrap();
    place
}

fn read(place: &Path, name: &str) -> String {
    std::fs::read_to_string(place.join(name)).unwrap()
}

#[test]
fn two_tables_become_an_agreement_whose_open_ends_check_names() {
    let place = place();
    let place = place.path();
    let (status, said, told) = diptych(place, &["agreement", "new", "bank.csv", "company.csv"]);
    assert_eq!((status, said.trim()), (0, "agreement.toml"), "{told}");
    assert!(told.contains("12 places are left to fill in; `diptych agreement check"), "{told}");
    let text = read(place, "agreement.toml");
    assert!(text.contains("partition = \"vertical\""), "{text}");
    assert!(text.contains("[id]") && text.contains("column = \"id\""), "{text}");
    for value in ["Engineer", "Lawyer", "4000", "30", "\"M\"", "\"DE\""] {
        assert!(!text.contains(value), "{value} is the data's:\n{text}");
    }
    let (status, page, told) = diptych(place, &["agreement", "check", "agreement.toml"]);
    assert_eq!((status, page.as_str()), (2, ""));
    assert!(told.starts_with("error: 12 problems:\n"), "{told}");
    for words in [
        "agreement.toml:7:6: `id` in [release] is still to be filled in\n  a name for this release",
        "`min` in attribute `salary` is still to be filled in\n  the smallest value there can be",
        "`taxonomy` in attribute `job` is still to be filled in",
        "\"builtin:isco-08/name\"",
        "ARX hierarchy files",
    ] {
        assert!(told.contains(words), "{words:?} is not in\n{told}");
    }
    let (status, _, told) = diptych(place, &["agreement", "new", "bank.csv", "company.csv"]);
    assert_eq!(status, 2);
    assert!(told.contains("agreement.toml exists already"), "{told}");
    assert_eq!(read(place, "agreement.toml"), text);
}

#[test]
fn filled_in_it_is_an_agreement_with_a_page_to_sign() {
    let place = place();
    let place = place.path();
    let prints = ["b1", "1c"].map(|byte| format!("sha256:{}", byte.repeat(32)));
    let mut flags = vec!["agreement", "new", "bank.csv", "company.csv", "--id", "loans-1"];
    flags.extend(["--p1", "Bank", "--p2", "Loan company", "--identifier", "id"]);
    flags.extend(["--class", "approved", "--p1-fingerprint", &prints[0]]);
    flags.extend(["--p2-fingerprint", &prints[1]]);
    assert_eq!(diptych(place, &flags).0, 0);
    let mut text = read(place, "agreement.toml");
    for (key, value) in [
        ("values", "[\"Y\", \"N\"]"),
        ("min", "0"),
        ("max", "9999"),
        ("step", "1"),
        ("taxonomy", "\"builtin:isco-08\""),
        ("taxonomy", "\"builtin:countries\""),
        ("taxonomy", "\"builtin:sex\""),
    ] {
        let start = text.find(&format!("\n{key} = \"TODO")).unwrap() + 1;
        let end = start + text[start..].find('\n').unwrap();
        text.replace_range(start..end, &format!("{key} = {value}"));
    }
    std::fs::write(place.join("agreement.toml"), text).unwrap();
    let (status, page, told) = diptych(place, &["agreement", "check", "agreement.toml"]);
    assert_eq!(status, 0, "{told}");
    let (status, shown, _) = diptych(place, &["agreement", "show", "agreement.toml"]);
    assert_eq!((status, shown), (0, page));
    let html = ["agreement", "show", "agreement.toml", "--html", "--out", "sign.html"];
    let (status, said, told) = diptych(place, &html);
    assert_eq!((status, said.trim()), (0, "sign.html"), "{told}");
    let html = read(place, "sign.html");
    assert!(html.contains("<h2>What is promised to every person in the data</h2>"), "{html}");
    assert!(html.contains("TV") && html.contains("name and signature"), "{html}");
    let (status, _, told) =
        diptych(place, &["agreement", "show", "agreement.toml", "--out", "no/such/place"]);
    assert_eq!(status, 2);
    assert!(told.contains("cannot write no/such/place"), "{told}");
}

#[test]
fn values_are_taken_only_on_request_with_a_warning_and_a_mark_on_each() {
    let place = place();
    let place = place.path();
    let new = ["agreement", "new", "bank.csv", "--partition", "local", "--class", "approved"];
    let more = ["--id", "x", "--with-values", "--branches", "2"];
    let (status, _, told) = diptych(place, &[&new[..], &more[..]].concat());
    assert_eq!(status, 0, "{told}");
    assert!(told.contains("ATTENTION: values were taken from the data"), "{told}");
    assert!(
        told.contains("nothing is left open; read it, then: diptych agreement check"),
        "{told}"
    );
    let text = read(place, "agreement.toml");
    let marked = text.lines().filter(|line| line.contains("# from the data: keep it only if"));
    assert_eq!(marked.count(), 6, "two jobs, two countries, two classes:\n{text}");
    assert!(!text.contains("c-1"), "people are not listed:\n{text}");
    assert!(text.contains("\"id\" seems to name people: it is left out"), "{text}");
    let (status, page, told) = diptych(place, &["agreement", "check", "agreement.toml"]);
    assert_eq!(status, 0, "{told}");
    assert!(page.contains("Any_job (Engineer, Lawyer)"), "{page}");
}

#[test]
fn kinds_are_seen_and_missing_values_are_decided_by_a_flag_or_an_answer() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let table = "\u{feff}seen;smoker;sex;dose;count;ill\n2021-03-04;Yes;f;1.5;0;Y\n\
                 2022-11-30;no;f;;1;N\n;no;f;2.5;1;N\n";
    std::fs::write(place.join("t.csv"), table).unwrap();
    let new = ["agreement", "new", "t.csv", "--partition", "local", "--class", "ill", "--id", "x"];
    let written = |more: &[&str], answers: &str| {
        let (status, _, told) = diptych_with_input(place, &[&new[..], more].concat(), answers);
        assert_eq!(status, 0, "{told}");
        let text = read(place, "agreement.toml");
        std::fs::remove_file(place.join("agreement.toml")).unwrap();
        (text, told)
    };
    let (text, told) = written(&[], "");
    assert!(told.contains("t.csv: recognized cells separated by semicolons"), "{told}");
    let attribute = |name: &str| {
        let start = text.find(&format!("name = \"{name}\"")).unwrap();
        text[start..].split("\n[[").next().unwrap().to_owned()
    };
    for (name, kind, missing) in [
        ("seen", "kind = \"date\"", true),
        ("smoker", "kind = \"boolean\"", false),
        ("sex", "kind = \"categorical\"", false),
        ("dose", "kind = \"numeric\"", true),
        ("count", "kind = \"numeric\"", false),
    ] {
        let section = attribute(name);
        assert!(section.contains(kind), "{section}");
        assert_eq!(section.contains("\nmissing = \"refuse\""), missing, "{section}");
    }
    for value in ["2021", "2022", "Yes", "1.5", "2.5"] {
        assert!(!text.contains(value), "{value} is the data's:\n{text}");
    }
    let (text, _) = written(&["--missing", "category"], "");
    assert_eq!(text.matches("\nmissing = \"category\"").count(), 2, "{text}");
    let (text, told) = written(&["--ask"], "some\ndrop\n");
    let question = "missing values in seen, dose: refuse, drop or category (a released value of \
                    their own) [refuse]: ";
    assert!(told.contains(question), "{told}");
    assert!(told.contains("answer with refuse, drop or category"), "{told}");
    assert_eq!(text.matches("\nmissing = \"drop\"").count(), 2, "{text}");
}

#[test]
fn what_cannot_be_told_is_asked_for_or_refused_with_a_flag_to_give() {
    let place = place();
    let place = place.path();
    for (arguments, words) in [
        (&["bank.csv"][..], "help: say --partition vertical, horizontal or local"),
        (&["bank.csv", "company.csv", "--partition", "local"], "a local release has one table"),
        (&["bank.csv", "company.csv", "--class", "aproved"], "did you mean approved?"),
        (&["bank.csv", "company.csv", "--identifier", "job"], "it can be one of: id, approved"),
        (
            &["bank.csv", "company.csv", "--class", "job", "--class-owner", "p2"],
            "--class job: there is no such column",
        ),
        (
            &["bank.csv", "--partition", "local", "--class-owner", "p1"],
            "--class-owner is for vertical releases",
        ),
        (&["missing.csv", "--partition", "local"], "missing.csv: cannot be read"),
        (&["bank.csv", "--partition", "local", "--branches", "3"], "--with-values"),
    ] {
        let (status, _, told) = diptych(place, &[&["agreement", "new"], arguments].concat());
        assert_eq!(status, 2, "{told}");
        assert!(told.contains(words), "{words:?} is not in\n{told}");
        assert!(!place.join("agreement.toml").exists());
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_diptych"))
        .args(["agreement", "new", "bank.csv", "--ask"])
        .current_dir(place)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"local\nx\nillness\napproved\n").unwrap();
    let told = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    assert!(told.contains("how the data is divided: vertical"), "{told}");
    assert!(told.contains("there is no such column; there are: id, job"), "{told}");
    let text = read(place, "agreement.toml");
    assert!(text.contains("id = \"x\"") && text.contains("column = \"approved\""), "{text}");
}

#[test]
fn a_class_that_one_party_has_gets_its_owner_from_the_tables_a_flag_or_an_answer() {
    let place = place();
    let place = place.path();
    let written = |arguments: &[&str], answers: &str| {
        let arguments = [&["agreement", "new"], arguments].concat();
        let (status, _, told) = diptych_with_input(place, &arguments, answers);
        assert_eq!(status, 0, "{told}");
        let text = read(place, "agreement.toml");
        std::fs::remove_file(place.join("agreement.toml")).unwrap();
        let class = text.split("\n[class]").nth(1).unwrap();
        (class.split("\n[[").next().unwrap().to_owned(), text, told)
    };
    let both = ["bank.csv", "company.csv"];
    let (class, text, _) = written(&[&both[..], &["--class", "job"]].concat(), "");
    assert!(class.contains("owner = \"p1\"  # p2 does not have it"), "{class}");
    assert!(!text.contains("name = \"job\""), "{text}");
    let (class, ..) = written(&both, "");
    assert!(!class.contains("owner"), "both have it:\n{class}");
    let flags = ["--class", "approved", "--class-owner", "p2"];
    let (class, text, _) = written(&[&both[..], &flags[..]].concat(), "");
    assert!(class.contains("owner = \"p2\"  # p1 does not have it"), "{class}");
    assert!(!text.contains("name = \"approved\""), "{text}");
    let answers = "vertical\nx\nBank\nCompany\nid\napproved\nnobody\np1\n";
    let (class, _, told) = written(&[&both[..], &["--ask"]].concat(), answers);
    assert!(told.contains("who has that column: both, p1 or p2 [both]: "), "{told}");
    assert!(told.contains("answer with both, p1 or p2"), "{told}");
    assert!(class.contains("owner = \"p1\""), "{class}");
}

#[test]
fn the_builtin_taxonomies_are_listed_with_edition_and_source() {
    let place = place();
    let (status, said, _) = diptych(place.path(), &["agreement", "builtin"]);
    assert_eq!(status, 0);
    assert!(said.contains("builtin:countries  builtin:countries/alpha-3"), "{said}");
    assert!(said.contains("NACE Rev. 2.1 (in use since 2025)"), "{said}");
    assert!(said.contains("Source: International Labour Organization"), "{said}");
}

#[test]
fn ten_thousand_columns_take_moments_and_more_are_refused_in_words() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let header = |columns: usize| {
        (0..columns).map(|number| format!("column{number}")).collect::<Vec<_>>().join(",") + "\n"
    };
    std::fs::write(place.join("one.csv"), header(10_000)).unwrap();
    std::fs::write(place.join("two.csv"), header(10_000)).unwrap();
    let began = std::time::Instant::now();
    let new = ["agreement", "new", "one.csv", "two.csv", "--with-values", "--class", "column0"];
    let (status, _, told) = diptych(place, &new);
    assert_eq!(status, 0, "{told}");
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
    assert_eq!(read(place, "agreement.toml").matches("\n[[attribute]]\n").count(), 9_999);
    std::fs::write(place.join("wide.csv"), header(10_001)).unwrap();
    let new = ["agreement", "new", "wide.csv", "--partition", "local", "--out", "wide.toml"];
    let (status, _, told) = diptych(place, &new);
    assert_eq!(status, 2);
    let words =
        "wide.csv:1: the first line has 10001 columns, and at most 10000 are read: give a file";
    assert!(told.contains(words), "{told}");
    assert!(!place.join("wide.toml").exists());
}

#[test]
fn names_of_columns_that_are_not_utf_8_are_refused_with_their_place() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let new = ["agreement", "new", "old.csv", "--partition", "local"];
    for header in [&b"job,gr\xf6sse,ill\n"[..], b"job,gr\xef\xbf\xbdsse,ill\n"] {
        std::fs::write(place.join("old.csv"), header).unwrap();
        let (status, _, told) = diptych(place, &new);
        assert_eq!(status, 2, "{told}");
        assert!(told.contains("old.csv:1: the name of column 2 "), "{told}");
        assert!(told.contains("save the file as UTF-8"), "{told}");
        assert!(!place.join("agreement.toml").exists());
    }
    std::fs::write(place.join("old.csv"), "\u{feff}job,größe,ill\n").unwrap();
    assert_eq!(diptych(place, &new).0, 0);
    assert!(read(place, "agreement.toml").contains("name = \"größe\""));
}

#[test]
fn labels_that_a_spreadsheet_would_run_are_named() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let text = "[release]\nid = \"x\"\npartition = \"local\"\nepsilon = \"1\"\nspecializations = 1\n\
                max_records = 100\n[class]\ncolumn = \"@ill\"\nvalues = [\"+\", \"-\"]\n\
                [[attribute]]\nname = \"job\"\nkind = \"categorical\"\n\
                taxonomy = { Any = [\"=1+1\", \"-5\", \"a-b\"] }\n";
    std::fs::write(place.join("agreement.toml"), text).unwrap();
    let (status, _, told) = diptych(place, &["agreement", "check", "agreement.toml"]);
    assert_eq!(status, 0, "{told}");
    let words =
        "warning: a spreadsheet would run these labels as formulas: `@ill`, `+`, `-`, `=1+1`. ";
    assert!(told.contains(words), "{told}");
    let harmless = text
        .replace("@ill", "ill")
        .replace("=1+1", "1")
        .replace("[\"+\", \"-\"]", "[\"p\", \"n\"]");
    std::fs::write(place.join("agreement.toml"), harmless).unwrap();
    let (_, _, told) = diptych(place, &["agreement", "check", "agreement.toml"]);
    assert!(!told.contains("spreadsheet"), "{told}");
}
