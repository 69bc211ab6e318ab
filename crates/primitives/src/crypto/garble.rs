//! Garbling: free XOR (Kolesnikov, Schneider 2008), half gates (Zahur, Rosulek,
//! Evans 2015), point-and-permute. One party's part of it: labels in, labels out.
//!
//! A wire has two 128-bit labels, W for 0 and W ⊕ Δ for 1; Δ is secret and odd,
//! so a label's lowest bit is the pointer bit. An AND gate costs two
//! ciphertexts, four hashes to garble and two to evaluate.
//!
//! # The hash
//!
//! H(x, t) = E(s ⊕ ⌊t/128⌋, y) ⊕ y with y = σ(x) ⊕ (t mod 128), where E is
//! AES-128, s is the session's public starting point for this direction and
//! σ(l ‖ r) = (l ⊕ r) ‖ l. AND gate number g of the direction uses t = 2g and
//! 2g + 1, so the key changes after every 64 gates: the re-keying of Guo, Katz,
//! Wang, Weng and Yu (CRYPTO 2020), once per batch.
//!
//! *Why it holds*, for E an ideal cipher and an adversary with p evaluations of
//! it: labels are sums of fresh uniform labels and, on one side of each hash,
//! of Δ, so a call is predictable only if the adversary asked for the same
//! block under the same key. One key serves at most 4·64 = 2⁸ calls in a run,
//! and the keys of different runs differ (s is a hash of both parties' nonces),
//! so one evaluation meets at most 2⁸ targets whatever the circuit's size and
//! the number of runs, or 2⁹ with those that an evaluation backwards meets: a
//! call can be hit by its block or by its result. Two calls under one key with
//! different t collide only if their labels differ by σ⁻¹ of the difference of
//! the counters, which for labels that do not depend on σ has probability below
//! 2¹⁵/2¹²⁷ per batch (a pair of 2⁸ calls, Δ has 127 unknown bits); the
//! counter inside the block keeps two gates on the *same* wire apart. No pair
//! (key, t) is used twice under one Δ, because the counter only grows.
//!
//! *Margin*: κ = 128 is the length of labels and keys. What garbling keeps of it
//! is 127 − 9 = **118 bits** against p evaluations, p·2⁻¹¹⁸, for any number of
//! gates; under one fixed key it would be p·2ᵍ⁺³⁻¹²⁷ for 2ᵍ gates, 84 bits at
//! 2⁴⁰. Beside it stands a chance that no work raises: 2ᵍ⁻¹¹⁸ that calls of
//! some batch collide (2ᵍ⁻⁶ batches at 2⁻¹¹²), 2⁻⁷⁸ at 2⁴⁰ gates under one Δ.
//! Keys of 2ᵏ batches in all runs ever coincide with a chance of 2²ᵏ⁻¹²⁹, and then one bit
//! is lost for these two batches.
//! A batch of 64 costs 6 bits against a key per gate and makes the key schedule
//! (30 to 80 ns) less than 1.3 ns per gate.
//!
//! # Example
//!
//! One AND gate from wires 0 and 1 to wire 2.
//!
//! ```
//! use diptych_primitives::crypto::garble::{
//!     BYTES_PER_AND, Delta, Evaluator, Garbler, GateHash, Layer, decode, random_label,
//!     starting_point,
//! };
//! use diptych_primitives::math::Randomness;
//! use diptych_primitives::simd::Op;
//!
//! let mut rng = Randomness::from_os()?;
//! let layer = Layer { gates: &[Op { a: 0, b: 1, out: 2 }], lanes: 1 };
//! let start = starting_point(&rng.array(), "gates of the example");
//!
//! let mut garbler = Garbler::new(Delta::random(&mut rng), GateHash::new(start));
//! let mut zeros = [random_label(&mut rng), random_label(&mut rng), 0];
//! let mut table = [0; BYTES_PER_AND];
//! garbler.and_gates(&mut zeros, layer, 0..1, &mut table);
//!
//! // The evaluator has one label per input, which does not say what it stands for.
//! let delta = garbler.delta();
//! let label = |wire: usize, bit: bool| zeros[wire] ^ (delta.expose() * u128::from(bit));
//! for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
//!     let mut wires = [label(0, a), label(1, b), 0];
//!     Evaluator::new(GateHash::new(start)).and_gates(&mut wires, layer, 0..1, &table)?;
//!     assert_eq!(decode(zeros[2], delta, wires[2], 0)?, a && b);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::ops::Range;

use rand::Rng;
use sha2::{Digest, Sha256};
use zeroize::Zeroize;

use crate::Error;
use crate::math::Randomness;
use crate::simd::Op;
use crate::simd::aes::{GATES_PER_KEY, Kernel, RoundKeys};

/// Ciphertext bytes per AND gate.
pub const BYTES_PER_AND: usize = 32;

/// The secret difference between the labels of every wire. Its lowest bit is 1.
#[derive(Clone)]
pub struct Delta(u128);

