//! Paillier, per core: one thread, processor time. Beside each figure stands its limit: the
//! multiplications that the method needs, times one multiplication measured here.

use std::hint::black_box;

use num_bigint::BigUint;

use super::process::thread_cpu;
use super::{BenchArgs, Figures};
use crate::Error;
use crate::crypto::paillier::{Backend, Packing, SecretKey, Tuning};
use crate::math::{Randomness, SquareModulus, limbs};
use crate::simd::ifma::{self, Modulus8};

/// Items per bulk operation.
const BULK: usize = 256;
/// Width of a slot in packed plaintexts: counts up to 2^15 with a mask of 64 bits.
const SLOT_BITS: usize = 80;

/// Key generation, encryption of each kind, decryption, addition, re-randomisation and packing, at
/// 2048 and 3072 bits, on both paths.
pub(super) fn run(options: &BenchArgs, out: &mut Figures) -> Result<(), Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(Error::internal)?;
    let mut rng = Randomness::from_os()?;
    pool.install(|| {
        let lengths = if options.quick { &[2048][..] } else { &[2048, 3072] };
        lengths.iter().try_for_each(|bits| measure_length(*bits, options.quick, &mut rng, out))
    })
}

fn measure_length(
    bits: usize,
    quick: bool,
    rng: &mut Randomness,
    out: &mut Figures,
) -> Result<(), Error> {
    let start = thread_cpu();
    let key = SecretKey::generate(bits, Tuning::default(), rng)?;
    let took = (thread_cpu() - start).as_secs_f64() * 1e3;
    let note = format!("{bits} bits; one draw of a wide distribution");
    out.add("paillier key generation", took, "ms", note);
    let bytes = key.to_bytes();
    // With --quick, only the one that is used.
    for (backend, name) in backends().into_iter().take(if quick { 1 } else { 2 }) {
        let tuning = Tuning { backend, ..Tuning::default() };
        let key = SecretKey::from_bytes(&bytes, bits, tuning, rng)?;
        measure_backend(&key, backend, name, rng, out)?;
    }
    Ok(())
}

/// The one that is used comes first: `bench figures` takes the first figure that fits.
fn backends() -> Vec<(Backend, &'static str)> {
    let mut backends = vec![(Backend::Portable, "portable")];
    if ifma::available() {
        backends.insert(0, (Backend::Vector, "vector"));
    }
    backends
}

fn measure_backend(
    key: &SecretKey,
    backend: Backend,
    name: &str,
    rng: &mut Randomness,
    out: &mut Figures,
) -> Result<(), Error> {
    let public = key.public();
    let bits = public.bits();
    let half = [false, true].map(|square| one_us(&odd_number(bits / 2), backend, square));
    let full = [false, true].map(|square| one_us(&odd_number(bits), backend, square));
    let plaintexts: Vec<BigUint> = (0..BULK)
        .map(|_| crate::math::modular::random_below(public.modulus(), rng))
        .collect::<Result<_, _>>()?;
    let silent = &|_| ();
    let mut add = |what: &str, milliseconds: f64, count: [usize; 2], one: [f64; 2]| {
        let limit = (count[0] as f64 * one[0] + count[1] as f64 * one[1]) / 1e3;
        let mut note =
            format!("{bits} bits, {name}; limit {limit:.4} ms: {} multiplications", count[0]);
        note.push_str(&format!(" at {:.2} µs", one[0]));
        if count[1] > 0 {
            note.push_str(&format!(", {} squarings at {:.2} µs", count[1], one[1]));
        }
        out.add(format!("paillier {what}"), milliseconds, "ms", note);
    };

    // Tables are made before the clock starts. Windows: 6 bits portable, 8 in the vector path.
    let window = if backend == Backend::Vector { 8 } else { 6 };
    let rows = (bits / 2).div_ceil(window);
    key.prepare();
    let fresh = key.encrypt_all(&plaintexts, rng, silent)?;
    let took = per_item(1, || key.encrypt_all(&plaintexts, rng, silent));
    add("encrypt, owner, bulk", took, [2 * rows, 0], half);

    let packing = Packing::new(public, SLOT_BITS)?;
    let ones = vec![BigUint::from(1u8); packing.slots()];
    let packed = vec![packing.pack(&ones)?; BULK];
    let took = per_item(1, || key.encrypt_all(&packed, rng, silent)) / packing.slots() as f64;
    let slots = packing.slots();
    let note = format!("{bits} bits, {name}; {slots} slots of {SLOT_BITS} bits in one ciphertext");
    let per_slot = (took, note);

    let quick = public.encrypt_djn(&plaintexts, rng, silent)?;
    let took = per_item(1, || public.encrypt_djn(&plaintexts, rng, silent));
    add("encrypt, public key, h^a, bulk", took, [rows, 0], full);

    let powers = [bits.div_ceil(7), bits];
    let few = &plaintexts[..8];
    let took = per_item(1, || public.encrypt_all(few, rng, silent)) * (BULK / few.len()) as f64;
    add("encrypt, public key, r^n, bulk", took, powers, full);
    let returned = public.rerandomise_all(&quick[..8], rng, silent)?;
    let took = per_item(1, || public.rerandomise_all(&quick[..8], rng, silent)) * (BULK / 8) as f64;
    add("re-randomise, bulk", took, powers, full);

    let returned: Vec<_> = returned.iter().cycle().take(16).cloned().collect();
    let took = per_item(1, || key.decrypt_all(&returned, silent)) * (BULK / returned.len()) as f64;
    add("decrypt, bulk", took, [2 * (bits / 2).div_ceil(5), bits], half);

    let many: Vec<_> = quick.iter().collect();
    let took = per_item(8, || public.sum(&many));
    let portable_full = [one_us(&odd_number(bits), Backend::Portable, false), 0.0];
    add("add, bulk", took, [1, 0], portable_full);
    let mut sent = Vec::new();
    fresh.iter().for_each(|c| c.write(&mut sent));
    let took = per_item(1, || public.read(&sent, BULK));
    add("read and check, bulk", took, [1, 0], portable_full);
    out.add("paillier encrypt, owner, packed, per slot", per_slot.0, "ms", per_slot.1);
    Ok(())
}

