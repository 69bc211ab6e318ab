//! The values on a release's cuts, numbered: rows of the release and records that are generalized
//! alike can then be compared.

use std::collections::HashMap;
use std::sync::Arc;

use crate::release::judge::tree::{Kind, Rows, UNSEEN};
use crate::table::{Candidate, Column, CutValue, Cuts, Domain, Schema, SetColumn, Table};

/// Numbers for the values of every attribute's cut.
pub struct Generalization<'c> {
    cuts: &'c Cuts,
    coders: Vec<Coder>,
}

/// The numbers of one attribute's values: their places on the cut, or for sets the order in which
/// they were first met in the release.
struct Coder {
    by_name: HashMap<String, u32>,
    place: Place,
    sets: Option<HashMap<Vec<u32>, u32>>,
}

/// From a record's code to the place of its value on the cut.
enum Place {
    /// Of each leaf of the taxonomy.
    OfLeaf(Vec<u32>),
    /// The first point of each interval.
    Starts(Vec<u32>),
}

impl<'c> Generalization<'c> {
    /// Numbers the values on the cuts.
    pub fn new(cuts: &'c Cuts) -> Self {
        let attributes = 0..cuts.schema().attributes.len();
        Self { cuts, coders: attributes.map(|attribute| Coder::new(cuts, attribute)).collect() }
    }

    /// The schema.
    pub fn schema(&self) -> &Arc<Schema> {
        self.cuts.schema()
    }

    /// How many leaves the cuts make, sets aside.
    pub fn leaves(&self) -> u64 {
        self.cuts.leaves()
    }

    /// The number of a value as it is written in a release. Sets are numbered as they come.
    pub fn code_of(&mut self, attribute: usize, name: &str) -> Option<u32> {
        let coder = self.coders.get_mut(attribute)?;
        let Some(sets) = &mut coder.sets else { return coder.by_name.get(name).copied() };
        let items = match name {
            "" => Vec::new(),
            name => {
                let codes = name.split('|').map(|item| coder.by_name.get(item).copied());
                normal(codes.collect::<Option<Vec<u32>>>()?)
            }
        };
        let next = u32::try_from(sets.len()).ok()?;
        Some(*sets.entry(items).or_insert(next))
    }

    /// How the numbers of each attribute are to be read by a learner: an interval is one of a few
    /// names, as a value of a taxonomy is.
    pub fn kinds(&self) -> Vec<Kind> {
        let kind = |coder: &Coder| {
            let values = coder.sets.as_ref().map_or(coder.by_name.len(), HashMap::len);
            Kind::Nominal(u32::try_from(values).unwrap_or(UNSEEN))
        };
        self.coders.iter().map(kind).collect()
    }

    /// Records, generalized, each with weight 1. A set that the release does not hold is
    /// [`UNSEEN`]. Nothing if the table lacks a column.
    pub fn records(&self, table: &Table) -> Option<Rows> {
        let columns = (0..self.coders.len()).map(|attribute| {
            let coder = &self.coders[attribute];
            Some(match (table.column(attribute)?, &coder.place) {
                (Column::Categorical(codes), Place::OfLeaf(places)) => {
                    codes.iter().map(|leaf| place_of(places, *leaf)).collect()
                }
                (Column::Numeric(points), Place::Starts(starts)) => {
                    let place = |point| starts.partition_point(|start| *start <= point);
                    points.iter().map(|point| place(*point).saturating_sub(1) as u32).collect()
                }
                (Column::Set(records), Place::OfLeaf(places)) => {
                    coder.sets_of(records, places, table.len())
                }
                _ => return None,
            })
        });
        Some(Rows {
            kinds: self.kinds(),
            columns: columns.collect::<Option<_>>()?,
            classes: table.classes().to_vec(),
            weights: vec![1.0; table.len()],
            class_count: self.schema().class.values.len(),
        })
    }
}

/// Records as they are: leaves of taxonomies are names, points numbers. Sets are numbered as they
/// come, so rows of two tables can be compared only if no attribute is a set; such attributes are
/// left out.
pub fn raw(schema: &Schema, table: &Table) -> Option<Rows> {
    let mut rows = Rows {
        classes: table.classes().to_vec(),
        weights: vec![1.0; table.len()],
        class_count: schema.class.values.len(),
        ..Rows::default()
    };
    for (index, attribute) in schema.attributes.iter().enumerate() {
        match (table.column(index)?, &attribute.domain) {
            (Column::Categorical(codes), Domain::Categorical(taxonomy)) => {
                let leaves = u32::try_from(taxonomy.leaves().len()).unwrap_or(UNSEEN);
                rows.kinds.push(Kind::Nominal(leaves));
                rows.columns.push(codes.iter().map(|code| u32::from(*code)).collect());
            }
            (Column::Numeric(points), _) => {
                rows.kinds.push(Kind::Ordered);
                rows.columns.push(points.clone());
            }
            (Column::Set(records), Domain::Set(taxonomy)) => {
                // Each item is an attribute of its own: there or not.
                for leaf in 0..taxonomy.leaves().len() {
                    let has =
                        |record| records.items(record).iter().any(|i| usize::from(*i) == leaf);
                    rows.kinds.push(Kind::Nominal(2));
                    rows.columns.push((0..table.len()).map(|r| u32::from(has(r))).collect());
                }
            }
            _ => return None,
        }
    }
    Some(rows)
}

impl Coder {
    fn new(cuts: &Cuts, attribute: usize) -> Self {
        let cut = cuts.of(attribute);
        let names = cut.iter().map(|value| cuts.name(Candidate { attribute, value: *value }));
        let by_name = names.zip(0u32..).collect();
        let domain = &cuts.schema().attributes[attribute].domain;
        let place = match domain {
            Domain::Numeric(_) => Place::Starts(cut.iter().map(|value| value.key()).collect()),
            Domain::Categorical(taxonomy) | Domain::Set(taxonomy) => {
                let mut places = vec![UNSEEN; taxonomy.leaves().len()];
                for (value, place) in cut.iter().zip(0u32..) {
                    if let CutValue::Value(value) = value {
                        let below = taxonomy.leaf_range(*value);
                        places[below.start as usize..below.end as usize].fill(place);
                    }
                }
                Place::OfLeaf(places)
            }
        };
        Self { by_name, place, sets: matches!(domain, Domain::Set(_)).then(HashMap::new) }
    }

    fn sets_of(&self, records: &SetColumn, places: &[u32], count: usize) -> Vec<u32> {
        let Some(known) = &self.sets else { return vec![UNSEEN; count] };
        (0..count)
            .map(|record| {
                let items = records.items(record).iter().map(|leaf| place_of(places, *leaf));
                known.get(&normal(items.collect())).copied().unwrap_or(UNSEEN)
            })
            .collect()
    }
}

fn place_of(places: &[u32], leaf: u16) -> u32 {
    places.get(usize::from(leaf)).copied().unwrap_or(UNSEEN)
}

fn normal(mut items: Vec<u32>) -> Vec<u32> {
    items.sort_unstable();
    items.dedup();
    items
}
