//! What each circuit kept for review should compute, as plain functions of plain numbers.

use num_bigint::BigUint;
use num_traits::One;
use rand::Rng;

use super::field::bits;
use crate::circuit::random_value::UniformBelow;
use crate::circuit::{Circuit, gallery};
use crate::math::{Randomness, Rational};
use crate::mechanism::gallery as mechanisms;
use crate::mechanism::noise::joint;
use crate::mechanism::noisy_max::{self, Sharing};
use crate::paper::division::{DivisionShape, Side};
use crate::paper::exponential::horizontal::{MaxShape, PickShape};
use crate::paper::exponential::vertical;
use crate::paper::gallery as papers;
use crate::privacy::Error;
use crate::privacy::digits::DigitSampler;
use crate::protocol::Bulk;
use crate::protocol::coins::bits_per_noise;
use crate::protocol::yao::shares::number as number_of_bits;

/// A function of the concatenated bits of both parties; `None` for invalid inputs. Where it gives
/// fewer bits than the circuit, the circuit's first ones are unspecified.
type Function = Box<dyn Fn(&[bool]) -> Option<Vec<bool>>>;

/// Draws one input.
type Draw = Box<dyn Fn(&mut Randomness) -> Vec<bool>>;

/// A circuit with what it should compute.
pub(super) struct Subject {
    pub name: &'static str,
    pub circuit: Circuit,
    pub reference: Function,
    /// Inputs to try: mostly random, with edge cases.
    pub draw: Draw,
}

/// Each circuit, and a small one by the same code whose inputs can all be tried.
pub(super) fn subjects() -> Result<Vec<(Subject, Subject)>, Error> {
    let half = Rational::power_of_two(-1);
    let small_noise = || DigitSampler::new(&half, 1, 2);
    let small_maximum = noisy_max::NoisyMaxShape {
        sharing: Sharing::Xor,
        score_bits: 1,
        shift: 1,
        noise: small_noise()?,
        bulk: Bulk::Garbled,
    };
    let small_scores =
        MaxShape { classes: 2, children: vec![1], count_bits: 2, score_bits: 3, sigma: 1 };
    let pairs = vec![
        (less_than("less_than_64.txt", 64), less_than("", 6)),
        (maximum("maximum_8x32.txt", 8, 32), maximum("", 4, 3)),
        (modular_add("modular_add_p255.txt", gallery::p255()), modular_add("", 29u8.into())),
        (random_value("random_value_16.txt", 16, 8), random_value("", 2, 1)),
        (
            division("division_8.txt", papers::division()),
            division("", DivisionShape { users: 2, k: 1, ..papers::division() }),
        ),
        (
            joint_noise("joint_noise_k24.txt", mechanisms::joint_noise()?),
            joint_noise("", joint::JointNoiseShape { bits: 3, noise: small_noise()? }),
        ),
        (
            noisy_maximum("noisy_maximum_4.txt", mechanisms::noisy_maximum()?, 4),
            noisy_maximum("", small_maximum, 2),
        ),
        (
            vertical_choice("vertical_choice_2x2.txt", [2, 2], 24, 8),
            vertical_choice("", [1, 1], 2, 1),
        ),
        (horizontal_choice("horizontal_choice_4.txt", 4, 22, 8), horizontal_choice("", 2, 1, 1)),
        (
            horizontal_max("horizontal_max_2.txt", papers::horizontal_max()),
            horizontal_max("", small_scores),
        ),
    ];
    Ok(pairs)
}

fn less_than(name: &'static str, width: usize) -> Subject {
    Subject {
        name,
        circuit: gallery::comparison(width),
        reference: Box::new(move |x| {
            let (a, b) = x.split_at(width);
            Some(vec![number_of_bits(a) < number_of_bits(b)])
        }),
        draw: Box::new(move |rng| {
            let mut bits = some_bits(rng, 2 * width);
            // Equal but for at most one bit: only the lowest bits then decide.
            if flip(rng) {
                let (a, b) = bits.split_at_mut(width);
                b.copy_from_slice(a);
                let place = below(rng, width);
                b[place] ^= flip(rng);
            }
            bits
        }),
    }
}

