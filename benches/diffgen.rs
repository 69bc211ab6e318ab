//! Single-party DiffGen: reading, releasing and both, with growth in records and specializations.

#![expect(clippy::expect_used, reason = "a benchmark that fails may stop")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use diptych::agreement::Agreement;
use diptych::app::bench::{census, diffgen};
use diptych::math::Randomness;
use diptych::privacy::Budget;
use diptych::release::diffgen::single;
use diptych::table::{Reading, Table, parse_csv};

fn agreement(specializations: u32, utility: &str) -> Agreement {
    let text = census::agreement(specializations, &format!("utility = \"{utility}\""));
    Agreement::parse("census.toml", text.as_bytes(), &|_| Err(String::new())).expect("is valid")
}

fn table(agreement: &Agreement, csv: &[u8]) -> Table {
    let schema = &agreement.schema;
    let max_records = agreement.max_records;
    let reading = Reading { schema, owner: None, identifier: None, max_records };
    parse_csv("census.csv", csv, &reading, &|_| {}).expect("is valid")
}

fn reading(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("diffgen/read csv");
    group.sample_size(10);
    for records in [30_162, 300_000] {
        let csv = census::csv(records);
        let agreement = agreement(10, "max");
        group.throughput(Throughput::Elements(records as u64));
        group.bench_function(format!("{records} records"), |bencher| {
            bencher.iter(|| black_box(table(&agreement, &csv)));
        });
    }
}

fn releasing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("diffgen/release");
    group.sample_size(10);
    let csv = census::csv(30_162);
    for utility in ["max", "leaf-max", "info-gain"] {
        for specializations in [5, 10, 15] {
            let agreement = agreement(specializations, utility);
            let table = table(&agreement, &csv);
            let epsilon = agreement.epsilon().expect("is agreed");
            let mut rng = Randomness::seeded(1);
            group.throughput(Throughput::Elements(30_162));
            group.bench_function(format!("{utility}, h = {specializations}"), |bencher| {
                bencher.iter(|| {
                    let budget = Budget::new(epsilon);
                    let made = single::release(&agreement, &table, budget, &mut rng, &|_| {});
                    black_box(made.expect("a release"));
                });
            });
        }
    }
}

fn whole(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("diffgen/csv to release, h = 15");
    group.sample_size(10);
    for records in [100_000, 300_000, 1_000_000] {
        let csv = census::csv(records);
        group.throughput(Throughput::Elements(records as u64));
        group.bench_function(format!("{records} records"), |bencher| {
            bencher.iter(|| black_box(diffgen::once(&csv, 15, "max").expect("a release")));
        });
    }
}

criterion_group!(benches, reading, releasing, whole);
criterion_main!(benches);
