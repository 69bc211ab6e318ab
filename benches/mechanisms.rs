//! Choices and noise by two parties, in memory, set-up of the transfers included.

#![expect(clippy::expect_used, reason = "a benchmark that fails may stop")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use diptych::math::Rational;
use diptych::mechanism::OneSided;
use diptych::mechanism::exponential::VerticalExponential;
use diptych::mechanism::noise::{JointNoise, TwoPartyNoise};
use diptych::mechanism::noisy_max::{NoiseWidths, NoisyMax, Scores};
use diptych::privacy::exponential::Scaling;
use diptych::privacy::{AddNoise, Budget, Calibration, Choose, Epsilon, Score, Spend};
use diptych::protocol::Session;
use diptych::protocol::pair::{Setup, run_pair};
use diptych::protocol::shares::WordShares;

/// ε' of a release with ε = 1, h = 10 and six numeric attributes.
fn spend() -> Spend {
    let one: Epsilon = "1".parse().expect("a number");
    let part = Rational::new(1u32, 52u32).expect("a fraction");
    Budget::new(&one).spend("bench", &part).expect("it is there")
}

fn both(party: impl Fn(&mut Session) + Sync) {
    let run = |session: &mut Session| party(session);
    run_pair(Setup::default(), run, run);
}

/// Half of the candidates are each party's own.
fn scores(candidates: usize, records: u64) -> OneSided {
    let score = |i: u64| Score::whole(i * 7919 % records).expect("few records");
    OneSided { own: (0..candidates as u64 / 2).map(score).collect(), peer: candidates / 2 }
}

fn choices(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("select");
    group.sample_size(10);
    let calibration = Calibration::max();
    for (candidates, records) in [(2usize, 30_000u64), (32, 30_000), (512, 30_000), (32, 1_000_000)]
    {
        let (own, largest) = (scores(candidates, records), Score::whole(records).expect("few"));
        let parameters = format!("{candidates} of {records} records");
        group.throughput(Throughput::Elements(candidates as u64));
        group.bench_function(BenchmarkId::new("exponential", &parameters), |bencher| {
            bencher.iter(|| {
                both(|session| {
                    let scaling = Scaling::Binary { fraction_bits: 64 };
                    VerticalExponential::new(session, scaling, largest, 64)
                        .choose(spend(), &calibration, &own)
                        .expect("both parties are honest");
                });
            });
        });
        group.bench_function(BenchmarkId::new("noisy maximum", &parameters), |bencher| {
            bencher.iter(|| {
                both(|session| {
                    let widths = NoiseWidths { tau: 64, digits: 32 };
                    NoisyMax::new(session, 20, largest, widths)
                        .expect("a grid that exists")
                        .choose(spend(), &calibration, &Scores::OneSided(own.clone()))
                        .expect("both parties are honest");
                });
            });
        });
    }
}

fn noise(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("noise");
    group.sample_size(10);
    for size in [16u64, 2_048] {
        let counts = WordShares::new(32, (0..size).collect()).expect("32 bits");
        group.throughput(Throughput::Elements(size));
        group.bench_function(BenchmarkId::new("two-party", size), |bencher| {
            bencher.iter(|| {
                both(|session| {
                    let noisy = TwoPartyNoise::new(session).add_noise(spend(), &counts);
                    noisy.expect("both parties are honest");
                });
            });
        });
        group.bench_function(BenchmarkId::new("joint", size), |bencher| {
            bencher.iter(|| {
                both(|session| {
                    let widths = NoiseWidths { tau: 64, digits: 12 };
                    let noisy = JointNoise::new(session, widths).add_noise(spend(), &counts);
                    noisy.expect("both parties are honest");
                });
            });
        });
    }
}

criterion_group!(benches, choices, noise);
criterion_main!(benches);
