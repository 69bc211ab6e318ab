//! What the two tables hold: attributes and their domains, the class, the identifier.

use super::{Decimal, Error, NumericDomain, Taxonomy, ValueId};
use unicode_normalization::UnicodeNormalization;

/// Most children of a value of a set attribute: their subsets are numbered by 64-bit masks.
pub const MAX_SET_CHILDREN: usize = 62;

/// The columns of the joint table. All public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// In the order of the agreement, which is the order of the release's columns.
    pub attributes: Vec<Attribute>,
    /// What the release should help to predict.
    pub class: Class,
}

/// One column that is generalized and released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The column's name in the data and in the release.
    pub name: String,
    /// Who holds the column; `None` where everybody does.
    pub owner: Option<Owner>,
    /// The values it may hold.
    pub domain: Domain,
    /// What becomes of a cell that holds anything else.
    pub on_bad_value: OnBadValue,
}

/// The party that holds a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// The first party.
    P1,
    /// The second party.
    P2,
}

/// The public domain of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Domain {
    /// A leaf of a taxonomy in each cell.
    Categorical(Taxonomy),
    /// A number of a range in each cell.
    Numeric(NumericDomain),
    /// Any number of leaves of a taxonomy in each cell, written `a|b`.
    Set(Taxonomy),
}

/// What becomes of a record whose cell does not fit the domain (unknown, out of range, missing).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnBadValue {
    /// The data is refused before any connection is made.
    Refuse,
    /// The record is left out.
    Drop,
    /// The cell is read as if it held this leaf.
    MapToLeaf(ValueId),
    /// The cell is read as if it held this number.
    MapToNumber(Decimal),
}

/// The class attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The column's name in the data and in the release.
    pub column: String,
    /// Its values, in the order of the release.
    pub values: Vec<String>,
}

/// The column by which two parties recognize the same individual.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identifier {
    /// The column's name in the data. It is never released.
    pub column: String,
    /// Sorted and without repetition: the order of application is fixed.
    pub normalize: Vec<Normalization>,
}

/// One way of ignoring differences in how an identifier is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Normalization {
    /// White space at both ends is dropped.
    Trim,
    /// Different encodings of the same letters are made the same (Unicode NFC).
    Nfc,
    /// All letters are made upper case.
    Uppercase,
    /// All letters are made lower case.
    Lowercase,
}

impl Domain {
    /// A categorical domain's taxonomy as a set domain.
    ///
    /// # Errors
    /// An item that contains `|`, or a value with more than [`MAX_SET_CHILDREN`] children.
    pub fn set(taxonomy: Taxonomy) -> Result<Self, Error> {
        for value in taxonomy.values() {
            let name = || taxonomy.name(value).to_owned();
            if taxonomy.is_leaf(value) && taxonomy.name(value).contains('|') {
                return Err(Error::SeparatorInItem(name()));
            }
            if taxonomy.children(value).nth(MAX_SET_CHILDREN).is_some() {
                return Err(Error::TooManySetChildren(name()));
            }
        }
        Ok(Self::Set(taxonomy))
    }

    /// How many specializations the domain could take part in, however the data looks.
    pub fn possible_specializations(&self) -> u64 {
        match self {
            Self::Categorical(taxonomy) | Self::Set(taxonomy) => {
                (taxonomy.len() - taxonomy.leaves().len()) as u64
            }
            Self::Numeric(range) => u64::from(range.points() - 1),
        }
    }
}

impl Identifier {
    /// The text by which `identifier` is compared: equal exactly if the rules call them the same.
    pub fn normalized(&self, identifier: &str) -> String {
        let mut text = identifier.to_owned();
        for rule in &self.normalize {
            text = match rule {
                Normalization::Trim => text.trim().to_owned(),
                Normalization::Nfc => text.nfc().collect(),
                Normalization::Uppercase => text.to_uppercase(),
                Normalization::Lowercase => text.to_lowercase(),
            };
        }
        if self.normalize.contains(&Normalization::Nfc) {
            // Changing the case can leave letters that compose anew.
            text = text.nfc().collect();
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::TaxonomyBuilder;
    use super::*;

    fn flat(leaves: impl IntoIterator<Item = String>) -> Taxonomy {
        let mut builder = TaxonomyBuilder::new();
        builder.open("Any").unwrap();
        leaves.into_iter().for_each(|leaf| builder.leaf(&leaf).unwrap());
        builder.finish().unwrap()
    }

    #[test]
    fn identifiers_that_the_rules_call_the_same_become_the_same() {
        let rules = |normalize: &[Normalization]| Identifier {
            column: "id".to_owned(),
            normalize: normalize.to_vec(),
        };
        use Normalization::{Lowercase, Nfc, Trim, Uppercase};
        assert_eq!(rules(&[]).normalized(" a1 "), " a1 ");
        assert_eq!(rules(&[Trim]).normalized(" a1\t"), "a1");
        assert_eq!(rules(&[Trim, Uppercase]).normalized(" a1 "), "A1");
        assert_eq!(rules(&[Lowercase]).normalized("A1"), "a1");
        let composed = rules(&[Nfc, Uppercase]);
        assert_eq!(composed.normalized("e\u{301}"), composed.normalized("\u{c9}"));
        assert_ne!(rules(&[]).normalized("e\u{301}"), rules(&[]).normalized("\u{e9}"));
    }

    #[test]
    fn set_domains_refuse_items_that_a_cell_cannot_hold() {
        assert!(Domain::set(flat(["a".to_owned(), "b".to_owned()])).is_ok());
        let barred = Domain::set(flat(["a|b".to_owned()]));
        assert!(matches!(barred, Err(Error::SeparatorInItem(_))));
        let wide = |leaves: usize| Domain::set(flat((0..leaves).map(|leaf| leaf.to_string())));
        assert!(wide(MAX_SET_CHILDREN).is_ok());
        assert!(matches!(wide(MAX_SET_CHILDREN + 1), Err(Error::TooManySetChildren(_))));
    }

    #[test]
    fn a_domain_knows_how_often_it_can_be_specialized() {
        let categorical = Domain::Categorical(flat(["a".to_owned(), "b".to_owned()]));
        assert_eq!(categorical.possible_specializations(), 1);
        let range = NumericDomain::new(18.into(), 99.into(), 1.into()).unwrap();
        assert_eq!(Domain::Numeric(range).possible_specializations(), 81);
    }
}
