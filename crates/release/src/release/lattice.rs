//! The best of all tables that hide people in groups: every way to make values coarser is an element
//! of a lattice, and all that are as required are compared (after the paper on subset selection, which
//! chooses rows; here a whole table is chosen, so that it always is one). *Not differential privacy*.
//!
//! An element has one cut for each attribute: any cut of its taxonomy, or one of its levels. *Best* is
//! the largest mean informativeness (1 for a leaf, else depth over height), then the largest mean
//! strength (leaves below a value), then the first. All *maximal* elements are noted: those as
//! required of which nothing finer is.
//!
//! An element that is not as required has no finer one that is, so those are not counted. *Cost*: at
//! most elements · distinct records · C(p, l); an agreement on more than a million elements is refused, and one whose cuts
//! have too many values to be listed.

use std::collections::BTreeMap;

use super::groups::{self, Groups, Rule};
use super::lkc::{labels, tabulate, words};
use super::tree::leaf_records::LeafRecords;
use super::{Release, Step};
use crate::Error;
use crate::agreement::Agreement;
use crate::agreement::syntactic::{Elements, Terms};
use crate::release::unmet;
use crate::table::{Column, CutValue, Cuts, Domain, Schema, Table, Taxonomy, ValueId};

/// A cut of one attribute's taxonomy.
struct Choice {
    values: Vec<ValueId>,
    /// From the code of a leaf to the place of the value above it.
    places: Vec<u32>,
    /// Of all records: informativeness times a factor that all attributes share, and strength.
    worth: (u128, u128),
    /// The choices that are coarser by one value.
    coarser: Vec<usize>,
}

/// Records that agree in all values, with how many there are and how many have each protected value.
type Distinct = BTreeMap<Vec<u16>, Vec<u64>>;

pub(super) fn alone(
    agreement: &Agreement,
    terms: &Terms,
    by: Elements,
    table: &Table,
    progress: &dyn Fn(Step),
) -> Result<Release, Error> {
    let schema = &agreement.schema;
    let quasi: Vec<usize> = terms.quasi(schema).collect();
    let protected = groups::protected(terms, schema);
    let distinct = distinct(&quasi, protected.as_ref(), table)?;
    let choices = choices(schema, &quasi, by, &distinct)?;
    let sizes: Vec<usize> = choices.iter().map(Vec::len).collect();
    let elements: usize = sizes.iter().product();
    progress(Step::Began { phase: "comparing tables", total: elements });
    let lattice = Lattice { schema, quasi: &quasi, choices: &choices, sizes: &sizes };
    let (rules, several) = (Rule::of(terms, schema), protected.as_ref().map_or(0, |p| p.1.len()));
    let mut good = vec![false; elements];
    let mut maximal = vec![false; elements];
    let mut best: Option<((u128, u128), usize)> = None;
    for element in 0..elements {
        progress(Step::Advanced(1));
        let chosen = lattice.chosen(element);
        let coarser = lattice.coarser(element, &chosen);
        if !coarser.iter().all(|coarser| good[*coarser]) {
            continue;
        }
        let groups = lattice.groups(&chosen, &distinct, several);
        let offence = rules.iter().find_map(|rule| Some((rule, groups.test(rule, None).offender?)));
        if let Some((rule, offender)) = offence {
            if element == 0 {
                return Err(unmet(&words(schema, terms, rule, &offender)));
            }
            continue;
        }
        (good[element], maximal[element]) = (true, true);
        coarser.iter().for_each(|coarser| maximal[*coarser] = false);
        let worth = lattice.worth(&chosen);
        if best.is_none_or(|(known, _)| worth > known) {
            best = Some((worth, element));
        }
    }
    progress(Step::Ended);
    let (_, best) = best.ok_or_else(|| Error::fault("no table was looked at"))?;
    let cuts = lattice.cuts(best, protected.as_ref().map(|(place, _)| *place))?;
    let mut records = LeafRecords::new(schema, table)?;
    let mut again = Cuts::topmost(schema);
    for made in cuts.made() {
        let children = again.specialize(made)?;
        if quasi.contains(&made.candidate.attribute) {
            records.specialize(made, &children)?;
        }
    }
    let count = |list: &[bool]| list.iter().filter(|is| **is).count();
    let summary = format!(
        "{elements} elements, {} as required, {} of them maximal",
        count(&good),
        count(&maximal)
    );
    let listed = (0..elements).filter(|element| maximal[*element]).map(|e| lattice.name(e));
    let notes = [summary].into_iter().chain(listed).collect();
    let table = tabulate(&records, table, cuts, protected.map(|(place, _)| place));
    Ok(Release { table, spends: Vec::new(), notes })
}