impl Delta {
    /// A fresh difference: 127 random bits.
    pub fn random(rng: &mut Randomness) -> Self {
        Self::new(u128::from_le_bytes(rng.array()))
    }

    /// The difference with these bits; the lowest one is set.
    pub fn new(value: u128) -> Self {
        Self(value | 1)
    }

    /// The bits. Whoever has them can read every wire.
    pub fn expose(&self) -> u128 {
        self.0
    }
}

impl Drop for Delta {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Delta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Delta(hidden)")
    }
}

/// The hash with its counter: one per session and direction.
pub struct GateHash {
    start: u128,
    /// Number of the next AND gate.
    next: u64,
    keys: RoundKeys,
    kernel: Kernel,
}

impl GateHash {
    /// A hash that starts at gate 0 with starting point `start`.
    pub fn new(start: u128) -> Self {
        Self::on(Kernel::in_use(), start)
    }

    /// The hash for `direction` of the session with this id.
    pub fn for_session(session_id: &[u8; 32], direction: &str) -> Self {
        Self::new(starting_point(session_id, direction))
    }

    /// [`GateHash::new`] on this kernel, for tests and benchmarks.
    pub fn on(kernel: Kernel, start: u128) -> Self {
        Self { start, next: 0, keys: RoundKeys::on(kernel, start), kernel }
    }

    /// Number of the next gate.
    pub fn next_gate(&self) -> u64 {
        self.next
    }

    /// Skips the next `gates` gates, for vectors; does nothing if that is beyond gate 2⁶³. The
    /// counter never goes back: using a number twice under one Δ would reveal how two gates differ.
    #[must_use]
    pub fn skip(mut self, gates: u64) -> Option<Self> {
        self.next = self.next.checked_add(gates).filter(|next| *next <= 1 << 63)?;
        self.rekey();
        Some(self)
    }

    /// Position of the next gate in its batch.
    fn position(&self) -> usize {
        (self.next % GATES_PER_KEY as u64) as usize
    }

    fn advance(&mut self, gates: usize) {
        self.next += gates as u64;
        if self.position() == 0 {
            self.rekey();
        }
    }

    fn rekey(&mut self) {
        let key = self.start ^ u128::from(self.next / GATES_PER_KEY as u64);
        self.keys = RoundKeys::on(self.kernel, key);
    }
}

/// The public starting point of a hash: bound to the session and to what it is used for.
pub fn starting_point(session_id: &[u8; 32], purpose: &str) -> u128 {
    let digest = Sha256::new()
        .chain_update(b"diptych/v1/hash-start\0")
        .chain_update(session_id)
        .chain_update(purpose.as_bytes())
        .finalize();
    let mut half = [0; 16];
    half.copy_from_slice(&digest[..16]);
    u128::from_le_bytes(half)
}

/// The garbler: zero labels in, zero labels and ciphertexts out.
pub struct Garbler {
    delta: Delta,
    hash: GateHash,
    batch: Box<Batch>,
}

impl Garbler {
    /// A garbler with this difference. `hash` counts its gates.
    pub fn new(delta: Delta, hash: GateHash) -> Self {
        Self { delta, hash, batch: Box::default() }
    }

    /// The difference.
    pub fn delta(&self) -> &Delta {
        &self.delta
    }

    /// Number of the next AND gate.
    pub fn next_gate(&self) -> u64 {
        self.hash.next
    }

    /// Garbles some of a layer's gates: those numbered `range`. Writes
    /// [`BYTES_PER_AND`] bytes per gate to `tables`.
    ///
    /// # Panics
    /// If a place is not in `wires`, or `tables` has another length.
    pub fn and_gates(
        &mut self,
        wires: &mut [u128],
        layer: Layer<'_>,
        range: Range<usize>,
        tables: &mut [u8],
    ) {
        assert_eq!(tables.len(), range.len() * BYTES_PER_AND, "one table per gate");
        let mut rows = tables.as_chunks_mut::<BYTES_PER_AND>().0;
        let mut next = range.start;
        while next < range.end {
            let position = self.hash.position();
            let count = (GATES_PER_KEY - position).min(range.end - next);
            let (now, later) = rows.split_at_mut(count);
            self.batch.gather(wires, layer, next, count);
            let Batch { a, b, out } = &mut *self.batch;
            let (a, b, out) = (&a[..count], &b[..count], &mut out[..count]);
            self.hash.keys.garble(self.delta.0, position, a, b, out, now);
            self.batch.scatter(wires, layer, next, count);
            self.hash.advance(count);
            next += count;
            rows = later;
        }
    }
}

/// The evaluator: one label per wire in, one label out.
pub struct Evaluator {
    hash: GateHash,
    batch: Box<Batch>,
}

impl Evaluator {
    /// An evaluator; `hash` counts its gates as the garbler's does.
    pub fn new(hash: GateHash) -> Self {
        Self { hash, batch: Box::default() }
    }

    /// Number of the next AND gate.
    pub fn next_gate(&self) -> u64 {
        self.hash.next
    }

