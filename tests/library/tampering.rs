//! One changed nibble anywhere in what is published is noticed: vectors, circuits, releases.

use std::fs;
use std::path::{Path, PathBuf};

use diptych::Role;
use diptych::agreement::Agreement;
use diptych::app::audit;
use diptych::math::{Randomness, Rational};
use diptych::net::Identity;
use diptych::privacy::ledger::Hash;
use diptych::privacy::{Budget, Differential, Promise};
use diptych::publish::artefacts::{MANIFEST, RELEASE};
use diptych::publish::data::Source;
use diptych::publish::local::{self, Wanted};
use diptych::publish::{NoWatcher, manifest::Draft, verify};
use diptych::release::diffgen::single;
use diptych::release::tree::output::{Rows, write_csv};
use diptych::table::{Reading, read_csv};
use proptest::prelude::*;
use rand::Rng;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// Changes per kind of file.
const CHANGES: usize = 200;
/// Changes in a list of checksums alone: it is short, so that hardly any other place is in it.
const CHANGES_OF_LIST: usize = 50;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A copy of some files of a directory, under the same names.
fn copy(directory: &str, folders: &[&str], extensions: &[&str]) -> (TempDir, Vec<PathBuf>) {
    let place = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for folder in folders {
        fs::create_dir_all(place.path().join(folder)).unwrap();
        for entry in fs::read_dir(root().join(directory).join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if extensions.iter().any(|extension| name.ends_with(extension)) {
                let target = place.path().join(folder).join(name);
                fs::copy(&path, &target).unwrap();
                files.push(target);
            }
        }
    }
    files.sort();
    (place, files)
}

/// Changes one nibble at a time, anywhere in the files, each byte as likely as any other; `caught`
/// must say yes to each. Every file is whole again at the end.
fn change_nibbles(files: &[PathBuf], changes: usize, mut caught: impl FnMut(&Path, &[u8]) -> bool) {
    let mut rng = Randomness::from_os().unwrap();
    let contents: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    let total: u64 = contents.iter().map(|bytes| bytes.len() as u64).sum();
    for _ in 0..changes {
        let mut place = (rng.next_u64() % total) as usize;
        let mut index = 0;
        while place >= contents[index].len() {
            place -= contents[index].len();
            index += 1;
        }
        let mut bytes = contents[index].clone();
        let shift = 4 * (rng.next_u32() % 2);
        let change = (1 + rng.next_u32() % 15) << shift;
        bytes[place] ^= change as u8;
        fs::write(&files[index], &bytes).unwrap();
        let file = files[index].display();
        assert!(caught(&files[index], &bytes), "{file}: byte {place} ^ {change:#x} went unseen");
        fs::write(&files[index], &contents[index]).unwrap();
    }
}

#[test]
fn a_nibble_changed_in_the_vectors_is_noticed() {
    let (place, files) = copy("vectors", &[".", "schema"], &[".json", "SHA256SUMS"]);
    assert!(files.len() > 20);
    change_nibbles(&files, CHANGES, |_, _| audit::run(place.path()).is_err());
    let list = [place.path().join("./SHA256SUMS")];
    change_nibbles(&list, CHANGES_OF_LIST, |_, _| audit::run(place.path()).is_err());
}

#[test]
fn a_nibble_changed_in_the_circuits_is_noticed() {
    let mut rng = Randomness::from_os().unwrap();
    let (place, files) = copy("circuits", &["."], &[".txt", "SHA256SUMS"]);
    assert!(files.len() > 9);
    change_nibbles(&files, CHANGES, |_, _| audit::run_circuits(place.path(), &mut rng).is_err());
    let list = [place.path().join("./SHA256SUMS")];
    change_nibbles(&list, CHANGES_OF_LIST, |_, _| {
        audit::run_circuits(place.path(), &mut rng).is_err()
    });
}

