//! A decision tree learnt from weighted rows, after C4.5: the classifier by which the papers judge
//! a release.
//!
//! Splits are chosen by gain ratio among those with at least the average gain; nominal attributes
//! branch into all their values, ordered ones in two; subtrees whose pessimistic error (confidence
//! 0.25) is not below that of a leaf are replaced by one. A row of the release stands for as many
//! records as its count says, so rows carry weights and are never copied.
//!
//! Written here because no maintained crate does it: smartcore 0.7 takes weights for regression
//! trees only, linfa-trees 0.8 takes them but breaks ties by the order of a hash map and visits all
//! rows in every node, and neither prunes by an estimate of error. Without pruning a tree would
//! follow the noise of small counts.
//!
//! Costs about rows · attributes per level of the tree. Same rows, same tree.

use std::cmp::Ordering;

/// Fewest records that two branches of a split must have.
const LEAST_WEIGHT: f64 = 2.0;
/// Φ⁻¹(1 − 0.25): the confidence of the pessimistic error.
const Z: f64 = 0.674_489_750_196_081_7;
const CONFIDENCE: f64 = 0.25;
/// Deepest tree. Only ordered attributes can reach it, each level of the others uses one up.
const MAX_DEPTH: usize = 200;
/// The code of a value that never occurred.
pub const UNSEEN: u32 = u32::MAX;

/// How the codes of an attribute are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Names without order, numbered from 0 up to this many.
    Nominal(u32),
    /// Numbers.
    Ordered,
}

/// Rows to learn from or to classify: for each attribute a column of codes, and for each row a
/// class and a weight.
#[derive(Clone, Default, PartialEq)]
pub struct Rows {
    /// One per attribute.
    pub kinds: Vec<Kind>,
    /// One per attribute, a code per row.
    pub columns: Vec<Vec<u32>>,
    /// A class per row, below `class_count`.
    pub classes: Vec<u8>,
    /// How many records each row represents.
    pub weights: Vec<f64>,
    /// How many classes there are.
    pub class_count: usize,
}

impl Rows {
    /// Number of rows.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Sum of the weights, by class.
    pub fn class_weights(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.class_count];
        for (class, weight) in self.classes.iter().zip(&self.weights) {
            sums[usize::from(*class)] += weight;
        }
        sums
    }
}

/// A learnt tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    root: Node,
}

#[derive(Clone, Debug, PartialEq)]
struct Node {
    /// The heaviest class, the first of them in a tie.
    class: u8,
    split: Option<Split>,
}

#[derive(Clone, Debug, PartialEq)]
enum Split {
    /// A branch per value; those without rows are left out.
    Nominal { attribute: usize, branches: Vec<(u32, Node)> },
    /// Codes up to `last` go left.
    Ordered { attribute: usize, last: u32, sides: Box<[Node; 2]> },
}

impl Tree {
    /// Learns a tree. Without rows it always answers the first class.
    pub fn learn(rows: &Rows) -> Self {
        let mut order: Vec<u32> = (0u32..).take(rows.len()).collect();
        let widest = rows.kinds.iter().map(|kind| match kind {
            Kind::Nominal(values) => *values as usize,
            Kind::Ordered => 0,
        });
        let scratch = vec![0.0; widest.max().unwrap_or(0) * rows.class_count];
        let mut learner = Learner { rows, scratch, touched: Vec::new() };
        Self { root: learner.grow(&mut order, 0).0 }
    }

    /// The class that the tree gives to a row with these codes.
    pub fn classify(&self, code: impl Fn(usize) -> u32) -> u8 {
        let mut node = &self.root;
        loop {
            let next = match &node.split {
                None => None,
                Some(Split::Ordered { attribute, last, sides }) => {
                    Some(&sides[usize::from(code(*attribute) > *last)])
                }
                Some(Split::Nominal { attribute, branches }) => {
                    let wanted = code(*attribute);
                    let place = branches.binary_search_by_key(&wanted, |(value, _)| *value);
                    place.ok().map(|place| &branches[place].1)
                }
            };
            match next {
                Some(next) => node = next,
                None => return node.class,
            }
        }
    }

    /// The part of the weight of `rows` whose class the tree tells; nothing if there is no weight.
    pub fn accuracy(&self, rows: &Rows) -> Option<f64> {
        let (mut right, mut all) = (0.0, 0.0);
        for (row, (class, weight)) in rows.classes.iter().zip(&rows.weights).enumerate() {
            all += weight;
            if self.classify(|attribute| rows.columns[attribute][row]) == *class {
                right += weight;
            }
        }
        (all > 0.0).then(|| right / all)
    }