    /// Evaluates AND gates as [`Garbler::and_gates`] garbles them. Wrong labels
    /// give meaningless labels, never an error.
    ///
    /// # Errors
    /// [`Error::TableLength`] unless there are [`BYTES_PER_AND`] bytes per gate.
    ///
    /// # Panics
    /// If a place is not in `wires`.
    pub fn and_gates(
        &mut self,
        wires: &mut [u128],
        layer: Layer<'_>,
        range: Range<usize>,
        tables: &[u8],
    ) -> Result<(), Error> {
        let expected = range.len() * BYTES_PER_AND;
        if tables.len() != expected {
            return Err(Error::TableLength { expected, found: tables.len() });
        }
        let mut rows = tables.as_chunks::<BYTES_PER_AND>().0;
        let mut next = range.start;
        while next < range.end {
            let position = self.hash.position();
            let count = (GATES_PER_KEY - position).min(range.end - next);
            let (now, later) = rows.split_at(count);
            self.batch.gather(wires, layer, next, count);
            let Batch { a, b, out } = &mut *self.batch;
            let (a, b, out) = (&a[..count], &b[..count], &mut out[..count]);
            self.hash.keys.evaluate(position, a, b, now, out);
            self.batch.scatter(wires, layer, next, count);
            self.hash.advance(count);
            next += count;
            rows = later;
        }
        Ok(())
    }
}

/// Gates that do not depend on each other. Each stands for `lanes` AND gates:
/// lane l of slot s is label s·`lanes` + l; gate number g is lane g mod `lanes`
/// of entry ⌊g / `lanes`⌋. None may read or write what another one writes.
#[derive(Clone, Copy)]
pub struct Layer<'a> {
    /// The gates.
    pub gates: &'a [Op],
    /// Labels per slot, at least 1.
    pub lanes: usize,
}

impl Layer<'_> {
    /// Number of AND gates, all lanes counted.
    pub fn len(&self) -> usize {
        self.gates.len() * self.lanes
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.gates.is_empty()
    }
}

/// Labels of the gates under one key, next to each other for the kernel.
struct Batch {
    a: [u128; GATES_PER_KEY],
    b: [u128; GATES_PER_KEY],
    out: [u128; GATES_PER_KEY],
}

impl Default for Batch {
    fn default() -> Self {
        let zeros = [0; GATES_PER_KEY];
        Self { a: zeros, b: zeros, out: zeros }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.a.zeroize();
        self.b.zeroize();
        self.out.zeroize();
    }
}

impl Batch {
    fn gather(&mut self, wires: &[u128], layer: Layer<'_>, first: usize, count: usize) {
        if layer.lanes == 1 {
            for (i, gate) in layer.gates[first..first + count].iter().enumerate() {
                self.a[i] = wires[gate.a as usize];
                self.b[i] = wires[gate.b as usize];
            }
            return;
        }
        for_runs(layer, first, count, |place, (a, b, _), length| {
            self.a[place..place + length].copy_from_slice(&wires[a..a + length]);
            self.b[place..place + length].copy_from_slice(&wires[b..b + length]);
        });
    }

    fn scatter(&self, wires: &mut [u128], layer: Layer<'_>, first: usize, count: usize) {
        if layer.lanes == 1 {
            for (i, gate) in layer.gates[first..first + count].iter().enumerate() {
                wires[gate.out as usize] = self.out[i];
            }
            return;
        }
        for_runs(layer, first, count, |place, (_, _, out), length| {
            wires[out..out + length].copy_from_slice(&self.out[place..place + length]);
        });
    }
}

/// Calls `visit` with (place in the batch, labels of a, b and out, length) for
/// every run of lanes of one entry among the gates `first`, …, `first` + `count` − 1.
fn for_runs(
    layer: Layer<'_>,
    first: usize,
    count: usize,
    mut visit: impl FnMut(usize, (usize, usize, usize), usize),
) {
    let mut place = 0;
    while place < count {
        let (entry, lane) = ((first + place) / layer.lanes, (first + place) % layer.lanes);
        let length = (layer.lanes - lane).min(count - place);
        let Op { a, b, out } = layer.gates[entry];
        let at = |slot: u32| slot as usize * layer.lanes + lane;
        visit(place, (at(a), at(b), at(out)), length);
        place += length;
    }
}

/// The bit that a label of an output stands for.
///
/// # Errors
/// [`Error::OutputLabel`] if it is neither of the two.
pub fn decode(zero: u128, delta: &Delta, label: u128, index: usize) -> Result<bool, Error> {
    match label ^ zero {
        0 => Ok(false),
        difference if difference == delta.0 => Ok(true),
        _ => Err(Error::OutputLabel { index }),
    }
}

/// A fresh zero label.
pub fn random_label(rng: &mut Randomness) -> u128 {
    u128::from(rng.next_u64()) | u128::from(rng.next_u64()) << 64
}

#[cfg(test)]
mod tests;
