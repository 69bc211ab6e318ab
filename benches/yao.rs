//! Circuits, garbling, oblivious transfer.

#![expect(clippy::expect_used, reason = "a benchmark that fails may stop")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use diptych::circuit::{Program, Repeat, Source, aes128, gallery, sha256};
use diptych::crypto::garble::{Delta, Garbler, GateHash, random_label};
use diptych::math::Randomness;
use diptych::protocol::ot::{Receiver, Sender};
use diptych::protocol::pair::{Setup, run_pair};
use diptych::protocol::yao::{self, Reveal, garble_source};

fn garbling(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("yao/garble");
    group.sample_size(10);
    let programs = [
        ("AES-128", Program::new(&aes128::circuit()), 16),
        ("SHA-256", Program::new(&sha256::circuit()), 8),
        ("64-bit comparison", Program::new(&gallery::comparison(64)), 1024),
    ];
    for (name, program, runs) in &programs {
        let source = Repeat::new(program, *runs);
        let mut rng = Randomness::seeded(1);
        let delta = Delta::random(&mut rng);
        let mut start = vec![delta.expose()];
        start.extend((0..source.input_bits()).map(|_| random_label(&mut rng)));
        let mut garbler = Garbler::new(delta, GateHash::new(1));
        let mut tables = Vec::new();
        group.throughput(Throughput::Elements((program.and_count() * runs) as u64));
        group.bench_function(format!("{runs} × {name}"), |bencher| {
            bencher.iter(|| {
                let mut wires = start.clone();
                tables.clear();
                garble_source(&mut garbler, &source, &mut wires, &mut tables, &mut |chunk| {
                    black_box(chunk);
                    Ok(())
                })
                .expect("nothing fails in memory")
            });
        });
    }
}

fn both_parties(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("yao/in memory");
    group.sample_size(10);
    let program = Program::new(&aes128::circuit());
    let source = Repeat::new(&program, 16).rounds(10);
    group.throughput(Throughput::Elements(160 * program.and_count() as u64));
    group.bench_function("160 × AES-128 with set-up", |bencher| {
        bencher.iter(|| {
            let party = |session: &mut diptych::protocol::Session| {
                let role = session.role;
                let bits = vec![true; yao::bits_of(&source, role)];
                yao::run(session, diptych::Role::P1, &source, &bits, Reveal::Both)
                    .expect("both parties are honest")
            };
            run_pair(Setup::default(), party, party)
        });
    });
}

fn transfers(criterion: &mut Criterion) {
    const COUNT: usize = 1 << 18;
    let mut group = criterion.benchmark_group("ot");
    group.sample_size(10);
    let choices = vec![true; COUNT];
    let run = |count: usize| {
        run_pair(
            Setup::default(),
            |session| {
                let delta = Delta::random(&mut session.rng);
                let mut sender = Sender::setup(session, delta).expect("set-up");
                sender.correlated_chunks(session, count, &mut |_| {}).expect("transfers");
            },
            |session| {
                let mut receiver = Receiver::setup(session).expect("set-up");
                receiver
                    .correlated_chunks(session, &choices[..count], &mut |_| {})
                    .expect("transfers");
            },
        )
    };
    group.bench_function("128 base transfers", |bencher| bencher.iter(|| run(0)));
    group.throughput(Throughput::Elements(COUNT as u64));
    group.bench_function("correlated, with set-up", |bencher| bencher.iter(|| run(COUNT)));
}

criterion_group!(benches, garbling, both_parties, transfers);
criterion_main!(benches);
