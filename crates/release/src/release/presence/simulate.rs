//! Mondrian with dummy users (the site-presence paper), played in one process.
//!
//! *Inputs*: the population U with all columns, whose site each column is, and who is at which site.
//! *Output*: the final groups: how many of their people are at both sites. Σ common² is their
//! discernibility.
//!
//! Users outside a site are its *dummies*. A group begins as U. In a group each site gives every
//! dummy the row of one of its own people there, chosen by a keyed function of user and path, so that
//! a second run gives the same. The column with the widest range for its span is divided at the point
//! of the largest
//!
//! S(c) = (1 − α)/2·(E_A(c) + E_B(c))/E − α·L(c)/L,
//!
//! L(c) = Σ|x − c| over the users of the group, E_n = −Σ r·log r over both halves, r the part of the
//! half that is n's dummies, E and L the largest of them. Both halves must have k common people at
//! least, and at most δ of each site's people there (with a sensitive column at B: of B's people with
//! each of its values too, which the paper leaves out). Otherwise the group is final, or, if wanted,
//! the next widest column is tried.
//!
//! *What running it would tell a partner*, and why this is a simulator: for every person of U, the
//! group, so the generalized values, that each site put them in; for every point that was tried, sizes
//! of halves and of one's dummies in them; which tests failed. Dummies are drawn without regard to the
//! partner's columns, so correlation tells them from people.

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::Delta;
use crate::Error;
use crate::release::tree::utility::log2_floor;

const PEOPLE_LABEL: &[u8] = b"diptych presence people v1";
const DUMMIES_LABEL: &[u8] = b"diptych presence dummies v1";

/// The largest population.
pub const MOST_USERS: usize = 1 << 20;
/// Values of a column are between this and its negative, so that sums of distances are exact.
pub const MOST_VALUE: i64 = 1 << 31;

/// A column of the population.
#[derive(Clone, Debug)]
pub struct Column {
    /// Whose it is: 0 for A, 1 for B.
    pub site: usize,
    /// The value of each user.
    pub values: Vec<i64>,
}

/// Everybody, with all columns; A's come first.
#[derive(Clone, Debug)]
pub struct Population {
    /// How many users.
    pub users: usize,
    /// What is generalized.
    pub columns: Vec<Column>,
    /// What B knows beside it and nobody is to learn: a code for each user.
    pub sensitive: Option<Vec<u32>>,
}

/// What is asked of every group, and how groups are divided.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Common people in a group, at least.
    pub k: u64,
    /// The part of a site's people in a group that may be common.
    pub delta: Delta,
    /// What distances count against dummies, from 0 to 1.
    pub alpha: f64,
    /// Whether further columns are tried where the widest fails.
    pub retry: bool,
}

/// Who is at which site, and the keys of the sites' dummies.
#[derive(Clone, Debug)]
pub struct Sites {
    /// Of each site, whether each user is there.
    pub present: [Vec<bool>; 2],
    keys: [[u8; 32]; 2],
}

/// A final group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its users.
    pub users: usize,
    /// Its people at both sites.
    pub common: u64,
    /// Its people at each site.
    pub holders: [u64; 2],
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulated {
    /// The final groups, lower halves first.
    pub groups: Vec<Group>,
    /// Divisions that were tested, and how many of those failed.
    pub tested: [u64; 2],
}

impl Sites {
    /// So many people at both sites, at A alone and at B alone, drawn by a seed and a number of run.
    ///
    /// # Errors
    /// If the population does not have as many.
    pub fn draw(users: usize, counts: [u64; 3], seed: u64, run: u64) -> Result<Self, Error> {
        let wanted = counts.iter().fold(0u64, |sum, count| sum.saturating_add(*count));
        if wanted > users as u64 {
            return Err(Error::input(format!(
                "{wanted} people are wanted and the population has {users}"
            )));
        }
        let hash = |label: &[u8], last: u64| -> [u8; 32] {
            let numbers = [seed, run, last].map(u64::to_le_bytes).concat();
            Sha256::new().chain_update(label).chain_update(numbers).finalize().into()
        };
        let mut order: Vec<usize> = (0..users).collect();
        order.sort_by_cached_key(|user| (hash(PEOPLE_LABEL, *user as u64), *user));
        let [both, only_a, only_b] = counts.map(|count| count as usize);
        let mut present = [vec![false; users], vec![false; users]];
        for (rank, user) in order.into_iter().take(both + only_a + only_b).enumerate() {
            present[0][user] = rank < both + only_a;
            present[1][user] = rank < both || rank >= both + only_a;
        }
        Ok(Self { present, keys: [0, 1].map(|site| hash(DUMMIES_LABEL, site)) })
    }

    fn is_common(&self, user: u32) -> bool {
        self.present.iter().all(|present| present[user as usize])
    }
}

