//! Samplers, and the weights of the exponential mechanism at 10^3 to 10^6 records.

#![expect(clippy::unwrap_used, reason = "a benchmark that fails may stop")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use diptych::math::{Randomness, Rational};
use diptych::privacy::digits::{DigitSampler, digit_thresholds};
use diptych::privacy::exponential::{Exponential, Scaling, ScoreBound, weights, weights_within};
use diptych::privacy::noisy_max::NoisyMax;
use diptych::privacy::sampler::{bernoulli_exp, discrete_laplace, geometric};
use diptych::privacy::{Budget, Calibration, Choose, Epsilon, Score, Scored};

/// ε' = 1/40: ε = 1, half of it for ten specialisations and no numeric attribute.
fn rate() -> Rational {
    Rational::new(1u32, 40u32).unwrap()
}

const SCALING: Scaling = Scaling::Binary { fraction_bits: 64 };

fn samplers(criterion: &mut Criterion) {
    let mut rng = Randomness::seeded(1);
    let mut group = criterion.benchmark_group("sampler");
    let x = Rational::new(1u32, 3u32).unwrap();
    group.bench_function("bernoulli_exp", |b| b.iter(|| bernoulli_exp(&x, &mut rng)));
    let fine = &rate() * &Rational::power_of_two(-20);
    for (name, rate) in [("1/40", rate()), ("2^-20/40", fine.clone())] {
        group.bench_function(BenchmarkId::new("geometric", name), |b| {
            b.iter(|| geometric(&rate, &mut rng));
        });
    }
    group.bench_function("discrete_laplace/1/2", |b| {
        let rate = Rational::new(1u32, 2u32).unwrap();
        b.iter(|| discrete_laplace(&rate, &mut rng));
    });
    let by_digits = DigitSampler::new(&fine, 32, 64).unwrap();
    group.bench_function("by_32_digits_of_64_bits", |b| b.iter(|| by_digits.sample(&mut rng)));
    group.bench_function("thresholds_32_digits_of_64_bits", |b| {
        b.iter(|| digit_thresholds(black_box(&fine), 32, 64).unwrap());
    });
    group.finish();
}

fn weights_by_records(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("weights_of_100_candidates");
    group.sample_size(10);
    let rate = SCALING.rate("", &rate(), &Calibration::max()).unwrap();
    for records in [1_000u64, 10_000, 30_000, 100_000, 1_000_000] {
        // Scores near the number of records are the longest.
        let scores: Vec<_> =
            (0..100).map(|i| Score::whole(records - i * (records / 200)).unwrap()).collect();
        group.bench_function(BenchmarkId::from_parameter(records), |b| {
            b.iter(|| weights(black_box(&scores), &rate, SCALING).unwrap());
        });
    }
    group.finish();
    // Within a public bound: as long for low scores as for high ones.
    let mut group = criterion.benchmark_group("weights_of_100_candidates_within");
    group.sample_size(10);
    for most in [100_000u64, 1_000_000] {
        let bound = ScoreBound { largest: Score::whole(most).unwrap(), whole: true };
        for highest in [1_000, most / 2, most] {
            let scores: Vec<_> =
                (0..100).map(|i| Score::whole(highest - i * (highest / 200)).unwrap()).collect();
            group.bench_function(BenchmarkId::new(most.to_string(), highest), |b| {
                b.iter(|| weights_within(black_box(&scores), &rate, SCALING, bound).unwrap());
            });
        }
    }
    group.finish();
    let one = [Score::whole(1_000_000).unwrap()];
    criterion.bench_function("one_weight_at_1000000", |b| {
        b.iter(|| weights(black_box(&one), &rate, SCALING).unwrap());
    });
}

fn choices(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("choice_of_100_at_30000");
    group.sample_size(10);
    let epsilon: Epsilon = "0.025".parse().unwrap();
    let spend = || Budget::new(&epsilon).spend_rest("bench").unwrap();
    let candidates: Vec<_> =
        (0..100).map(|i| Scored::single(Score::whole(30_000 - 150 * i).unwrap())).collect();
    let mut exponential = Exponential::new(SCALING, Randomness::seeded(2));
    group.bench_function("exponential", |b| {
        b.iter(|| exponential.choose(spend(), &Calibration::max(), &candidates).unwrap());
    });
    let mut noisy_max = NoisyMax::new(20, Randomness::seeded(3)).unwrap();
    group.bench_function("permute_and_flip", |b| {
        b.iter(|| noisy_max.choose(spend(), &Calibration::max(), &candidates).unwrap());
    });
    group.finish();
}

criterion_group!(benches, samplers, weights_by_records, choices);
criterion_main!(benches);
