//! A room may use only the rooms that the floor plan lets it know.

#![expect(clippy::expect_used, reason = "helpers of a test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each room and the rooms that it may use, besides itself.
const FLOOR_PLAN: &[(&str, &[&str])] = &[
    ("role", &[]),
    ("simd", &[]),
    ("math", &["simd"]),
    ("crypto", &["simd", "math"]),
    ("circuit", &["role", "simd", "math"]),
    ("net", &["role", "math"]),
    ("privacy", &["math"]),
    ("protocol", &["role", "simd", "math", "crypto", "circuit", "net", "privacy"]),
    ("mechanism", &["role", "math", "crypto", "circuit", "net", "protocol", "privacy"]),
    ("table", &["role"]),
    ("agreement", &["role", "math", "net", "privacy", "table"]),
    (
        "release",
        &[
            "role",
            "math",
            "crypto",
            "circuit",
            "net",
            "protocol",
            "privacy",
            "mechanism",
            "table",
            "agreement",
        ],
    ),
    (
        "publish",
        &[
            "role",
            "math",
            "crypto",
            "circuit",
            "net",
            "privacy",
            "protocol",
            "mechanism",
            "table",
            "agreement",
            "release",
        ],
    ),
    (
        "app",
        &[
            "role",
            "simd",
            "math",
            "crypto",
            "circuit",
            "net",
            "protocol",
            "privacy",
            "mechanism",
            "table",
            "agreement",
            "release",
            "publish",
        ],
    ),
];

fn source_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
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

/// The place of a file in the house, whose lower floors are packages of their own.
fn place(file: &Path) -> PathBuf {
    let inside = file.strip_prefix(source_root()).expect("under src");
    let floor = ["ground", "engine", "terms", "models"]
        .iter()
        .find_map(|floor| inside.strip_prefix(floor).ok());
    floor.unwrap_or(inside).to_owned()
}

/// The first path segments named after `crate::`, groups in braces included.
/// Comments are dropped: a link in documentation is not a use.
fn rooms_used(source: &str) -> BTreeSet<String> {
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
fn every_room_uses_only_rooms_it_may_know() {
    let mut files = Vec::new();
    rust_files(&source_root(), &mut files);
    let mut broken = Vec::new();
    for file in files {
        let inside = place(&file);
        let room = inside.components().next().expect("a file has a name").as_os_str();
        let room = room.to_string_lossy().trim_end_matches(".rs").to_owned();
        if ["lib", "main", "build"].contains(&room.as_str()) {
            continue;
        }
        let Some((_, allowed)) = FLOOR_PLAN.iter().find(|(name, _)| *name == room) else {
            broken.push(format!("{} is in no room of the floor plan", inside.display()));
            continue;
        };
        for used in rooms_used(&fs::read_to_string(&file).expect("readable")) {
            let is_room = FLOOR_PLAN.iter().any(|(name, _)| *name == used);
            if is_room && used != room && !allowed.contains(&used.as_str()) {
                broken
                    .push(format!("{} uses {used}, which {room} must not know", inside.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn no_room_may_use_a_room_below_it() {
    for (index, (room, allowed)) in FLOOR_PLAN.iter().enumerate() {
        for used in *allowed {
            let position = FLOOR_PLAN.iter().position(|(name, _)| name == used);
            assert!(
                position.is_some_and(|p| p < index),
                "{used} is not above {room}, which may use only rooms above it"
            );
        }
    }
}

#[test]
fn uses_are_found_in_every_spelling() {
    let source = "use crate::net::Channel;\nuse crate::{math::{self, x}, crypto};\n\
                  fn f() { crate::table::load() } // crate::app is only mentioned\n";
    let found: Vec<String> = rooms_used(source).into_iter().collect();
    assert_eq!(found, ["crypto", "math", "net", "table"]);
}

#[test]
fn unsafe_code_lives_in_simd_alone() {
    let mut files = Vec::new();
    rust_files(&source_root(), &mut files);
    for file in files {
        let inside = place(&file);
        let source = fs::read_to_string(&file).expect("readable");
        let opened =
            source.contains("allow(unsafe_code)") || source.contains("expect(unsafe_code)");
        assert!(
            !opened || inside.starts_with("simd") || inside == Path::new("simd.rs"),
            "{} opens unsafe code",
            inside.display()
        );
    }
}
