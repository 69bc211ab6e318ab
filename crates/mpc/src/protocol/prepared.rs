//! Noise that neither party knows, drawn before it is needed, in shared bits.
//!
//! *Inputs*: none but the public law, a [`DigitSampler`]. *Output*: of every noise shares of its
//! digits, as vectors of which number j has digit j of all noises. *Learned*: nothing.
//!
//! *How*: digit j is 1 where U < T_j, for U = U1 ⊕ U2 of τ + 1 bits. All digits of many noises are
//! compared with their constants at once, on [`bits`], in ⌈log2 τ⌉ layers, each a round for every 2^23 ANDs.
//! Two bits of U and their product come as they are from transfers ([`bits::random_products`]), without
//! a round: products are what comparing begins with. A bit of U that has no other beside it is drawn by
//! the parties.
//!
//! *Heads and tails.* Whether U < T_j is decided by its first bits, except where they are equal to
//! those of T_j. So only the first h = ⌈τ/2⌉ + 3 bits of U, the head, belong to a single noise; the
//! rest, the tail, is shared by the noises of a group of [`GROUP`], one tail for each digit. U is
//! below T_j where its head is below, or where its head is equal and the tail is below.
//!
//! *Law*: digits are as far from the exact law as [`crate::privacy::digits`] says, less than 2^-τ each,
//! whoever does the comparing. Half of that is for T_j, a floor at τ + 1 bits. The other half is for tails:
//! one noise alone has U uniform, and the noises of a group are independent as long as no
//! two of them have the same digit's head equal to that of T_j, because a tail decides for one of them at most;
//! two of 64 have with probability at most 64·63/2·2^-2h, which is less than 2^-(τ + 1) for each of the 64
//! digits. U is random to each party, whatever it knows, as the transfers are: what P2 has of
//! a bit is its choice in one, what P1 has a hash that P2 lacks. So δ and the theorems of the
//! mechanisms that take their noise from here stand as they are, under the assumptions that hide
//! everything else.
//!
//! *The pool.* Noise does not depend on data, so more of it is drawn than the next choice takes,
//! which saves rounds. Digit j of a noise is only ever used as digit j. A noise is used once, and
//! is removed when the circuit that uses it is sent, whether its candidate wins or not. How many
//! are drawn follows from numbers of candidates, which are public. The pool ends with its [`Workspace`].
//!
//! *Cost* of a noise: some D·0.8·τ ANDs, of which a third open nothing: about 0.5·D·τ bytes on silent
//! transfers, against 48·D·τ in a garbled circuit on IKNP.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::math::Rational;
//! use diptych_mpc::privacy::digits::DigitSampler;
//! use diptych_mpc::protocol::bits::{Bits, open};
//! use diptych_mpc::protocol::coins::Law;
//! use diptych_mpc::protocol::pair::{Setup, run_workspaces};
//! use diptych_mpc::protocol::prepared;
//! use diptych_mpc::protocol::yao::Reveal;
//! use diptych_mpc::protocol::Workspace;
//!
//! let sampler = DigitSampler::new(&Rational::whole(1u32), 3, 64)?;
//! let draw = |session: &mut Workspace| -> Result<_, diptych_mpc::Error> {
//!     let digits = prepared::take(session, Law::Geometric, &sampler, 100, 0)?;
//!     Ok(open(session, &Bits::concat(&digits), Reveal::Both)?)
//! };
//! let outcome = run_workspaces(Setup::default(), draw, draw);
//! let digits = outcome.p1?.ok_or("revealed to both")?;
//! assert_eq!(Some(&digits), outcome.p2?.as_ref());
//! // The first digit is 1 with probability 1/(1 + e), which is 0.27.
//! let ones = digits[..100].iter().filter(|digit| **digit).count();
//! assert!((2..70).contains(&ones), "{ones}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
mod tests;

use num_bigint::BigUint;