/// Runs it once.
///
/// # Errors
/// If the population as a whole is not as required.
pub fn simulate(
    population: &Population,
    sites: &Sites,
    setting: &Setting,
) -> Result<Simulated, Error> {
    let run = Run::new(population, sites, setting);
    let everybody: Vec<u32> = (0..population.users as u32).collect();
    if !run.is_as_required(&everybody) {
        return Err(run.unmet(&everybody));
    }
    let mut found = Simulated { groups: Vec::new(), tested: [0; 2] };
    let mut open = vec![(everybody, [0; 32])];
    while let Some((users, path)) = open.pop() {
        match run.divide(&users, &path, &mut found.tested) {
            Some([low, high]) => {
                open.push((high, step(&path, 1)));
                open.push((low, step(&path, 0)));
            }
            None => found.groups.push(run.group(&users)),
        }
    }
    Ok(found)
}

/// Runs it for many drawings of people, as [`Sites::draw`] makes them.
///
/// # Errors
/// As [`simulate`] and [`Sites::draw`].
pub fn simulate_all(
    population: &Population,
    counts: [u64; 3],
    seed: u64,
    runs: u64,
    setting: &Setting,
) -> Result<Vec<Simulated>, Error> {
    let one = |run: u64| {
        let sites = Sites::draw(population.users, counts, seed, run)?;
        simulate(population, &sites, setting)
    };
    (0..runs).into_par_iter().map(one).collect()
}

impl Simulated {
    /// Σ common²: how many ordered pairs of common people look alike.
    pub fn discernibility(&self) -> u128 {
        self.groups.iter().map(|group| u128::from(group.common) * u128::from(group.common)).sum()
    }
}

fn step(path: &[u8; 32], half: u8) -> [u8; 32] {
    Sha256::new().chain_update(path).chain_update([half]).finalize().into()
}

struct Run<'s> {
    population: &'s Population,
    sites: &'s Sites,
    setting: &'s Setting,
    /// Of each column, over everybody.
    spans: Vec<i64>,
}

/// From the least to the largest; 0 if there is none.
fn range(values: impl Iterator<Item = i64>) -> i64 {
    let (low, high) = values.fold((i64::MAX, i64::MIN), |(l, h), v| (l.min(v), h.max(v)));
    if low > high { 0 } else { high - low }
}

/// Users of a group in the order of one column, by value.
struct Stretch {
    value: i64,
    users: u64,
    dummies: [u64; 2],
}

impl<'s> Run<'s> {
    fn new(population: &'s Population, sites: &'s Sites, setting: &'s Setting) -> Self {
        let span = |column: &Column| range(column.values.iter().copied());
        let spans = population.columns.iter().map(span).collect();
        Self { population, sites, setting, spans }
    }

    fn group(&self, users: &[u32]) -> Group {
        let mut group = Group { users: users.len(), common: 0, holders: [0; 2] };
        for user in users {
            group.common += u64::from(self.sites.is_common(*user));
            for (holders, present) in group.holders.iter_mut().zip(&self.sites.present) {
                *holders += u64::from(present[*user as usize]);
            }
        }
        group
    }

    fn is_as_required(&self, users: &[u32]) -> bool {
        let (group, delta) = (self.group(users), self.setting.delta);
        group.common >= self.setting.k
            && group.holders.iter().all(|holders| delta.allows(group.common, *holders))
            && self.by_value(users).iter().all(|(common, holders)| delta.allows(*common, *holders))
    }

    /// Of each sensitive value, common people and B's.
    fn by_value(&self, users: &[u32]) -> Vec<(u64, u64)> {
        let Some(sensitive) = &self.population.sensitive else { return Vec::new() };
        let mut counts = Vec::new();
        for user in users.iter().filter(|user| self.sites.present[1][**user as usize]) {
            let code = sensitive[*user as usize] as usize;
            if counts.len() <= code {
                counts.resize(code + 1, (0, 0));
            }
            counts[code].0 += u64::from(self.sites.is_common(*user));
            counts[code].1 += 1;
        }
        counts
    }

    /// What keeps the whole population from being as required: the part that tells most.
    fn unmet(&self, users: &[u32]) -> Error {
        let group = self.group(users);
        let whole = group.holders.map(|holders| (group.common, holders));
        let all = whole.into_iter().chain(self.by_value(users));
        let worst = all.max_by(|a, b| {
            let [left, right] =
                [(a.0, b.1), (b.0, a.1)].map(|(c, h)| u128::from(c) * u128::from(h));
            left.cmp(&right)
        });
        let (common, holders) = worst.unwrap_or((0, 0));
        Error::unmet(format!(
            "not even the whole population is as required: {common} common people of {holders} at a site; \
             k must be at most {common}, and delta at least {common}/{holders}"
        ))
    }

