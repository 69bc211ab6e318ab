//! The programs in `vectors/generate/` write every document again, byte for byte.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

/// Slowest first, so that they do not run alone at the end: 15 to 30 seconds each.
const SLOW: [&str; 3] = ["paillier.py", "commutative.py", "scalar_product.py"];
/// These make no document of their own.
const OTHERS: [&str; 6] = [
    "cuckoo_failure.py",
    "lpn_costs.py",
    "okvs_failure.py",
    "plain_aes.py",
    "sums.py",
    "top_down.py",
];

fn copy(from: &Path, to: &Path, extension: &str) -> Vec<String> {
    fs::create_dir_all(to).unwrap();
    let mut names = Vec::new();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_file() && name.ends_with(extension) {
            fs::copy(&path, to.join(&name)).unwrap();
            names.push(name);
        }
    }
    names.sort();
    names
}

fn generate(directory: &Path, name: &str) {
    let output = Command::new("python3")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(directory.join(name))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn attacks_on_the_sets_in_use_cost_enough_and_stores_and_bins_seldom_fail() {
    if !Command::new("python3").arg("--version").output().is_ok_and(|o| o.status.success()) {
        eprintln!("skipped: there is no python3 here");
        return;
    }
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/generate");
    generate(&directory, "lpn_costs.py");
    // The program speaks of the sets that are in use.
    let [program, source] =
        [directory.join("lpn_costs.py"), directory.join("../../crates/mpc/src/protocol/silent.rs")]
            .map(|path| fs::read_to_string(path).unwrap());
    assert!(program.contains("\"silent transfers\": (4_194_304, 262_144, 2_048)"));
    assert!(source.contains("secret: 262_144, blocks: 2_048, levels: 11"));
    let source =
        fs::read_to_string(directory.join("../../crates/mpc/src/protocol/vole/plan.rs")).unwrap();
    for (set, numbers) in [
        ("first\": (10_000, 1_050, 1_250)", "secret: 1_050, blocks: 1_250, levels: 3 "),
        ("second\": (112_000, 8_200, 1_750)", "secret: 8_200, blocks: 1_750, levels: 6 "),
        ("main\": (1_945_600, 110_000, 1_900)", "secret: 110_000, blocks: 1_900, levels: 10 "),
    ] {
        assert!(program.contains(set) && source.contains(numbers), "{set}");
    }
    generate(&directory, "okvs_failure.py");
    generate(&directory, "cuckoo_failure.py");
}

#[test]
fn every_document_is_written_again_byte_for_byte() {
    // 3.11 brought the reader of TOML that one of them uses.
    let probe = Command::new("python3").args(["-c", "import tomllib"]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: there is no python3 of version 3.11 or later here");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = tempfile::tempdir().unwrap();
    let copied = place.path().join("vectors");
    // Generators find their target beside themselves; the documents are not there yet.
    let mut programs = copy(&root.join("vectors/generate"), &copied.join("generate"), ".py");
    copy(&root.join("vectors/generate"), &copied.join("generate"), ".toml");
    let schemas = copy(&root.join("vectors/schema"), &copied.join("schema"), ".json");
    copy(&root.join("examples/loans"), &place.path().join("examples/loans"), "");
    programs.retain(|name| !OTHERS.contains(&name.as_str()));
    programs.sort_by_key(|name| SLOW.iter().position(|slow| slow == name).unwrap_or(SLOW.len()));

    let waiting = Mutex::new(VecDeque::from(programs.clone()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(name) = waiting.lock().unwrap().pop_front() else { return };
                    generate(&copied.join("generate"), &name);
                }
            });
        }
    });
    generate(&copied.join("generate"), "sums.py");

    let kept = copy(&root.join("vectors"), &place.path().join("kept"), ".json");
    let expected: Vec<String> = kept.iter().map(|name| name.replace(".json", ".py")).collect();
    programs.sort();
    assert_eq!(programs, expected, "one program per document");
    assert_eq!(schemas, kept, "one schema per document");
    for name in kept.iter().map(String::as_str).chain(["SHA256SUMS"]) {
        let [kept, written] = [root.join("vectors").join(name), copied.join(name)]
            .map(|path| fs::read(path).unwrap());
        assert!(kept == written, "{name} is not what its generator writes");
    }
}