#[test]
fn a_nibble_changed_in_a_circuit_is_noticed_even_if_its_checksum_is_renewed() {
    let mut rng = Randomness::from_os().unwrap();
    let (place, files) = copy("circuits", &["."], &[".txt"]);
    let sums = fs::read_to_string(root().join("circuits/SHA256SUMS")).unwrap();
    change_nibbles(&files, 6, |file, bytes| {
        let name = file.file_name().unwrap().to_str().unwrap();
        let own: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let renewed = sums.lines().map(|line| match line.split_once("  ") {
            Some((_, listed)) if listed == name => format!("{own}  {name}\n"),
            _ => format!("{line}\n"),
        });
        fs::write(place.path().join("SHA256SUMS"), renewed.collect::<String>()).unwrap();
        let rows = audit::run_circuits(place.path(), &mut rng).unwrap();
        rows.iter().all(|row| (row.file == name) == row.failure.is_some())
    });
}

#[test]
fn a_nibble_changed_in_a_release_is_noticed() {
    let place = signed_release();
    let check = || verify::check(place.path());
    let (_, lines) = check().unwrap();
    assert_eq!(lines.iter().filter(|line| line.starts_with("signed")).count(), 2, "{lines:?}");
    for file in [MANIFEST, RELEASE] {
        change_nibbles(&[place.path().join(file)], CHANGES, |_, _| check().is_err());
    }
    assert!(check().is_ok());
}

/// A release of the example's agreement, signed by two identities made for it. One party made the
/// table: what is looked at here is what was signed.
fn signed_release() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    let identities = ["Bank", "Loan company"]
        .map(|name| Identity::from_pem(&Identity::generate_pem(name).unwrap()).unwrap());
    let loans = root().join("examples/loans");
    let text = fs::read_to_string(loans.join("agreement.toml")).unwrap();
    let text = text
        .replace(&format!("sha256:{}", "b1".repeat(32)), &identities[0].fingerprint().to_string())
        .replace(&format!("sha256:{}", "1c".repeat(32)), &identities[1].fingerprint().to_string());
    fs::write(place.path().join("agreement.toml"), text).unwrap();
    fs::copy(loans.join("job.csv"), place.path().join("job.csv")).unwrap();
    let agreement = Agreement::load(&place.path().join("agreement.toml")).unwrap();

    let data = place.path().join("data.csv");
    let mut rows = String::from("job,sex,salary,approved\n");
    for person in 0..200 {
        let job = ["Engineer", "Lawyer", "Dancer", "Writer"][person % 4];
        let (sex, class) = (["Male", "Female"][person % 2], ["Y", "N"][person % 3 / 2]);
        rows += &format!("{job},{sex},{},{class}\n", 18 + person % 80);
    }
    fs::write(&data, rows).unwrap();
    let reading = Reading {
        schema: &agreement.schema,
        owner: None,
        identifier: None,
        max_records: agreement.max_records,
    };
    let table = read_csv(&data, &reading, &|_| ()).unwrap();
    let mut rng = Randomness::from_os().unwrap();
    let budget = Budget::new(agreement.epsilon().unwrap());
    let release = single::release(&agreement, &table, budget, &mut rng, &|_| ()).unwrap();

    let heads = Some([Hash([1; 32]), Hash([2; 32])]);
    let (epsilon, delta) = (agreement.epsilon().unwrap().clone(), Rational::power_of_two(-40));
    let towards_peer = agreement.towards_peer();
    let promise = Promise::Differential(Differential { epsilon, delta, towards_peer });
    let draft = Draft::new(&agreement, &release, &promise, heads).unwrap();
    let body = draft.to_be_signed().unwrap();
    let signed = Role::BOTH.into_iter().zip(&identities).map(|(role, identity)| {
        (Some(role), identity.fingerprint(), identity.sign(&body).unwrap())
    });
    let manifest = draft.signed(&signed.collect::<Vec<_>>()).unwrap();
    fs::write(place.path().join(MANIFEST), manifest).unwrap();
    let file = fs::File::create(place.path().join(RELEASE)).unwrap();
    write_csv(&release.table, Rows::All, file).unwrap();
    place
}

