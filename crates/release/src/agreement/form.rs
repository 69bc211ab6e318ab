//! Filling in a form: takes known keys out of a section and notes everything that is wrong.

use super::node::{Key, Node, Source, Value};
use super::problem::{Problem, Problems, Rule};
use crate::Error;
use crate::table::{Decimal, clean_text, nearest};
use std::ops::RangeInclusive;

/// How messages call the outermost table, whose keys are sections.
pub const WHOLE: &str = "the agreement";

/// Prefix of a text that is still to be filled in.
pub const TO_DO: &str = "TODO";

/// The file that is being read and what was found wrong with it so far.
pub struct Form<'a> {
    pub source: &'a Source<'a>,
    pub problems: Problems,
    /// What has no effect, but breaks no rule.
    pub remarks: Vec<Problem>,
}

/// One table of the file, from which keys are taken.
pub struct Section {
    /// How messages call it, such as `[release]`.
    title: String,
    at: usize,
    entries: Vec<(Key, Node)>,
    /// Known keys that were probably meant by unknown ones: these are not missing as well.
    misspelt: Vec<String>,
}

impl Section {
    /// The value of a key, if it is there.
    pub fn take(&mut self, key: &str) -> Option<Node> {
        let index = self.entries.iter().position(|(known, _)| known.name == key)?;
        Some(self.entries.swap_remove(index).1)
    }

    /// The text of a key, if it has one.
    pub fn text_of(&self, key: &str) -> Option<&str> {
        self.entries.iter().find_map(|(known, node)| match &node.value {
            Value::Text(text) if known.name == key => Some(text.as_str()),
            _ => None,
        })
    }

    /// Whether the key is there.
    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(known, _)| known.name == key)
    }

    /// Whether the key is there under a wrong name, which is noted already.
    pub fn has_misspelt(&self, key: &str) -> bool {
        self.misspelt.iter().any(|meant| meant == key)
    }

    pub fn at(&self) -> usize {
        self.at
    }

    /// How messages call one of its keys.
    pub fn name_of(&self, key: &str) -> String {
        if self.title == WHOLE {
            format!("section [{key}]")
        } else {
            format!("`{key}` in {}", self.title)
        }
    }
}

impl<'a> Form<'a> {
    pub fn new(source: &'a Source<'a>) -> Self {
        Self { source, problems: Problems::default(), remarks: Vec::new() }
    }

    pub fn note(&mut self, rule: Rule, at: usize, message: String, remedy: &str) {
        // Finding a position scans the file: not for problems that are not shown.
        if self.problems.is_full() {
            self.problems.count_one_more();
        } else {
            self.problems.push(self.source.problem(rule, at, message, remedy));
        }
    }

    pub fn remark(&mut self, at: usize, message: String, remedy: &str) {
        self.remarks.push(self.source.problem(Rule::NoEffect, at, message, remedy));
    }

    pub fn note_problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Opens a table; keys that are not `known` are noted.
    pub fn section(&mut self, node: Node, title: &str, known: &[&str]) -> Option<Section> {
        let Value::Table(entries) = node.value else {
            self.wrong_type(&node, title, "a table");
            return None;
        };
        let present = |key: &str| entries.iter().any(|(there, _)| there.name == key);
        let absent: Vec<&str> = known.iter().copied().filter(|key| !present(key)).collect();
        let mut misspelt = Vec::new();
        for (key, _) in entries.iter().filter(|(key, _)| !known.contains(&key.name.as_str())) {
            if self.problems.is_full() {
                self.problems.count_one_more();
                continue;
            }
            let remedy = match nearest(&key.name, absent.iter().copied()) {
                Some(meant) => {
                    misspelt.push(meant.to_owned());
                    format!("did you mean `{meant}`?")
                }
                None => format!("remove it; known here are: {}", known.join(", ")),
            };
            let written: String = key.name.chars().take(60).flat_map(char::escape_debug).collect();
            let message = format!("unknown key `{written}` in {title}");
            self.note(Rule::UnknownKey, key.at, message, &remedy);
        }
        let mut section = Section { title: title.to_owned(), at: node.at, entries, misspelt };
        self.name_open_ends(&mut section);
        Some(section)
    }

    /// Removes what is still `TODO` and reports each once, so that it is not reported as missing as well.
    fn name_open_ends(&mut self, section: &mut Section) {
        let is_open = |node: &Node| match &node.value {
            Value::Text(text) => text.trim() == TO_DO || text.starts_with(&format!("{TO_DO}:")),
            _ => false,
        };
        let (open, kept) = std::mem::take(&mut section.entries)
            .into_iter()
            .partition(|(_, node): &(Key, Node)| is_open(node));
        section.entries = kept;
        for (key, node) in open {
            let Value::Text(text) = node.value else { continue };
            let message = format!("{} is still to be filled in", section.name_of(&key.name));
            let remedy: String =
                text.trim_start_matches(TO_DO).trim_start_matches(':').chars().take(300).collect();
            self.note(Rule::ToDo, node.at, message, remedy.trim());
            section.misspelt.push(key.name);
        }
    }

    /// The value of a key that must be there.
    pub fn required(&mut self, section: &mut Section, key: &str, remedy: &str) -> Option<Node> {
        let node = section.take(key);
        if node.is_none() && !section.has_misspelt(key) {
            let message = if section.title == WHOLE {
                format!("section [{key}] is missing")
            } else {
                format!("`{key}` is missing in {}", section.title)
            };
            self.note(Rule::MissingKey, section.at, message, remedy);
        }
        node
    }

