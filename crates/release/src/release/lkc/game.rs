//! The participation game of vertical integration (game paper, section 6), played on a joined table.
//!
//! *Inputs*: one table that somebody holds whole, the owners of its columns, and how each plays.
//! *Output*: every round's bids, who won, what each contributed and got. Nothing is sent: this is for
//! deciding, before parties meet, whether a rule of fairness would help or harm.
//!
//! In a round each owner bids the score of its best valid candidate, or keeps silent; the highest bid
//! is performed, and its score is added to the owner's *contribution* μ. What the others contributed
//! is an owner's *benefit* φ. All silent ends the game. Under the rule of fairness (algorithm 2) an
//! owner bids only while μ ≤ μ' + slack for the μ' of every other.
//!
//! *Theorem (no owner is far ahead).* Under the rule, μ_i ≤ min_j μ_j + slack + the largest score that
//! i ever contributed, at every time. *Proof.* When i wins, its μ was at most the smallest + slack;
//! it grows by one score, and others' contributions never fall.
//!
//! *What it is not.* Not security against a party that lies. Losing bids cannot be checked; an honest
//! owner without candidates looks like one that defects, and stops everybody; the game is finite, so
//! backward induction applies and defecting is weakly dominant. It is a *rule for stopping*, after
//! which nobody has shown much more than the others. And each owner learns what it learns from
//! releases with `model = "lkc"` in any case.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::{Scored, Specialized, Value, begin, best};
use crate::Error;
use crate::agreement::syntactic::Terms;
use crate::math::Rational;
use crate::release::tree::Generalized;
use crate::table::{Candidate, Cuts, Schema, Table};

/// The most owners.
pub const MOST_OWNERS: usize = 5;

/// Who holds which columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// What it is called.
    pub name: String,
    /// The places of its attributes.
    pub attributes: Vec<usize>,
}

/// How the game is played.
#[derive(Clone, Debug, Default)]
pub struct Strategies {
    /// The slack of the rule of fairness; none where there is no such rule.
    pub slack: Option<Rational>,
    /// The places of owners that never bid.
    pub defecting: Vec<usize>,
}

/// What an owner says in a round.
#[derive(Clone, Debug)]
pub enum Bid {
    /// Its best valid candidate.
    Offers {
        /// Attribute and value, in words.
        what: String,
        /// Its score.
        score: Value,
    },
    /// Nothing.
    Silent(Silence),
}

/// Why an owner keeps silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// It has contributed more than the owner at this place, and the slack on top.
    Ahead {
        /// Of the owner that contributed least.
        of: usize,
    },
    /// None of its candidates is valid, or it has none.
    NothingValid,
    /// It never bids.
    Defects,
}

/// One round.
#[derive(Clone, Debug)]
pub struct Round {
    /// Of each owner.
    pub bids: Vec<Bid>,
    /// The place of the winner and what it contributes; none in the last round.
    pub won: Option<(usize, Rational)>,
}

/// What a table is worth after a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quality {
    /// People.
    pub people: u64,
    /// Groups by all columns.
    pub groups: u64,
    /// The sum of the squares of their sizes.
    pub discernibility: u128,
    /// People who have the class that most of their group have.
    pub majority: u64,
}

/// A game that is over.
pub struct Played<'t> {
    /// The rounds; in the last one all are silent.
    pub rounds: Vec<Round>,
    /// μ of each owner.
    pub contributions: Vec<Rational>,
    /// What the table is worth now.
    pub quality: Quality,
    made: Specialized<'t>,
}

/// Plays the game to its end.
///
/// # Errors
/// If even the coarsest table breaks a rule.
pub fn play<'t>(
    schema: &Arc<Schema>,
    terms: &Terms,
    table: &'t Table,
    owners: &[Owner],
    strategies: &Strategies,
) -> Result<Played<'t>, Error> {
    let (made, open) = begin(schema, terms, table)?;
    let contributions = vec![Rational::zero(); owners.len()];
    let mut board = Board { made, open, terms, owners, strategies, contributions };
    let mut rounds = Vec::new();
    loop {
        let mut heads: Vec<Result<Scored, Silence>> = Vec::with_capacity(owners.len());
        for owner in 0..owners.len() {
            heads.push(board.head(owner)?);
        }
        let bids = heads.iter().map(|head| board.bid(head)).collect();
        let offers: Vec<Scored> = heads.iter().filter_map(|head| head.clone().ok()).collect();
        let Some(winner) = best(&offers).map(|place| &offers[place]) else {
            rounds.push(Round { bids, won: None });
            break;
        };
        let won = board.perform(winner)?;
        rounds.push(Round { bids, won });
    }
    let quality = board.quality();
    let Board { made, contributions, .. } = board;
    Ok(Played { rounds, contributions, quality, made })
}

/// A game that is going on.
struct Board<'g, 't> {
    made: Specialized<'t>,
    open: Vec<Scored>,
    terms: &'g Terms,
    owners: &'g [Owner],
    strategies: &'g Strategies,
    contributions: Vec<Rational>,
}