#[test]
fn releases_of_before_promises_were_of_several_kinds_still_verify() {
    for kind in ["first", "with-count-table"] {
        let former = root().join("tests/release-v1").join(kind);
        let (manifest, lines) = verify::check(&former).unwrap();
        assert_eq!(manifest.text(&["format"]), Some("diptych manifest v1"));
        assert!(lines.iter().any(|line| line.starts_with("promise    ε = 1, δ ≤ ")), "{lines:?}");
        assert_eq!(lines.iter().filter(|line| line.starts_with("signed")).count(), 2);
        let place = tempfile::tempdir().unwrap();
        let text = fs::read_to_string(former.join(MANIFEST)).unwrap();
        fs::copy(former.join(RELEASE), place.path().join(RELEASE)).unwrap();
        for (from, to) in [
            ("\"epsilon\": \"1\"", "\"epsilon\": \"2\""),
            ("manifest v1", "manifest v2"),
            ("diptych-agreement-1", "diptych-agreement-2"),
        ] {
            fs::write(place.path().join(MANIFEST), text.replacen(from, to, 1)).unwrap();
            assert!(verify::check(place.path()).is_err(), "{to}");
        }
    }
}

#[test]
fn a_release_of_before_half_open_intervals_still_verifies_and_is_read_everywhere() {
    let former = root().join("tests/release-v2/numbers");
    let (manifest, _) = verify::check(&former).unwrap();
    assert_eq!(manifest.text(&["format"]), Some("diptych manifest v2"));
    let released = diptych::publish::released::Released::open(&former).unwrap();
    let cuts = released.cuts().unwrap();
    assert_eq!(cuts.made().len(), 4);
    let names: Vec<String> = (0..2)
        .flat_map(|attribute| cuts.of(attribute).iter().map(move |value| (attribute, *value)))
        .map(|(attribute, value)| cuts.name(diptych::table::Candidate { attribute, value }))
        .collect();
    assert_eq!(names[..3], ["[0..29]", "[30..49]", "[50..99]"]);
    assert_eq!(names[3..], ["[0.5..85.9]", "[86..115.9]", "[116..149.5]"]);
    let place = tempfile::tempdir().unwrap();
    for name in [MANIFEST, RELEASE] {
        fs::copy(former.join(name), place.path().join(name)).unwrap();
    }
    let page = diptych::publish::report::write_page(place.path(), None, false).unwrap();
    assert!(fs::read_to_string(page).unwrap().contains("[0.5..85.9]"));
}

const DIFFGEN: &str = r#"
    [release]
    id = "x"
    partition = "local"
    epsilon = "4"
    specializations = 4
    max_records = 300
    [class]
    column = "ill"
    values = ["yes", "no"]
    [[attribute]]
    name = "job"
    kind = "categorical"
    taxonomy = { Any = { Pro = ["Engineer", "Lawyer"], Art = ["Dancer", "Writer"] } }
    [[attribute]]
    name = "age"
    kind = "numeric"
    min = 0
    max = 99
    step = 1
"#;
const PATHS: &str = r#"
    [release]
    id = "x"
    partition = "local"
    model = "trajectory"
    max_records = 300
    [trajectory]
    acknowledge = "not differentially private"
    l = 2
    k = 2
    c = "1"
    support = "0.25"
    path = "path"
    [class]
    column = "ill"
    values = ["yes", "no"]
"#;