fn maximum(name: &'static str, count: usize, width: usize) -> Subject {
    Subject {
        name,
        circuit: gallery::maximum(count, width),
        reference: Box::new(move |x| {
            let values: Vec<BigUint> = x.chunks(width).map(number_of_bits).collect();
            let largest = values.iter().max()?;
            let index = values.iter().position(|value| value == largest)?;
            Some([bits(largest, width), small_bits(index, count)].concat())
        }),
        draw: Box::new(move |rng| {
            let mut bits = some_bits(rng, count * width);
            if flip(rng) {
                let (from, to) = (below(rng, count) * width, below(rng, count) * width);
                bits.copy_within(from..from + width, to);
            }
            bits
        }),
    }
}

fn modular_add(name: &'static str, modulus: BigUint) -> Subject {
    let width = modulus.bits() as usize;
    let order = modulus.clone();
    Subject {
        name,
        circuit: gallery::modular_addition(&modulus),
        reference: Box::new(move |x| {
            let (a, b) = x.split_at(width);
            let (a, b) = (number_of_bits(a), number_of_bits(b));
            let fits = a < modulus && b < modulus;
            fits.then(|| bits(&((a + b) % &modulus), width))
        }),
        draw: Box::new(move |rng| {
            let a = number_of_bits(&some_bits(rng, width)) % &order;
            let b = if flip(rng) {
                // The sum is one less than the modulus, the modulus, or one more.
                (&order * 2u8 - &a + below(rng, 3) - 1u8) % &order
            } else {
                number_of_bits(&some_bits(rng, width)) % &order
            };
            [bits(&a, width), bits(&b, width)].concat()
        }),
    }
}

fn random_value(name: &'static str, width: usize, sigma: usize) -> Subject {
    let shape = UniformBelow::new(width, sigma);
    let coins = shape.random_bits();
    Subject {
        name,
        circuit: gallery::random_value(width, sigma),
        reference: Box::new(move |x| {
            let parts = split(x, &[width, coins, width, width, coins]);
            let order = BigUint::one() << width;
            let bound = (number_of_bits(parts[0]) + number_of_bits(parts[3])) % &order;
            if bound == BigUint::ZERO {
                return None;
            }
            let Some(drawn) = shape.ideal(&bound, &xor(parts[1], parts[4])) else {
                return Some(vec![true]);
            };
            let share = (drawn + &order - number_of_bits(parts[2])) % order;
            Some([bits(&share, width), vec![false]].concat())
        }),
        draw: Box::new(move |rng| {
            let bound = (BigUint::from(below(rng, 1 << width)) >> below(rng, width)) + 1u8;
            let order = BigUint::one() << width;
            let own = number_of_bits(&some_bits(rng, width));
            let rest = (&bound + &order - &own) % &order;
            let inner = some_bits(rng, coins + width);
            [bits(&own, width), inner, bits(&rest, width), some_bits(rng, coins)].concat()
        }),
    }
}

fn joint_noise(name: &'static str, shape: joint::JointNoiseShape) -> Subject {
    let (width, each) = (shape.bits, bits_per_noise(&shape.noise));
    let circuit = shape.circuit();
    Subject {
        name,
        draw: uniform(&circuit),
        circuit,
        reference: Box::new(move |x| {
            let parts = split(x, &[width, each, each, width, each, each]);
            let order = BigUint::one() << width;
            let above = noise(&shape.noise, &xor(parts[1], parts[4]));
            let below = noise(&shape.noise, &xor(parts[2], parts[5])) % &order;
            let count = number_of_bits(parts[0]) + number_of_bits(parts[3]);
            Some(bits(&((count + above + &order - below) % order), width))
        }),
    }
}

fn division(name: &'static str, shape: DivisionShape) -> Subject {
    let circuit = shape.circuit();
    let (users, width) = (shape.users, (usize::BITS - shape.users.leading_zeros()) as usize);
    Subject {
        name,
        draw: Box::new(move |rng| {
            let of =
                |rng: &mut Randomness| (0..users).map(|_| below(rng, 4) > 0).collect::<Vec<_>>();
            let (high, first, second) = (some_bits(rng, users), of(rng), of(rng));
            let sides =
                [Side::Divider { high: &high, present: &first }, Side::Other { present: &second }];
            let honest = sides.map(|side| shape.inputs(side).map(|bits| bits.to_vec()));
            match honest {
                [Ok(divider), Ok(other)] if below(rng, 4) > 0 => [divider, other].concat(),
                _ => some_bits(rng, 4 * users + 3 * width),
            }
        }),
        circuit,
        reference: Box::new(move |x| {
            let parts = split(x, &[3 * users, width, width, users, width]);
            let number = |bits: &[bool]| small_number(&number_of_bits(bits));
            let count = |which: usize| {
                let both = parts[0].iter().skip(which).step_by(3).zip(parts[3]);
                both.filter(|(user, present)| **user && **present).count() as u64
            };
            let (high, order) = (count(2), 1u64 << width);
            let low = (number(parts[4]) + order - high % order) % order;
            let halves = [(count(0), high, number(parts[1])), (count(1), low, number(parts[2]))];
            let (above, below) = shape.delta;
            let accepted = halves.iter().all(|(common, holders, bound)| {
                *common >= shape.k && common <= bound && common * below <= holders * above
            });
            Some(vec![accepted])
        }),
    }
}

