//! Noise that neither party knows, drawn before it is needed, in shared bits.
//!
//! *Inputs*: none but the public law, a [`DigitSampler`]. *Output*: of every noise shares of its
//! digits, as vectors of which number j has digit j of all noises. *Learned*: nothing.
//!
//! *How*: digit j is 1 where U < T_j, for U = U1 ⊕ U2 of τ bits. All digits of many noises are compared
//! with their constants at once, on [`bits`], in ⌈log2 τ⌉ − 1 layers, each a round for every 2^23 ANDs.
//! Two bits of U and their product come as they are from transfers ([`bits::random_products`]), without
//! a round: products are what comparing begins with. A bit of U that has no other beside it is drawn by
//! the parties.
//!
//! *Law*: that of [`crate::privacy::digits`], whoever does the comparing: T_j is the same floor, and the
//! circuit is exact. U is random to each party, whatever it knows, as the transfers are: what P2 has of
//! a bit is its choice in one, what P1 has a hash that P2 lacks. So δ and the theorems of the
//! mechanisms that take their noise from here stand as they are, under the assumptions that hide
//! everything else.
//!
//! *The pool.* Noise does not depend on data, so more of it is drawn than the next choice takes, and
//! rounds are saved. Digit j of a noise only ever serves as digit j. A noise serves once, and is gone
//! when the circuit that uses it is sent, whether its candidate wins or not. How many are drawn
//! follows from numbers of candidates, which are public. The pool ends with its session.
//!
//! *Cost* of a noise: at most D·3τ/2 ANDs, of which a third open nothing: some 0.8·D·τ bytes on silent
//! transfers, against 48·D·τ in a garbled circuit on IKNP.
//!
//! # Example
//!
//! ```
//! use diptych::math::Rational;
//! use diptych::privacy::digits::DigitSampler;
//! use diptych::protocol::bits::{Bits, open};
//! use diptych::protocol::coins::Law;
//! use diptych::protocol::pair::{Setup, run_pair};
//! use diptych::protocol::prepared;
//! use diptych::protocol::yao::Reveal;
//! use diptych::protocol::Session;
//!
//! let sampler = DigitSampler::new(&Rational::whole(1u32), 3, 64)?;
//! let draw = |session: &mut Session| -> Result<_, prepared::Error> {
//!     let digits = prepared::take(session, Law::Geometric, &sampler, 100, 0)?;
//!     Ok(open(session, &Bits::concat(&digits), Reveal::Both)?)
//! };
//! let outcome = run_pair(Setup::default(), draw, draw);
//! let digits = outcome.p1?.ok_or("revealed to both")?;
//! assert_eq!(Some(&digits), outcome.p2?.as_ref());
//! // The first digit is 1 with probability 1/(1 + e), which is 0.27.
//! let ones = digits[..100].iter().filter(|digit| **digit).count();
//! assert!((2..70).contains(&ones), "{ones}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::circuit::integer::{bits_that_matter, less_than_constant_of_products};
use crate::circuit::{Builder, Program};
use crate::net::{Blame, Fault};
use crate::privacy;
use crate::privacy::digits::DigitSampler;
use crate::protocol::Session;
use crate::protocol::bits::{self, Bits, Slices};
use crate::protocol::coins::{self, Law};
use crate::protocol::forecast::Forecast;
use crate::role::Role;

/// Random bits of one batch: 8 MB at each party, and some times as much while they are compared.
const BATCH_BITS: usize = 1 << 26;

/// Why there is no noise.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Comparing failed.
    #[error(transparent)]
    Bits(#[from] bits::Error),
    /// A tape of decisions ended or has another decision next.
    #[error(transparent)]
    Coins(Box<privacy::Error>),
}

impl From<privacy::Error> for Error {
    fn from(error: privacy::Error) -> Self {
        Self::Coins(Box::new(error))
    }
}

impl Fault for Error {
    fn blame(&self) -> Blame<'_> {
        match self {
            Self::Bits(error) => error.blame(),
            Self::Coins(_) => Blame::Here,
        }
    }
}

/// Noises of every law that was asked for.
#[derive(Default)]
pub(super) struct Pool(Vec<(Stock, Slices)>);

/// How many noises of one law are left.
pub(super) struct Stock {
    sampler: DigitSampler,
    comparing: Program,
    left: usize,
}

impl Stock {
    fn new(sampler: &DigitSampler) -> Self {
        Self { sampler: sampler.clone(), comparing: comparing(sampler), left: 0 }
    }

    /// How many noises are drawn at once, for `count` of them.
    fn batches(&self, count: usize) -> impl Iterator<Item = usize> + use<> {
        let most = (BATCH_BITS / coins::bits_per_noise(&self.sampler).max(1)).max(1);
        super::ot::chunks(count, most)
    }
}

