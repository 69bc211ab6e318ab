//! Taxonomies as people write them: inline, in TOML, in JSON, or as a hierarchy CSV.

use super::MAX_FILE_BYTES;
use super::node::{Node, Source, Value};
use super::problem::{Problem, Rule};
use crate::Error;
use crate::table::taxonomy::{duplicate_value, second_root, too_many_values};
use crate::table::{MAX_VALUES, Taxonomy, TaxonomyBuilder};
use std::collections::HashMap;

const TOML_REMEDY: &str =
    "write a table such as { Any = { Professional = [\"Engineer\", \"Lawyer\"], Other = [] } }";
const JSON_REMEDY: &str = "write objects {\"name\": …, \"children\": […]} and nothing else";
const CSV_REMEDY: &str =
    "write one line for each leaf, separated by semicolons, such as Engineer;Professional;Any";

/// The ways a taxonomy can be written in a file of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaxonomyFormat {
    /// One root with tables and lists below it, as inline in an agreement.
    Toml,
    /// `{"name": …, "children": […]}`, nested; a leaf has no children.
    Json,
    /// One line for each leaf: `leaf;parent;…;root`.
    Csv,
}

impl TaxonomyFormat {
    /// By the end of the file's name.
    pub fn of(file_name: &str) -> Option<Self> {
        match file_name.rsplit_once('.')?.1 {
            "toml" => Some(Self::Toml),
            "json" => Some(Self::Json),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }
}

/// Reads a taxonomy file. `name` is used in messages.
///
/// # Errors
/// The first problem, with its place as far as the format tells it.
pub fn read_taxonomy(
    format: TaxonomyFormat,
    name: &str,
    bytes: &[u8],
) -> Result<Taxonomy, Problem> {
    let source = Source::new(name, bytes, MAX_FILE_BYTES)?;
    match format {
        TaxonomyFormat::Toml => from_toml(&source, &source.toml()?),
        TaxonomyFormat::Json => from_json(&source, &source.json()?),
        TaxonomyFormat::Csv => from_csv(&source),
    }
}

/// A table with one key, the root. Below it, tables and lists hold what lies below a value.
pub(super) fn from_toml(source: &Source<'_>, node: &Node) -> Result<Taxonomy, Problem> {
    let Value::Table(entries) = &node.value else {
        return Err(wrong_shape(source, node, "a taxonomy", TOML_REMEDY));
    };
    let mut builder = TaxonomyBuilder::new();
    for (root, below) in entries {
        toml_value(source, &mut builder, &root.name, root.at, below)?;
    }
    builder.finish().map_err(|error| broken(source, node.at, &error))
}

fn toml_value(
    source: &Source<'_>,
    builder: &mut TaxonomyBuilder,
    name: &str,
    at: usize,
    below: &Node,
) -> Result<(), Problem> {
    builder.open(name).map_err(|error| broken(source, at, &error))?;
    match &below.value {
        Value::Table(entries) => {
            for (child, below) in entries {
                toml_value(source, builder, &child.name, child.at, below)?;
            }
        }
        Value::List(items) => {
            for item in items {
                match &item.value {
                    Value::Text(leaf) => {
                        builder.leaf(leaf).map_err(|error| broken(source, item.at, &error))?;
                    }
                    Value::Table(entries) => {
                        for (child, below) in entries {
                            toml_value(source, builder, &child.name, child.at, below)?;
                        }
                    }
                    _ => return Err(wrong_shape(source, item, "a value", TOML_REMEDY)),
                }
            }
        }
        _ => return Err(wrong_shape(source, below, "what lies below a value", TOML_REMEDY)),
    }
    builder.close();
    Ok(())
}

/// `{"name": …, "children": […]}`: a taxonomy file, and the canonical form.
pub(super) fn from_json(source: &Source<'_>, node: &Node) -> Result<Taxonomy, Problem> {
    let mut builder = TaxonomyBuilder::new();
    json_value(source, &mut builder, node)?;
    builder.finish().map_err(|error| broken(source, 0, &error))
}

fn json_value(
    source: &Source<'_>,
    builder: &mut TaxonomyBuilder,
    node: &Node,
) -> Result<(), Problem> {
    let shape = || wrong_shape(source, node, "a value", JSON_REMEDY);
    let Value::Table(entries) = &node.value else { return Err(shape()) };
    let (mut name, mut children) = (None, None);
    for (key, value) in entries {
        match (key.name.as_str(), &value.value) {
            ("name", Value::Text(text)) if name.is_none() => name = Some(text),
            ("children", Value::List(items)) if children.is_none() => children = Some(items),
            _ => {
                let message = format!("`{}` is not expected here", key.name.escape_debug());
                let at = place_of(source, &key.name);
                return Err(source.problem(Rule::Taxonomy, at, message, JSON_REMEDY));
            }
        }
    }
    let name = name.ok_or_else(shape)?;
    builder.open(name).map_err(|error| broken(source, place_of(source, name), &error))?;
    for child in children.into_iter().flatten() {
        json_value(source, builder, child)?;
    }
    builder.close();
    Ok(())
}

/// JSON values have no positions; a repetition is reported at the last occurrence.
fn place_of(source: &Source<'_>, name: &str) -> usize {
    source.text().rfind(&format!("\"{name}\"")).unwrap_or(0)
}

/// A value of a hierarchy while its lines are read.
struct Branch {
    name: String,
    parent: Option<usize>,
    children: Vec<usize>,
    /// Offset of the line that lists it as a leaf.
    listed: Option<usize>,
}

fn from_csv(source: &Source<'_>) -> Result<Taxonomy, Problem> {
    let problem = |at, message| source.problem(Rule::Taxonomy, at, message, CSV_REMEDY);
    let mut lines = csv::ReaderBuilder::new()
        .delimiter(b';')
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(source.text().as_bytes());
    let mut branches: Vec<Branch> = Vec::new();
    let mut by_name: HashMap<String, usize> = HashMap::new();
    let mut line = csv::StringRecord::new();
    while lines.read_record(&mut line).map_err(|error| problem(0, error.to_string()))? {
        let at = line.position().map_or(0, |position| position.byte() as usize);
        let mut parent = None;
        let mut levels: Vec<&str> = line.iter().rev().collect();
        // Hierarchies with levels of equal depth repeat a value that has no finer one.
        levels.dedup();
        for (depth, name) in levels.iter().enumerate() {
            let known = by_name.get(*name).copied();
            let branch = match known {
                Some(branch) if branches[branch].parent != parent => {
                    let over = |parent: Option<usize>| match parent {
                        Some(parent) => format!("below `{}`", branches[parent].name),
                        None => "as the root".to_owned(),
                    };
                    let (here, there) = (over(parent), over(branches[branch].parent));
                    return Err(problem(
                        at,
                        format!("`{name}` stands {here} here, but {there} in an earlier line"),
                    ));
                }
                Some(branch) => branch,
                None if depth == 0 && !branches.is_empty() => {
                    return Err(broken_line(source, at, &second_root(name)));
                }
                None if branches.len() >= MAX_VALUES => {
                    return Err(broken_line(source, at, &too_many_values()));
                }
                None => {
                    let branch = branches.len();
                    by_name.insert((*name).to_owned(), branch);
                    let children = Vec::new();
                    branches.push(Branch {
                        name: (*name).to_owned(),
                        parent,
                        children,
                        listed: None,
                    });
                    if let Some(parent) = parent {
                        branches[parent].children.push(branch);
                    }
                    branch
                }
            };
            parent = Some(branch);
        }
        if let Some(leaf) = parent {
            if branches[leaf].listed.is_some() {
                return Err(broken(source, at, &duplicate_value(&branches[leaf].name)));
            }
            branches[leaf].listed = Some(at);
        }
    }
    grow(source, &branches)
}

/// Walks the branches in pre-order without recursion: the depth is checked by the builder only.
fn grow(source: &Source<'_>, branches: &[Branch]) -> Result<Taxonomy, Problem> {
    enum Step {
        Open(usize),
        Close,
    }
    let mut builder = TaxonomyBuilder::new();
    let mut steps: Vec<Step> = branches.iter().take(1).map(|_| Step::Open(0)).collect();
    while let Some(step) = steps.pop() {
        let Step::Open(branch) = step else {
            builder.close();
            continue;
        };
        let Branch { name, children, listed, .. } = &branches[branch];
        let at = listed.unwrap_or_else(|| source.text().find(name.as_str()).unwrap_or(0));
        if listed.is_some() && !children.is_empty() {
            let message = format!("`{name}` is a leaf in this line and a parent in another");
            return Err(source.problem(Rule::Taxonomy, at, message, CSV_REMEDY));
        }
        builder.open(name).map_err(|error| broken_line(source, at, &error))?;
        steps.push(Step::Close);
        steps.extend(children.iter().rev().map(|child| Step::Open(*child)));
    }
    builder.finish().map_err(|error| broken(source, 0, &error))
}

/// A flat list of values as a tree: every value has at most `branches` below it, the leaves keep
/// their order, and their depths differ by one at most. A group is called by its first and last.
///
/// # Errors
/// If a group's name is too long or is the name of a value.
pub(super) fn balanced(flat: &Taxonomy, branches: usize) -> Result<Taxonomy, Error> {
    let leaves: Vec<&str> = flat.leaves().iter().map(|leaf| flat.name(*leaf)).collect();
    let mut builder = TaxonomyBuilder::new();
    builder.open(flat.name(flat.root()))?;
    if flat.len() > 1 {
        branch_out(&mut builder, &leaves, branches.max(2))?;
    }
    builder.finish()
}

fn branch_out(
    builder: &mut TaxonomyBuilder,
    leaves: &[&str],
    branches: usize,
) -> Result<(), Error> {
    let parts = branches.min(leaves.len());
    for part in 0..parts {
        let ends = [part, part + 1].map(|part| part * leaves.len() / parts);
        match &leaves[ends[0]..ends[1]] {
            [leaf] => builder.leaf(leaf)?,
            [first, .., last] => {
                builder.open(&format!("{first} … {last}"))?;
                branch_out(builder, &leaves[ends[0]..ends[1]], branches)?;
                builder.close();
            }
            [] => {}
        }
    }
    Ok(())
}

fn broken(source: &Source<'_>, at: usize, error: &Error) -> Problem {
    source.problem(Rule::Taxonomy, at, error.to_string(), "")
}

fn broken_line(source: &Source<'_>, at: usize, error: &Error) -> Problem {
    source.problem(Rule::Taxonomy, at, error.to_string(), CSV_REMEDY)
}

fn wrong_shape(source: &Source<'_>, node: &Node, what: &str, remedy: &str) -> Problem {
    let message = format!("{what} cannot be {}", node.value.kind());
    source.problem(Rule::Taxonomy, node.at, message, remedy)
}
