//! `docs/agreement.md` and the JSON schemas, held to what the program reads. Which keys there are is
//! asked of the reader itself, so that a new key makes these tests fail until it is on the page.

use std::collections::BTreeSet;
use std::path::Path;

use diptych::agreement::{Agreement, Builtin};
use diptych::publish::party::Party;

const PAGE: &str = include_str!("../../docs/agreement.md");
const SCHEMAS: [(&str, &str); 2] = [
    ("agreement.schema.json", include_str!("../../docs/agreement.schema.json")),
    ("party.schema.json", include_str!("../../docs/party.schema.json")),
];
const UNKNOWN: &str = "zzzzzzzzzzzzzzzz";
const PARTY: &str = "The party file";
const WHOLE: &str = "The sections";
/// The sections of the agreement, as the page calls them, each with the line it begins with.
const SECTIONS: [(&str, &str); 11] = [
    ("[release]", "[release]"),
    ("[parties]", "[parties]"),
    ("[parties.p1] and [parties.p2]", "[parties.p1]"),
    ("[id]", "[id]"),
    ("[class]", "[class]"),
    ("[[attribute]]", "[[attribute]]"),
    ("[crypto]", "[crypto]"),
    ("[scale]", "[scale]"),
    ("[lkc]", "[lkc]"),
    ("[lattice]", "[lattice]"),
    ("[trajectory]", "[trajectory]"),
];

/// The examples of the page, of agreements or of party files.
fn example(kind: &str) -> &'static str {
    let fenced = PAGE.split("\n```").skip(1).step_by(2);
    let mut blocks = fenced.filter_map(|block| block.split_once('\n'));
    blocks.find(|(info, _)| *info == kind).expect("the page has an example").1
}

/// The page's example for every way to divide data.
fn agreements() -> [String; 3] {
    let vertical = format!("{}\n[crypto]\n", example("toml"));
    let start = vertical.find("[id]").unwrap();
    let mut horizontal = vertical.replace("\"vertical\"", "\"horizontal\"");
    horizontal.replace_range(start + 2..vertical.find("[class]").unwrap() + 2, "");
    let horizontal = horizontal.replace("owner = \"p1\"\n", "").replace("owner = \"p2\"\n", "");
    let mut local = horizontal.replace("\"horizontal\"", "\"local\"");
    let parties = local.find("[parties.p1]").unwrap()..local.find("[class]").unwrap();
    local.replace_range(parties, "");
    [vertical, horizontal, local.replace("[crypto]\n", "")]
}

/// An agreement of the page that has a section.
fn with_section(section: &str) -> String {
    match section {
        "[scale]" => {
            let [vertical, ..] = agreements();
            format!("{vertical}\n[scale]\n")
        }
        "[lkc]" => example("toml lkc").to_owned(),
        "[lattice]" => example("toml lattice").to_owned(),
        "[trajectory]" => example("toml trajectory").to_owned(),
        _ => {
            let [vertical, ..] = agreements();
            vertical
        }
    }
}

fn read(text: &str) -> Result<Agreement, String> {
    Agreement::parse("a", text.as_bytes(), &|_| Err("no file".to_owned()))
        .map_err(|error| error.to_string())
}

fn read_party(text: &str) -> Result<Party, String> {
    Party::parse("p", text.as_bytes(), Path::new("")).map_err(|problems| problems.to_string())
}

/// An agreement with a line more in a section; in place of the one with that key, if there is one.
fn with_line(text: &str, section: &str, line: &str) -> String {
    let key = format!("{} =", line.split(" =").next().unwrap());
    let at = text.find(section).unwrap_or_else(|| panic!("{section} is not in\n{text}"));
    let (before, rest) = text.split_at(at + section.len());
    let end = rest.find("\n[").unwrap_or(rest.len());
    let (body, after) = rest.split_at(end);
    let body: Vec<&str> = body.lines().filter(|line| !line.starts_with(&key)).collect();
    format!("{before}\n{line}{}{after}", body.join("\n"))
}

