use num_bigint::BigUint;
use num_traits::{One, Zero};
use rand::Rng;

use super::*;
use crate::circuit::{Builder, Circuit};
use crate::math::Randomness;
use crate::role::Role;

const WIDTHS: [usize; 7] = [1, 7, 63, 64, 65, 521, 3072];

fn random_below_power(width: usize, rng: &mut Randomness) -> BigUint {
    let mut bytes = vec![0; width.div_ceil(8)];
    rng.fill_bytes(&mut bytes);
    // Extreme values find more carry errors than uniform ones.
    match rng.next_u32() % 8 {
        0 => bytes.fill(0),
        1 => bytes.fill(255),
        _ => {}
    }
    BigUint::from_bytes_le(&bytes) & power_minus_one(width)
}

fn power_minus_one(width: usize) -> BigUint {
    (BigUint::one() << width) - 1u32
}

fn to_bits(value: &BigUint, width: usize) -> Vec<bool> {
    (0..width as u64).map(|i| value.bit(i)).collect()
}

fn from_bits(bits: &[bool]) -> BigUint {
    bits.iter().rev().fold(BigUint::zero(), |n, bit| (n << 1) + u32::from(*bit))
}

type Build<'a> = &'a dyn Fn(&mut Builder, &[Vec<Bit>]) -> Vec<Bit>;

fn circuit_of(widths: &[usize], build: Build<'_>) -> Circuit {
    let mut builder = Builder::new();
    let inputs: Vec<Vec<Bit>> = widths.iter().map(|w| builder.input(Role::P1, "x", *w)).collect();
    let out = build(&mut builder, &inputs);
    builder.output("out", &out);
    builder.finish()
}

fn run(circuit: &Circuit, values: &[&BigUint]) -> BigUint {
    let bits: Vec<bool> = circuit
        .inputs()
        .iter()
        .zip(values)
        .flat_map(|(port, value)| to_bits(value, port.width))
        .collect();
    from_bits(&circuit.evaluate(&bits).unwrap())
}

/// Builds the gadget for two operands at every width and compares it with integers.
fn agrees(
    build: impl Fn(&mut Builder, &[Bit], &[Bit]) -> Vec<Bit>,
    integer: impl Fn(&BigUint, &BigUint, usize) -> BigUint,
) {
    let mut rng = Randomness::seeded(1);
    for width in WIDTHS {
        let circuit = circuit_of(&[width, width], &|g, x| build(g, &x[0], &x[1]));
        for round in 0..24 {
            let a = random_below_power(width, &mut rng);
            let b = if round % 6 == 5 { a.clone() } else { random_below_power(width, &mut rng) };
            let expected = integer(&a, &b, width);
            assert_eq!(run(&circuit, &[&a, &b]), expected, "width {width}: {a:x} and {b:x}");
        }
    }
}

fn number(condition: bool) -> BigUint {
    BigUint::from(u32::from(condition))
}

#[test]
fn addition_is_integer_addition() {
    agrees(add, |a, b, w| (a + b) & power_minus_one(w));
    agrees(add_carry, |a, b, _| a + b);
}

#[test]
fn subtraction_wraps_and_reports_the_borrow() {
    agrees(subtract, |a, b, w| ((BigUint::one() << w) + a - b) & power_minus_one(w));
    agrees(|g, a, b| vec![subtract_borrow(g, a, b).1], |a, b, _| number(a < b));
}

#[test]
fn comparisons_order_integers() {
    agrees(|g, a, b| vec![less_than(g, a, b)], |a, b, _| number(a < b));
    agrees(|g, a, b| vec![less_than_or_equal(g, a, b)], |a, b, _| number(a <= b));
    agrees(|g, a, b| vec![at_least(g, a, b)], |a, b, _| number(a >= b));
    agrees(|g, a, b| vec![equal(g, a, b)], |a, b, _| number(a == b));
}

#[test]
fn selection_takes_the_first_when_chosen() {
    agrees(|g, a, b| select(g, a[0], a, b), |a, b, _| if a.bit(0) { a } else { b }.clone());
}