fn distinct(
    quasi: &[usize],
    protected: Option<&(usize, Vec<usize>)>,
    table: &Table,
) -> Result<Distinct, Error> {
    let columns = quasi.iter().map(|place| match table.column(*place) {
        Some(Column::Categorical(codes)) => Ok(codes),
        _ => Err(Error::fault("a column without a taxonomy")),
    });
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let (labels, several) = match protected {
        Some((place, codes)) => (labels(table, *place, codes)?, codes.len()),
        None => (vec![0; table.len()], 0),
    };
    let mut distinct = Distinct::new();
    for (record, label) in labels.into_iter().enumerate() {
        let key = columns.iter().map(|codes| codes[record]).collect();
        let counts = distinct.entry(key).or_insert_with(|| vec![0; several + 1]);
        counts[0] += 1;
        if label > 0 {
            counts[usize::from(label)] += 1;
        }
    }
    Ok(distinct)
}

/// The choices for every attribute, coarser ones first.
fn choices(
    schema: &Schema,
    quasi: &[usize],
    by: Elements,
    distinct: &Distinct,
) -> Result<Vec<Vec<Choice>>, Error> {
    let taxonomies = quasi.iter().map(|place| match &schema.attributes[*place].domain {
        Domain::Categorical(taxonomy) => Ok(taxonomy),
        _ => Err(Error::fault("an attribute without a taxonomy")),
    });
    let taxonomies = taxonomies.collect::<Result<Vec<_>, _>>()?;
    let heights: Vec<u128> = taxonomies.iter().map(|t| u128::max(t.height() as u128, 1)).collect();
    let factor = heights.iter().fold(1, |all, height| num_integer::lcm(all, *height));
    let of_one = |(number, taxonomy): (usize, &&Taxonomy)| {
        let mut weights = vec![0u128; taxonomy.leaves().len()];
        for (codes, counts) in distinct {
            weights[usize::from(codes[number])] += u128::from(counts[0]);
        }
        let cuts = match by {
            Elements::Cuts => all_cuts(taxonomy, taxonomy.root()),
            Elements::Levels => {
                (0..=taxonomy.height()).map(|depth| level(taxonomy, depth)).collect()
            }
        };
        let index: BTreeMap<Vec<ValueId>, usize> =
            cuts.iter().cloned().enumerate().map(|(place, cut)| (cut, place)).collect();
        let choice = |(place, values): (usize, &Vec<ValueId>)| {
            let coarser = match by {
                Elements::Cuts => coarser(taxonomy, values, &index),
                Elements::Levels => place.checked_sub(1).into_iter().collect(),
            };
            let mut worth = (0, 0);
            let mut places = vec![0; weights.len()];
            for (number, value) in (0u32..).zip(values) {
                let below = taxonomy.leaf_range(*value);
                let below = below.start as usize..below.end as usize;
                let people: u128 = weights[below.clone()].iter().sum();
                let height = u128::max(taxonomy.height() as u128, 1);
                worth.0 += people
                    * match taxonomy.is_leaf(*value) {
                        true => factor,
                        false => factor / height * taxonomy.depth(*value) as u128,
                    };
                worth.1 += people * below.len() as u128;
                places[below].fill(number);
            }
            Choice { values: values.clone(), places, worth, coarser }
        };
        cuts.iter().enumerate().map(choice).collect()
    };
    Ok(taxonomies.iter().enumerate().map(of_one).collect())
}

/// All cuts below a value: itself, then every combination of its children's. What is coarser stands
/// before what is finer.
fn all_cuts(taxonomy: &Taxonomy, value: ValueId) -> Vec<Vec<ValueId>> {
    let mut below = vec![Vec::new()];
    for child in taxonomy.children(value) {
        let of_child = all_cuts(taxonomy, child);
        let joined = |cut: &Vec<ValueId>| {
            let cut = cut.clone();
            of_child.iter().map(move |more| [cut.as_slice(), more].concat()).collect::<Vec<_>>()
        };
        below = below.iter().flat_map(joined).collect();
    }
    let finer = if taxonomy.is_leaf(value) { Vec::new() } else { below };
    std::iter::once(vec![value]).chain(finer).collect()
}

