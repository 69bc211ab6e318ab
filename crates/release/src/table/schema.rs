//! What the two tables hold: attributes and their domains, the class, the identifier.

use super::identifiers::Normalization;
use super::{Decimal, NumericDomain, Taxonomy, ValueId, is_formula};
use crate::Error;
use crate::role::Role;

/// Most children of a value of a set attribute: their subsets are numbered by 64-bit masks.
pub const MAX_SET_CHILDREN: usize = 62;

/// The columns of the joint table. All public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// In the order of the agreement, which is the order of the release's columns.
    pub attributes: Vec<Attribute>,
    /// What the release should help to predict, or [`Class::none`].
    pub class: Class,
}

/// One column that is generalized and released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The column's name in the data and in the release.
    pub name: String,
    /// Who holds the column; `None` where everybody does.
    pub owner: Option<Role>,
    /// The values it may hold.
    pub domain: Domain,
    /// What becomes of a cell that holds anything else.
    pub on_bad_value: OnBadValue,
    /// What else the agreement says about its cells.
    pub rules: CellRules,
}

/// How cells are read, beyond the domain. The default has no rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellRules {
    /// Whether cells hold `yes` and `no` in one of the spellings of [`Self::TRUE`] and
    /// [`Self::FALSE`]; the domain has the leaves `true` and `false` then.
    pub boolean: bool,
    /// Whether numbers and dates out of range are read as the nearest end.
    pub outside_is_nearest: bool,
    /// What becomes of missing values; `None` if they are treated as all that do not fit.
    pub missing: Option<Missing>,
    /// The cells that are missing values, where there is a rule for these.
    pub missing_values: Vec<String>,
}

/// What becomes of missing values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// They are a value of the domain: a leaf below the root, or the first point.
    Category,
    /// They are treated like this.
    As(OnBadValue),
}

impl CellRules {
    /// Spellings of `true`, in any case.
    pub const TRUE: &'static [&'static str] = &["true", "t", "yes", "y", "1"];
    /// Spellings of `false`, in any case.
    pub const FALSE: &'static [&'static str] = &["false", "f", "no", "n", "0"];
    /// The cells that are missing values unless the agreement lists others.
    pub const USUAL_MISSING: &'static [&'static str] = &[""];

    /// Whether missing values are a value of the domain.
    pub fn missing_is_a_category(&self) -> bool {
        self.missing == Some(Missing::Category)
    }
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
#[non_exhaustive]
pub enum OnBadValue {
    /// The data is rejected before any connection is made.
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
    /// Who alone holds the column; `None` where everybody does.
    pub owner: Option<Role>,
    /// Its values, in the order of the release.
    pub values: Vec<String>,
}

/// The column by which two parties recognize the same individual.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identifier {
    /// The column's name in the data. It is never released.
    pub column: String,
    /// What is done to a value before it is compared.
    pub normalize: Normalization,
}

impl Attribute {
    /// The word for its kind in an agreement.
    pub fn kind(&self) -> &'static str {
        match &self.domain {
            Domain::Categorical(_) if self.rules.boolean => "boolean",
            Domain::Categorical(_) => "categorical",
            Domain::Numeric(range) if range.is_date() => "date",
            Domain::Numeric(_) => "numeric",
            Domain::Set(_) => "set",
        }
    }
}

impl Class {
    /// No class: one value that every record has and nobody is shown, so that a table of counts has one
    /// column.
    pub fn none() -> Self {
        Self { column: String::new(), owner: None, values: vec![String::new()] }
    }

    /// Whether there is no class.
    pub fn is_none(&self) -> bool {
        self.column.is_empty()
    }

    /// The column's name, where there is a class.
    pub fn name(&self) -> Option<&str> {
        (!self.is_none()).then_some(self.column.as_str())
    }
}

impl Schema {
    /// The same, with intervals written as in manifests of before version 3.
    #[must_use]
    pub(crate) fn with_both_ends(&self) -> Self {
        let mut older = self.clone();
        for attribute in &mut older.attributes {
            if let Domain::Numeric(range) = &attribute.domain {
                attribute.domain = Domain::Numeric(range.clone().with_both_ends());
            }
        }
        older
    }

    /// Names and values that a spreadsheet would take for formulas.
    pub fn formulas(&self) -> Vec<&str> {
        let mut all = vec![self.class.column.as_str()];
        all.extend(self.class.values.iter().map(String::as_str));
        for attribute in &self.attributes {
            all.push(&attribute.name);
            if let Domain::Categorical(taxonomy) | Domain::Set(taxonomy) = &attribute.domain {
                all.extend(taxonomy.values().map(|value| taxonomy.name(value)));
            }
        }
        all.retain(|text| is_formula(text));
        all
    }
}

impl Domain {
    /// A categorical domain's taxonomy as a set domain.
    ///
    /// # Errors
    /// A value that contains `|`, or a value with more than [`MAX_SET_CHILDREN`] children.
    pub fn set(taxonomy: Taxonomy) -> Result<Self, Error> {
        for value in taxonomy.values() {
            let name = taxonomy.name(value);
            if name.contains('|') {
                return Err(Error::input(format!(
                    "value `{name}` contains `|`, which separates the values of a set in a cell: \
                     rename it"
                )));
            }
            if taxonomy.children(value).nth(MAX_SET_CHILDREN).is_some() {
                return Err(Error::input(format!(
                    "`{name}` has more than {MAX_SET_CHILDREN} children, too many for a set \
                     attribute: add a level between"
                )));
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
    fn set_domains_refuse_items_that_a_cell_cannot_hold() {
        assert!(Domain::set(flat(["a".to_owned(), "b".to_owned()])).is_ok());
        let barred = Domain::set(flat(["a|b".to_owned()])).unwrap_err();
        assert!(barred.message().contains("contains `|`"), "{barred}");
        // A release may hold values that are not items.
        let mut above = TaxonomyBuilder::new();
        above.open("Any|all").unwrap();
        above.leaf("a").unwrap();
        let barred = Domain::set(above.finish().unwrap()).unwrap_err();
        assert!(barred.message().contains("contains `|`"), "{barred}");
        let wide = |leaves: usize| Domain::set(flat((0..leaves).map(|leaf| leaf.to_string())));
        assert!(wide(MAX_SET_CHILDREN).is_ok());
        let wide = wide(MAX_SET_CHILDREN + 1).unwrap_err();
        assert!(wide.message().contains("too many for a set attribute"), "{wide}");
    }

    #[test]
    fn a_domain_knows_how_often_it_can_be_specialized() {
        let categorical = Domain::Categorical(flat(["a".to_owned(), "b".to_owned()]));
        assert_eq!(categorical.possible_specializations(), 1);
        let range = NumericDomain::new(18.into(), 99.into(), 1.into()).unwrap();
        assert_eq!(Domain::Numeric(range).possible_specializations(), 81);
    }
}
