//! Paillier beside the crates that a Rust user would pick, from the same primes, on one thread.
//! Bulk operations are shown per item. Times are of CPU, so that it matters little what else the machine
//! does.

#![expect(clippy::expect_used, reason = "a benchmark that fails may stop")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Bencher, Criterion, criterion_group, criterion_main};
use diptych::crypto::paillier::{Backend, Packing, SecretKey, Tuning};
use diptych::math::Randomness;
use fast_paillier::backend::Integer;
use libpaillier::unknown_order::BigNumber;
use num_bigint::BigUint;
use rustix::time::{ClockId, clock_gettime};

const BULK: usize = 256;

fn paillier(criterion: &mut Criterion) {
    // One worker for everything, so that figures are per core.
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("a thread");
    for bits in [2048, 3072] {
        ours(criterion, bits);
        peers(criterion, bits);
    }
}

fn ours(criterion: &mut Criterion, bits: usize) {
    let mut group = criterion.benchmark_group(format!("paillier/{bits}"));
    group.sample_size(10).measurement_time(Duration::from_secs(1));
    group.warm_up_time(Duration::from_millis(200));
    let (p, q) = primes(bits);
    let mut rng = Randomness::seeded(1);
    group.bench_function("generate/diptych", |bencher| {
        per_item(bencher, 1, || SecretKey::generate(bits, Tuning::default(), &mut rng));
    });
    for (backend, name) in [(Backend::Portable, "portable"), (Backend::Vector, "vector")] {
        let tuning = Tuning { backend, ..Tuning::default() };
        let key = SecretKey::from_primes(&p, &q, tuning, &mut rng).expect("good primes");
        let public = key.public();
        let silent = &|_| ();
        let messages: Vec<BigUint> = (0..BULK).map(|i| public.modulus() >> (i % 64 + 1)).collect();
        let packing = Packing::new(public, 80).expect("fits");
        let ones = vec![BigUint::from(1u8); packing.slots()];
        let packed = vec![packing.pack(&ones).expect("fits"); BULK];
        key.prepare();
        group.bench_function(format!("encrypt owner/diptych {name}"), |bencher| {
            per_item(bencher, BULK, || key.encrypt_all(&messages, &mut rng, silent));
        });
        group.bench_function(format!("encrypt owner, packed/diptych {name}"), |bencher| {
            per_item(bencher, BULK, || key.encrypt_all(&packed, &mut rng, silent));
        });
        group.bench_function(format!("encrypt djn/diptych {name}"), |bencher| {
            per_item(bencher, BULK, || public.encrypt_djn(&messages, &mut rng, silent));
        });
        group.bench_function(format!("encrypt textbook/diptych {name}"), |bencher| {
            per_item(bencher, 8, || public.encrypt_all(&messages[..8], &mut rng, silent));
        });
        let quick = public.encrypt_djn(&messages, &mut rng, silent).expect("in range");
        group.bench_function(format!("rerandomise/diptych {name}"), |bencher| {
            per_item(bencher, 8, || public.rerandomise_all(&quick[..8], &mut rng, silent));
        });
        let returned = public.rerandomise_all(&quick[..8], &mut rng, silent).expect("good");
        group.bench_function(format!("decrypt/diptych {name}"), |bencher| {
            per_item(bencher, 8, || key.decrypt_all(&returned, silent));
        });
        let many: Vec<_> = quick.iter().collect();
        group.bench_function(format!("add/diptych {name}"), |bencher| {
            per_item(bencher, BULK, || public.sum(&many));
        });
    }
    group.finish();
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
        per_item(bencher, 1, || key.encrypt_with(black_box(&x), &r));
    });
    group.bench_function("encrypt textbook/fast-paillier", |bencher| {
        per_item(bencher, 1, || key.encryption_key().encrypt_with(black_box(&x), &r));
    });
    let c = key.encrypt_with(&x, &r).expect("in range");
    group.bench_function("decrypt/fast-paillier", |bencher| {
        per_item(bencher, 1, || key.decrypt(black_box(&c)));
    });
    group.bench_function("add/fast-paillier", |bencher| {
        per_item(bencher, 1, || key.encryption_key().oadd(black_box(&c), &c));
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
        per_item(bencher, 1, || public.encrypt(black_box(&m), Some(number(&nonce))));
    });
    group.bench_function("decrypt/libpaillier", |bencher| {
        per_item(bencher, 1, || key.decrypt(black_box(&c)));
    });
    group.bench_function("add/libpaillier", |bencher| {
        per_item(bencher, 1, || public.add(black_box(&c), &c));
    });
    group.finish();
}

/// The processor's time of one item of a bulk.
fn per_item<T>(bencher: &mut Bencher, bulk: usize, mut work: impl FnMut() -> T) {
    bencher.iter_custom(|items| {
        let rounds = items.div_ceil(bulk as u64);
        let start = cpu_time();
        for _ in 0..rounds {
            black_box(work());
        }
        (cpu_time() - start).mul_f64(items as f64 / (rounds * bulk as u64) as f64)
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