/// Milliseconds per item of a bulk of [`BULK`], the least of three rounds.
fn per_item<T>(repeat: usize, mut work: impl FnMut() -> T) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = thread_cpu();
        for _ in 0..repeat {
            black_box(work());
        }
        best = best.min((thread_cpu() - start).as_secs_f64());
    }
    best * 1e3 / (repeat * BULK) as f64
}

/// Microseconds for one multiplication, or one squaring, modulo N².
fn one_us(root: &BigUint, backend: Backend, square_instead: bool) -> f64 {
    const TIMES: usize = 2_000;
    let count = root.bits() as usize / 64;
    let square = limbs::from_biguint(&(root * root), 2 * count);
    if backend == Backend::Vector
        && let Some(modulus) = Modulus8::new(&square)
    {
        let mut a = modulus.load([&square[1..]; 8]);
        let b = a.clone();
        let mut out = modulus.one();
        let took = per_item(1, || {
            for _ in 0..TIMES {
                if square_instead {
                    modulus.square(&a, &mut out);
                } else {
                    modulus.mul(&a, &b, &mut out);
                }
                std::mem::swap(&mut a, &mut out);
            }
        });
        return took * 1e3 * BULK as f64 / (8 * TIMES) as f64;
    }
    let Ok(modulus) = SquareModulus::new(root) else { return f64::NAN };
    let b = modulus.enter_limbs(&square);
    let mut a = modulus.one();
    let mut scratch = modulus.scratch();
    let took = per_item(1, || {
        for _ in 0..TIMES {
            if square_instead {
                modulus.square(&mut a, &mut scratch);
            } else {
                modulus.multiply_by(&mut a, &b, &mut scratch);
            }
        }
    });
    took * 1e3 * BULK as f64 / TIMES as f64
}

/// An odd number of exactly so many bits.
fn odd_number(bits: usize) -> BigUint {
    (BigUint::from(3u8) << (bits - 2)) + 12_345u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_that_is_used_is_measured_first() {
        let expected: &[&str] =
            if ifma::available() { &["vector", "portable"] } else { &["portable"] };
        assert_eq!(backends().iter().map(|(_, name)| *name).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_multiplication_takes_some_time_on_either_path() {
        for backend in [Backend::Portable, Backend::Vector] {
            let took = one_us(&odd_number(512), backend, false);
            assert!(took > 0.0 && took < 1e3, "{took}");
        }
    }
}