/// Releases by one party of every model, each with its table; the last is one of paths.
fn models() -> Vec<(String, String)> {
    let people = |row: &dyn Fn(usize) -> String, header: &str| {
        (0..200).fold(format!("{header}\n"), |csv, person| csv + &row(person) + "\n")
    };
    let job = |person: usize| ["Engineer", "Lawyer", "Dancer", "Writer"][person % 4];
    let ill = |person: usize| ["yes", "no", "no"][person % 3];
    let plain = people(&|p| format!("{},{},{}", job(p), p * 7 % 100, ill(p)), "job,age,ill");
    let sets = people(
        &|p| {
            let jobs = [job(p), job(p / 4)];
            let jobs = if jobs[0] == jobs[1] { jobs[0].to_owned() } else { jobs.join("|") };
            format!("{jobs},{},{}", p % 100, ill(p))
        },
        "job,age,ill",
    );
    let paths =
        people(&|p| format!("b2>Main St@{}>d{},{}", 3 + p % 3, 7 + p % 2, ill(p)), "path,ill");
    let groups = |model: &str| {
        let terms = format!(
            "[{model}]\nacknowledge = \"not differentially private\"\nl = 1\nk = 2\nc = \"1\"\n[class]"
        );
        let text = DIFFGEN.replace("epsilon = \"4\"", &format!("model = \"{model}\""));
        text.replace("    specializations = 4\n", "").replace("[class]", &terms)
    };
    let exact = "model = \"exact-counts\"";
    // A lattice has attributes with taxonomies alone.
    let lattice = groups("lattice");
    let lattice = lattice[..lattice.rfind("[[attribute]]").unwrap()].to_owned();
    let set = DIFFGEN.replacen("\"categorical\"", "\"set\"", 1);
    let exact = DIFFGEN.replace("epsilon = \"4\"", exact).replace("    specializations = 4\n", "");
    let all = [
        (DIFFGEN.to_owned(), plain.clone()),
        (set, sets),
        (exact, plain.clone()),
        (groups("lkc"), plain.clone()),
        (lattice, plain),
        (PATHS.to_owned(), paths),
    ];
    all.into_iter().collect()
}

/// A release by one party, in `release` below the directory.
fn release_alone((text, csv): &(String, String)) -> TempDir {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data.csv");
    fs::write(&data, csv).unwrap();
    let agreement = Agreement::parse("x.toml", text.as_bytes(), &|_| Err(String::new())).unwrap();
    let (data, out) = (Source::file(&data), place.path().join("release"));
    let wanted = Wanted { data: &data, out: &out, compact: true, entered: None, identity: None };
    local::release(&agreement, &wanted, &NoWatcher).unwrap();
    place
}

/// Writes other rows and, as anybody can where nobody has signed, their hash and number.
fn forge(release: &Path, csv: &str, rows: Option<usize>) {
    let file = |name: &str| release.join(name);
    let _ = fs::remove_file(file("release-compact.csv"));
    let mut manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(file(MANIFEST)).unwrap()).unwrap();
    manifest["release"]["sha256"] = diptych::math::hex::encode(Sha256::digest(csv)).into();
    if let Some(rows) = rows {
        manifest["release"]["rows"] = rows.into();
    }
    fs::write(file(MANIFEST), serde_json::to_string_pretty(&manifest).unwrap() + "\n").unwrap();
    fs::write(file(RELEASE), csv).unwrap();
}