    /// The halves of a group, if there are two that are as required.
    fn divide(
        &self,
        users: &[u32],
        path: &[u8; 32],
        tested: &mut [u64; 2],
    ) -> Option<[Vec<u32>; 2]> {
        let rows = [0, 1].map(|site| self.rows(site, users, path));
        for column in self.by_width(users) {
            let site = self.population.columns[column].site;
            let values = &self.population.columns[column].values;
            let value = |place: usize| values[rows[site][place] as usize];
            let point = self.point(users, &value)?;
            let mut halves = [Vec::new(), Vec::new()];
            for (place, user) in users.iter().enumerate() {
                halves[usize::from(value(place) >= point)].push(*user);
            }
            tested[0] += 1;
            if halves.iter().all(|half| self.is_as_required(half)) {
                return Some(halves);
            }
            tested[1] += 1;
            if !self.setting.retry {
                break;
            }
        }
        None
    }

    /// Whose row a user has at a site: its own, or if it is not there that of somebody who is.
    fn rows(&self, site: usize, users: &[u32], path: &[u8; 32]) -> Vec<u32> {
        let present = &self.sites.present[site];
        let there: Vec<u32> =
            users.iter().copied().filter(|user| present[*user as usize]).collect();
        let key: [u8; 32] =
            Sha256::new().chain_update(self.sites.keys[site]).chain_update(path).finalize().into();
        let row = |user: &u32| {
            if present[*user as usize] || there.is_empty() {
                return *user;
            }
            let hash = Sha256::new().chain_update(key).chain_update(u64::from(*user).to_le_bytes());
            let hash: [u8; 32] = hash.finalize().into();
            let number = hash[..8].iter().rev().fold(0u64, |n, byte| n << 8 | u64::from(*byte));
            there[(number % there.len() as u64) as usize]
        };
        users.iter().map(row).collect()
    }

    /// Columns that differ in a group, the widest for its span first; equal ones in their order.
    fn by_width(&self, users: &[u32]) -> Vec<usize> {
        let mut widths: Vec<(usize, i64, i64)> = Vec::new();
        for (number, column) in self.population.columns.iter().enumerate() {
            let present = &self.sites.present[column.site];
            let of = users.iter().filter(|user| present[**user as usize]);
            let width = range(of.map(|user| column.values[*user as usize]));
            if width > 0 {
                widths.push((number, width, self.spans[number]));
            }
        }
        widths.sort_by(|a, b| {
            let [left, right] =
                [(b.1, a.2), (a.1, b.2)].map(|(w, s)| i128::from(w) * i128::from(s));
            left.cmp(&right).then(a.0.cmp(&b.0))
        });
        widths.into_iter().map(|(number, ..)| number).collect()
    }

    /// Where a column is divided: the lowest point of the largest S above the least value.
    fn point(&self, users: &[u32], value: &dyn Fn(usize) -> i64) -> Option<i64> {
        let mut order: Vec<(i64, u32)> =
            users.iter().enumerate().map(|(place, user)| (value(place), *user)).collect();
        order.sort_unstable();
        let mut stretches: Vec<Stretch> = Vec::new();
        for (value, user) in order {
            if stretches.last().is_none_or(|last| last.value != value) {
                stretches.push(Stretch { value, users: 0, dummies: [0; 2] });
            }
            if let Some(last) = stretches.last_mut() {
                last.users += 1;
                for (dummies, present) in last.dummies.iter_mut().zip(&self.sites.present) {
                    *dummies += u64::from(!present[user as usize]);
                }
            }
        }
        let candidates = candidates(&stretches);
        let longest = candidates.iter().map(|one| one.distance).max()?;
        let most = candidates.iter().flat_map(|one| one.entropies).max()?;
        let part = |number: u128, of: u128| if of == 0 { 0.0 } else { number as f64 / of as f64 };
        let alpha = self.setting.alpha;
        let mut best: Option<(f64, i64)> = None;
        for one in &candidates {
            let [a, b] = one.entropies.map(|entropy| part(entropy, most));
            let score = (1.0 - alpha) / 2.0 * (a + b) - alpha * part(one.distance, longest);
            if best.is_none_or(|(known, _)| score > known) {
                best = Some((score, one.value));
            }
        }
        best.map(|(_, value)| value)
    }
}

/// A point that a column may be divided at.
struct Candidate {
    value: i64,
    distance: u128,
    /// Of each site's dummies, in steps of 2^-32.
    entropies: [u128; 2],
}