    /// How many leaves it has.
    #[cfg(test)]
    pub fn leaves(&self) -> usize {
        self.root.leaves()
    }
}

#[cfg(test)]
impl Node {
    fn leaves(&self) -> usize {
        match &self.split {
            None => 1,
            Some(Split::Ordered { sides, .. }) => sides.iter().map(Self::leaves).sum(),
            Some(Split::Nominal { branches, .. }) => {
                branches.iter().map(|(_, node)| node.leaves()).sum()
            }
        }
    }
}

/// A way to split, before it is carried out.
#[derive(Clone, Copy)]
struct Way {
    attribute: usize,
    gain: f64,
    ratio: f64,
    /// The last code on the left, for an ordered attribute.
    last: Option<u32>,
}

struct Learner<'r> {
    rows: &'r Rows,
    /// Weights by value and class, zero between uses.
    scratch: Vec<f64>,
    touched: Vec<u32>,
}

impl Learner<'_> {
    /// The tree for some rows, and its pessimistic error in records.
    fn grow(&mut self, order: &mut [u32], depth: usize) -> (Node, f64) {
        let weights = self.weigh(order);
        let total: f64 = weights.iter().sum();
        let class = heaviest(&weights);
        let wrong = total - weights.get(class).copied().unwrap_or(0.0);
        let as_leaf = wrong + more_errors(total, wrong);
        let leaf = Node { class: class as u8, split: None };
        if wrong <= 0.0 || total < 2.0 * LEAST_WEIGHT || depth >= MAX_DEPTH {
            return (leaf, as_leaf);
        }
        let Some(best) = self.best(order, &weights, total) else { return (leaf, as_leaf) };
        let column = &self.rows.columns[best.attribute];
        let mut error = 0.0;
        let split = match best.last {
            Some(last) => {
                let left = partition(order, |row| column[row as usize] <= last);
                let (before, after) = order.split_at_mut(left);
                let sides = [self.grow(before, depth + 1), self.grow(after, depth + 1)];
                error += sides.iter().map(|(_, error)| error).sum::<f64>();
                let sides = Box::new(sides.map(|(node, _)| node));
                Split::Ordered { attribute: best.attribute, last, sides }
            }
            None => {
                order.sort_by_key(|row| column[*row as usize]);
                let mut branches = Vec::new();
                for part in order.chunk_by_mut(|a, b| column[*a as usize] == column[*b as usize]) {
                    let value = column[part[0] as usize];
                    let (node, its_error) = self.grow(part, depth + 1);
                    error += its_error;
                    branches.push((value, node));
                }
                Split::Nominal { attribute: best.attribute, branches }
            }
        };
        if as_leaf <= error + 0.1 {
            return (leaf, as_leaf);
        }
        (Node { class: class as u8, split: Some(split) }, error)
    }

    fn weigh(&self, order: &[u32]) -> Vec<f64> {
        let mut weights = vec![0.0; self.rows.class_count];
        for row in order {
            let row = *row as usize;
            weights[usize::from(self.rows.classes[row])] += self.rows.weights[row];
        }
        weights
    }

    /// The split with the best gain ratio among those with at least the average gain.
    fn best(&mut self, order: &[u32], weights: &[f64], total: f64) -> Option<Way> {
        let before = bits(weights.iter().copied(), total);
        let options: Vec<Way> = (0..self.rows.kinds.len())
            .filter_map(|attribute| match self.rows.kinds[attribute] {
                Kind::Nominal(values) if values < 2 => None,
                Kind::Nominal(_) => self.nominal(order, attribute, before, total),
                Kind::Ordered => self.ordered(order, attribute, weights, before, total),
            })
            .filter(|option| option.gain > 0.0 && option.ratio.is_finite())
            .collect();
        let average = options.iter().map(|option| option.gain).sum::<f64>() / options.len() as f64;
        options
            .into_iter()
            .filter(|option| option.gain >= average - 1e-3)
            // The last of equal ones is taken, so they are gone through backwards.
            .rev()
            .max_by(|a, b| a.ratio.total_cmp(&b.ratio))
    }

    fn nominal(&mut self, order: &[u32], attribute: usize, before: f64, total: f64) -> Option<Way> {
        let classes = self.rows.class_count;
        let column = &self.rows.columns[attribute];
        for row in order {
            let row = *row as usize;
            let slot = column[row] as usize * classes;
            let Some(part) = self.scratch.get_mut(slot..slot + classes) else { continue };
            if part.iter().all(|weight| *weight == 0.0) {
                self.touched.push(column[row]);
            }
            part[usize::from(self.rows.classes[row])] += self.rows.weights[row];
        }
        let (mut after, mut sizes, mut heavy) = (0.0, 0.0, 0);
        for value in self.touched.drain(..) {
            let slot = value as usize * classes;
            let part = &mut self.scratch[slot..slot + classes];
            let size: f64 = part.iter().sum();
            after += bits(part.iter().copied(), size);
            sizes += log_times(size);
            heavy += u32::from(size >= LEAST_WEIGHT);
            part.fill(0.0);
        }
        let gain = (before - after) / total;
        let information = (log_times(total) - sizes) / total;
        (heavy >= 2).then(|| Way { attribute, gain, ratio: gain / information, last: None })
    }

    fn ordered(
        &self,
        order: &[u32],
        attribute: usize,
        weights: &[f64],
        before: f64,
        total: f64,
    ) -> Option<Way> {
        let column = &self.rows.columns[attribute];
        let mut sorted = order.to_vec();
        sorted.sort_by_key(|row| column[*row as usize]);
        let least = (0.1 * total / weights.len() as f64).clamp(LEAST_WEIGHT, 25.0);
        let mut left = vec![0.0; weights.len()];
        let (mut size, mut places) = (0.0, 0u32);
        let mut best: Option<(f64, u32, f64)> = None;
        for pair in sorted.windows(2) {
            let row = pair[0] as usize;
            left[usize::from(self.rows.classes[row])] += self.rows.weights[row];
            size += self.rows.weights[row];
            let last = column[row];
            if column[pair[1] as usize] == last || size < least || total - size < least {
                continue;
            }
            places += 1;
            let right = weights.iter().zip(&left).map(|(all, left)| all - left);
            let after = bits(left.iter().copied(), size) + bits(right, total - size);
            if best.is_none_or(|(least, ..)| after < least) {
                best = Some((after, last, size));
            }
        }
        let (after, last, size) = best?;
        // Choosing one of many places has to pay for itself.
        let gain = (before - after - f64::from(places).log2()) / total;
        let information = (log_times(total) - log_times(size) - log_times(total - size)) / total;
        Some(Way { attribute, gain, ratio: gain / information, last: Some(last) })
    }
}