impl Board<'_, '_> {
    /// The best valid candidate of an owner that bids. What is invalid stays so, and is dropped.
    fn head(&mut self, owner: usize) -> Result<Result<Scored, Silence>, Error> {
        if self.strategies.defecting.contains(&owner) {
            return Ok(Err(Silence::Defects));
        }
        if let Some(of) = self.least_behind(owner) {
            return Ok(Err(Silence::Ahead { of }));
        }
        loop {
            let of = &self.owners[owner].attributes;
            let own = |one: &&Scored| of.contains(&one.made.candidate.attribute);
            let own: Vec<Scored> = self.open.iter().filter(own).cloned().collect();
            let Some(place) = best(&own) else { return Ok(Err(Silence::NothingValid)) };
            let head = own[place].clone();
            if self.made.tested(self.terms, &head.made)?.1.is_none() {
                return Ok(Ok(head));
            }
            self.remove(head.made.candidate);
        }
    }

    /// The owner that contributed least, if the rule of fairness makes this one wait for it.
    fn least_behind(&self, owner: usize) -> Option<usize> {
        let slack = self.strategies.slack.as_ref()?;
        let others = (0..self.owners.len()).filter(|other| *other != owner);
        let least = others.min_by_key(|other| &self.contributions[*other])?;
        let bound = &self.contributions[least] + slack;
        (self.contributions[owner] > bound).then_some(least)
    }

    fn bid(&self, head: &Result<Scored, Silence>) -> Bid {
        match head {
            Err(silence) => Bid::Silent(*silence),
            Ok(Scored { made, value, .. }) => {
                let attribute = &self.made.cuts.schema().attributes[made.candidate.attribute].name;
                let what = format!("{attribute}: {}", self.made.cuts.name(made.candidate));
                Bid::Offers { what, score: *value }
            }
        }
    }

    fn perform(&mut self, winner: &Scored) -> Result<Option<(usize, Rational)>, Error> {
        let candidate = winner.made.candidate;
        self.remove(candidate);
        let found = self.made.extremes_after(&winner.made)?;
        self.made.perform_among(&mut self.open, &winner.made, found)?;
        let of = |owner: &Owner| owner.attributes.contains(&candidate.attribute);
        let (above, below) = winner.value.parts();
        let won = self.owners.iter().position(of).zip(Rational::new(above, below));
        if let Some((owner, score)) = &won {
            let contribution = &mut self.contributions[*owner];
            *contribution = &*contribution + score;
        }
        Ok(won)
    }

    fn remove(&mut self, candidate: Candidate) {
        self.open.retain(|one| one.made.candidate != candidate);
    }

    fn quality(&self) -> Quality {
        let records = &self.made.records;
        let mut quality = Quality { people: 0, groups: 0, discernibility: 0, majority: 0 };
        for leaf in records.leaf_ids() {
            let counts = records.counts(leaf);
            let people: u64 = counts.iter().map(|count| u64::from(*count)).sum();
            quality.people += people;
            quality.groups += u64::from(people > 0);
            quality.discernibility += u128::from(people) * u128::from(people);
            quality.majority += u64::from(counts.iter().copied().max().unwrap_or(0));
        }
        quality
    }
}

impl Played<'_> {
    /// How far the table was specialized.
    pub fn cuts(&self) -> &Cuts {
        &self.made.cuts
    }

    /// The table that would be released.
    ///
    /// # Errors
    /// None in practice: what is on a cut can be reached.
    pub fn into_table(self) -> Result<Generalized, Error> {
        self.made.into_table()
    }

    /// What an owner got in each round.
    pub fn payoffs(&self, owner: usize) -> Vec<Rational> {
        let payoff = |round: &Round| match &round.won {
            Some((winner, score)) if *winner != owner => score.clone(),
            _ => Rational::zero(),
        };
        self.rounds.iter().map(payoff).collect()
    }

    /// φ: what an owner got in all.
    pub fn benefit(&self, owner: usize) -> Rational {
        self.payoffs(owner).iter().fold(Rational::zero(), |sum, payoff| &sum + payoff)
    }
}

/// The smallest δ from which on, up to 1, the first stream of payoffs is worth no less than the second
/// if what comes a round later counts δ as much; none if it is worth less at 1. In steps of 1/10,000.
pub fn smallest_discount(honest: &[f64], deviating: &[f64]) -> Option<f64> {
    const STEPS: u32 = 10_000;
    let sum = |payoffs: &[f64], delta: f64| payoffs.iter().rev().fold(0.0, |s, p| p + delta * s);
    let holds = |step: &u32| {
        let delta = f64::from(*step) / f64::from(STEPS);
        sum(honest, delta) >= sum(deviating, delta) - 1e-12
    };
    let last = (0..=STEPS).rev().take_while(holds).last()?;
    Some(f64::from(last) / f64::from(STEPS))
}

/// Theorem 1 of the game paper for n owners who pay in equal shares: δ^(n−1) ≥ 1/n.
pub fn discount_of_equal_shares(owners: usize) -> f64 {
    let n = owners.max(2) as f64;
    n.powf(-1.0 / (n - 1.0))
}

/// The same where owners pay in turn, for the one that pays first: δ^(n−1)·(1 + δ + … + δ^(n−1)) ≥ 1.
pub fn discount_of_turns(owners: usize) -> f64 {
    let last = owners.max(2) as i32 - 1;
    let worth =
        |delta: f64| delta.powi(last) * (0..=last).map(|power| delta.powi(power)).sum::<f64>();
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if worth(middle) >= 1.0 { high = middle } else { low = middle }
    }
    high
}