fn candidates(stretches: &[Stretch]) -> Vec<Candidate> {
    let users: u64 = stretches.iter().map(|one| one.users).sum();
    let all = [0, 1].map(|site| stretches.iter().map(|one| one.dummies[site]).sum::<u64>());
    let total: i128 =
        stretches.iter().map(|one| i128::from(one.value) * i128::from(one.users)).sum();
    let (mut below, mut dummies, mut sum) = (0u64, [0u64; 2], 0i128);
    let mut found = Vec::new();
    for one in stretches {
        if below > 0 {
            let point = i128::from(one.value);
            let left = point * i128::from(below) - sum;
            let right = total - sum - point * i128::from(users - below);
            let entropies = [0, 1].map(|site| {
                term(dummies[site], below) + term(all[site] - dummies[site], users - below)
            });
            found.push(Candidate {
                value: one.value,
                distance: (left + right).unsigned_abs(),
                entropies,
            });
        }
        below += one.users;
        sum += i128::from(one.value) * i128::from(one.users);
        dummies.iter_mut().zip(one.dummies).for_each(|(sum, more)| *sum += more);
    }
    found
}

/// −r·log2 r for r = dummies/users, in steps of 2^-32, rounded down.
fn term(dummies: u64, users: u64) -> u128 {
    if dummies == 0 {
        return 0;
    }
    let log = log2_floor(users).saturating_sub(log2_floor(dummies));
    u128::from(dummies) * u128::from(log) / u128::from(users)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;
    use proptest::prelude::*;

    fn small(people: &[(i64, i64, u32)]) -> Population {
        let column = |site, of: fn(&(i64, i64, u32)) -> i64| Column {
            site,
            values: people.iter().map(of).collect(),
        };
        Population {
            users: people.len(),
            columns: vec![column(0, |one| one.0), column(1, |one| one.1)],
            sensitive: Some(people.iter().map(|one| one.2).collect()),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn every_group_is_as_required_also_by_value_and_all_people_are_in_one(
            people in prop::collection::vec((0i64..20, -5i64..5, 0u32..3), 6..80),
            k in 1u64..4, above in 5u64..=10, tenths in 0u32..=10, retry: bool, seed: u64,
        ) {
            let population = small(&people);
            let third = people.len() as u64 / 3;
            let sites = Sites::draw(people.len(), [third, third, third], seed, 0)?;
            let delta = Delta { above, below: 10 };
            let setting = Setting { k, delta, alpha: f64::from(tenths) / 10.0, retry };
            let run = Run::new(&population, &sites, &setting);
            match simulate(&population, &sites, &setting) {
                Err(error) => {
                    prop_assert_eq!(error.kind(), Kind::Unmet);
                }
                Ok(found) => {
                    prop_assert_eq!(found.groups.iter().map(|g| g.users).sum::<usize>(), people.len());
                    prop_assert_eq!(found.groups.iter().map(|g| g.common).sum::<u64>(), third);
                    for group in &found.groups {
                        prop_assert!(group.common >= k);
                        prop_assert!(group.holders.iter().all(|h| delta.allows(group.common, *h)));
                    }
                    prop_assert_eq!(&found, &simulate(&population, &sites, &setting)?);
                    let whole: Vec<u32> = (0..people.len() as u32).collect();
                    prop_assert!(run.is_as_required(&whole));
                    prop_assert_eq!(found.groups.len() as u64, 1 + found.tested[0] - found.tested[1]);
                }
            }
        }
    }

    #[test]
    fn a_delta_below_its_floor_and_too_many_people_are_refused() {
        let people: Vec<(i64, i64, u32)> = (0..40).map(|i| (i, i % 7, 0)).collect();
        let population = Population { sensitive: None, ..small(&people) };
        let sites = Sites::draw(40, [10, 10, 5], 1, 0).unwrap();
        let setting =
            |above| Setting { k: 2, delta: Delta { above, below: 100 }, alpha: 1.0, retry: false };
        let unmet = simulate(&population, &sites, &setting(66)).unwrap_err();
        assert_eq!(unmet.kind(), Kind::Unmet);
        assert!(unmet.message().contains("10 common people of 15 at a site"), "{unmet}");
        assert!(simulate(&population, &sites, &setting(67)).is_ok());
        let few = Sites::draw(40, [20, 20, 1], 1, 0).unwrap_err();
        assert_eq!(few.kind(), Kind::Input);
        assert!(few.message().contains("41 people are wanted"), "{few}");
    }

    /// The paper's measure rewards halves that expose: it is not weighted by their sizes.
    #[test]
    fn one_dummy_among_four_counts_for_more_than_halves_alike() {
        let entropy = |halves: [(u64, u64); 2]| {
            let sum: u128 = halves.iter().map(|(dummies, users)| term(*dummies, *users)).sum();
            // From steps of log2 to natural logarithms.
            (sum as f64 / 2f64.powi(32) * 2f64.ln() * 1e4).round() / 1e4
        };
        assert_eq!(entropy([(40, 50), (40, 50)]), 0.3570);
        assert_eq!(entropy([(30, 50), (50, 50)]), 0.3065);
        assert_eq!(entropy([(1, 4), (79, 96)]), 0.5070);
    }
}
