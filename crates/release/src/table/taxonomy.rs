//! Taxonomy trees: how a value is generalized, from a leaf up to the root.

use super::clean_text;
use crate::Error;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;

/// Most levels of a taxonomy, the root's included.
pub const MAX_DEPTH: usize = 32;
/// Most values of a taxonomy, parents and root included.
pub const MAX_VALUES: usize = 65_536;

/// A value of a taxonomy: its number in pre-order, children in file order. The root is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ValueId(u32);

impl ValueId {
    /// The number in pre-order.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A tree of values with distinct names. A record holds a leaf; a release may hold any value.
///
/// Since values are numbered in pre-order, the values below one are a range of numbers, and so are
/// the leaves below it: asking whether a value generalizes another costs two comparisons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taxonomy {
    values: Vec<Value>,
    leaves: Vec<ValueId>,
    by_name: HashMap<Box<str>, ValueId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Value {
    name: Box<str>,
    parent: Option<ValueId>,
    depth: u8,
    /// One past the last value below this one.
    end: u32,
    /// The leaves at or below this one, by their place among all leaves.
    leaves: Range<u32>,
}

impl Taxonomy {
    /// The most general value.
    pub fn root(&self) -> ValueId {
        ValueId(0)
    }

    /// Number of values, root and leaves included.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Never: a taxonomy has at least a root.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// All values in pre-order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = ValueId> + use<> {
        (0..self.values.len() as u32).map(ValueId)
    }

    /// All leaves in pre-order.
    pub fn leaves(&self) -> &[ValueId] {
        &self.leaves
    }

    /// How the value is written.
    pub fn name(&self, value: ValueId) -> &str {
        &self.values[value.index()].name
    }

    /// The next more general value; `None` for the root.
    pub fn parent(&self, value: ValueId) -> Option<ValueId> {
        self.values[value.index()].parent
    }

    /// Steps from the root.
    pub fn depth(&self, value: ValueId) -> usize {
        usize::from(self.values[value.index()].depth)
    }

    /// The largest depth.
    pub fn height(&self) -> usize {
        self.leaves().iter().map(|leaf| self.depth(*leaf)).max().unwrap_or(0)
    }

    /// What the value specializes into, in file order; nothing for a leaf.
    pub fn children(&self, value: ValueId) -> impl Iterator<Item = ValueId> + '_ {
        let end = self.values[value.index()].end;
        let mut next = value.0 + 1;
        std::iter::from_fn(move || {
            let child = (next < end).then_some(ValueId(next))?;
            next = self.values[child.index()].end;
            Some(child)
        })
    }

    /// Whether the value cannot be specialized further.
    pub fn is_leaf(&self, value: ValueId) -> bool {
        self.values[value.index()].end == value.0 + 1
    }

    /// The leaves at or below a value, by their place in [`Taxonomy::leaves`].
    pub fn leaf_range(&self, value: ValueId) -> Range<u32> {
        self.values[value.index()].leaves.clone()
    }

    /// Whether `general` is `value` or one of the values above it.
    pub fn generalizes(&self, general: ValueId, value: ValueId) -> bool {
        general <= value && value.0 < self.values[general.index()].end
    }

    /// The same tree with one more leaf below the root, behind all others.
    ///
    /// # Errors
    /// A name that is there already, a root that is itself a leaf, or too many values.
    pub fn with_leaf(mut self, name: &str) -> Result<Self, Error> {
        if self.values.len() >= MAX_VALUES {
            return Err(too_many_values());
        }
        if self.values.len() == 1 {
            return Err(Error::input(format!(
                "the taxonomy has one value, and `{name}` cannot stand beside it: put it under a root"
            )));
        }
        let id = ValueId(self.values.len() as u32);
        if self.by_name.insert(name.into(), id).is_some() {
            return Err(duplicate_value(name));
        }
        let place = self.leaves.len() as u32;
        self.values.push(Value {
            name: name.into(),
            parent: Some(self.root()),
            depth: 1,
            end: id.0 + 1,
            leaves: place..place + 1,
        });
        self.leaves.push(id);
        self.values[0].end += 1;
        self.values[0].leaves.end += 1;
        Ok(self)
    }

    /// The value with this name, in any Unicode normalization form.
    pub fn find(&self, name: &str) -> Option<ValueId> {
        let found = self.by_name.get(name).copied();
        if found.is_some() || name.is_ascii() {
            return found;
        }
        self.by_name.get(name.nfc().collect::<String>().as_str()).copied()
    }
}