fn noisy_maximum(name: &'static str, shape: noisy_max::NoisyMaxShape, count: usize) -> Subject {
    let (score, each) = (shape.score_bits, bits_per_noise(&shape.noise));
    let circuit = shape.circuit(count);
    Subject {
        name,
        draw: uniform(&circuit),
        circuit,
        reference: Box::new(move |x| {
            let (first, second) = x.split_at(x.len() / 2);
            let pairs = first.chunks(score + each).zip(second.chunks(score + each));
            let noisy = pairs.map(|(first, second)| {
                let joint = xor(first, second);
                let (own, coins) = joint.split_at(score);
                (number_of_bits(own) << shape.shift) + noise(&shape.noise, coins)
            });
            let noisy: Vec<BigUint> = noisy.collect();
            let largest = noisy.iter().max()?;
            let index = noisy.iter().position(|value| value == largest)?;
            Some(small_bits(index, count))
        }),
    }
}

fn vertical_choice(name: &'static str, counts: [usize; 2], width: usize, tries: u32) -> Subject {
    let shape = UniformBelow::new(width, tries as usize);
    let coins = shape.random_bits();
    let sums = counts.map(|count| count * width);
    Subject {
        name,
        circuit: vertical::ChoiceShape::new(counts, width, tries).circuit(),
        reference: Box::new(move |x| {
            let parts = split(x, &[sums[0], coins, sums[1], coins]);
            let [first, second] =
                [parts[0], parts[2]].map(|sums| sums.chunks(width).map(number_of_bits).collect());
            let (first, second): (Vec<BigUint>, Vec<BigUint>) = (first, second);
            // One list of sums: P2's continue where P1's end.
            let all: Vec<BigUint> = match first.last() {
                Some(total) => {
                    first.iter().cloned().chain(second.iter().map(|s| total + s)).collect()
                }
                None => second,
            };
            choice(&all, width, &shape, &xor(parts[1], parts[3]))
        }),
        draw: Box::new(move |rng| {
            let mut party = |count| {
                let sums = rising(rng, count, width, counts[0] + counts[1]);
                let sums = sums.iter().flat_map(|sum| bits(sum, width)).collect::<Vec<_>>();
                [sums, some_bits(rng, coins)].concat()
            };
            [party(counts[0]), party(counts[1])].concat()
        }),
    }
}

fn horizontal_choice(
    name: &'static str,
    candidates: usize,
    weight_bits: usize,
    sigma: usize,
) -> Subject {
    let pick = PickShape::new(candidates, weight_bits, sigma);
    let (shape, width) = (*pick.uniform(), pick.width());
    let (sums, coins) = (candidates * width, shape.random_bits());
    Subject {
        name,
        circuit: pick.circuit(),
        reference: Box::new(move |x| {
            let parts = split(x, &[sums, coins, sums, coins]);
            let order = BigUint::one() << width;
            let pairs = parts[0].chunks(width).zip(parts[2].chunks(width));
            let joint = pairs.map(|(a, b)| (number_of_bits(a) + number_of_bits(b)) % &order);
            choice(&joint.collect::<Vec<_>>(), width, &shape, &xor(parts[1], parts[3]))
        }),
        draw: Box::new(move |rng| {
            let order = BigUint::one() << width;
            let joint = rising(rng, candidates, width, candidates);
            let (mut first, mut second) = (Vec::new(), Vec::new());
            for sum in joint {
                let own = number_of_bits(&some_bits(rng, width));
                second.extend(bits(&((sum + &order - &own) % &order), width));
                first.extend(bits(&own, width));
            }
            [first, some_bits(rng, coins), second, some_bits(rng, coins)].concat()
        }),
    }
}

