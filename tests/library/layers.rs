//! A module uses only modules that its layer may know, and unsafe code is in one module alone. What
//! packages may know of each other stands in their manifests; this is about the inside.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of each package: each may use those before it.
const PACKAGES: &[(&str, &[&str])] = &[
    ("crates/primitives", &["simd", "math", "crypto"]),
    ("crates/privacy", &["privacy"]),
    ("crates/mpc", &["role", "circuit", "net", "protocol", "mechanism", "paper"]),
    ("crates/release", &["table", "agreement", "release", "publish"]),
    (".", &["app"]),
];

/// What a module knows nothing of, though it comes before it.
const KNOWS_NOTHING_OF: &[(&str, &[&str])] = &[
    ("privacy", &["crypto", "simd"]),
    ("circuit", &["crypto", "privacy"]),
    ("net", &["circuit", "crypto", "privacy", "simd"]),
    ("mechanism", &["simd"]),
    ("paper", &["simd"]),
    (
        "table",
        &["circuit", "crypto", "math", "mechanism", "net", "paper", "privacy", "protocol", "simd"],
    ),
    ("agreement", &["circuit", "crypto", "mechanism", "paper", "simd"]),
    ("release", &["simd"]),
    ("publish", &["simd"]),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn modules() -> impl Iterator<Item = &'static str> {
    PACKAGES.iter().flat_map(|(_, modules)| modules.iter().copied())
}

/// Every file of every package, and the module it belongs to; `None` for what may use the whole
/// package: its root, its error type, and what checks its vectors.
fn files() -> Vec<(PathBuf, Option<&'static str>)> {
    let mut found = Vec::new();
    for (package, modules) in PACKAGES {
        let source = root().join(package).join("src");
        let mut files = Vec::new();
        rust_files(&source, &mut files);
        for file in files {
            let inside = file.strip_prefix(&source).expect("under src");
            let first = inside.components().next().expect("a file has a name").as_os_str();
            let first = first.to_string_lossy().trim_end_matches(".rs").to_owned();
            // The package `privacy` is one module, and the root of the package is its page.
            let module = match modules {
                [only @ "privacy"] => Some(*only),
                _ if ["audit", "error", "lib", "main"].contains(&first.as_str()) => None,
                _ => Some(*modules.iter().find(|name| **name == first).unwrap_or_else(|| {
                    panic!("{} belongs to no module of {package}", inside.display())
                })),
            };
            found.push((file, module));
        }
    }
    found
}

fn rust_files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("src is readable") {
        let path = entry.expect("src is readable").path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn may_use(module: &str, used: &str) -> bool {
    let place = |name| modules().position(|other| other == name).expect("a module");
    let unknown = KNOWS_NOTHING_OF.iter().find(|(name, _)| *name == module);
    place(used) <= place(module) && unknown.is_none_or(|(_, names)| !names.contains(&used))
}

/// The first path segments named after `crate::`, groups in braces included.
/// Comments are dropped: a link in documentation is not a use.
fn modules_used(source: &str) -> BTreeSet<String> {
    let code: String = source
        .lines()
        .map(|line| line.split("//").next().unwrap_or(""))
        .collect::<Vec<_>>()
        .join("\n");
    let mut used = BTreeSet::new();
    for tail in code.split("crate::").skip(1) {
        let Some(group) = tail.strip_prefix('{') else {
            used.insert(first_segment(tail));
            continue;
        };
        let mut depth = 0;
        let mut start_of_item = true;
        for (index, character) in group.char_indices() {
            match character {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => start_of_item = true,
                c if start_of_item && !c.is_whitespace() => {
                    used.insert(first_segment(&group[index..]));
                    start_of_item = false;
                }
                _ => {}
            }
        }
    }
    used
}

fn first_segment(path: &str) -> String {
    path.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[test]
fn every_module_uses_only_modules_it_may_know() {
    let mut broken = Vec::new();
    for (file, module) in files() {
        let Some(module) = module else { continue };
        let source = fs::read_to_string(&file).expect("readable");
        let used = modules_used(&source).into_iter().filter(|used| modules().any(|m| m == used));
        for used in used.filter(|used| !may_use(module, used)) {
            broken.push(format!("{} uses {used}, which {module} must not know", file.display()));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn uses_are_found_in_every_spelling() {
    let source = "use crate::net::Channel;\nuse crate::{math::{self, x}, crypto};\n\
                  fn f() { crate::table::load() } // crate::app is only mentioned\n";
    let found: Vec<String> = modules_used(source).into_iter().collect();
    assert_eq!(found, ["crypto", "math", "net", "table"]);
}

#[test]
fn unsafe_code_lives_in_simd_alone() {
    for (file, module) in files() {
        let source = fs::read_to_string(&file).expect("readable");
        let opened =
            source.contains("allow(unsafe_code)") || source.contains("expect(unsafe_code)");
        assert!(!opened || module == Some("simd"), "{} opens unsafe code", file.display());
    }
}
