use proptest::prelude::*;

use super::*;

fn pair(start: u128, portable: bool) -> (Garbler, Evaluator) {
    let hash = || if portable { GateHash::portable(start) } else { GateHash::new(start) };
    let delta = Delta::random(&mut Randomness::seeded(5));
    (Garbler::new(delta, hash()), Evaluator::new(hash()))
}

/// Gates that read wires 0..inputs and write the wires after them.
fn layer(inputs: u32, count: u32) -> Vec<(u32, u32, u32)> {
    (0..count).map(|i| (i % inputs, (i * 7 + 1) % inputs, inputs + i)).collect()
}

#[test]
fn a_garbled_and_gate_is_an_and_gate_on_both_kernels() {
    for portable in [false, true] {
        let (mut garbler, mut evaluator) = pair(9, portable);
        let mut rng = Randomness::seeded(6);
        for count in [1, 3, 64, 65, 200] {
            let gates = layer(8, count);
            let mut zero: Vec<u128> = (0..8 + count).map(|_| random_label(&mut rng)).collect();
            let values: Vec<bool> = (0..8).map(|i| count >> (i % 3) & 1 == 1 || i > 5).collect();
            let delta = garbler.delta().expose();
            let mut labels: Vec<u128> =
                values.iter().zip(&zero).map(|(v, z)| z ^ (u128::from(*v) * delta)).collect();
            labels.resize(zero.len(), 0);
            let mut tables = Vec::new();
            garbler.and_gates(&mut zero, &gates, &mut tables);
            assert_eq!(tables.len(), count as usize * BYTES_PER_AND);
            evaluator.and_gates(&mut labels, &gates, &tables).unwrap();
            for (a, b, out) in gates {
                let bit =
                    decode(zero[out as usize], garbler.delta(), labels[out as usize], 0).unwrap();
                assert_eq!(bit, values[a as usize] & values[b as usize]);
            }
            assert_eq!(garbler.next_gate(), evaluator.next_gate());
        }
    }
}

#[test]
fn both_kernels_make_the_same_tables() {
    let (mut fast, _) = pair(1 << 90, false);
    let (mut slow, _) = pair(1 << 90, true);
    let gates = layer(16, 150);
    let start: Vec<u128> = (0..166).map(|i| u128::from(i as u32) << 100 | 12345).collect();
    let (mut a, mut b) = (start.clone(), start);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    fast.and_gates(&mut a, &gates, &mut x);
    slow.and_gates(&mut b, &gates, &mut y);
    assert_eq!((a, x), (b, y));
}

#[test]
fn the_counter_keeps_two_gates_on_the_same_wires_apart() {
    let (mut garbler, _) = pair(3, false);
    let mut wires = vec![11, 22, 0, 0];
    let mut tables = Vec::new();
    garbler.and_gates(&mut wires, &[(0, 1, 2), (0, 1, 3)], &mut tables);
    assert_ne!(wires[2], wires[3]);
    assert_ne!(tables[..32], tables[32..]);
}

#[test]
fn splitting_the_gates_differently_changes_nothing() {
    let gates = layer(16, 130);
    let garble = |parts: usize| {
        let (mut garbler, _) = pair(3, false);
        let mut wires: Vec<u128> = (0..146).map(|i| i * 0x1234_5678_9abc_def1).collect();
        let mut tables = Vec::new();
        for part in gates.chunks(parts) {
            garbler.and_gates(&mut wires, part, &mut tables);
        }
        (wires, tables)
    };
    assert_eq!(garble(1), garble(130));
    assert_eq!(garble(7), garble(64));
}

#[test]
fn a_short_or_long_table_is_a_typed_error() {
    let (_, mut evaluator) = pair(3, false);
    let mut wires = vec![0; 4];
    for length in [0, 31, 33, 64] {
        let result = evaluator.and_gates(&mut wires, &[(0, 1, 2)], &vec![0; length]);
        assert_eq!(result, Err(Error::TableLength { expected: 32, found: length }));
    }
}

#[test]
fn a_label_that_is_neither_of_two_is_refused() {
    let delta = Delta::new(1 << 77);
    assert_eq!(decode(5, &delta, 5, 0), Ok(false));
    assert_eq!(decode(5, &delta, 5 ^ delta.expose(), 0), Ok(true));
    assert_eq!(decode(5, &delta, 4, 3), Err(Error::OutputLabel { index: 3 }));
}

#[test]
fn the_difference_is_odd_and_not_printed() {
    let delta = Delta::random(&mut Randomness::seeded(1));
    assert_eq!(delta.expose() & 1, 1);
    assert_eq!(format!("{delta:?}"), "Delta(hidden)");
}

proptest! {
    #[test]
    fn wrong_labels_and_tables_give_labels_and_no_panic(
        labels in prop::collection::vec(any::<u128>(), 4),
        table in prop::collection::vec(any::<u8>(), 64),
    ) {
        let (_, mut evaluator) = pair(3, false);
        let mut wires = labels;
        wires.resize(6, 0);
        prop_assert!(evaluator.and_gates(&mut wires, &[(0, 1, 4), (2, 3, 5)], &table).is_ok());
    }
}