fn horizontal_max(name: &'static str, shape: MaxShape) -> Subject {
    let (width, share) = (shape.count_bits, shape.share_bits());
    let counts = shape.children.iter().sum::<usize>() * shape.classes * width;
    let masks = shape.children.len() * share;
    Subject {
        name,
        circuit: shape.circuit(),
        reference: Box::new(move |x| {
            let parts = split(x, &[counts, masks, counts]);
            let pairs = parts[0].chunks(width).zip(parts[2].chunks(width));
            let joint: Vec<BigUint> =
                pairs.map(|(a, b)| number_of_bits(a) + number_of_bits(b)).collect();
            let mut rows = joint.chunks(shape.classes).filter_map(|row| row.iter().max());
            let order = BigUint::one() << share;
            let mut shares = Vec::new();
            for (children, mask) in shape.children.iter().zip(parts[1].chunks(share)) {
                let score: BigUint = rows.by_ref().take(*children).sum();
                if score.bits() > shape.score_bits as u64 {
                    return None; // more records than were agreed
                }
                shares.extend(bits(&((score + &order - number_of_bits(mask)) % &order), share));
            }
            Some(shares)
        }),
        draw: Box::new(move |rng| {
            let mut some = |narrower: usize| {
                let mut drawn = some_bits(rng, counts);
                let high = |i: usize| i % width >= width - narrower;
                drawn
                    .iter_mut()
                    .enumerate()
                    .filter(|(i, _)| high(*i))
                    .for_each(|(_, b)| *b = false);
                drawn
            };
            let (first, second) = (some(2), some(2));
            [first, some_bits(rng, masks), second].concat()
        }),
    }
}

/// A failure bit and the first candidate whose sum is above the R drawn below the last of them.
/// Sums that decrease, exceed the width or end at 0 are invalid.
fn choice(
    sums: &[BigUint],
    width: usize,
    shape: &UniformBelow,
    coins: &[bool],
) -> Option<Vec<bool>> {
    let total = sums.last()?;
    if *total == BigUint::ZERO || total.bits() > width as u64 || !sums.is_sorted() {
        return None;
    }
    let drawn = shape.ideal(total, coins);
    let winner = drawn.as_ref().and_then(|r| sums.iter().position(|sum| r < sum));
    let mut output = vec![winner.is_none()];
    output.extend(small_bits(winner.unwrap_or(0), sums.len()));
    Some(output)
}

/// The noise that joint coins give.
fn noise(sampler: &DigitSampler, coins: &[bool]) -> BigUint {
    let uniforms: Vec<_> = coins.chunks(sampler.tau() as usize).map(number_of_bits).collect();
    sampler.noise(&uniforms).into()
}

fn xor(a: &[bool], b: &[bool]) -> Vec<bool> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

/// An index among `count`, in as many bits as that needs.
fn small_number(number: &BigUint) -> u64 {
    number.iter_u64_digits().next().unwrap_or(0)
}

fn small_bits(index: usize, count: usize) -> Vec<bool> {
    let width = usize::BITS - count.saturating_sub(1).leading_zeros();
    (0..width).map(|i| index >> i & 1 == 1).collect()
}

fn split<'a>(mut bits: &'a [bool], widths: &[usize]) -> Vec<&'a [bool]> {
    let part = |width: &usize| {
        let (part, rest) = bits.split_at((*width).min(bits.len()));
        bits = rest;
        part
    };
    widths.iter().map(part).collect()
}

fn uniform(circuit: &Circuit) -> Draw {
    let width = circuit.input_bits();
    Box::new(move |rng| some_bits(rng, width))
}

/// Uniform bits; one time in eight, all are equal, or nearly all.
fn some_bits(rng: &mut Randomness, width: usize) -> Vec<bool> {
    if below(rng, 8) > 0 {
        return (0..width).map(|_| flip(rng)).collect();
    }
    let mut bits = vec![flip(rng); width];
    for _ in 0..below(rng, 3) {
        let place = below(rng, width);
        bits[place] ^= true;
    }
    bits
}

/// Prefix sums of `count` weights, of which `all` together stay below 2^width; some weights are 0.
fn rising(rng: &mut Randomness, count: usize, width: usize, all: usize) -> Vec<BigUint> {
    let most = width - small_bits(0, all).len();
    let mut sum = BigUint::ZERO;
    (0..count)
        .map(|_| {
            sum += number_of_bits(&some_bits(rng, most)) >> below(rng, most);
            sum.clone()
        })
        .collect()
}

fn flip(rng: &mut Randomness) -> bool {
    rng.next_u32() & 1 == 1
}

/// A number below `bound`; nearly uniform is enough here.
fn below(rng: &mut Randomness, bound: usize) -> usize {
    (rng.next_u64() % bound.max(1) as u64) as usize
}