/// The keys that the reader knows in a section, from what it says about one that it does not know.
fn known_keys(section: &str) -> BTreeSet<String> {
    let unknown = format!("{UNKNOWN} = 1\n");
    let [vertical, ..] = agreements();
    let said = match section {
        PARTY => read_party(&format!("{}\n{unknown}", example("toml party"))).unwrap_err(),
        WHOLE => read(&format!("{unknown}{vertical}")).unwrap_err(),
        "[parties]" => read(&format!("{vertical}\n[parties.{UNKNOWN}]\n")).unwrap_err(),
        _ => {
            let (_, begins) = SECTIONS.iter().find(|(name, _)| *name == section).unwrap();
            read(&with_line(&with_section(section), begins, &unknown)).unwrap_err()
        }
    };
    let (_, list) = said.split_once("known here are: ").unwrap_or_else(|| panic!("{said}"));
    list.lines().next().unwrap().split(", ").map(str::to_owned).collect()
}

/// The rows of a section's table on the page: key and default.
fn rows(section: &str) -> Vec<(String, String)> {
    let heading = format!("\n## {section}\n");
    let (_, rest) = PAGE.split_once(&heading).unwrap_or_else(|| panic!("no heading {section}"));
    let body = rest.split("\n## ").next().unwrap();
    let (_, table) = body.split_once("| key | default | what it is |\n").expect("a table of keys");
    let lines = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    let cells = |line: &str| {
        let mut cells = line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned());
        (cells.next().unwrap().replace('`', ""), cells.next().unwrap())
    };
    lines.map(cells).collect()
}

fn all_sections() -> impl Iterator<Item = &'static str> {
    SECTIONS.into_iter().map(|(name, _)| name).chain([WHOLE, PARTY])
}

#[test]
fn every_key_has_a_line_on_the_page_and_every_line_is_a_key() {
    for section in all_sections() {
        let written: BTreeSet<String> = rows(section).into_iter().map(|(key, _)| key).collect();
        let known = known_keys(section);
        if let Some(key) = known.difference(&written).next() {
            panic!("docs/agreement.md has no line for `{key}` in {section}: add it to the table");
        }
        if let Some(key) = written.difference(&known).next() {
            panic!("docs/agreement.md has `{key}` in {section}, which the program does not know");
        }
    }
}

/// An agreement whose first attribute is of this kind.
fn with_attribute(lines: &str) -> String {
    let [_, horizontal, _] = agreements();
    let first = format!("[[attribute]]\nname = \"first\"\n{lines}\n[[attribute]]");
    horizontal.replacen("[[attribute]]", &first, 1)
}

const DATE: &str =
    "kind = \"date\"\nmin = \"2020-01-01\"\nmax = \"2029-12-31\"\nmissing = \"drop\"";
const NUMBER: &str = "kind = \"numeric\"\nmin = 1\nmax = 9";

/// What the default cell says first in code, unless it is in words only.
fn default_in(cell: &str) -> Option<&str> {
    let code = cell.strip_prefix('`')?;
    code.split('`').next()
}

#[test]
fn every_default_on_the_page_is_what_leaving_the_key_out_means() {
    let mut checked = 0;
    for (section, begins) in SECTIONS {
        for (key, cell) in rows(section) {
            let Some(default) = default_in(&cell) else { continue };
            let line = format!("{key} = {default}\n");
            let same = agreements().iter().chain([&with_section(section)]).any(|text| {
                let Ok(without) = read(&with_line(text, "[release]", "")) else { return false };
                text.contains(begins)
                    && read(&with_line(text, begins, &line))
                        .is_ok_and(|with| with.hash() == without.hash())
            });
            // The polynomial, the ε of a rehearsal, and dates need a choice that is not the default.
            let [vertical, horizontal, _] = agreements();
            let chosen = [
                with_line(&horizontal, "[release]", "selection = \"exponential\"\n"),
                with_line(&vertical, "[id]", "rehearse = \"noisy\"\n"),
                with_attribute(DATE),
            ];
            let same = same
                || chosen.iter().filter(|chosen| chosen.contains(begins)).any(|chosen| {
                    let with = read(&with_line(chosen, begins, &line));
                    with.is_ok_and(|with| with.hash() == read(chosen).unwrap().hash())
                });
            assert!(same, "{key} = {default} in {section} is not the default");
            checked += 1;
        }
    }
    let party = example("toml party");
    for (key, cell) in rows(PARTY) {
        let Some(default) = default_in(&cell) else { continue };
        let with = read_party(&format!("{party}\n{key} = {default}\n")).unwrap();
        assert!(with == read_party(party).unwrap(), "{key} = {default} is not the default");
        checked += 1;
    }
    assert!(checked >= 12, "{checked} defaults");
}

