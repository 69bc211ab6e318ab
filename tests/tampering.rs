//! One changed nibble anywhere in what is published is noticed: vectors, circuits, releases.

#![expect(clippy::unwrap_used, reason = "helpers of a test")]

use std::fs;
use std::path::{Path, PathBuf};

use diptych::Role;
use diptych::agreement::Agreement;
use diptych::app::audit;
use diptych::math::{Randomness, Rational};
use diptych::net::Identity;
use diptych::privacy::ledger::Hash;
use diptych::privacy::{Budget, Promise};
use diptych::publish::artefacts::{MANIFEST, RELEASE};
use diptych::publish::{manifest::Draft, verify};
use diptych::release::diffgen::single;
use diptych::release::tree::output::{Rows, write_csv};
use diptych::table::{Reading, read_csv};
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
    let promise = Promise::Differential { epsilon, delta };
    let draft = Draft::new(&agreement, &release, &promise, heads).unwrap();
    let body = draft.to_be_signed().unwrap();
    let signed = Role::BOTH
        .into_iter()
        .zip(&identities)
        .map(|(role, identity)| (role, identity.fingerprint(), identity.sign(&body).unwrap()));
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