use crate::Error;
use crate::circuit::integer::{
    bits_that_matter, compare_with_constant_of_products, less_than_constant_of_products,
};
use crate::circuit::{Bit, Builder, Program};
use crate::privacy::digits::DigitSampler;
use crate::protocol::bits::{self, Bits, Copies, Slices};
use crate::protocol::coins::{self, Law};
use crate::protocol::forecast::Forecast;
use crate::protocol::{Session, Workspace};
use crate::role::Role;

/// Random bits of one batch: 8 MB at each party, and some times as much while they are compared.
const BATCH_BITS: usize = 1 << 26;

/// Noises of every law that was asked for.
#[derive(Default)]
pub(super) struct Pool(Vec<(Stock, Slices)>);

/// How many noises of one law are left.
pub(super) struct Stock {
    sampler: DigitSampler,
    comparing: Comparing,
    left: usize,
}

impl Stock {
    fn new(sampler: &DigitSampler) -> Self {
        let (thresholds, tau) = (sampler.finer_thresholds(), sampler.tau() as usize);
        let comparing = Comparing::new(&thresholds, tau + 1, head_bits(tau));
        Self { sampler: sampler.clone(), comparing, left: 0 }
    }

    /// How many noises are drawn at once, for `count` of them.
    fn batches(&self, count: usize) -> impl Iterator<Item = usize> + use<> {
        let most = (BATCH_BITS / coins::bits_per_noise(&self.sampler).max(1)).max(1);
        super::ot::chunks(count, most)
    }
}

/// Noises that share the tails of their random numbers: as many as a word of bits has.
pub const GROUP: usize = 64;

/// h: bits of a random number that belong to a single noise.
fn head_bits(tau: usize) -> usize {
    tau.div_ceil(2) + 3
}

/// How random numbers become digits.
struct Comparing {
    heads: Part,
    tails: Part,
    /// The digits that tails may decide.
    undecided: Vec<usize>,
}

/// A part of all random numbers of a noise, and the circuit that compares it with that of the constants: of
/// each number the bits that matter, then the products of every two of them.
struct Part {
    lengths: Vec<usize>,
    circuit: Program,
}

impl Comparing {
    /// Numbers of `width` bits, of which the first `head` are a noise's own.
    fn new(thresholds: &[BigUint], width: usize, head: usize) -> Self {
        let head = head.min(width);
        let tail = width - head;
        let highs: Vec<BigUint> = thresholds.iter().map(|threshold| threshold >> tail).collect();
        let lows: Vec<BigUint> = thresholds
            .iter()
            .zip(&highs)
            .map(|(threshold, high)| threshold - (high << tail))
            .collect();
        let undecided: Vec<usize> =
            (0..lows.len()).filter(|digit| lows[*digit] != BigUint::ZERO).collect();
        let length = |digit: usize| match undecided.contains(&digit) {
            true => head,
            false => bits_that_matter(head, &highs[digit]),
        };
        let heads =
            Part::new((0..highs.len()).map(length).collect(), |g, digit, number, products| {
                let high = &highs[digit];
                if !undecided.contains(&digit) {
                    return (less_than_constant_of_products(g, number, products, high), None);
                }
                let (below, equal) = compare_with_constant_of_products(g, number, products, high);
                (below, Some(equal))
            });
        let lows: Vec<&BigUint> = undecided.iter().map(|digit| &lows[*digit]).collect();
        let lengths = lows.iter().map(|low| bits_that_matter(tail, low)).collect();
        let tails = Part::new(lengths, |g, digit, number, products| {
            (less_than_constant_of_products(g, number, products, lows[digit]), None)
        });
        Self { heads, tails, undecided }
    }

