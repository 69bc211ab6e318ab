use proptest::prelude::*;

use super::*;

fn pair(start: u128, kernel: Kernel) -> (Garbler, Evaluator) {
    let delta = Delta::random(&mut Randomness::seeded(5));
    let hash = || GateHash::on(kernel, start);
    (Garbler::new(delta, hash()), Evaluator::new(hash()))
}

/// Gates that read wires 0..inputs and write the wires after them.
fn layer(inputs: u32, count: u32) -> Vec<Op> {
    (0..count).map(|i| Op { a: i % inputs, b: (i * 7 + 1) % inputs, out: inputs + i }).collect()
}

fn garble_all(garbler: &mut Garbler, wires: &mut [u128], gates: &[Op]) -> Vec<u8> {
    let mut tables = vec![0; gates.len() * BYTES_PER_AND];
    garbler.and_gates(wires, Layer { gates, lanes: 1 }, 0..gates.len(), &mut tables);
    tables
}

#[test]
fn lanes_are_gates_side_by_side_wherever_the_layer_is_cut() {
    let gates = [Op { a: 0, b: 1, out: 3 }, Op { a: 1, b: 2, out: 4 }, Op { a: 2, b: 0, out: 5 }];
    for lanes in [2, 7, 8, 64] {
        let slots: Vec<u128> = (0..6 * lanes as u128).map(|i| i.pow(9) << 3 | i).collect();
        let spread: Vec<Op> = gates
            .iter()
            .flat_map(|Op { a, b, out }| {
                let at = move |slot: u32, lane| slot * lanes as u32 + lane;
                let gate = move |lane| Op { a: at(*a, lane), b: at(*b, lane), out: at(*out, lane) };
                (0..lanes as u32).map(gate)
            })
            .collect();
        let mut expected = slots.clone();
        let tables = garble_all(&mut pair(3, Kernel::in_use()).0, &mut expected, &spread);
        let layer = Layer { gates: &gates, lanes };
        for cut in [0, 1, lanes, lanes + 1, layer.len()] {
            let mut garbler = pair(3, Kernel::in_use()).0;
            let mut wires = slots.clone();
            let mut found = vec![0; tables.len()];
            let (first, second) = found.split_at_mut(cut * BYTES_PER_AND);
            garbler.and_gates(&mut wires, layer, 0..cut, first);
            garbler.and_gates(&mut wires, layer, cut..layer.len(), second);
            assert_eq!((&wires, &found), (&expected, &tables));
        }
    }
}

#[test]
fn a_garbled_and_gate_is_an_and_gate_on_every_kernel() {
    for kernel in Kernel::available() {
        let (mut garbler, mut evaluator) = pair(9, kernel);
        let mut rng = Randomness::seeded(6);
        for count in [1, 3, 64, 65, 200] {
            let gates = layer(8, count);
            let mut zero: Vec<u128> = (0..8 + count).map(|_| random_label(&mut rng)).collect();
            let values: Vec<bool> = (0..8).map(|i| count >> (i % 3) & 1 == 1 || i > 5).collect();
            let delta = garbler.delta().expose();
            let mut labels: Vec<u128> =
                values.iter().zip(&zero).map(|(v, z)| z ^ (u128::from(*v) * delta)).collect();
            labels.resize(zero.len(), 0);
            let tables = garble_all(&mut garbler, &mut zero, &gates);
            let layer = Layer { gates: &gates, lanes: 1 };
            evaluator.and_gates(&mut labels, layer, 0..gates.len(), &tables).unwrap();
            for Op { a, b, out } in gates {
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
    let (mut fast, _) = pair(1 << 90, Kernel::in_use());
    let (mut slow, _) = pair(1 << 90, Kernel::PORTABLE);
    let gates = layer(16, 150);
    let start: Vec<u128> = (0..166).map(|i| u128::from(i as u32) << 100 | 12345).collect();
    let (mut a, mut b) = (start.clone(), start);
    let x = garble_all(&mut fast, &mut a, &gates);
    let y = garble_all(&mut slow, &mut b, &gates);
    assert_eq!((a, x), (b, y));
}

#[test]
fn the_counter_keeps_two_gates_on_the_same_wires_apart() {
    let (mut garbler, _) = pair(3, Kernel::in_use());
    let mut wires = vec![11, 22, 0, 0];
    let tables = garble_all(
        &mut garbler,
        &mut wires,
        &[Op { a: 0, b: 1, out: 2 }, Op { a: 0, b: 1, out: 3 }],
    );
    assert_ne!(wires[2], wires[3]);
    assert_ne!(tables[..32], tables[32..]);
}

#[test]
fn splitting_the_gates_differently_changes_nothing() {
    let gates = layer(16, 130);
    let garble = |parts: usize| {
        let (mut garbler, _) = pair(3, Kernel::in_use());
        let mut wires: Vec<u128> = (0..146).map(|i| i * 0x1234_5678_9abc_def1).collect();
        let mut tables = Vec::new();
        for part in gates.chunks(parts) {
            tables.extend(garble_all(&mut garbler, &mut wires, part));
        }
        (wires, tables)
    };
    assert_eq!(garble(1), garble(130));
    assert_eq!(garble(7), garble(64));
}

#[test]
fn skipping_goes_forward_only_and_lands_where_counting_would() {
    let gates = layer(16, 130);
    let mut all: Vec<u128> = (0..146).map(|i| i * 0x1234_5678_9abc_def1).collect();
    let tables = garble_all(&mut pair(3, Kernel::in_use()).0, &mut all, &gates);
    let skipped = |gates: u64| GateHash::new(3).skip(gates);
    for gate in [0, 1, 63, 64, 65, 128, 129] {
        // In two steps, the second from the middle of a batch.
        let hash = skipped(gate / 2).and_then(|hash| hash.skip(gate.div_ceil(2))).unwrap();
        assert_eq!(hash.next_gate(), gate);
        let mut garbler = Garbler::new(Delta::random(&mut Randomness::seeded(5)), hash);
        let mut wires = all.clone();
        let gate = gate as usize;
        let table = garble_all(&mut garbler, &mut wires, &gates[gate..=gate]);
        assert_eq!(table, tables[gate * BYTES_PER_AND..(gate + 1) * BYTES_PER_AND]);
    }
    // A counter that would wrap around to a used number is rejected.
    assert!(skipped(1 << 63).is_some());
    assert!(skipped((1 << 63) + 1).is_none());
    assert!(skipped(5).and_then(|hash| hash.skip(u64::MAX - 4)).is_none());
}

#[test]
fn a_short_or_long_table_is_a_typed_error() {
    let (_, mut evaluator) = pair(3, Kernel::in_use());
    let mut wires = vec![0; 4];
    let layer = Layer { gates: &[Op { a: 0, b: 1, out: 2 }], lanes: 1 };
    for length in [0, 31, 33, 64] {
        let result = evaluator.and_gates(&mut wires, layer, 0..1, &vec![0; length]);
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
        let (_, mut evaluator) = pair(3, Kernel::in_use());
        let mut wires = labels;
        wires.resize(6, 0);
        let layer = Layer { gates: &[Op { a: 0, b: 1, out: 4 }, Op { a: 2, b: 3, out: 5 }], lanes: 1 };
        prop_assert!(evaluator.and_gates(&mut wires, layer, 0..2, &table).is_ok());
    }
}
