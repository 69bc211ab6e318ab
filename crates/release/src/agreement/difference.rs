//! The first thing in which two agreements differ, in one sentence.

use serde_json::Value;
use std::fmt;

/// Longest piece of an agreement that is quoted.
const MAX_QUOTED: usize = 80;
/// The order in which people read an agreement; keys not listed come last.
const READING_ORDER: &[&str] = &[
    "format",
    "release",
    "parties",
    "p1",
    "p2",
    "id",
    "partition",
    "epsilon",
    "class",
    "column",
    "name",
    "kind",
];

/// Where two agreements differ and what each says there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Such as `release.epsilon` or `attribute "job".taxonomy`.
    pub path: String,
    /// Our value, shortened; `None` if it is missing.
    pub ours: Option<String>,
    /// What theirs says.
    pub theirs: Option<String>,
}

/// The first difference between two canonical forms, in reading order, or `None` if they are equal.
///
/// `theirs` may come from a peer of another version: it need not be a valid agreement, and what is
/// quoted from it is escaped and cut short.
pub fn first_difference(ours: &str, theirs: &str) -> Option<Difference> {
    if ours == theirs {
        return None;
    }
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
    let whole = |text: &str| Some(short(text));
    let nothing_finer =
        Difference { path: "the whole text".to_owned(), ours: whole(ours), theirs: whole(theirs) };
    match (parse(ours), parse(theirs)) {
        (Some(ours), Some(theirs)) => {
            Some(differ("", Some(&ours), Some(&theirs)).unwrap_or(nothing_finer))
        }
        _ => Some(nothing_finer),
    }
}

fn differ(path: &str, ours: Option<&Value>, theirs: Option<&Value>) -> Option<Difference> {
    match (ours, theirs) {
        (Some(ours), Some(theirs)) if ours == theirs => None,
        (Some(Value::Object(our_map)), Some(Value::Object(their_map))) => {
            let mut keys: Vec<&String> = our_map.keys().chain(their_map.keys()).collect();
            let place = |key: &str| {
                READING_ORDER.iter().position(|known| *known == key).unwrap_or(usize::MAX)
            };
            keys.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| a.cmp(b)));
            keys.iter()
                .find_map(|key| differ(&joined(path, key), our_map.get(*key), their_map.get(*key)))
        }
        (Some(Value::Array(our_list)), Some(Value::Array(their_list))) => {
            let longest = our_list.len().max(their_list.len());
            (0..longest).find_map(|index| {
                let (ours, theirs) = (our_list.get(index), their_list.get(index));
                differ(&format!("{path} {}", item(index, ours, theirs)), ours, theirs)
            })
        }
        (ours, theirs) => Some(Difference {
            path: path.to_owned(),
            ours: ours.map(|value| short(&value.to_string())),
            theirs: theirs.map(|value| short(&value.to_string())),
        }),
    }
}

fn joined(path: &str, key: &str) -> String {
    let key = short(key);
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

/// An item is called by its name if both have it under the same one, otherwise by its number.
fn item(index: usize, ours: Option<&Value>, theirs: Option<&Value>) -> String {
    let name = |value: Option<&Value>| value?.get("name")?.as_str().map(str::to_owned);
    match (name(ours), name(theirs)) {
        (Some(ours), Some(theirs)) if ours == theirs => format!("{:?}", short(&ours)),
        _ => format!("number {}", index + 1),
    }
}

fn short(text: &str) -> String {
    let mut short: String = text
        .chars()
        .take(MAX_QUOTED)
        .map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c })
        .collect();
    if text.chars().nth(MAX_QUOTED).is_some() {
        short.push('…');
    }
    short
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match (&self.ours, &self.theirs) {
            (Some(ours), Some(theirs)) => {
                write!(f, "the agreements differ in {path}: ours says {ours}, theirs says {theirs}")
            }
            (Some(ours), None) => {
                write!(
                    f,
                    "the agreements differ in {path}: ours says {ours}, theirs has nothing there"
                )
            }
            (None, Some(theirs)) => {
                write!(
                    f,
                    "the agreements differ in {path}: ours has nothing there, theirs says {theirs}"
                )
            }
            (None, None) => write!(f, "the agreements differ in {path}"),
        }
    }
}