/// The heaviest class, the first in a tie.
pub fn heaviest(weights: &[f64]) -> usize {
    let heavier = |a: &(usize, &f64), b: &(usize, &f64)| match a.1.total_cmp(b.1) {
        Ordering::Equal => b.0.cmp(&a.0),
        other => other,
    };
    weights.iter().enumerate().max_by(heavier).map_or(0, |(class, _)| class)
}

/// What the class of all records of a set is worth, in bits: its entropy times its size.
fn bits(weights: impl Iterator<Item = f64>, total: f64) -> f64 {
    log_times(total) - weights.map(log_times).sum::<f64>()
}

fn log_times(x: f64) -> f64 {
    if x > 0.0 { x * x.log2() } else { 0.0 }
}

/// How many more of `n` records a leaf gets wrong, at the upper end of a confidence interval, than
/// the `wrong` that were seen.
fn more_errors(n: f64, wrong: f64) -> f64 {
    if n <= 0.0 {
        return 0.0;
    }
    if wrong < 1.0 {
        // Exact for none, and between none and one on a straight line.
        let none = n * (1.0 - CONFIDENCE.powf(1.0 / n));
        return if wrong <= 0.0 { none } else { none + wrong * (more_errors(n, 1.0) - none) };
    }
    if wrong + 0.5 >= n {
        return (n - wrong).max(0.0);
    }
    // The score interval of a proportion, with a correction for continuity.
    let f = (wrong + 0.5) / n;
    let spread = Z * (f / n - f * f / n + Z * Z / (4.0 * n * n)).sqrt();
    let upper = (f + Z * Z / (2.0 * n) + spread) / (1.0 + Z * Z / n);
    (upper * n - wrong).max(0.0)
}

/// Moves the rows that go left to the front, order kept, and returns how many there are.
fn partition(order: &mut [u32], goes_left: impl Fn(u32) -> bool) -> usize {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for row in order.iter() {
        if goes_left(*row) { left.push(*row) } else { right.push(*row) }
    }
    let count = left.len();
    order[..count].copy_from_slice(&left);
    order[count..].copy_from_slice(&right);
    count
}
