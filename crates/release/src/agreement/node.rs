//! TOML and JSON as one kind of tree whose nodes know their positions.

use super::problem::{Location, Problem, Rule};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
use toml::de::{DeTable, DeValue};

/// Deepest nesting: a taxonomy of the largest depth in canonical form, and the levels around it.
const MAX_NESTING: usize = 2 * crate::table::MAX_DEPTH + 8;

/// Enough for the deepest tree that the TOML parser can return, in debug builds too.
const PARSER_STACK: usize = 32 << 20;

/// A part of a file.
pub struct Node {
    pub value: Value,
    /// Byte offset in the file.
    pub at: usize,
}

pub enum Value {
    Text(String),
    /// `None` if it does not fit 64 bits.
    Integer(Option<i64>),
    /// As written.
    Float(String),
    Boolean(bool),
    Date,
    Nothing,
    List(Vec<Node>),
    Table(Vec<(Key, Node)>),
}

pub struct Key {
    pub name: String,
    pub at: usize,
}

impl Node {
    /// The text under a key of a table, if that is what there is.
    pub fn text_of(&self, key: &str) -> Option<&str> {
        let Value::Table(entries) = &self.value else { return None };
        match entries.iter().find(|(there, _)| there.name == key)? {
            (_, Node { value: Value::Text(text), .. }) => Some(text),
            _ => None,
        }
    }
}

impl Value {
    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a floating-point number",
            Self::Boolean(_) => "a truth value",
            Self::Date => "a date or time",
            Self::Nothing => "null",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

/// A text that is being read, and its name for messages.
pub struct Source<'a> {
    name: &'a str,
    text: &'a str,
}

impl<'a> Source<'a> {
    /// Checks size and encoding before anything else looks at the bytes.
    pub fn new(name: &'a str, bytes: &'a [u8], max_bytes: usize) -> Result<Self, Problem> {
        let whole_file = |rule, message: String, remedy: &str| Problem {
            rule,
            location: Some(Location { file: name.to_owned(), line: 1, column: 1 }),
            message,
            remedy: remedy.to_owned(),
        };
        if bytes.len() > max_bytes {
            return Err(whole_file(
                Rule::TooLarge,
                format!("the file is larger than {} MiB", max_bytes >> 20),
                "group rare values of its taxonomies",
            ));
        }
        match std::str::from_utf8(bytes) {
            // Some editors put a byte-order mark first; it is not part of the text.
            Ok(text) => Ok(Self { name, text: text.strip_prefix('\u{feff}').unwrap_or(text) }),
            Err(error) => {
                let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                let place = Source { name, text: &before }.locate(before.len());
                Err(Problem {
                    location: Some(place),
                    ..whole_file(
                        Rule::Syntax,
                        "the file is not UTF-8".to_owned(),
                        "save it as UTF-8 in your editor",
                    )
                })
            }
        }
    }

    pub fn name(&self) -> &'a str {
        self.name
    }

    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Line and column of a byte offset.
    pub fn locate(&self, at: usize) -> Location {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &self.text[..at];
        let start_of_line = before.rfind('\n').map_or(0, |newline| newline + 1);
        Location {
            file: self.name.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[start_of_line..].chars().count() + 1,
        }
    }

    pub fn problem(&self, rule: Rule, at: usize, message: String, remedy: &str) -> Problem {
        Problem { rule, location: Some(self.locate(at)), message, remedy: remedy.to_owned() }
    }

    /// Reads the text as TOML.
    pub fn toml(&self) -> Result<Node, Problem> {
        // The parser limits brackets and dots each to 80 levels, but not both together: thousands
        // of levels are possible, and dropping them takes a stack that the caller may not have.
        let parsed = std::thread::scope(|scope| {
            let roomy = std::thread::Builder::new().stack_size(PARSER_STACK);
            let parser = roomy.spawn_scoped(scope, || self.toml_on_this_stack()).ok()?;
            parser.join().ok()
        });
        parsed.unwrap_or_else(|| {
            let message = "there is no memory to read the file".to_owned();
            Err(self.problem(Rule::TooLarge, 0, message, "end other programs and try again"))
        })
    }

    fn toml_on_this_stack(&self) -> Result<Node, Problem> {
        let document = DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let message = match error.message() {
                "recursion limit" => return self.too_deep(at),
                message => format!("this is not TOML: {}", one_line(message)),
            };
            self.problem(
                Rule::Syntax,
                at,
                message,
                "correct the line, or compare it with the example in examples/loans",
            )
        })?;
        let at = document.span().start;
        self.toml_table(document.get_ref(), at, 0)
    }

    fn toml_table(&self, table: &DeTable<'_>, at: usize, depth: usize) -> Result<Node, Problem> {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table {
            let name = Key { name: key.get_ref().to_string(), at: key.span().start };
            let value = self.toml_value(value.get_ref(), value.span().start, depth + 1)?;
            entries.push((name, value));
        }
        Ok(Node { value: Value::Table(entries), at })
    }

    fn toml_value(&self, value: &DeValue<'_>, at: usize, depth: usize) -> Result<Node, Problem> {
        if depth > MAX_NESTING {
            return Err(self.too_deep(at));
        }
        let value = match value {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(digits) => {
                Value::Integer(i64::from_str_radix(digits.as_str(), digits.radix()).ok())
            }
            DeValue::Float(digits) => Value::Float(digits.as_str().to_owned()),
            DeValue::Boolean(truth) => Value::Boolean(*truth),
            DeValue::Datetime(_) => Value::Date,
            DeValue::Array(items) => Value::List(
                items
                    .iter()
                    .map(|item| self.toml_value(item.get_ref(), item.span().start, depth + 1))
                    .collect::<Result<_, _>>()?,
            ),
            DeValue::Table(table) => return self.toml_table(table, at, depth),
        };
        Ok(Node { value, at })
    }

    fn too_deep(&self, at: usize) -> Problem {
        self.problem(
            Rule::TooLarge,
            at,
            "tables or lists are nested too deeply here".to_owned(),
            "use a flatter taxonomy",
        )
    }

    /// Reads the text as JSON. Its nodes have no positions.
    pub fn json(&self) -> Result<Node, Problem> {
        // The reader has its own nesting limit, and rejects text after the value.
        serde_json::from_str(self.text).map_err(|error| self.json_problem(&error))
    }

    fn json_problem(&self, error: &serde_json::Error) -> Problem {
        let full = error.to_string();
        let message = full.split(" at line ").next().unwrap_or(&full);
        let file = self.name.to_owned();
        Problem {
            rule: if message.contains("recursion") { Rule::TooLarge } else { Rule::Syntax },
            location: Some(Location {
                file,
                line: error.line().max(1),
                column: error.column().max(1),
            }),
            message: format!("this cannot be read as JSON: {}", one_line(message)),
            remedy: "correct it at this place".to_owned(),
        }
    }
}

/// From JSON, keeping repeated keys, which a map would silently drop.
impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor).map(|value| Self { value, at: 0 })
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nothing)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
        Ok(Value::Boolean(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Integer(Some(number)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Integer(i64::try_from(number).ok()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Float(number.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut table = Vec::new();
        while let Some((name, node)) = entries.next_entry::<String, Node>()? {
            table.push((Key { name, at: 0 }, node));
        }
        Ok(Value::Table(table))
    }
}

fn one_line(message: &str) -> String {
    message.lines().collect::<Vec<_>>().join(", ")
}
