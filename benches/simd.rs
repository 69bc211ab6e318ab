//! Multiplications modulo the widths of Paillier: eight at once with IFMA, one in crypto-bigint.
//!
//! Throughput is in numbers: compare the `elem/s` of the two.
#![allow(missing_docs, reason = "criterion's macros make public items")]
#![allow(clippy::unwrap_used, reason = "fixed inputs")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use crypto_bigint::{BoxedUint, Odd};
use diptych::math::Randomness;
use diptych::simd::ifma::{FixedBase8, Modulus8};

const WIDTHS: [usize; 6] = [1024, 1536, 2048, 3072, 4096, 6144];

fn random_limbs(rng: &mut Randomness, bits: usize) -> Vec<u64> {
    (0..bits / 64).map(|_| u64::from_le_bytes(rng.array())).collect()
}

fn random_modulus(rng: &mut Randomness, bits: usize) -> Vec<u64> {
    let mut limbs = random_limbs(rng, bits);
    limbs[0] |= 1;
    limbs[bits / 64 - 1] |= 1 << 63;
    limbs
}

fn boxed(limbs: &[u64]) -> BoxedUint {
    BoxedUint::from_words(limbs.iter().copied())
}

fn multiplication(criterion: &mut Criterion) {
    let mut rng = Randomness::seeded(1);
    for bits in WIDTHS {
        let mut group = criterion.benchmark_group(format!("simd/mul/{bits}"));
        let modulus = random_modulus(&mut rng, bits);
        let numbers: [Vec<u64>; 8] = std::array::from_fn(|_| random_limbs(&mut rng, bits));
        if let Some(ring) = Modulus8::new(&modulus) {
            let a = ring.load(std::array::from_fn(|i| numbers[i].as_slice()));
            let mut out = ring.one();
            group.throughput(Throughput::Elements(8));
            group.bench_function("ifma mul", |b| b.iter(|| ring.mul(&a, &a, &mut out)));
            group.bench_function("ifma square", |b| b.iter(|| ring.square(&a, &mut out)));
        }
        let params = BoxedMontyParams::new(Odd::new(boxed(&modulus)).unwrap());
        let reduced = boxed(&numbers[0]).rem(&boxed(&modulus).to_nz().unwrap());
        let a = BoxedMontyForm::new(reduced, &params);
        group.throughput(Throughput::Elements(1));
        group.bench_function("crypto-bigint mul", |b| b.iter(|| a.mul(&a)));
        group.bench_function("crypto-bigint square", |b| b.iter(|| a.square()));
    }
}

fn exponentiation(criterion: &mut Criterion) {
    let mut rng = Randomness::seeded(2);
    for bits in [2048, 3072, 4096, 6144] {
        let mut group = criterion.benchmark_group(format!("simd/pow {}/{bits}", bits / 2));
        group.sample_size(10);
        let modulus = random_modulus(&mut rng, bits);
        let numbers: [Vec<u64>; 8] = std::array::from_fn(|_| random_limbs(&mut rng, bits));
        let exponents: [Vec<u64>; 8] = std::array::from_fn(|_| random_limbs(&mut rng, bits / 2));
        let exponents = std::array::from_fn(|i| exponents[i].as_slice());
        if let Some(ring) = Modulus8::new(&modulus) {
            let a = ring.load(std::array::from_fn(|i| numbers[i].as_slice()));
            group.throughput(Throughput::Elements(8));
            group.bench_function("ifma", |b| b.iter(|| ring.pow(&a, exponents, bits / 2)));
            for budget in [2 << 20, 16 << 20] {
                let fixed = FixedBase8::new(&ring, &numbers[0], bits / 2, budget);
                group.throughput(Throughput::Elements(8));
                group.bench_function(format!("ifma fixed base, {} MiB", budget >> 20), |b| {
                    b.iter(|| fixed.pow(exponents));
                });
                group.throughput(Throughput::Elements(128));
                group.bench_function(
                    format!("ifma fixed base, {} MiB, 16 groups", budget >> 20),
                    |b| {
                        b.iter(|| fixed.pow_many(&[exponents; 16]));
                    },
                );
            }
        }
        let params = BoxedMontyParams::new(Odd::new(boxed(&modulus)).unwrap());
        let reduced = boxed(&numbers[0]).rem(&boxed(&modulus).to_nz().unwrap());
        let a = BoxedMontyForm::new(reduced, &params);
        let exponent = boxed(exponents[0]);
        group.throughput(Throughput::Elements(1));
        group.bench_function("crypto-bigint", |b| b.iter(|| a.pow(&exponent)));
    }
}

criterion_group!(benches, multiplication, exponentiation);
criterion_main!(benches);