#[test]
fn the_examples_of_the_page_are_read() {
    let models = ["[lkc]", "[lattice]", "[trajectory]"].map(with_section);
    for text in agreements().into_iter().chain(models) {
        read(&text).unwrap();
    }
    read_party(example("toml party")).unwrap();
}

#[test]
fn the_page_lists_the_builtin_taxonomies_with_their_spellings() {
    for builtin in Builtin::all() {
        let spellings: Vec<String> =
            builtin.spellings().iter().map(|spelling| format!("`{spelling}`")).collect();
        let row = format!("| `builtin:{}` | {} |", builtin.name, spellings.join(", "));
        assert!(PAGE.contains(&row), "docs/agreement.md has no row {row}");
    }
    assert_eq!(PAGE.matches("| `builtin:").count(), Builtin::all().count());
}

/// Where a section's keys stand in a schema.
fn schema_of(section: &str) -> (usize, &'static str) {
    match section {
        WHOLE => (0, ""),
        "[release]" => (0, "/properties/release"),
        "[parties]" => (0, "/properties/parties"),
        "[parties.p1] and [parties.p2]" => (0, "/$defs/party"),
        "[id]" => (0, "/properties/id"),
        "[class]" => (0, "/properties/class"),
        "[[attribute]]" => (0, "/properties/attribute/items"),
        "[crypto]" => (0, "/properties/crypto"),
        "[scale]" => (0, "/properties/scale"),
        "[lkc]" => (0, "/properties/lkc"),
        "[lattice]" => (0, "/properties/lattice"),
        "[trajectory]" => (0, "/properties/trajectory"),
        _ => (1, ""),
    }
}

#[test]
fn the_schemas_have_the_same_keys_and_refuse_others() {
    for section in all_sections() {
        let (index, pointer) = schema_of(section);
        let (file, text) = SCHEMAS[index];
        let schema: serde_json::Value = serde_json::from_str(text).unwrap();
        let part = schema.pointer(pointer).unwrap_or_else(|| panic!("{file} has no {pointer}"));
        assert_eq!(part["additionalProperties"], false, "{file} {pointer}");
        let properties = part["properties"].as_object().unwrap();
        let written: BTreeSet<String> = properties.keys().cloned().collect();
        let known = known_keys(section);
        if let Some(key) = known.difference(&written).next() {
            panic!("docs/{file} has no property `{key}` for {section}: add it");
        }
        assert_eq!(written, known, "docs/{file} has keys that {section} does not know");
        for (key, property) in properties {
            assert!(
                property.get("description").is_some() || property.get("$ref").is_some(),
                "{key}"
            );
        }
    }
}

#[test]
fn the_words_that_a_schema_allows_are_those_that_the_reader_allows() {
    for (section, begins) in SECTIONS {
        let (index, pointer) = schema_of(section);
        let schema: serde_json::Value = serde_json::from_str(SCHEMAS[index].1).unwrap();
        let properties = schema.pointer(pointer).unwrap()["properties"].as_object().unwrap();
        for (key, property) in properties {
            let Some(words) = property.get("enum") else { continue };
            let line = format!("{key} = \"{UNKNOWN}\"\n");
            let text = match key.as_str() {
                "outside" | "scale" if section == "[[attribute]]" => with_attribute(NUMBER),
                _ => with_section(section),
            };
            let said = read(&with_line(&text, begins, &line)).unwrap_err();
            let (_, list) = said.split_once("use one of: ").unwrap_or_else(|| panic!("{said}"));
            let list = format!("[{}]", list.lines().next().unwrap());
            let mut allowed: Vec<String> = serde_json::from_str(&list).unwrap();
            // Models that are for tests are in no schema.
            allowed.retain(|word| word != "exact-counts");
            assert_eq!(serde_json::json!(allowed), *words, "{key} in {section}");
        }
    }
}