#[test]
fn rows_that_no_release_of_the_agreement_has_are_found_though_their_hash_was_renewed() {
    for model in models() {
        let place = release_alone(&model);
        let release = place.path().join("release");
        let (_, lines) = verify::check(&release).unwrap();
        assert!(lines[0].starts_with("signed     by nobody"), "{lines:?}");
        let whole = fs::read_to_string(release.join(RELEASE)).unwrap();
        let rows: Vec<&str> = whole.lines().collect();
        let (header, rows) = (rows[0], &rows[1..]);
        let last = rows[rows.len() - 1];
        let (values, _) = last.rsplit_once(',').unwrap();
        let (cells, _) = values.rsplit_once(',').unwrap();
        let with = |row: &str| format!("{}\n{row}", rows.join("\n"));
        let counted = |count: &str| {
            let (values, _) = rows[0].rsplit_once(',').unwrap();
            [&[&format!("{values},{count}")[..]], &rows[1..]].concat().join("\n")
        };
        let text = |rows: &[&str]| rows.join("\n");
        let forged = [
            ("a row twice", with(last), rows.len() + 1),
            ("the first row again", with(rows[0]), rows.len() + 1),
            ("a class of nobody", with(&format!("{cells},maybe,3")), rows.len() + 1),
            ("a row less", text(&rows[1..]), rows.len()),
            ("another order", text(&[&[last], &rows[..rows.len() - 1]].concat()), rows.len()),
            ("a short row", with("yes,3"), rows.len() + 1),
            ("nan", counted("nan"), rows.len()),
            ("-5", counted("-5"), rows.len()),
            ("1.5", counted("1.5"), rows.len()),
            ("+1", counted("+1"), rows.len()),
            ("01", counted("01"), rows.len()),
            ("no count", counted(""), rows.len()),
            ("more people than agreed", counted("18446744073709551615"), rows.len()),
            ("nothing", String::new(), 0),
        ];
        for (what, rows, number) in forged {
            // Of sets all may have been left out.
            if what == "nothing" && model.0.contains("\"set\"") {
                continue;
            }
            forge(&release, &format!("{header}\n{rows}\n"), Some(number));
            let refused = verify::check(&release);
            assert!(refused.is_err(), "{what} went unseen in\n{header}\n{rows}\n{}", model.0);
        }
        // The same rows in other bytes: no program of ours wrote them.
        for other in [
            whole.replace('\n', "\r\n"),
            format!("\u{feff}{whole}"),
            whole.replacen("ill", "\"ill\"", 1),
        ] {
            forge(&release, &other, Some(rows.len()));
            let refused = verify::check(&release).unwrap_err();
            let refused = refused.message();
            assert!(refused.contains("not written as releases are"), "{refused}");
        }
        forge(&release, &whole.replacen("ill", "sick", 1), None);
        assert!(verify::check(&release).is_err(), "another header");
        forge(&release, &whole, Some(rows.len() - 1));
        assert!(verify::check(&release).is_err(), "another number of rows");
        forge(&release, &whole, Some(rows.len()));
        verify::check(&release).unwrap();
    }
}

