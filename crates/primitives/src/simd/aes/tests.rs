use super::*;

fn numbers(seed: u128, count: usize) -> Vec<u128> {
    let mut state = seed;
    let step = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645u128;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(step).wrapping_add(0x5851_f42d_4c95_7f2d);
            state ^ (state >> 61)
        })
        .collect()
}

#[test]
fn the_fips_197_example_encrypts() {
    let key = u128::from_le_bytes(std::array::from_fn(|i| i as u8));
    for keys in Kernel::available().into_iter().map(|kernel| RoundKeys::on(kernel, key)) {
        let mut out = [0u128; 7];
        keys.counter_stream(9, &mut out);
        let mut again = [0u128; 5];
        keys.counter_stream(11, &mut again);
        assert_eq!(out[2..], again);
    }
    // Rows of the hash: H(x, i) = E(σ(x) ⊕ i) ⊕ σ(x) ⊕ i, and E(σ(x)) for FIPS's block.
    let block = u128::from_le_bytes(std::array::from_fn(|i| 0x11 * i as u8));
    let cipher = u128::from_le_bytes([
        0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5,
        0x5a,
    ]);
    let (low, high) = (block as u64, (block >> 64) as u64);
    // σ⁻¹: the block's low half is the old high half.
    let before = u128::from(low) << 64 | u128::from(high ^ low);
    assert_eq!(sigma(before), block);
    for keys in Kernel::available().into_iter().map(|kernel| RoundKeys::on(kernel, key)) {
        let mut values = [before];
        keys.hash(0, &mut values);
        assert_eq!(values[0], cipher ^ block);
    }
}

#[test]
fn lanes_are_xored_side_by_side() {
    for lanes in [1, 3, 4, 8, 20] {
        let mut wires = numbers(4, 3 * lanes);
        let expected: Vec<u128> = (0..lanes).map(|i| wires[i] ^ wires[lanes + i]).collect();
        xor_wires(&mut wires, lanes, &[Op { a: 0, b: 1, out: 2 }]);
        assert_eq!(wires[2 * lanes..], expected);
    }
}

#[test]
fn the_kernel_in_use_is_one_that_is_available() {
    assert!(Kernel::available().contains(&Kernel::in_use()));
    assert_eq!(Kernel::available()[0], Kernel::PORTABLE);
}

#[test]
fn every_kernel_garbles_and_evaluates_like_the_portable_one() {
    let delta = numbers(3, 1)[0] | 1;
    for kernel in Kernel::available() {
        let (fast, slow) = (RoundKeys::on(kernel, 77), RoundKeys::portable(77));
        for count in (0..20).chain([31, 63, 64]) {
            let (a, b) = (numbers(1, count), numbers(2, count));
            let mut out = [vec![0; count], vec![0; count]];
            let mut tables = [vec![[0; 32]; count], vec![[0; 32]; count]];
            for (i, keys) in [&fast, &slow].into_iter().enumerate() {
                keys.garble(delta, 5, &a, &b, &mut out[i], &mut tables[i]);
            }
            assert_eq!((&out[0], &tables[0]), (&out[1], &tables[1]), "{kernel:?}, {count} gates");
            for keys in [&fast, &slow] {
                for (flip_a, flip_b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let flip = |x: &[u128], f: u128| -> Vec<u128> {
                        x.iter().map(|x| x ^ (f * delta)).collect()
                    };
                    let mut result = vec![0; count];
                    keys.evaluate(5, &flip(&a, flip_a), &flip(&b, flip_b), &tables[0], &mut result);
                    assert_eq!(result, flip(&out[0], flip_a & flip_b), "{kernel:?}, {count} gates");
                }
            }
        }
    }
}

#[test]
fn every_kernel_hashes_and_counts_like_the_portable_one() {
    for kernel in Kernel::available() {
        let (fast, slow) = (RoundKeys::on(kernel, 78), RoundKeys::portable(78));
        for count in (0..40).chain([64, 129]) {
            let mut hashes = [numbers(1, count), numbers(1, count)];
            fast.hash(9, &mut hashes[0]);
            slow.hash(9, &mut hashes[1]);
            assert_eq!(hashes[0], hashes[1], "{kernel:?}, {count} blocks");
            fast.counter_stream(u64::MAX - 3, &mut hashes[0]);
            slow.counter_stream(u64::MAX - 3, &mut hashes[1]);
            assert_eq!(hashes[0], hashes[1], "{kernel:?}, {count} blocks");
        }
    }
}

#[test]
fn every_kernel_finds_the_children_that_hashes_tell() {
    for kernel in Kernel::available() {
        let keys = RoundKeys::on(kernel, 79);
        for parents in (0..40).chain([64, 129]) {
            let mut hashes = numbers(1, parents);
            keys.hash(9, &mut hashes);
            let mut nodes = numbers(1, parents);
            let both = nodes.iter().zip(&hashes);
            let due: Vec<u128> = both.flat_map(|(node, hash)| [*hash, node ^ hash]).collect();
            nodes.resize(2 * parents, 7);
            let total = keys.children(9, &mut nodes);
            assert_eq!(nodes, due, "{kernel:?}, {parents} parents");
            assert_eq!(total, hashes.iter().fold(0, |sum, hash| sum ^ hash));
        }
    }
}
