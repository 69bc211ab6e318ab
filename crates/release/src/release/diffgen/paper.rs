//! What a release does as in the papers where the default is something else: counts of divided
//! columns under Paillier's encryption (`count_table = "paillier"`), and over divided records weights by
//! a Taylor series in place of the exponential (`selection = "exponential"`). `profile = "paper"` has
//! both, no default has either. The protocols are in [`crate::paper`].

use std::collections::{HashMap, HashSet};

use super::Plan;
use super::own_records::OwnRecords;
use super::shared_scores::Pending;
use super::sizes::Sizes;
use super::two_party::Keys;
use crate::Error;
use crate::agreement::diffgen::Terms;
use crate::agreement::{Agreement, CountTable, Partition};
use crate::crypto::paillier::{SecretKey, Tuning};
use crate::paper::exponential::horizontal::{
    ClassCounts, Horizontal, HorizontalExponential, TaylorKey,
};
use crate::paper::scalar_product::{self, ExpectedKey, Key, TableShape};
use crate::privacy::Spend;
use crate::privacy::slack::Widths;
use crate::privacy::taylor::Taylor;
use crate::protocol::Session;
use crate::protocol::forecast::{Forecast, Work};
use crate::protocol::shares::{IntegerShare, WordShares};
use crate::release::Step;
use crate::release::tree::layout::Layout;
use crate::table::{Candidate, Cuts};

fn no_key() -> Error {
    Error::input("the release was prepared for another agreement")
}

/// What a release needs that does not depend on data, beside its transfers: the keys, if it has any. See
/// [`prepare`](super::two_party::prepare).
pub struct Prepared {
    keys: Keys,
    /// Under which the counts of divided columns are made, if the tree wants ours.
    secret: Option<SecretKey>,
    /// Under which polynomials are evaluated.
    taylor: Option<TaylorKey>,
}

impl Prepared {
    /// Makes the keys that the agreement needs, if any, and exchanges them.
    pub(super) fn new(
        session: &mut Session,
        agreement: &Agreement,
        terms: &Terms,
        keys: Keys,
    ) -> Result<Self, Error> {
        let (secret, taylor) = match &agreement.partition {
            Partition::Vertical { .. } if terms.count_table == Some(CountTable::Paillier) => {
                (Some(make_key(session, terms, keys)?), None)
            }
            Partition::Horizontal { .. } if terms.taylor.is_some() => {
                (None, Some(exchange_key(session, terms, keys)?))
            }
            _ => (None, None),
        };
        Ok(Self { keys, secret, taylor })
    }

    /// The messages and the work of [`Prepared::new`].
    pub(super) fn forecast(f: &mut Forecast, agreement: &Agreement, terms: &Terms, bits: usize) {
        match &agreement.partition {
            Partition::Vertical { .. } if terms.count_table == Some(CountTable::Paillier) => {
                f.work(Work::MakeKey, 1);
            }
            Partition::Horizontal { .. } if terms.taylor.is_some() => {
                TaylorKey::forecast(f, bits);
            }
            _ => {}
        }
    }

    /// Which keys were asked for.
    pub(super) fn keys(&self) -> Keys {
        self.keys
    }

    /// The joint count table of `records` common people, of whom each has one of `cells`.
    pub(super) fn count_table(
        &self,
        session: &mut Session,
        terms: &Terms,
        shape: &TableShape,
        cells: &[u32],
        progress: &(dyn Fn(Step) + Sync),
    ) -> Result<WordShares, Error> {
        let bits = key_bits(terms, self.keys)?;
        let items = shape.items(bits)?.iter().sum();
        progress(Step::Began { phase: "count table", total: items });
        let key = if shape.encrypting_role() == session.role {
            Key::Own(self.secret.as_ref().ok_or_else(no_key)?)
        } else {
            Key::Peer(match self.keys {
                Keys::Agreed => ExpectedKey::new(bits, Tuning::default())?,
                #[cfg(any(test, feature = "testing"))]
                Keys::ForTests(_) => ExpectedKey::for_tests(bits, Tuning::default()),
            })
        };
        let advanced = |items| progress(Step::Advanced(items));
        Ok(scalar_product::count_table(session, key, shape, cells, &advanced)?)
    }
}

/// The count table under encryption.
pub(super) fn table_shape(layout: &Layout, records: usize, sizes: &Sizes) -> TableShape {
    let (sigma, bits) = (sizes.widths.sigma, sizes.count_bits);
    TableShape { records, cells: layout.cells(), sigma, bits }
}

fn key_bits(terms: &Terms, keys: Keys) -> Result<usize, Error> {
    match keys {
        #[cfg(any(test, feature = "testing"))]
        Keys::ForTests(bits) => Ok(bits),
        Keys::Agreed => terms.paillier_bits.map(|bits| bits as usize).ok_or_else(no_key),
    }
}