#[test]
fn more_specializations_than_agreed_are_found_though_the_agreements_hash_was_renewed() {
    let place = release_alone(&models()[0]);
    let release = place.path().join("release");
    let mut manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(release.join(MANIFEST)).unwrap()).unwrap();
    let made = manifest["cuts"].as_array().unwrap().len();
    assert!(made > 1, "{made}");
    manifest["agreement"]["release"]["specializations"] = (made - 1).into();
    let canonical = manifest["agreement"].to_string();
    manifest["agreement_sha256"] = diptych::math::hex::encode(Sha256::digest(canonical)).into();
    let text = serde_json::to_string_pretty(&manifest).unwrap() + "\n";
    fs::write(release.join(MANIFEST), text).unwrap();
    let refused = verify::check(&release).unwrap_err().to_string();
    let words = format!("states {made} specializations, and the agreement allows {}", made - 1);
    assert!(refused.contains(&words), "{refused}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_release_verifies_and_none_with_a_row_changed_added_or_removed(
        model in 0..6_usize, people in 100..200_usize, kind in 0..5, place: prop::sample::Index, cell in 0..3_usize,
        text in "\\PC{0,6}",
    ) {
        let model = &models()[model];
        let lines: Vec<&str> = model.1.lines().take(people).collect();
        let released = release_alone(&(model.0.clone(), lines.join("\n")));
        let release = released.path().join("release");
        verify::check(&release).unwrap();
        let whole = fs::read_to_string(release.join(RELEASE)).unwrap();
        let mut rows: Vec<String> = whole.lines().map(str::to_owned).collect();
        let row = 1 + place.index(rows.len() - 1);
        let number = rows.len() - 1;
        let number = match kind {
            0 => {
                // A cell from the end, where no value holds a comma: count, class, last value.
                let mut cells: Vec<String> = rows[row].rsplitn(4, ',').map(str::to_owned).collect();
                let cell = cell.min(cells.len() - 1);
                let is_count = cell == 0 && text.parse::<u64>().is_ok();
                prop_assume!(cells[cell] != text && !is_count && !text.contains([',', '"']));
                cells[cell] = text;
                cells.reverse();
                rows[row] = cells.join(",");
                number
            }
            1 => { rows.remove(row); number }
            2 => { rows.insert(row, rows[row].clone()); number + 1 }
            3 => { rows.insert(row, text); number + 1 }
            _ => {
                prop_assume!(row > 1);
                rows.swap(row, row - 1);
                number
            }
        };
        prop_assume!(rows[1..] != whole.lines().skip(1).collect::<Vec<_>>()[..]);
        // A blank line is no row.
        prop_assume!(kind != 3 || !rows[row].trim_matches('\r').is_empty());
        forge(&release, &(rows.join("\n") + "\n"), Some(number));
        prop_assert!(verify::check(&release).is_err(), "{}", rows.join("\n"));
    }

    #[test]
    fn garbage_in_place_of_a_release_never_verifies_and_never_panics(
        model in 0..6_usize,
        csv in "(\\PC|[,\"\n|>@0-9]){0,60}", keeps_header: bool,
    ) {
        prop_assume!(!csv.trim_matches('\n').is_empty());
        let released = release_alone(&models()[model]);
        let release = released.path().join("release");
        let whole = fs::read_to_string(release.join(RELEASE)).unwrap();
        let header = if keeps_header { whole.lines().next().unwrap() } else { "" };
        forge(&release, &format!("{header}\n{csv}"), Some(csv.lines().count()));
        prop_assert!(verify::check(&release).is_err());
    }
}

#[test]
fn a_release_by_one_party_tells_who_signed_it_and_a_change_is_noticed() {
    let place = tempfile::tempdir().unwrap();
    let identity = Identity::from_pem(&Identity::generate_pem("Bank").unwrap()).unwrap();
    let (text, csv) = &models()[0];
    let data = place.path().join("data.csv");
    fs::write(&data, csv).unwrap();
    let agreement = Agreement::parse("x.toml", text.as_bytes(), &|_| Err(String::new())).unwrap();
    let (data, out) = (Source::file(&data), place.path().join("release"));
    let who = identity.fingerprint().to_string();
    let identity = Some(&identity);
    let wanted = Wanted { data: &data, out: &out, compact: false, entered: None, identity };
    local::release(&agreement, &wanted, &NoWatcher).unwrap();
    let (_, lines) = verify::check(&out).unwrap();
    let signed = format!("signed     by {who} alone: a release by one party");
    assert!(lines.last().unwrap().starts_with(&signed), "{lines:?}");
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("Fingerprint of the party that made it") && page.contains(&who));
    change_nibbles(&[out.join(MANIFEST)], CHANGES, |_, _| verify::check(&out).is_err());
    // A count changes, and the hash with it: the signature no longer fits.
    let whole = fs::read_to_string(out.join(RELEASE)).unwrap();
    let last = whole.trim_end().rsplit_once(',').unwrap().0;
    forge(&out, &format!("{last},199\n"), None);
    assert!(verify::check(&out).unwrap_err().message().contains("does not fit the manifest"));
    // An agreement between two has two signatures.
    let between = root().join("examples/loans/agreement.toml");
    let between = Agreement::load(&between).unwrap();
    let out = place.path().join("two");
    let refused = local::release(&between, &Wanted { out: &out, ..wanted }, &NoWatcher);
    assert!(refused.unwrap_err().message().contains("has both signatures"));
    assert!(!out.exists());
}
