//! Paillier by the crates that a Rust user would pick, on one thread, for comparison with
//! `diptych bench paillier`. Times are of CPU, so that it matters little what else the machine does.

#![expect(clippy::expect_used, reason = "a benchmark that fails may stop")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Bencher, Criterion, criterion_group, criterion_main};
use fast_paillier::backend::Integer;
use libpaillier::unknown_order::BigNumber;
use num_bigint::BigUint;
use rustix::time::{ClockId, clock_gettime};

fn paillier(criterion: &mut Criterion) {
    for bits in [2048, 3072] {
        peers(criterion, bits);
    }
}

fn peers(criterion: &mut Criterion, bits: usize) {
    let mut group = criterion.benchmark_group(format!("paillier/{bits}"));
    group.sample_size(10).measurement_time(Duration::from_secs(1));
    group.warm_up_time(Duration::from_millis(200));
    let (p, q) = primes(bits);
    let (message, nonce) = (&p >> 1u8, &q >> 1u8);

    let integer = |x: &BigUint| Integer::from_bytes_msf(&x.to_bytes_be());
    let key = fast_paillier::DecryptionKey::from_primes(integer(&p), integer(&q)).expect("good");
    let (x, r) = (integer(&message), integer(&nonce));
    group.bench_function("encrypt owner/fast-paillier", |bencher| {
        cpu(bencher, || key.encrypt_with(black_box(&x), &r));
    });
    group.bench_function("encrypt textbook/fast-paillier", |bencher| {
        cpu(bencher, || key.encryption_key().encrypt_with(black_box(&x), &r));
    });
    let c = key.encrypt_with(&x, &r).expect("in range");
    group.bench_function("decrypt/fast-paillier", |bencher| {
        cpu(bencher, || key.decrypt(black_box(&c)));
    });
    group.bench_function("add/fast-paillier", |bencher| {
        cpu(bencher, || key.encryption_key().oadd(black_box(&c), &c));
    });

    // Its numbers have 4096 bits, so n² of a longer key does not fit.
    if bits > 2048 {
        return;
    }
    let number = |x: &BigUint| BigNumber::from_slice(x.to_bytes_be());
    let key = libpaillier::DecryptionKey::with_primes_unchecked(&number(&p), &number(&q));
    let key = key.expect("good primes");
    let public = libpaillier::EncryptionKey::from(&key);
    let m = message.to_bytes_be();
    let (c, _) = public.encrypt(&m, Some(number(&nonce))).expect("in range");
    group.bench_function("encrypt textbook/libpaillier", |bencher| {
        cpu(bencher, || public.encrypt(black_box(&m), Some(number(&nonce))));
    });
    group.bench_function("decrypt/libpaillier", |bencher| {
        cpu(bencher, || key.decrypt(black_box(&c)));
    });
    group.bench_function("add/libpaillier", |bencher| {
        cpu(bencher, || public.add(black_box(&c), &c));
    });
    group.finish();
}

/// The processor's time.
fn cpu<T>(bencher: &mut Bencher, mut work: impl FnMut() -> T) {
    bencher.iter_custom(|rounds| {
        let start = cpu_time();
        for _ in 0..rounds {
            black_box(work());
        }
        cpu_time() - start
    });
}

/// What this process has used, all threads together.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Fixed primes: those of the test vectors that the generator made.
fn primes(bits: usize) -> (BigUint, BigUint) {
    let text = include_str!("../vectors/paillier.json");
    let document: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let groups = document["testGroups"].as_array().expect("groups");
    let fits =
        |group: &&serde_json::Value| group["key"]["bits"] == bits && group["source"].is_null();
    let key = &groups.iter().find(fits).expect("a key of this length")["key"];
    let part = |name: &str| {
        let digits = key[name].as_str().expect("a number");
        BigUint::parse_bytes(digits.as_bytes(), 16).expect("hexadecimal")
    };
    (part("p"), part("q"))
}

criterion_group!(benches, paillier);
criterion_main!(benches);