    /// Digits of `count` noises from their numbers.
    fn run(
        &self,
        session: &mut Session,
        heads: &[Bits],
        tails: &[Bits],
        count: usize,
    ) -> Result<Slices, Error> {
        let mut decided = bits::run_together(
            session,
            &[
                Copies { source: &self.heads.circuit, inputs: heads, copies: count },
                Copies {
                    source: &self.tails.circuit,
                    inputs: tails,
                    copies: count.div_ceil(GROUP),
                },
            ],
        )?;
        let (tails, mut digits) =
            (decided.pop().unwrap_or_default(), decided.pop().unwrap_or_default());
        let equal = digits.split_off(self.heads.lengths.len());
        let tails: Slices = tails.iter().map(|tail| tail.each_64_times(count)).collect();
        let products = bits::and(session, &Bits::concat(&equal), &Bits::concat(&tails))?;
        for (digit, product) in self.undecided.iter().zip(products.parts(count)) {
            digits[*digit] = digits[*digit].xor(&product);
        }
        Ok(digits)
    }

    /// The messages of drawing `count` noises.
    fn forecast(&self, f: &mut Forecast, count: usize) {
        let groups = count.div_ceil(GROUP);
        bits::forecast_random_products(f, pairs(&self.heads.lengths) * count);
        bits::forecast_random_products(f, pairs(&self.tails.lengths) * groups);
        let (heads, tails) = (&self.heads.circuit, &self.tails.circuit);
        bits::forecast_together(f, &[(heads, count), (tails, groups)]);
        bits::forecast_and(f, self.undecided.len() * count);
    }
}

impl Part {
    /// `compare` computes from a digit's number and products whether the number is below and, if
    /// that matters, whether it is equal. Equalities come after all digits in the output.
    fn new(
        lengths: Vec<usize>,
        compare: impl Fn(&mut Builder, usize, &[Bit], &[Bit]) -> (Bit, Option<Bit>),
    ) -> Self {
        let mut g = Builder::new();
        let numbers = g.input(Role::P1, "numbers", lengths.iter().sum());
        let products = g.input(Role::P1, "products", pairs(&lengths));
        let (mut numbers, mut products) = (numbers.as_slice(), products.as_slice());
        let (mut digits, mut equal) = (Vec::with_capacity(lengths.len()), Vec::new());
        for (digit, length) in lengths.iter().enumerate() {
            let ((number, rest), (pairs, others)) =
                (numbers.split_at(*length), products.split_at(length / 2));
            (numbers, products) = (rest, others);
            let (below, same) = compare(&mut g, digit, number, pairs);
            digits.push(below);
            equal.extend(same);
        }
        g.output("digits", &digits);
        g.output("equal", &equal);
        Self { lengths, circuit: Program::new(&g.finish()) }
    }
}

/// Pairs of bits in all numbers of a noise.
fn pairs(lengths: &[usize]) -> usize {
    lengths.iter().map(|length| length / 2).sum()
}

/// Random numbers for `count` noises, as the inputs of the circuit that compares them.
fn random_numbers(session: &mut Session, lengths: &[usize], count: usize) -> Result<Slices, Error> {
    let [low, high, products] = bits::random_products(session, pairs(lengths) * count)?;
    let (mut low, mut high) = (low.parts(count), high.parts(count));
    let mut numbers = Vec::with_capacity(lengths.iter().sum::<usize>() + pairs(lengths));
    for length in lengths {
        for _ in 0..length / 2 {
            numbers.extend(low.next());
            numbers.extend(high.next());
        }
        if length % 2 == 1 {
            numbers.push(Bits::random(session, count));
        }
    }
    numbers.extend(products.parts(count));
    Ok(numbers)
}

/// Draws noises until the pool has `count`.
///
/// # Errors
/// If the connection fails or the peer sends something that is not allowed.
pub fn fill(workspace: &mut Workspace, sampler: &DigitSampler, count: usize) -> Result<(), Error> {
    let Workspace { session, noises, .. } = workspace;
    noises.fill(session, sampler, count).map(|_| ())
}

