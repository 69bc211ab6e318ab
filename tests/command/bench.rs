//! The page of `diptych bench all`, as a person and a script meet it.

use std::path::Path;

use crate::program::diptych;

fn read(place: &Path, name: &str) -> String {
    std::fs::read_to_string(place.join(name)).unwrap()
}

/// The cells of all rows of a section's table.
fn rows(section: &str) -> Vec<Vec<&str>> {
    let lines = section.lines().filter(|line| line.starts_with("| ")).skip(2);
    lines.map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

/// Every opened element is closed, in order, and nothing stands outside of the first.
fn assert_well_formed(name: &str, svg: &str) {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').unwrap();
        let element = tag.split([' ', '/']).find(|word| !word.is_empty()).unwrap();
        assert_eq!(tag.matches('"').count() % 2, 0, "{name}: <{tag}>");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(element), "{name}");
        } else if !tag.ends_with('/') {
            open.push(element);
        }
        assert!(text.trim().is_empty() || !open.is_empty(), "{name}: outside: {text}");
    }
    assert!(open.is_empty() && svg.starts_with("<svg "), "{name}: {open:?}");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
}

#[test]
fn everything_is_measured_and_made_a_page_of() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let (status, said, told) = diptych(place, &["bench", "all", "--quick", "--out", "page"]);
    assert_eq!(status, 0, "{told}");
    assert!(told.contains("measuring paillier …") && told.contains("wrote page/bench.md"));
    let page = read(place, "page/bench.md");
    assert!(page.contains("`diptych bench all --quick`") && page.contains("- Processor: "));

    let mut in_tables = 0;
    for section in page.split("\n## ").skip(1) {
        let rows = rows(section);
        assert!(!rows.is_empty(), "{section}");
        for row in &rows {
            let value: f64 = row[1].replace(' ', "").parse().unwrap();
            assert!(row.len() == 4 && value.is_finite() && value >= 0.0, "{row:?}");
        }
        in_tables += rows.len();
    }
    let figures: serde_json::Value =
        serde_json::from_str(&read(place, "page/figures.json")).unwrap();
    let figures = figures.as_array().unwrap();
    assert_eq!((figures.len(), said.lines().count()), (in_tables, in_tables));
    assert!(figures.iter().all(|figure| figure["value"].as_f64().is_some_and(f64::is_finite)));

    let plots: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("![")?.strip_suffix(')')?.rsplit_once("](")?.1.into())
        .collect();
    for plot in &plots {
        assert_well_formed(plot, &read(&place.join("page"), plot));
    }
    let files = std::fs::read_dir(place.join("page")).unwrap().count();
    assert_eq!(files, plots.len() + 2, "every plot has a name of its own");
}

#[test]
fn what_does_not_fit_together_is_refused_before_anything_is_measured() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    std::fs::create_dir(place.join("full")).unwrap();
    std::fs::write(place.join("full/notes.txt"), "mine").unwrap();
    for (arguments, words) in [
        (vec!["bench", "all", "--out", "full"], "notes.txt"),
        (vec!["bench", "all", "--size", "10"], "take --quick, --out and --json alone"),
        (vec!["bench", "all", "--class-owner", "p1"], "are for one subject"),
        (vec!["bench", "all", "--membership", "hidden"], "are for one subject"),
        (
            vec!["bench", "release", "--membership", "hidden", "--partition", "horizontal"],
            "is for vertical releases",
        ),
        (
            vec!["bench", "release", "--class-owner", "p1", "--partition", "horizontal"],
            "is for vertical releases",
        ),
        (vec!["bench", "net", "--out", "other"], "--json FILE"),
        (vec!["bench", "nothing"], "choose one of"),
    ] {
        let (status, said, told) = diptych(place, &arguments);
        assert!(status == 2 && said.is_empty() && told.contains(words), "{arguments:?}: {told}");
    }
    assert!(!place.join("other").exists() && !place.join("bench").exists());
    assert_eq!(read(place, "full/notes.txt"), "mine");
}
