//! Commutative encryption in every group and kind of code, and whole runs of set intersection.

#![expect(clippy::expect_used, reason = "a benchmark that fails may stop")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use diptych::crypto::commutative::{BATCH, Domain, Group, Residues, Ristretto};
use diptych::math::Randomness;
use diptych::protocol::pair::{Setup, run_pair};
use diptych::protocol::psi::{self, Options, oblivious};
use diptych::protocol::transfers::Assumptions;
use diptych::protocol::vole::Method;

fn group_operations(criterion: &mut Criterion) {
    one_group(criterion, "ristretto255", &Ristretto::new(), BATCH);
    one_group(criterion, "ristretto255 portable", &Ristretto::portable(), BATCH);
    one_group(criterion, "ffdhe3072", &Residues::ffdhe3072().expect("built in"), 8);
}

fn one_group<G: Group>(criterion: &mut Criterion, name: &str, group: &G, count: usize) {
    let key = group.generate_key(&mut Randomness::seeded(1));
    let domain = Domain::new([1; 32]);
    let names: Vec<String> = (0..count).map(|i| format!("individual {i}")).collect();
    let identifiers: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
    let mut elements = vec![0; count * group.element_bytes()];

    let mut bench = criterion.benchmark_group(format!("commutative/{name}"));
    bench.sample_size(10).throughput(Throughput::Elements(count as u64));
    bench.bench_function("encrypt", |bencher| {
        bencher.iter(|| group.encrypt_batch(&key, &domain, &identifiers, &mut elements));
    });
    bench.bench_function("re-encrypt", |bencher| {
        bencher.iter(|| group.reencrypt_batch(&key, &mut elements));
    });
    bench.bench_function("check", |bencher| bencher.iter(|| group.check_batch(&elements)));
}

fn whole_runs(criterion: &mut Criterion) {
    let mut bench = criterion.benchmark_group("psi");
    bench.sample_size(10);
    for size in [1_000, 10_000] {
        let names = |from: usize| -> Vec<String> {
            (from..from + size).map(|i| format!("individual {i}")).collect()
        };
        let (a, b) = (names(0), names(size / 2));
        bench.throughput(Throughput::Elements(2 * size as u64));
        bench.bench_function(BenchmarkId::new("intersection", size), |bencher| {
            bencher.iter(|| {
                run_pair(
                    Setup::default(),
                    |session| psi::intersect(session, &Ristretto::new(), &a, Options::default()),
                    |session| psi::intersect(session, &Ristretto::new(), &b, Options::default()),
                )
            });
        });
        let method = Method::suited_to(Assumptions::Lpn);
        bench.bench_function(BenchmarkId::new("intersection, oprf", size), |bencher| {
            bencher.iter(|| {
                run_pair(
                    Setup::default(),
                    |session| oblivious::intersect(session, method, &a, Options::default()),
                    |session| oblivious::intersect(session, method, &b, Options::default()),
                )
            });
        });
        bench.bench_function(BenchmarkId::new("cardinality", size), |bencher| {
            bencher.iter(|| {
                run_pair(
                    Setup::default(),
                    |session| psi::cardinality(session, &Ristretto::new(), &a, Options::default()),
                    |session| psi::cardinality(session, &Ristretto::new(), &b, Options::default()),
                )
            });
        });
    }
}

criterion_group!(benches, group_operations, whole_runs);
criterion_main!(benches);