#[test]
fn comparison_with_a_constant_orders_integers_and_costs_less_than_a_wire() {
    let mut rng = Randomness::seeded(4);
    for width in WIDTHS {
        let mut bounds = vec![BigUint::zero(), BigUint::one() << width, power_minus_one(width)];
        bounds.extend((0..4).map(|_| random_below_power(width, &mut rng)));
        for bound in bounds {
            let circuit = circuit_of(&[width], &|g, x| vec![less_than_constant(g, &x[0], &bound)]);
            assert!(circuit.counts().and < width);
            let near = if bound.is_zero() { bound.clone() } else { &bound - 1u32 };
            let values = [random_below_power(width, &mut rng), near, bound.clone()];
            for a in values.iter().filter(|a| a.bits() <= width as u64) {
                assert_eq!(run(&circuit, &[a]), number(a < &bound), "{a:x} < {bound:x}");
            }
        }
    }
}

/// The comparison from products of two bits each, which are made first.
fn shallow<G: Gates>(g: &mut G, a: &[Bit], bound: &BigUint) -> Bit {
    let a = &a[a.len() - bits_that_matter(a.len(), bound)..];
    let products = products_of(g, a);
    less_than_constant_of_products(g, a, &products, bound)
}

fn products_of<G: Gates>(g: &mut G, a: &[Bit]) -> Vec<Bit> {
    a.as_chunks::<2>().0.iter().map(|[low, high]| g.and(*low, *high)).collect()
}

#[test]
fn shallow_comparison_says_whether_every_number_is_below_or_equal() {
    for width in 0..=6usize {
        for bound in 0..1u32 << width {
            let circuit = circuit_of(&[width], &|g, x| {
                let products = products_of(g, &x[0]);
                let (below, equal) =
                    compare_with_constant_of_products(g, &x[0], &products, &bound.into());
                vec![below, equal]
            });
            assert!(circuit.counts().and <= (5 * width).div_ceil(2));
            for a in 0..1u32 << width {
                let expected = u32::from(a < bound) | u32::from(a == bound) << 1;
                assert_eq!(run(&circuit, &[&a.into()]), expected.into(), "{a} and {bound}");
            }
        }
    }
}

#[test]
fn shallow_comparison_with_a_constant_is_right_for_every_number_and_bound() {
    for width in 0..=7usize {
        for bound in 0..=1u32 << width {
            let circuit = circuit_of(&[width], &|g, x| vec![shallow(g, &x[0], &bound.into())]);
            assert!(circuit.counts().and <= (3 * width).div_ceil(2));
            for a in 0..1u32 << width {
                let expected = number(a < bound);
                assert_eq!(run(&circuit, &[&a.into()]), expected, "{a} < {bound}");
            }
        }
    }
}

#[test]
fn shallow_comparison_has_logarithmic_depth_and_few_ands() {
    let mut rng = Randomness::seeded(8);
    for (width, layers, most_ands) in [(64, 6, 89), (80, 7, 113), (100, 7, 143), (256, 8, 377)] {
        for bound in [random_below_power(width, &mut rng) | BigUint::one(), power_minus_one(width)]
        {
            let circuit = circuit_of(&[width], &|g, x| vec![shallow(g, &x[0], &bound)]);
            assert!(circuit.counts().and <= most_ands, "{} of {width}", circuit.counts().and);
            assert!(circuit.counts().and_depth <= layers, "{width}");
            for _ in 0..20 {
                let a = random_below_power(width, &mut rng);
                assert_eq!(run(&circuit, &[&a]), number(a < bound), "{a:x} < {bound:x}");
            }
            let before = &bound - 1u32;
            assert_eq!(run(&circuit, &[&before]), number(true));
            assert_eq!(run(&circuit, &[&bound]), number(false));
        }
    }
}

#[test]
fn bernoulli_bits_have_exactly_their_probability() {
    for threshold in 0..=32u32 {
        let circuit = circuit_of(&[5, 5], &|g, x| {
            let joint = xor(g, &x[0], &x[1]);
            vec![bernoulli(g, &joint, &threshold.into())]
        });
        for first in [0u32, 19] {
            let ones: u32 = (0..32u32)
                .map(|second| u32::from(run(&circuit, &[&first.into(), &second.into()]).bit(0)))
                .sum();
            assert_eq!(ones, threshold);
        }
    }
}

