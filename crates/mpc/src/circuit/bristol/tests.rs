use proptest::prelude::*;

use super::*;
use crate::circuit::bit::Gates;
use crate::circuit::builder::Builder;
use crate::circuit::evaluate::evaluate_source;
use crate::circuit::program::{Program, Repeat};
use crate::circuit::stream::Generated;
use crate::circuit::{aes128, gallery};
use crate::role::Role;

const ADDER: &str = "5 8
2 2 1
1 2

2 1 0 2 3 XOR
2 1 0 2 4 AND
1 1 1 5 INV
2 1 3 5 6 XOR
2 1 4 5 7 AND
";

fn error_of(text: &str) -> (usize, String) {
    let error = read(text, Limits::default()).unwrap_err();
    assert!(error.says("Input", "; correct the circuit file"), "{error}");
    let message = error.to_string();
    let (line, what) = message.strip_prefix("line ").unwrap().split_once(": ").unwrap();
    (line.parse().unwrap(), what.split("; correct").next().unwrap().to_owned())
}

/// A random circuit: for each gate a kind and two earlier wires, with negations.
fn random_circuit() -> impl Strategy<Value = Circuit> {
    let gate = (any::<bool>(), any::<u16>(), any::<u16>(), any::<(bool, bool)>());
    let outputs = prop::collection::vec((any::<u16>(), any::<bool>()), 1..12);
    (1..9usize, 1..9usize, prop::collection::vec(gate, 0..200), outputs).prop_map(
        |(first, second, gates, outputs)| {
            let mut builder = Builder::new();
            let mut bits = vec![Bit::FALSE];
            bits.extend(builder.input(Role::P1, "a", first));
            bits.extend(builder.input(Role::P2, "b", second));
            for (is_and, a, b, (na, nb)) in gates {
                let pick = |i: u16| bits[i as usize % bits.len()];
                let (a, b) = (pick(a).negate_if(na), pick(b).negate_if(nb));
                bits.push(if is_and { builder.and(a, b) } else { builder.xor(a, b) });
            }
            let outputs: Vec<Bit> = outputs
                .iter()
                .map(|(i, negate)| bits[*i as usize % bits.len()].negate_if(*negate))
                .collect();
            builder.output("out", &outputs);
            builder.finish()
        },
    )
}

fn inputs_for(circuit: &Circuit, seed: u64) -> Vec<bool> {
    let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..circuit.input_bits()).map(|i| mixed >> (i % 61) & 1 == 1).collect()
}

proptest! {
    #[test]
    fn a_written_circuit_reads_back_and_computes_the_same(
        circuit in random_circuit(), seed in any::<u64>()
    ) {
        let text = write(&circuit).unwrap();
        let again = read(&text, Limits::default()).unwrap();
        let inputs = inputs_for(&circuit, seed);
        prop_assert_eq!(again.evaluate(&inputs).unwrap(), circuit.evaluate(&inputs).unwrap());
        prop_assert!(again.counts().and <= circuit.counts().and);
    }

    #[test]
    fn a_scheduled_circuit_computes_the_same_alone_and_repeated(
        circuit in random_circuit(), seed in any::<u64>()
    ) {
        let program = Program::new(&circuit);
        let runs: Vec<Vec<bool>> = (0..70).map(|i| inputs_for(&circuit, seed ^ i)).collect();
        let expected: Vec<Vec<bool>> = runs.iter().map(|r| circuit.evaluate(r).unwrap()).collect();
        prop_assert_eq!(&evaluate_source(&program, &runs[0]).unwrap(), &expected[0]);
        let repeated = evaluate_source(&Repeat::new(&program, 70), &runs.concat()).unwrap();
        prop_assert_eq!(repeated, expected.concat());
    }

    #[test]
    fn a_stream_computes_the_same_with_windows_and_scopes_of_any_size(
        circuit in random_circuit(), seed in any::<u64>(), window in 1..60usize
    ) {
        let ports = [(Role::P1, "a", circuit.inputs()[0].width), (Role::P2, "b", circuit.inputs()[1].width)];
        let width = circuit.output_bits().len();
        // Twice in scopes, so that the second copy uses slots that the first freed.
        let source = Generated::new(&ports, &[("first", width), ("second", width)], |g, x| {
            let inputs = x.concat();
            let first = g.scope(|g| circuit.embed(g, &inputs));
            g.scope(|g| circuit.embed(g, &inputs));
            vec![first, g.scope(|g| circuit.embed(g, &inputs))]
        })
        .window(window);
        let inputs = inputs_for(&circuit, seed);
        let expected = circuit.evaluate(&inputs).unwrap();
        let found = evaluate_source(&source, &inputs).unwrap();
        prop_assert_eq!(found, [expected.clone(), expected].concat());
    }

    #[test]
    fn garbage_is_an_error_and_never_a_panic(text in "[0-9 \nXORANDINVEQW-]{0,300}") {
        let _ = read(&text, Limits::default());
    }

    #[test]
    fn a_damaged_file_is_read_or_refused(position in 0..90usize, with in "[0-9 \nXA]") {
        let mut text = ADDER.to_owned();
        let position = position.min(text.len() - 1);
        text.replace_range(position..=position, &with);
        let _ = read(&text, Limits::default());
    }
}

