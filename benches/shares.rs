//! Protocols whose outputs are shares. One function and one criterion group per subject.

#![expect(clippy::expect_used, reason = "a benchmark that fails may stop")]

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use diptych::crypto::paillier::{Backend, SecretKey, Tuning};
use diptych::math::Randomness;
use diptych::protocol::pair::{Setup, run_pair};
use diptych::protocol::scalar_product::{
    Entries, ExpectedKey, Key, TableShape, VectorShape, count_table, product,
};

/// Products per entry and tables per record, both roles, on both paths.
fn scalar_product(criterion: &mut Criterion) {
    const BITS: usize = 3072;
    let mut group = criterion.benchmark_group("scalar product");
    group.sample_size(10).measurement_time(Duration::from_secs(2));
    for (backend, name) in [(Backend::Portable, "portable"), (Backend::Vector, "vector")] {
        let tuning = Tuning { backend, ..Tuning::default() };
        let key = SecretKey::generate(BITS, tuning, &mut Randomness::seeded(1)).expect("a key");
        let expected = Key::Peer(ExpectedKey::new(BITS, tuning).expect("a length"));
        key.prepare();

        let shape = VectorShape { length: 256, entries: Entries::Binary, sigma: 64 };
        let vector = [1; 256];
        group.throughput(Throughput::Elements(256));
        group.bench_function(BenchmarkId::new("product", name), |bencher| {
            bencher.iter(|| {
                run_pair(
                    Setup::default(),
                    |session| product(session, Key::Own(&key), &shape, &vector, &|_| ()),
                    |session| product(session, expected, &shape, &vector, &|_| ()),
                )
            });
        });

        let shape = TableShape { records: 1_024, cells: [32, 64], sigma: 64, bits: 40 };
        let cells = [32, 64].map(|cells: u32| (0..1_024).map(|i| i % cells).collect::<Vec<_>>());
        group.throughput(Throughput::Elements(1_024));
        group.bench_function(BenchmarkId::new("count table 32 × 64", name), |bencher| {
            bencher.iter(|| {
                run_pair(
                    Setup::default(),
                    |session| count_table(session, Key::Own(&key), &shape, &cells[0], &|_| ()),
                    |session| count_table(session, expected, &shape, &cells[1], &|_| ()),
                )
            });
        });
    }
    group.finish();
}

criterion_group!(subjects, scalar_product);
criterion_main!(subjects);