/// The values of a depth, and the leaves above it.
fn level(taxonomy: &Taxonomy, depth: usize) -> Vec<ValueId> {
    let on = |value: &ValueId| {
        let own = taxonomy.depth(*value);
        own == depth || (own < depth && taxonomy.is_leaf(*value))
    };
    taxonomy.values().filter(on).collect()
}

/// The cuts in which the children of one value are replaced by it.
fn coarser(
    taxonomy: &Taxonomy,
    cut: &[ValueId],
    index: &BTreeMap<Vec<ValueId>, usize>,
) -> Vec<usize> {
    let whole = |value: &ValueId| {
        // Cuts are in ascending order.
        let in_cut = |child| cut.binary_search(&child).is_ok();
        !taxonomy.is_leaf(*value) && taxonomy.children(*value).all(in_cut)
    };
    let merged = |value: ValueId| {
        let others = cut.iter().copied().filter(|one| taxonomy.parent(*one) != Some(value));
        let mut coarser: Vec<ValueId> = others.collect();
        coarser.insert(coarser.partition_point(|one| *one < value), value);
        index.get(&coarser).copied()
    };
    taxonomy.values().filter(whole).filter_map(merged).collect()
}

/// Elements are numbers whose digits are the choices, the first attribute's the highest.
struct Lattice<'a> {
    schema: &'a std::sync::Arc<Schema>,
    quasi: &'a [usize],
    choices: &'a [Vec<Choice>],
    sizes: &'a [usize],
}

impl Lattice<'_> {
    fn chosen(&self, element: usize) -> Vec<usize> {
        let mut rest = element;
        let digit = |size: &usize| {
            let digit = rest % size;
            rest /= size;
            digit
        };
        let mut digits: Vec<usize> = self.sizes.iter().rev().map(digit).collect();
        digits.reverse();
        digits
    }

    fn coarser(&self, element: usize, chosen: &[usize]) -> Vec<usize> {
        let (mut found, mut stride) = (Vec::new(), 1);
        for place in (0..chosen.len()).rev() {
            let coarser = &self.choices[place][chosen[place]].coarser;
            found.extend(coarser.iter().map(|c| element - (chosen[place] - c) * stride));
            stride *= self.sizes[place];
        }
        found
    }

    fn worth(&self, chosen: &[usize]) -> (u128, u128) {
        let each = chosen.iter().zip(self.choices).map(|(choice, of)| of[*choice].worth);
        each.fold((0, 0), |(i, p), (more_i, more_p)| (i + more_i, p + more_p))
    }

    fn groups(&self, chosen: &[usize], distinct: &Distinct, protected: usize) -> Groups {
        let mut groups = Groups::new(self.schema.attributes.len(), protected);
        for ((number, place), choice) in self.quasi.iter().enumerate().zip(chosen) {
            let choice = &self.choices[number][*choice];
            groups.widths[*place] = choice.values.len() as u32;
            let value = |codes: &Vec<u16>| choice.places[usize::from(codes[number])];
            groups.values[*place] = distinct.keys().map(value).collect();
        }
        groups.counts = distinct.values().flatten().copied().collect();
        groups
    }

    fn cuts(&self, element: usize, sensitive: Option<usize>) -> Result<Cuts, Error> {
        let mut goal: Vec<Vec<CutValue>> = vec![Vec::new(); self.schema.attributes.len()];
        for ((number, place), choice) in self.quasi.iter().enumerate().zip(self.chosen(element)) {
            let values = self.choices[number][choice].values.iter();
            goal[*place] = values.map(|value| CutValue::Value(*value)).collect();
        }
        Cuts::reaching(self.schema, &goal, sensitive)
    }

    fn name(&self, element: usize) -> String {
        let chosen = self.chosen(element);
        let each = self.quasi.iter().enumerate().map(|(number, place)| {
            let attribute = &self.schema.attributes[*place];
            let Domain::Categorical(taxonomy) = &attribute.domain else { return String::new() };
            let values = self.choices[number][chosen[number]].values.iter();
            let names: Vec<&str> = values.map(|value| taxonomy.name(*value)).collect();
            format!("{}: {}", attribute.name, names.join(", "))
        });
        each.collect::<Vec<_>>().join(" | ")
    }
}