/// A key for the count table, should the tree want ours.
fn make_key(session: &mut Session, terms: &Terms, keys: Keys) -> Result<SecretKey, Error> {
    let (bits, rng) = (key_bits(terms, keys)?, &mut session.rng);
    Ok(match keys {
        Keys::Agreed => SecretKey::generate(bits, Tuning::default(), rng)?,
        #[cfg(any(test, feature = "testing"))]
        Keys::ForTests(_) => SecretKey::generate_for_tests(bits, Tuning::default(), rng)?,
    })
}

/// The key under which polynomials are evaluated, at both parties.
fn exchange_key(session: &mut Session, terms: &Terms, keys: Keys) -> Result<TaylorKey, Error> {
    let bits = key_bits(terms, keys)?;
    Ok(match keys {
        Keys::Agreed => TaylorKey::exchange(session, bits, Tuning::default())?,
        #[cfg(any(test, feature = "testing"))]
        Keys::ForTests(_) => TaylorKey::exchange_for_tests(session, bits, Tuning::default())?,
    })
}

/// Shares of the weights of candidates: those of candidates that stay are not computed again, because
/// the rate is the same each time.
pub(super) struct Weights {
    key: Option<TaylorKey>,
    of: HashMap<Candidate, IntegerShare>,
}

impl Weights {
    pub(super) fn new(prepared: Prepared) -> Self {
        Self { key: prepared.taylor, of: HashMap::new() }
    }

    /// Those of `candidates` that have no weight yet.
    pub(super) fn missing(&self, candidates: &[Candidate]) -> Vec<Candidate> {
        candidates.iter().copied().filter(|c| !self.of.contains_key(c)).collect()
    }

    /// Weighs the `new` candidates, which stand for `pending`, and picks one of all.
    pub(super) fn choose(
        &mut self,
        session: &mut Session,
        own: &mut dyn OwnRecords,
        (plan, terms, spend): (&Plan, Horizontal, &Spend),
        candidates: &[Candidate],
        (new, pending): (Vec<Candidate>, &[Pending]),
    ) -> Result<usize, Error> {
        let key = self.key.as_ref().ok_or_else(no_key)?;
        let rate = plan.calibration().rate(spend.epsilon());
        let classes = plan.schema().class.values.len();
        let by_child = |counts: Vec<u64>| counts.chunks(classes).map(<[u64]>::to_vec).collect();
        let counts: Vec<Vec<Vec<u64>>> = own.children(pending)?.into_iter().map(by_child).collect();
        let mut mechanism = HorizontalExponential::new(session, key, terms);
        if !new.is_empty() {
            let counts = ClassCounts::new(classes, &counts)?;
            let weights = mechanism.weigh(&rate, &counts)?;
            self.of.extend(new.into_iter().zip(weights));
        }
        let weights: Vec<IntegerShare> =
            candidates.iter().filter_map(|c| self.of.get(c).cloned()).collect();
        Ok(mechanism.pick(&weights)?.index)
    }
}

/// The messages of [`Weights::choose`]; `weighed` are the candidates that have a weight.
pub(super) fn forecast_choice(
    f: &mut Forecast,
    key_bits: usize,
    (plan, terms, spend): (&Plan, Horizontal, &Spend),
    (cuts, candidates): (&Cuts, &[Candidate]),
    weighed: &mut HashSet<Candidate>,
) -> Result<(), Error> {
    let rate = plan.calibration().rate(spend.epsilon());
    let new: Vec<usize> = candidates
        .iter()
        .filter(|candidate| weighed.insert(**candidate))
        .map(|candidate| cuts.number_of_children(*candidate))
        .collect();
    if !new.is_empty() {
        let classes = plan.schema().class.values.len();
        terms.forecast_weighing(f, key_bits, &rate, classes, new)?;
    }
    Ok(terms.forecast_pick(f, &rate, candidates.len())?)
}

/// The public numbers of the polynomial in place of the exponential.
pub(super) fn polynomial(agreement: &Agreement, taylor: Taylor, widths: &Widths) -> Horizontal {
    let sigma = widths.sigma.max(widths.tries);
    Horizontal { taylor, most_records: agreement.max_records, sigma }
}

/// Rejects a polynomial whose values do not fit the key, before anything is spent.
pub(super) fn check_polynomial(
    agreement: &Agreement,
    plan: &Plan,
    widths: &Widths,
) -> Result<(), Error> {
    let Some(taylor) = plan.terms().taylor else { return Ok(()) };
    let rate = plan.calibration().rate(&plan.largest_epsilon_step());
    let polynomial = polynomial(agreement, taylor, widths);
    let needed = polynomial.least_key_bits(&rate)?;
    let bits = plan.terms().paillier_bits.unwrap_or_default();
    if needed > u64::from(bits) {
        return Err(Error::input(format!(
            "the weights of the polynomial need a key of {needed} bits, and {bits} are agreed: lower \
             `taylor_degree` or `taylor_digits`, raise `paillier_bits`, or use \"permute-and-flip\""
        )));
    }
    Ok(())
}
