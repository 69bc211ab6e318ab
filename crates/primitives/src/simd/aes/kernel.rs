//! What the kernels for x86-64 have in common, written once for registers of any width.

use super::arch::__m128i;

/// The round keys of one key.
pub(super) struct Schedule(pub(super) [__m128i; 11]);

/// The constants of the key schedule, each in all four words of a block.
pub(super) const ROUND_CONSTANTS: [u128; 10] = {
    let words = 0x0000_0001_0000_0001_0000_0001_0000_0001;
    let bytes = [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36];
    let mut constants = [0; 10];
    let mut round = 0;
    while round < 10 {
        constants[round] = bytes[round] * words;
        round += 1;
    }
    constants
};

/// The kernel of a module with the type `Vector` of `BLOCKS` blocks and the operations on it. A
/// step of garbling takes `REGISTERS` of gates, one of evaluating twice as many: enough independent
/// blocks to keep the AES units busy.
///
/// A macro, since functions for other instructions cannot share a generic one: they would not be
/// inlined into it.
macro_rules! kernel {
    ($features:literal) => {
        /// Encrypts `M` times `N` registers.
        #[inline]
        #[target_feature(enable = $features)]
        fn encrypt<const M: usize, const N: usize>(
            keys: &Schedule,
            mut blocks: [[Vector; M]; N],
        ) -> [[Vector; M]; N] {
            let key = repeat(keys.0[0]);
            for blocks in &mut blocks {
                for block in blocks {
                    *block = xor(*block, key);
                }
            }
            for key in &keys.0[1..10] {
                let key = repeat(*key);
                for blocks in &mut blocks {
                    for block in blocks {
                        *block = encrypt_round(*block, key);
                    }
                }
            }
            let key = repeat(keys.0[10]);
            for blocks in &mut blocks {
                for block in blocks {
                    *block = encrypt_last(*block, key);
                }
            }
            blocks
        }

        /// E(x) ⊕ x.
        #[inline]
        #[target_feature(enable = $features)]
        fn davies_meyer<const M: usize, const N: usize>(
            keys: &Schedule,
            blocks: [[Vector; M]; N],
        ) -> [[Vector; M]; N] {
            let mut result = encrypt(keys, blocks);
            for (ciphers, blocks) in result.iter_mut().zip(blocks) {
                for (cipher, block) in ciphers.iter_mut().zip(blocks) {
                    *cipher = xor(*cipher, block);
                }
            }
            result
        }

        #[target_feature(enable = $features)]
        pub(super) fn garble(
            keys: &Schedule,
            delta: u128,
            first: usize,
            a: &[u128],
            b: &[u128],
            out: &mut [u128],
            tables: &mut [[u8; 32]],
        ) {
            const STEP: usize = REGISTERS * BLOCKS;
            let delta = broadcast(delta);
            let mut at = 0;
            while out.len() - at >= STEP {
                let (a, b, out, tables) =
                    (&a[at..][..STEP], &b[at..][..STEP], &mut out[at..][..STEP], &mut tables[at..]);
                garble_step::<REGISTERS>(keys, delta, first + at, a, b, out, tables);
                at += STEP;
            }
            while at < out.len() {
                let (a, b, out, tables) = (&a[at..], &b[at..], &mut out[at..], &mut tables[at..]);
                garble_step::<1>(keys, delta, first + at, a, b, out, tables);
                at += BLOCKS;
            }
        }

        /// As many gates as `N` registers hold; with `N` = 1 perhaps fewer.
        #[inline]
        #[target_feature(enable = $features)]
        fn garble_step<const N: usize>(
            keys: &Schedule,
            delta: Vector,
            first: usize,
            a: &[u128],
            b: &[u128],
            out: &mut [u128],
            tables: &mut [[u8; 32]],
        ) {
            let delta_sigma = sigma(delta);
            let one = numbers(1, 0);
            let (mut x, mut y) = ([zero(); N], [zero(); N]);
            let mut hashes = [[zero(); 4]; N];
            for i in 0..N {
                let tweak = numbers(2 * (first + i * BLOCKS) as u64, 2);
                (x[i], y[i]) = (load(&a[i * BLOCKS..]), load(&b[i * BLOCKS..]));
                let a0 = xor(sigma(x[i]), tweak);
                let b0 = xor(sigma(y[i]), xor(tweak, one));
                hashes[i] = [a0, xor(a0, delta_sigma), b0, xor(b0, delta_sigma)];
            }
            let hashes = davies_meyer(keys, hashes);
            for i in 0..N {
                let [a0, a1, b0, b1] = hashes[i];
                let (mask_a, mask_b) = (pointer_mask(x[i]), pointer_mask(y[i]));
                let generator = xor(xor(a0, a1), and(mask_b, delta));
                let crossed = xor(b0, b1);
                let left = xor(a0, and(mask_a, generator));
                let right = xor(b0, and(mask_b, crossed));
                store(&mut out[i * BLOCKS..], xor(left, right));
                store_rows(&mut tables[i * BLOCKS..], generator, xor(crossed, x[i]));
            }
        }

        #[target_feature(enable = $features)]
        pub(super) fn evaluate(
            keys: &Schedule,
            first: usize,
            a: &[u128],
            b: &[u128],
            tables: &[[u8; 32]],
            out: &mut [u128],
        ) {
            const STEP: usize = 2 * REGISTERS * BLOCKS;
            let mut at = 0;
            while out.len() - at >= STEP {
                let (a, b, tables, out) =
                    (&a[at..][..STEP], &b[at..][..STEP], &tables[at..], &mut out[at..][..STEP]);
                evaluate_step::<{ 2 * REGISTERS }>(keys, first + at, a, b, tables, out);
                at += STEP;
            }
            while at < out.len() {
                let (a, b, tables, out) = (&a[at..], &b[at..], &tables[at..], &mut out[at..]);
                evaluate_step::<1>(keys, first + at, a, b, tables, out);
                at += BLOCKS;
            }
        }

        /// As many gates as `N` registers hold; with `N` = 1 perhaps fewer.
        #[inline]
        #[target_feature(enable = $features)]
        fn evaluate_step<const N: usize>(
            keys: &Schedule,
            first: usize,
            a: &[u128],
            b: &[u128],
            tables: &[[u8; 32]],
            out: &mut [u128],
        ) {
            let one = numbers(1, 0);
            let (mut x, mut y) = ([zero(); N], [zero(); N]);
            let mut hashes = [[zero(); 2]; N];
            for i in 0..N {
                let tweak = numbers(2 * (first + i * BLOCKS) as u64, 2);
                (x[i], y[i]) = (load(&a[i * BLOCKS..]), load(&b[i * BLOCKS..]));
                hashes[i] = [xor(sigma(x[i]), tweak), xor(sigma(y[i]), xor(tweak, one))];
            }
            let hashes = davies_meyer(keys, hashes);
            for i in 0..N {
                let (generator, evaluator) = load_rows(&tables[i * BLOCKS..]);
                let left = xor(hashes[i][0], and(pointer_mask(x[i]), generator));
                let crossed = and(pointer_mask(y[i]), xor(evaluator, x[i]));
                store(&mut out[i * BLOCKS..], xor(left, xor(hashes[i][1], crossed)));
            }
        }

        /// Blocks that are hashed together.
        const TOGETHER: usize = 4 * REGISTERS * BLOCKS;

        #[target_feature(enable = $features)]
        pub(super) fn hash(keys: &Schedule, first: usize, values: &mut [u128]) {
            let mut tweak = numbers(first as u64, 1);
            for group in values.chunks_mut(TOGETHER) {
                hash_group(keys, &mut tweak, group);
            }
        }

        /// At most as many values as are hashed together: code that knows how many there are has no
        /// branches.
        #[inline]
        #[target_feature(enable = $features)]
        fn hash_group(keys: &Schedule, tweak: &mut Vector, group: &mut [u128]) {
            let mut blocks = [[zero(); 4]; REGISTERS];
            for (block, part) in blocks.as_flattened_mut().iter_mut().zip(group.chunks(BLOCKS)) {
                *block = xor(sigma(load(part)), *tweak);
                *tweak = add(*tweak, numbers(BLOCKS as u64, 0));
            }
            let blocks = davies_meyer(keys, blocks);
            for (block, part) in blocks.as_flattened().iter().zip(group.chunks_mut(BLOCKS)) {
                store(part, *block);
            }
        }

        /// See `super::RoundKeys::children`.
        #[target_feature(enable = $features)]
        pub(super) fn children(keys: &Schedule, first: usize, nodes: &mut [u128]) -> u128 {
            let (mut end, mut total, mut rest) = (nodes.len() / 2, zero(), 0);
            // From the last node on: writes are beyond what is still to be read.
            while end > 0 {
                let start = (end - 1) / TOGETHER * TOGETHER;
                let mut parents = [0; TOGETHER];
                if end - start == TOGETHER {
                    parents.copy_from_slice(&nodes[start..end]);
                    let places = &mut nodes[2 * start..][..2 * TOGETHER];
                    let hashes = children_of(keys, first + start, &parents, places);
                    total = hashes.as_flattened().iter().fold(total, |sum, hash| xor(sum, *hash));
                } else {
                    let parents = &mut parents[..end - start];
                    parents.copy_from_slice(&nodes[start..end]);
                    let places = &mut nodes[2 * start..2 * end];
                    children_of(keys, first + start, parents, places);
                    rest = places.iter().step_by(2).fold(rest, |sum, left| sum ^ left);
                }
                end = start;
            }
            let mut lanes = [0; BLOCKS];
            store(&mut lanes, total);
            lanes.iter().fold(rest, |sum, lane| sum ^ lane)
        }

        /// Children of at most as many nodes as are hashed together, in `places`; returns their hashes.
        #[inline]
        #[target_feature(enable = $features)]
        fn children_of(
            keys: &Schedule,
            first: usize,
            parents: &[u128],
            places: &mut [u128],
        ) -> [[Vector; 4]; REGISTERS] {
            let mut tweak = numbers(first as u64, 1);
            let mut blocks = [[zero(); 4]; REGISTERS];
            for (block, part) in blocks.as_flattened_mut().iter_mut().zip(parents.chunks(BLOCKS)) {
                *block = xor(sigma(load(part)), tweak);
                tweak = add(tweak, numbers(BLOCKS as u64, 0));
            }
            let hashes = davies_meyer(keys, blocks);
            let pairs = hashes.as_flattened().iter().zip(parents.chunks(BLOCKS));
            for ((hash, part), place) in pairs.zip(super::pairs(places).chunks_mut(BLOCKS)) {
                store_rows(place, *hash, xor(*hash, load(part)));
            }
            hashes
        }

        #[target_feature(enable = $features)]
        pub(super) fn counter_stream(keys: &Schedule, counter: u64, out: &mut [u128]) {
            let mut next = numbers(counter, 1);
            let step = numbers(BLOCKS as u64, 0);
            for group in out.chunks_mut(TOGETHER) {
                let mut blocks = [[zero(); 4]; REGISTERS];
                for block in blocks.as_flattened_mut() {
                    *block = next;
                    next = add(next, step);
                }
                let blocks = encrypt(keys, blocks);
                for (block, part) in blocks.as_flattened().iter().zip(group.chunks_mut(BLOCKS)) {
                    store(part, *block);
                }
            }
        }

        /// See `super::xor_wires`; `lanes` is a multiple of `BLOCKS`.
        #[target_feature(enable = $features)]
        pub(super) fn xor_lanes(wires: &mut [u128], lanes: usize, gates: &[crate::simd::Op]) {
            for gate in gates {
                let [a, b, out] = [gate.a, gate.b, gate.out].map(|slot| slot as usize * lanes);
                for lane in (0..lanes).step_by(BLOCKS) {
                    let x = load(&wires[a + lane..][..BLOCKS]);
                    let y = load(&wires[b + lane..][..BLOCKS]);
                    store(&mut wires[out + lane..][..BLOCKS], xor(x, y));
                }
            }
        }
    };
}
pub(super) use kernel;