/// The circuit that makes digits from their random numbers: of each the bits that matter, then the
/// products of every two of them.
fn comparing(sampler: &DigitSampler) -> Program {
    let mut g = Builder::new();
    let lengths = lengths(sampler);
    let numbers = g.input(Role::P1, "numbers", lengths.iter().sum());
    let products = g.input(Role::P1, "products", lengths.iter().map(|length| length / 2).sum());
    let (mut numbers, mut products) = (numbers.as_slice(), products.as_slice());
    let digits: Vec<_> = lengths
        .iter()
        .zip(sampler.thresholds())
        .map(|(length, threshold)| {
            let ((number, rest), (pairs, others)) =
                (numbers.split_at(*length), products.split_at(length / 2));
            (numbers, products) = (rest, others);
            less_than_constant_of_products(&mut g, number, pairs, threshold)
        })
        .collect();
    g.output("digits", &digits);
    Program::new(&g.finish())
}

/// How many bits of the random number behind each digit matter.
fn lengths(sampler: &DigitSampler) -> Vec<usize> {
    let tau = sampler.tau() as usize;
    sampler.thresholds().iter().map(|threshold| bits_that_matter(tau, threshold)).collect()
}

/// Pairs of bits in all numbers of a noise.
fn pairs(lengths: &[usize]) -> usize {
    lengths.iter().map(|length| length / 2).sum()
}

/// Random numbers for `count` noises, as the inputs of the circuit that compares them.
fn random_numbers(
    session: &mut Session,
    lengths: &[usize],
    count: usize,
) -> Result<Slices, bits::Error> {
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

/// Draws noises until `count` are there.
///
/// # Errors
/// If the connection fails or the peer sends something that is not allowed.
pub fn fill(session: &mut Session, sampler: &DigitSampler, count: usize) -> Result<(), Error> {
    session.with_noises(|pool, session| pool.fill(session, sampler, count).map(|_| ()))
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
            bits::forecast_random_products(f, pairs(&lengths(sampler)) * batch);
            bits::forecast_run(f, &stock.comparing, batch);
            stock.left += batch;
        }
    });
}