/// The messages of [`fill`].
pub fn forecast_fill(f: &mut Forecast, sampler: &DigitSampler, count: usize) {
    f.with_noises(|stocks, f| {
        let place = place(stocks.iter(), sampler).unwrap_or_else(|| {
            stocks.push(Stock::new(sampler));
            stocks.len() - 1
        });
        let stock = &mut stocks[place];
        for batch in stock.batches(count.saturating_sub(stock.left)) {
            stock.comparing.forecast(f, batch);
            stock.left += batch;
        }
    });
}

/// Takes noises: vector j has digit j of each. If there are too few, the missing ones are drawn,
/// and `ahead` more. For [`Law::Laplace`] two geometric noises make one.
///
/// # Errors
/// As for [`fill`].
pub fn take(
    workspace: &mut Workspace,
    law: Law,
    sampler: &DigitSampler,
    count: usize,
    ahead: usize,
) -> Result<Slices, Error> {
    let Workspace { session, noises, .. } = workspace;
    let digits = noises.take(session, sampler, geometric(law, count), ahead)?;
    match session.coins.prescribed(law, sampler, count)? {
        Some(prescribed) => Ok(by_digit(&prescribed, sampler.thresholds().len())),
        None => Ok(digits),
    }
}

/// The messages of [`take`].
pub fn forecast_take(
    f: &mut Forecast,
    law: Law,
    sampler: &DigitSampler,
    count: usize,
    ahead: usize,
) {
    let noises = geometric(law, count);
    let left =
        |stocks: &[Stock]| place(stocks.iter(), sampler).map_or(0, |place| stocks[place].left);
    if f.with_noises(|stocks, _| left(stocks)) < noises {
        forecast_fill(f, sampler, noises + ahead);
    }
    f.with_noises(|stocks, _| {
        if let Some(place) = place(stocks.iter(), sampler) {
            stocks[place].left -= noises;
        }
    });
}

/// How many geometric noises are behind `count` noises.
fn geometric(law: Law, count: usize) -> usize {
    match law {
        Law::Geometric => count,
        Law::Laplace => 2 * count,
    }
}

fn place<'a>(mut stocks: impl Iterator<Item = &'a Stock>, sampler: &DigitSampler) -> Option<usize> {
    stocks.position(|stock| stock.sampler == *sampler)
}

/// Digits of one noise after the other, as one vector for each place.
fn by_digit(bits: &[bool], digits: usize) -> Slices {
    (0..digits).map(|digit| bits.iter().skip(digit).step_by(digits).copied().collect()).collect()
}

impl Pool {
    /// Draws until the pool has `count` noises; returns their place.
    fn fill(
        &mut self,
        session: &mut Session,
        sampler: &DigitSampler,
        count: usize,
    ) -> Result<usize, Error> {
        let place = place(self.0.iter().map(|(stock, _)| stock), sampler).unwrap_or_else(|| {
            self.0.push((Stock::new(sampler), vec![Bits::default(); sampler.thresholds().len()]));
            self.0.len() - 1
        });
        let (stock, digits) = &mut self.0[place];
        for batch in stock.batches(count.saturating_sub(stock.left)) {
            let Comparing { heads, tails, .. } = &stock.comparing;
            let heads = random_numbers(session, &heads.lengths, batch)?;
            let tails = random_numbers(session, &tails.lengths, batch.div_ceil(GROUP))?;
            let more = stock.comparing.run(session, &heads, &tails, batch)?;
            digits.iter_mut().zip(&more).for_each(|(all, more)| all.append(more));
            stock.left += batch;
        }
        Ok(place)
    }

    fn take(
        &mut self,
        session: &mut Session,
        sampler: &DigitSampler,
        count: usize,
        ahead: usize,
    ) -> Result<Slices, Error> {
        let place = self.fill(session, sampler, 0)?;
        if self.0[place].0.left < count {
            self.fill(session, sampler, count + ahead)?;
        }
        let (stock, digits) = &mut self.0[place];
        stock.left -= count;
        Ok(digits
            .iter_mut()
            .map(|all| {
                let (taken, left) = all.split(count);
                *all = left;
                taken
            })
            .collect())
    }
}