/// Builds a taxonomy in pre-order: [`open`](Self::open) a value, build its children, and
/// [`close`](Self::close) it. Every limit is checked before anything is stored.
#[derive(Debug, Default)]
pub struct TaxonomyBuilder {
    values: Vec<Value>,
    leaves: Vec<ValueId>,
    by_name: HashMap<Box<str>, ValueId>,
    open: Vec<ValueId>,
}

impl TaxonomyBuilder {
    /// No value yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a value below the innermost open one; the first is the root.
    ///
    /// # Errors
    /// A name that is not allowed or not new, a second root, too many levels or values.
    pub fn open(&mut self, name: &str) -> Result<(), Error> {
        let name = clean_text(name)?.into_boxed_str();
        if self.values.len() >= MAX_VALUES {
            return Err(too_many_values());
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(Error::input(format!(
                "`{name}` lies deeper than {MAX_DEPTH} levels: use a flatter taxonomy"
            )));
        }
        if self.open.is_empty() && !self.values.is_empty() {
            return Err(second_root(&name));
        }
        let id = ValueId(self.values.len() as u32);
        if self.by_name.insert(name.clone(), id).is_some() {
            return Err(duplicate_value(&name));
        }
        let leaves = self.leaves.len() as u32;
        self.values.push(Value {
            name,
            parent: self.open.last().copied(),
            depth: self.open.len() as u8,
            end: id.0 + 1,
            leaves: leaves..leaves,
        });
        self.open.push(id);
        Ok(())
    }

    /// Ends the innermost open value. Does nothing if none is open.
    pub fn close(&mut self) {
        let Some(id) = self.open.pop() else { return };
        let end = self.values.len() as u32;
        if end == id.0 + 1 {
            self.leaves.push(id);
        }
        let value = &mut self.values[id.index()];
        value.end = end;
        value.leaves.end = self.leaves.len() as u32;
    }

    /// A value without children.
    ///
    /// # Errors
    /// As [`TaxonomyBuilder::open`].
    pub fn leaf(&mut self, name: &str) -> Result<(), Error> {
        self.open(name)?;
        self.close();
        Ok(())
    }

    /// The finished tree; values still open are closed.
    ///
    /// # Errors
    /// If nothing was opened.
    pub fn finish(mut self) -> Result<Taxonomy, Error> {
        while !self.open.is_empty() {
            self.close();
        }
        if self.values.is_empty() {
            return Err(Error::input(
                "the taxonomy is empty: give it a root, such as { Any = [\"a\", \"b\"] }",
            ));
        }
        Ok(Taxonomy { values: self.values, leaves: self.leaves, by_name: self.by_name })
    }
}

/// An error for a taxonomy with too many values.
pub(crate) fn too_many_values() -> Error {
    Error::input(format!("the taxonomy has more than {MAX_VALUES} values: group rare ones"))
}

/// An error for a taxonomy with more than one root.
pub(crate) fn second_root(name: &str) -> Error {
    Error::input(format!("`{name}` is a second root: put all values under one root, such as `Any`"))
}

