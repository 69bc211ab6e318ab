//! Random values below shared bounds, and oblivious polynomial evaluation.

#![expect(clippy::expect_used, reason = "a benchmark that fails may stop")]

use criterion::{Criterion, criterion_group, criterion_main};
use diptych::Role;
use diptych::crypto::paillier::{SecretKey, Tuning};
use diptych::math::Randomness;
use diptych::protocol::Session;
use diptych::protocol::pair::{Setup, run_pair};
use diptych::protocol::polynomial::{NoWrap, receive, send};
use diptych::protocol::random_value::draw;
use diptych::protocol::shares::{Ring, deal};
use num_bigint::{BigInt, BigUint};

fn random_values(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("random value");
    group.sample_size(10);
    for bits in [64usize, 900, 28_000] {
        let ring = Ring::PowerOfTwo(bits);
        let bound = (ring.order() >> 1u8) + 1u8;
        let (first, second) = deal(&ring, &bound, &mut Randomness::seeded(1));
        group.bench_function(format!("{bits} bits, with set-up"), |bencher| {
            bencher.iter(|| {
                let party = |session: &mut Session| {
                    let share = if session.role == Role::P1 { &first } else { &second };
                    draw(session, Role::P1, share, 64).expect("draws")
                };
                run_pair(Setup::default(), party, party)
            });
        });
    }
}

fn polynomials(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("polynomial");
    group.sample_size(10);
    let mut rng = Randomness::seeded(2);
    let key = SecretKey::generate(2048, Tuning::default(), &mut rng).expect("a key");
    let largest = vec![BigUint::from(u64::MAX); 11];
    let bound = NoWrap::from_inputs(key.public(), &u64::MAX.into(), &largest).expect("far below n");
    for count in [1usize, 16] {
        let polynomials = vec![vec![BigInt::from(i64::MIN); 11]; count];
        let arguments = vec![BigInt::from(i64::MAX); count];
        group.bench_function(format!("degree 10, {count} at once"), |bencher| {
            bencher.iter(|| {
                run_pair(
                    Setup::default(),
                    |session| send(session, key.public(), &bound, &polynomials, &|_| ()),
                    |session| receive(session, &key, &bound, &arguments, &|_| ()),
                )
            });
        });
    }
}

criterion_group!(benches, random_values, polynomials);
criterion_main!(benches);