#[test]
fn modular_sums_and_differences_stay_below_the_modulus() {
    let mut rng = Randomness::seeded(5);
    for width in WIDTHS {
        let top = BigUint::one() << (width - 1);
        for modulus in [&top | random_below_power(width, &mut rng), power_minus_one(width), top] {
            let sum = circuit_of(&[width, width], &|g, x| modular_add(g, &x[0], &x[1], &modulus));
            let difference =
                circuit_of(&[width, width], &|g, x| modular_subtract(g, &x[0], &x[1], &modulus));
            for _ in 0..8 {
                let a = random_below_power(width, &mut rng) % &modulus;
                let b = random_below_power(width, &mut rng) % &modulus;
                assert_eq!(run(&sum, &[&a, &b]), (&a + &b) % &modulus);
                assert_eq!(run(&difference, &[&a, &b]), (&a + &modulus - &b) % &modulus);
            }
        }
    }
}

#[test]
fn maximum_finds_the_largest_and_its_first_place() {
    let mut rng = Randomness::seeded(6);
    for width in WIDTHS {
        for count in [1, 2, 3, 5, 16, 17] {
            let circuit = circuit_of(&vec![width; count], &|g, x| {
                let (largest, index) = maximum_with_index(g, x);
                assert_eq!(maximum(g, x), largest);
                [index, largest].concat()
            });
            for _ in 0..6 {
                // Few distinct values, so that ties occur.
                let pool: Vec<BigUint> =
                    (0..3).map(|_| random_below_power(width, &mut rng)).collect();
                let values: Vec<&BigUint> =
                    (0..count).map(|_| &pool[(rng.next_u32() % 3) as usize]).collect();
                let largest = *values.iter().max().unwrap();
                let first = values.iter().position(|v| *v == largest).unwrap();
                let index_bits = (usize::BITS - (count - 1).leading_zeros()) as usize;
                let expected = (largest << index_bits) + first;
                assert_eq!(run(&circuit, &values), expected);
            }
        }
    }
}

#[test]
fn sums_of_many_terms_and_counts_of_bits_are_exact() {
    let mut rng = Randomness::seeded(7);
    for width in [1, 7, 63, 64, 65, 521] {
        for count in [0, 1, 2, 3, 7, 8, 20] {
            let circuit = circuit_of(&vec![width; count], &|g, x| sum(g, x));
            let values: Vec<BigUint> =
                (0..count).map(|_| random_below_power(width, &mut rng)).collect();
            let expected: BigUint = values.iter().sum();
            assert_eq!(run(&circuit, &values.iter().collect::<Vec<_>>()), expected);
        }
    }
    for width in WIDTHS {
        let circuit = circuit_of(&[width], &|g, x| count_ones(g, &x[0]));
        assert!(circuit.counts().and < width);
        let a = random_below_power(width, &mut rng);
        assert_eq!(run(&circuit, &[&a]), BigUint::from(a.count_ones()));
    }
}

#[test]
fn prefix_or_sees_the_leading_one() {
    let mut rng = Randomness::seeded(8);
    for width in WIDTHS {
        let filled = circuit_of(&[width], &|g, x| prefix_or(g, &x[0]));
        for _ in 0..8 {
            let a = random_below_power(width, &mut rng) >> (rng.next_u32() as usize % (width + 1));
            assert_eq!(run(&filled, &[&a]), power_minus_one(a.bits() as usize));
        }
    }
}

#[test]
fn gadgets_on_constants_make_no_gates() {
    let value = BigUint::from(0xdead_beefu32);
    let circuit = circuit_of(&[1], &|g, _| {
        let (a, b) = (constant(&value, 40), constant(&BigUint::from(77u32), 40));
        let total = add(g, &a, &b);
        let ones = count_ones(g, &total);
        maximum_with_index(g, &[ones, a, b]).0
    });
    assert!(circuit.gates().is_empty());
    assert_eq!(run(&circuit, &[&BigUint::zero()]), value);
}