/// Takes noises: vector j has digit j of each. If there are too few, those are drawn that are missing,
/// and `ahead` more. For [`Law::Laplace`] two geometric noises make one.
///
/// # Errors
/// As for [`fill`].
pub fn take(
    session: &mut Session,
    law: Law,
    sampler: &DigitSampler,
    count: usize,
    ahead: usize,
) -> Result<Slices, Error> {
    let noises = geometric(law, count);
    let digits = session.with_noises(|pool, session| pool.take(session, sampler, noises, ahead))?;
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
    /// Draws until `count` noises are there; returns their place.
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
            let numbers = random_numbers(session, &lengths(sampler), batch)?;
            let more = bits::run(session, &stock.comparing, &numbers, batch)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::Source as _;
    use crate::circuit::evaluate::evaluate_source;
    use crate::crypto::soft_spoken::Columns;
    use crate::math::Rational;
    use crate::protocol::pair::{Outcome, Setup, assert_forecast, assert_same_shape, run_pair};
    use crate::protocol::transfers::Source;
    use crate::protocol::yao::Reveal;

    fn sampler(digits: u32, tau: u32) -> DigitSampler {
        DigitSampler::new(&Rational::new(1u32, 3u32).unwrap(), digits, tau).unwrap()
    }

    fn pair<T: Send>(source: Source, party: impl Fn(&mut Session) -> T + Sync) -> Outcome<T, T> {
        let run = |session: &mut Session| {
            session.use_transfers(source);
            party(session)
        };
        run_pair(Setup::default().seed(3), run, run)
    }

    /// Every number of τ bits for every digit: the noise is what the sampler says.
    #[test]
    fn the_circuit_draws_every_noise_with_exactly_its_probability() {
        let sampler = sampler(2, 5);
        let program = comparing(&sampler);
        let lengths = lengths(&sampler);
        let width: usize = lengths.iter().sum();
        let mut seen = [0u32; 4];
        for numbers in 0..1u32 << width {
            let mut bits: Vec<bool> = (0..width).map(|i| numbers >> i & 1 == 1).collect();
            let mut first = 0;
            for length in &lengths {
                let number = bits[first..first + length].to_vec();
                bits.extend(number.as_chunks::<2>().0.iter().map(|[low, high]| low & high));
                first += length;
            }
            let digits = evaluate_source(&program, &bits).unwrap();
            seen[usize::from(digits[0]) + 2 * usize::from(digits[1])] += 1;
        }
        for (noise, ways) in seen.into_iter().enumerate() {
            let total = Rational::new(ways, 1u32 << width).unwrap();
            assert_eq!(total, sampler.probability(noise as u64), "noise {noise}");
        }
        assert_eq!(program.output_bits(), 2);
    }

    /// The products of random numbers are products, and the numbers themselves are even.
    #[test]
    fn random_numbers_come_with_their_products() {
        let (sampler, count) = (sampler(3, 20), 400);
        for source in Source::SMALL {
            let outcome = pair(source, |session| {
                let numbers = random_numbers(session, &lengths(&sampler), count).unwrap();
                bits::open(session, &Bits::concat(&numbers), Reveal::Both).unwrap().unwrap()
            });
            let wires: Vec<&[bool]> = outcome.p1.chunks(count).collect();
            let width: usize = lengths(&sampler).iter().sum();
            let (mut first, mut product) = (0, width);
            for length in lengths(&sampler) {
                for pair in wires[first..first + length].as_chunks::<2>().0 {
                    for noise in 0..count {
                        assert_eq!(wires[product][noise], pair[0][noise] & pair[1][noise]);
                    }
                    product += 1;
                }
                first += length;
            }
            assert_eq!(product, wires.len());
            for wire in &wires[..width] {
                let ones = wire.iter().filter(|bit| **bit).count();
                // Six deviations of ten each.
                assert!((140..=260).contains(&ones), "{ones}");
            }
        }
    }

    /// Digits of 1,000 noises: each within six deviations of its probability.
    #[test]
    fn digits_have_their_probabilities_from_every_source_of_transfers() {
        let sampler = sampler(3, 32);
        for source in Source::SMALL {
            let outcome = pair(source, |session| {
                let digits = take(session, Law::Geometric, &sampler, 1_000, 0).unwrap();
                bits::open(session, &Bits::concat(&digits), Reveal::Both).unwrap().unwrap()
            });
            assert_eq!(outcome.p1, outcome.p2);
            for (j, digits) in outcome.p1.chunks(1_000).enumerate() {
                let expected = 1.0 / (1.0 + (f64::from(1u32 << j) / 3.0).exp());
                let share = digits.iter().filter(|d| **d).count() as f64 / 1_000.0;
                let deviation = (expected * (1.0 - expected) / 1_000.0).sqrt();
                assert!((share - expected).abs() < 6.0 * deviation, "digit {j}: {share}");
            }
        }
    }

    #[test]
    fn no_noise_is_given_twice_and_refills_follow_the_numbers_asked_for() {
        let (first, second) = (sampler(3, 20), sampler(2, 20));
        for source in Source::SMALL {
            let outcome = pair(source, |session| {
                fill(session, &first, 5).unwrap();
                let mut taken = Vec::new();
                for (sampler, count) in [(&first, 3), (&second, 4), (&first, 2), (&first, 3)] {
                    let digits = take(session, Law::Geometric, sampler, count, 1).unwrap();
                    assert!(digits.iter().all(|digit| digit.len() == count));
                    taken.push(digits);
                }
                let left = session.with_noises(|pool, _| pool.0[0].1.clone());
                let laplace = take(session, Law::Laplace, &first, 1, 0).unwrap();
                assert!(laplace.iter().all(|digit| digit.len() == 2));
                (taken, left)
            });
            assert!(outcome.p1.1.iter().all(|digit| digit.len() == 1), "one was drawn ahead");
            assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
                f.use_transfers(source);
                forecast_fill(f, &first, 5);
                for (sampler, count) in [(&first, 3), (&second, 4), (&first, 2), (&first, 3)] {
                    forecast_take(f, Law::Geometric, sampler, count, 1);
                }
                forecast_take(f, Law::Laplace, &first, 1, 0);
            });
        }
    }

    #[test]
    fn a_pool_hands_out_what_was_drawn_in_order_and_only_once() {
        let sampler = sampler(2, 20);
        let draw = |counts: &[usize]| {
            pair(Source::SoftSpoken(Columns::Four), |session| {
                fill(session, &sampler, 12).unwrap();
                let parts: Vec<Slices> = counts
                    .iter()
                    .map(|count| take(session, Law::Geometric, &sampler, *count, 0).unwrap())
                    .collect();
                let digit = |j: usize| {
                    Bits::concat(&parts.iter().map(|part| part[j].clone()).collect::<Vec<_>>())
                };
                [digit(0), digit(1)]
            })
        };
        let (whole, parts) = (draw(&[12]), draw(&[1, 7, 4]));
        assert_eq!(whole.p1, parts.p1);
        assert_eq!(whole.p2, parts.p2);
    }

    #[test]
    fn the_transcript_is_the_same_whatever_is_drawn() {
        let sampler = sampler(3, 20);
        assert_same_shape(&[1, 2, 3], |seed| {
            let run = |session: &mut Session| {
                take(session, Law::Geometric, &sampler, 10, 5).unwrap();
            };
            run_pair(Setup::default().seed(*seed), run, run)
        });
    }

    #[test]
    fn a_message_of_another_length_is_a_typed_error() {
        let sampler = sampler(3, 20);
        // 3 digits of 10 and of 80 noises: the first layer has 10 ANDs for each pair of bits.
        let asks = |count: usize| {
            let sampler = sampler.clone();
            move |session: &mut Session| {
                take(session, Law::Geometric, &sampler, count, 0).map(|_| ())
            }
        };
        let outcome = run_pair(Setup::default().seed(1), asks(10), asks(80));
        let blamed = |error: &Error| {
            matches!(error.blame(), Blame::Connection(crate::net::Error::WrongLength { .. }))
        };
        assert!([outcome.p1, outcome.p2].iter().any(|r| r.as_ref().is_err_and(blamed)));
    }
}