#[test]
fn a_small_file_computes_what_it_says() {
    let circuit = read(ADDER, Limits::default()).unwrap();
    for bits in 0..8 {
        let [a, b, c] = [0, 1, 2].map(|i| bits >> i & 1 == 1);
        let expected = vec![a ^ c ^ !b, a & c & !b];
        assert_eq!(circuit.evaluate(&[a, b, c]).unwrap(), expected);
    }
    assert_eq!(circuit.inputs()[0].owner, Some(Role::P1));
    assert_eq!(circuit.inputs()[1].owner, Some(Role::P2));
}

#[test]
fn errors_name_the_line() {
    let swap = |from: &str, to: &str| error_of(&ADDER.replace(from, to));
    assert_eq!(swap("2 1 0 2 4 AND", "2 1 0 2 4 NAND"), (6, "unknown gate 'NAND'".into()));
    assert_eq!(swap("0 2 4 AND", "0 6 4 AND"), (6, "wire 6 is used before it is set".into()));
    assert_eq!(swap("0 2 4 AND", "0 2 3 AND"), (6, "wire 3 is set twice".into()));
    assert_eq!(swap("0 2 4 AND", "0 9 4 AND"), (6, "there is no wire 9".into()));
    assert_eq!(swap("0 2 4 AND", "0 x 4 AND"), (6, "expected a number, found 'x'".into()));
    assert_eq!(swap("1 1 1 5 INV", "2 1 1 5 INV").0, 7);
    assert_eq!(swap("5 8", "5 9").0, 1);
    assert_eq!(swap("2 2 1\n", "3 2 1\n").0, 2);
    assert_eq!(swap("1 2\n", "1 0\n").0, 3);
    assert_eq!(swap("5 8", "6 9"), (9, "the text ends after 5 of 6 gates".into()));
    assert_eq!(swap("5 8", "4 7").0, 9);
    assert_eq!(error_of("").0, 1);
}

#[test]
fn what_other_formats_have_is_named_when_it_is_refused() {
    let mand = ADDER.replace("2 1 0 2 4 AND", "4 2 0 1 2 3 4 5 MAND");
    let (line, what) = error_of(&mand);
    assert_eq!(line, 6);
    assert!(what.starts_with("a gate MAND, which does several ANDs at once, is not supported"));
    assert_eq!(
        error_of(&ADDER.replace("0 2 4 AND", "0 2 4 5 6 AND")).1,
        "wrong numbers for a gate AND"
    );

    // The same circuit in the format before this one, with three numbers in its second line.
    for (old, remedy) in [
        ("5 8\n2 1 2\n\n2 1 0 2 3 XOR\n", "'2 2 1' and '1 2' in its place"),
        ("5 8\n128 128 129\n2 1 0 2 3 XOR\n", "'2 128 128' and '1 129' in its place"),
        ("5 8\n3 0 2\n2 1 0 2 3 XOR\n", "'1 3' and '1 2' in its place"),
    ] {
        let (line, what) = error_of(old);
        assert_eq!(line, 2);
        assert!(
            what.starts_with("this is the old Bristol format") && what.ends_with(remedy),
            "{what}"
        );
    }
}

#[test]
fn gates_are_counted_as_they_stand_in_the_file() {
    // The second AND is the first again, one XOR is of a wire with itself, and nothing uses EQW.
    let text = "7 9\n2 1 1\n1 2\n2 1 0 1 2 AND\n2 1 1 0 3 AND\n2 1 2 2 4 XOR\n1 1 1 5 EQ\n\
                1 1 0 6 EQW\n1 1 3 7 INV\n2 1 4 5 8 XOR\n";
    let contents = read_from(text.as_bytes(), None, Limits::default()).unwrap();
    assert_eq!(contents.lines, GateLines { and: 2, xor: 2, inv: 1, eq: 1, eqw: 1 });
    assert_eq!(contents.circuit.counts().and, 1, "what runs is folded");
    assert_eq!(contents.circuit.evaluate(&[true, true]).unwrap(), [false, true]);
}