    /// A key that means nothing in this kind of agreement or attribute must not be there.
    pub fn refuse(&mut self, section: &mut Section, key: &str, why: &str) {
        if let Some(node) = section.take(key) {
            let message = format!("{} does not apply: {why}", section.name_of(key));
            let what = if section.title == WHOLE { format!("[{key}]") } else { format!("`{key}`") };
            self.note(Rule::DoesNotApply, node.at, message, &format!("remove {what}"));
        }
    }

    pub fn wrong_type(&mut self, node: &Node, what: &str, expected: &str) {
        let message = format!("{what} is {}, but must be {expected}", node.value.kind());
        self.note(Rule::WrongType, node.at, message, &format!("write {expected}"));
    }

    /// Text without any rule of its own.
    pub fn raw_text(&mut self, node: Node, what: &str, example: &str) -> Option<String> {
        if let Value::Text(text) = node.value {
            return Some(text);
        }
        self.wrong_type(&node, what, &format!("text in quotes, such as {example}"));
        None
    }

    /// A name or value that people read and data is compared with.
    pub fn text(&mut self, node: Node, what: &str, example: &str) -> Option<String> {
        let at = node.at;
        let text = self.raw_text(node, what, example)?;
        self.checked(Rule::BadText, at, what, clean_text(&text))
    }

    /// The result, or a note of what is wrong with it.
    pub fn checked<T>(
        &mut self,
        rule: Rule,
        at: usize,
        what: &str,
        result: Result<T, Error>,
    ) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.note(rule, at, format!("{what}: {error}"), "");
                None
            }
        }
    }

    /// One of a few words.
    pub fn word<T: Copy>(&mut self, node: Node, what: &str, words: &[(&str, T)]) -> Option<T> {
        let at = node.at;
        let quoted: Vec<String> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
        let text = self.raw_text(node, what, &quoted.join(" or "))?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let written: String = text.chars().take(60).collect();
        let remedy = match nearest(&text, words.iter().map(|(word, _)| *word)) {
            Some(meant) => format!("did you mean {meant:?}? Possible are: {}", quoted.join(", ")),
            None => format!("use one of: {}", quoted.join(", ")),
        };
        self.note(Rule::UnknownWord, at, format!("{what} cannot be {written:?}"), &remedy);
        None
    }

    /// True or false.
    pub fn truth(&mut self, node: &Node, what: &str) -> Option<bool> {
        if let Value::Boolean(truth) = node.value {
            return Some(truth);
        }
        self.wrong_type(node, what, "true or false");
        None
    }

    /// A whole number within limits.
    pub fn integer(&mut self, node: Node, what: &str, limits: RangeInclusive<i64>) -> Option<u64> {
        let remedy = format!("use a whole number from {} to {}", limits.start(), limits.end());
        match node.value {
            Value::Integer(Some(number)) if limits.contains(&number) => u64::try_from(number).ok(),
            Value::Integer(number) => {
                let shown = number.map_or("too large".to_owned(), |number| number.to_string());
                self.note(Rule::OutOfRange, node.at, format!("{what} is {shown}"), &remedy);
                None
            }
            _ => {
                self.wrong_type(&node, what, "a whole number without quotes");
                None
            }
        }
    }

    /// An exact decimal: text always, a whole number if `or_integer`, a float never.
    pub fn decimal(&mut self, node: Node, what: &str, or_integer: bool) -> Option<Decimal> {
        let at = node.at;
        match &node.value {
            Value::Text(text) => self.checked(Rule::OutOfRange, at, what, Decimal::parse(text)),
            Value::Integer(Some(number)) if or_integer => {
                self.checked(Rule::OutOfRange, at, what, Decimal::parse(&number.to_string()))
            }
            Value::Integer(Some(number)) => {
                self.must_be_quoted(at, what, &number.to_string());
                None
            }
            Value::Float(digits) => {
                self.must_be_quoted(at, what, &digits.chars().take(40).collect::<String>());
                None
            }
            _ => {
                self.wrong_type(&node, what, "a decimal number in quotes, such as \"0.5\"");
                None
            }
        }
    }

    fn must_be_quoted(&mut self, at: usize, what: &str, digits: &str) {
        let message = format!("{what} is a number without quotes, which would not be exact");
        self.note(Rule::WrongType, at, message, &format!("write it in quotes: \"{digits}\""));
    }

    /// A list of names that differ from each other.
    pub fn distinct_texts(
        &mut self,
        node: Node,
        what: &str,
        counts: RangeInclusive<usize>,
        example: &str,
    ) -> Option<Vec<String>> {
        let Value::List(items) = node.value else {
            self.wrong_type(&node, what, &format!("a list, such as {example}"));
            return None;
        };
        if !counts.contains(&items.len()) {
            let message = format!("{what} has {} entries", items.len());
            let remedy = format!("list from {} to {} of them", counts.start(), counts.end());
            self.note(Rule::OutOfRange, node.at, message, &remedy);
            return None;
        }
        let count = items.len();
        let mut texts: Vec<String> = Vec::with_capacity(count);
        for item in items {
            let at = item.at;
            let Some(text) = self.text(item, what, example) else { continue };
            if texts.contains(&text) {
                let message = format!("{what} lists `{text}` twice");
                self.note(Rule::Duplicate, at, message, "remove one of them");
            } else {
                texts.push(text);
            }
        }
        (texts.len() == count).then_some(texts)
    }
}