/// An error for the same value twice in one taxonomy.
pub(crate) fn duplicate_value(name: &str) -> Error {
    Error::input(format!(
        "`{name}` is in the taxonomy twice: every value must have a name of its own, parents and roots \
         included"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn figure_6_1_job() -> Taxonomy {
        let mut builder = TaxonomyBuilder::new();
        builder.open("Any_Job").unwrap();
        for (parent, leaves) in
            [("Professional", ["Engineer", "Lawyer"]), ("Artist", ["Dancer", "Writer"])]
        {
            builder.open(parent).unwrap();
            leaves.iter().for_each(|leaf| builder.leaf(leaf).unwrap());
            builder.close();
        }
        builder.finish().unwrap()
    }

    #[test]
    fn a_leaf_can_be_added_below_the_root() {
        let job = figure_6_1_job().with_leaf("missing").unwrap();
        let leaf = job.find("missing").unwrap();
        assert_eq!((job.parent(leaf), job.is_leaf(leaf)), (Some(job.root()), true));
        assert_eq!((job.leaf_range(leaf), job.leaf_range(job.root())), (4..5, 0..5));
        let children: Vec<&str> = job.children(job.root()).map(|it| job.name(it)).collect();
        assert_eq!(children, ["Professional", "Artist", "missing"]);
        assert!(job.with_leaf("Writer").unwrap_err().message().contains("twice"));
        let mut only = TaxonomyBuilder::new();
        only.leaf("only").unwrap();
        let wrong = only.finish().unwrap().with_leaf("missing").unwrap_err();
        assert!(wrong.message().contains("put it under a root"));
    }

    #[test]
    fn values_are_numbered_in_pre_order_and_leaves_are_ranges() {
        let job = figure_6_1_job();
        let names: Vec<&str> = job.values().map(|value| job.name(value)).collect();
        assert_eq!(
            names,
            ["Any_Job", "Professional", "Engineer", "Lawyer", "Artist", "Dancer", "Writer"]
        );
        let artist = job.find("Artist").unwrap();
        let children: Vec<&str> = job.children(artist).map(|child| job.name(child)).collect();
        assert_eq!(children, ["Dancer", "Writer"]);
        assert_eq!(job.leaf_range(artist), 2..4);
        assert_eq!(job.leaf_range(job.root()), 0..4);
        assert_eq!(job.parent(artist), Some(job.root()));
        assert_eq!(job.depth(job.find("Writer").unwrap()), 2);
        assert!(job.generalizes(artist, job.find("Dancer").unwrap()));
        assert!(!job.generalizes(artist, job.find("Lawyer").unwrap()));
        assert_eq!(job.find("Plumber"), None);
    }

    #[test]
    fn a_single_value_is_root_and_leaf() {
        let mut builder = TaxonomyBuilder::new();
        builder.leaf("only").unwrap();
        let only = builder.finish().unwrap();
        assert!(only.is_leaf(only.root()));
        assert_eq!(only.leaves(), [only.root()]);
    }

    #[test]
    fn names_are_found_in_any_normalization_form() {
        let mut builder = TaxonomyBuilder::new();
        builder.leaf("Cafe\u{301}").unwrap();
        let taxonomy = builder.finish().unwrap();
        assert!(taxonomy.find("Caf\u{e9}").is_some() && taxonomy.find("Cafe\u{301}").is_some());
    }

    #[test]
    fn trees_out_of_bounds_are_refused() {
        let refused = |error: Error, why: &str| assert!(error.message().contains(why), "{error}");
        refused(TaxonomyBuilder::new().finish().unwrap_err(), "the taxonomy is empty");
        let mut deep = TaxonomyBuilder::new();
        (0..MAX_DEPTH).for_each(|level| deep.open(&level.to_string()).unwrap());
        refused(deep.open("deeper").unwrap_err(), "`deeper` lies deeper than");
        let mut wide = TaxonomyBuilder::new();
        wide.open("root").unwrap();
        (1..MAX_VALUES).for_each(|leaf| wide.leaf(&leaf.to_string()).unwrap());
        refused(wide.leaf("one more").unwrap_err(), "values: group rare ones");
        let mut twice = TaxonomyBuilder::new();
        twice.open("a").unwrap();
        refused(twice.leaf("a").unwrap_err(), "`a` is in the taxonomy twice");
        let mut two = TaxonomyBuilder::new();
        two.leaf("a").unwrap();
        refused(two.leaf("b").unwrap_err(), "`b` is a second root");
    }

    proptest! {
        #[test]
        fn parents_children_and_leaves_agree_on_any_tree(steps in prop::collection::vec(any::<bool>(), 0..60)) {
            let mut builder = TaxonomyBuilder::new();
            builder.open("root").unwrap();
            let mut depth = 1;
            for (index, down) in steps.iter().enumerate() {
                if *down && depth < MAX_DEPTH {
                    builder.open(&index.to_string()).unwrap();
                    depth += 1;
                } else if depth > 1 {
                    builder.close();
                    depth -= 1;
                }
            }
            let tree = builder.finish().unwrap();
            for value in tree.values() {
                for child in tree.children(value) {
                    prop_assert_eq!(tree.parent(child), Some(value));
                }
                let below = tree.leaves().iter().filter(|leaf| tree.generalizes(value, **leaf));
                prop_assert_eq!(below.count(), tree.leaf_range(value).len());
                prop_assert_eq!(tree.is_leaf(value), tree.children(value).next().is_none());
            }
            let listed: usize = tree.values().map(|value| tree.children(value).count()).sum();
            prop_assert_eq!(listed + 1, tree.len());
        }
    }
}