#[test]
fn equal_gates_become_one_wherever_they_are_near_and_all_copies_compute_the_same() {
    // Every AND is repeated in the file, after `between` gates that are all different.
    for between in [1usize, 100, 40_000] {
        let (inputs, mut lines) = (400, Vec::new());
        let pairs: Vec<_> = (0..inputs).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
        let first = [&pairs[..between], &pairs[..between]].concat();
        for (index, (a, b)) in first.iter().enumerate() {
            lines.push(format!("2 1 {a} {b} {} AND\n", inputs + index));
        }
        let header = format!("{0} {1}\n1 {inputs}\n1 {0}\n", lines.len(), inputs + lines.len());
        let circuit = read(&(header + &lines.concat()), Limits::default()).unwrap();
        let ands = circuit.counts().and;
        assert!((between..=2 * between).contains(&ands), "{ands} of {between}");
        assert!(between > 100 || ands == between, "{ands} of {between}");
        let bits: Vec<bool> = (0..inputs).map(|i| i % 3 == 0 || i % 7 == 0).collect();
        let values = circuit.evaluate(&bits).unwrap();
        assert!(values.iter().zip(&first).all(|(value, (a, b))| *value == (bits[*a] & bits[*b])));
        let program = evaluate_source(&Program::from(circuit), &bits).unwrap();
        assert_eq!(program, values);
    }
}

#[test]
fn a_text_that_arrives_in_pieces_is_read_as_one_at_once() {
    let text = write(&aes128::circuit()).unwrap();
    let pieces = std::io::BufReader::with_capacity(7, text.as_bytes());
    let contents = read_from(pieces, None, Limits::default()).unwrap();
    assert_eq!(contents.circuit, read(&text, Limits::default()).unwrap());
    // Without a length, the announced number alone allocates no memory, and the error is found at
    // the end.
    let short = read_from(&b"60000000 60000001\n1 1\n1 1\n"[..], None, Limits::default());
    assert!(short.unwrap_err().says("Input", "line 3: "));
    let endless = std::io::Read::chain(&b"5 8\n"[..], std::io::repeat(b' '));
    let endless = read_from(std::io::BufReader::new(endless), None, Limits::default());
    assert!(endless.unwrap_err().says("Input", "line 2: "));
}

#[test]
fn limits_are_checked_before_memory_is_taken() {
    let text = "99999999999 99999999999\n1 1\n1 1\n";
    assert!(matches!(read(text, Limits::default()), Err(Error::CircuitTooLarge { line: 1, .. })));
    let text = "1 4294967296\n1 4294967295\n1 1\n";
    assert!(matches!(read(text, Limits::default()), Err(Error::CircuitTooLarge { line: 2, .. })));
    let text = "60000000 60000001\n1 1\n1 1\n";
    assert_eq!(error_of(text).0, 1);
}

#[test]
fn equal_subexpressions_become_one_gate_and_dead_gates_go() {
    let mut builder = Builder::new();
    let a = builder.input(Role::P1, "a", 2);
    let first = builder.and(a[0], a[1]);
    let second = builder.and(a[1], a[0]);
    builder.xor(a[0], a[1]);
    builder.output("both", &[first, second]);
    let circuit = builder.finish();
    assert_eq!(first, second);
    assert_eq!(circuit.gates().len(), 1);
    assert_eq!(circuit.counts().and_depth, 1);
}

#[test]
fn a_stored_program_reuses_slots_of_dead_wires() {
    let circuit = aes128::circuit();
    let program = Program::new(&circuit);
    assert!(program.slots() < circuit.gates().len() / 8, "{} slots", program.slots());
    assert_eq!(program.and_count(), 6400);
}

#[test]
fn a_stream_computes_what_the_stored_circuit_does_with_few_slots() {
    struct Widest(usize, usize);
    impl crate::circuit::Consumer for Widest {
        fn step(&mut self, slots: usize, step: crate::circuit::Step<'_>) -> bool {
            self.0 = self.0.max(slots);
            self.1 += step.ands.len();
            true
        }
    }
    // Twenty encryptions in a row: 700,000 gates.
    let source = Generated::new(
        &[(Role::P1, "key", 128), (Role::P2, "block", 128)],
        &[("ciphertext", 128)],
        |g, x| {
            let rounds = (0..20)
                .fold(x[1].clone(), |block, _| g.scope(|g| aes128::encrypt(g, &x[0], &block)));
            vec![rounds]
        },
    );
    let stored = aes128::circuit();
    let key: Vec<bool> = (0..128).map(|i| i % 3 == 0).collect();
    let block: Vec<bool> = (0..128).map(|i| i % 5 == 0).collect();
    let expected = (0..20)
        .fold(block.clone(), |block, _| stored.evaluate(&[key.clone(), block].concat()).unwrap());
    assert_eq!(evaluate_source(&source, &[key, block].concat()).unwrap(), expected);
    let mut widest = Widest(0, 0);
    crate::circuit::Source::stream(&source, &mut widest);
    assert_eq!(widest.1, 128_000);
    assert!(widest.0 < 3 * crate::circuit::schedule::STREAM_WINDOW, "{} slots", widest.0);
}

#[test]
fn every_exported_circuit_has_a_bristol_form_of_the_same_size() {
    for (name, circuit) in gallery::exported() {
        let again = read(&write(&circuit).unwrap(), Limits::default()).unwrap();
        assert_eq!(again.counts().and, circuit.counts().and, "{name}");
    }
}
