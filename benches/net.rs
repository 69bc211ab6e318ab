//! Frames in memory and over loopback TLS: throughput and round trips.

#![expect(clippy::expect_used, reason = "a benchmark that fails may stop")]

use std::hint::black_box;
use std::thread;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use diptych::app::bench::net::loopback_pair;
use diptych::net::{Channel, Limits, Tag, memory};

const BLOCK: Tag = Tag::new(*b"blok");

/// Sends frames to a thread that swallows them and answers once per batch.
fn throughput(criterion: &mut Criterion) {
    const BLOCKS: usize = 64;
    let mut group = criterion.benchmark_group("net/throughput");
    group.sample_size(10);
    for (name, (mut here, there)) in transports() {
        for block_bytes in [16 << 10, 1 << 20] {
            group.throughput(Throughput::Bytes((block_bytes * BLOCKS) as u64));
            let block = vec![0x5a; block_bytes];
            group.bench_function(format!("{name}/{} KiB frames", block_bytes >> 10), |bencher| {
                bencher.iter(|| {
                    for _ in 0..BLOCKS {
                        here.send_bytes(BLOCK, black_box(&block)).expect("peer is there");
                    }
                    here.send_bytes(BLOCK, b"").expect("peer is there");
                    here.receive_bytes(BLOCK, 0).expect("peer is there");
                });
            });
        }
        drop(here);
        there.join().expect("peer ends");
    }
}

fn round_trips(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("net/round trip");
    for (name, (mut here, there)) in transports() {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                here.send_bytes(BLOCK, b"").expect("peer is there");
                here.receive_bytes(BLOCK, 0).expect("peer is there");
            });
        });
        drop(here);
        there.join().expect("peer ends");
    }
}

/// Each transport with its far end in a thread: it answers every empty frame.
fn transports() -> [(&'static str, (Channel, thread::JoinHandle<()>)); 2] {
    let with_answerer = |(here, mut there): (Channel, Channel)| {
        let far_end = thread::spawn(move || {
            let mut body = Vec::new();
            while there.receive_bytes_at_most(BLOCK, 1 << 20, &mut body).is_ok() {
                if body.is_empty() && there.send_bytes(BLOCK, b"").is_err() {
                    break;
                }
            }
        });
        (here, far_end)
    };
    [
        ("in memory", with_answerer(memory::pair(Limits::default()))),
        ("loopback TLS", with_answerer(loopback_pair().expect("loopback works"))),
    ]
}

criterion_group!(benches, throughput, round_trips);
criterion_main!(benches);
