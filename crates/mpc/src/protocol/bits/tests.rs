use crate::protocol::yao;
use proptest::prelude::*;

use super::*;
use crate::circuit::{Bit, Builder, Circuit, Gates, Program, Repeat, Source as _, gallery};
use crate::math::Randomness;
use crate::protocol::pair::{
    Both, Outcome, Setup, assert_forecast, assert_same_shape, assert_wrong_length, run_pair,
};
use crate::protocol::shares::WordShares;
use crate::protocol::transfers::Source;

fn random(rng: &mut Randomness, length: usize) -> Bits {
    (0..length).map(|_| rng.array::<1>()[0] & 1 == 1).collect()
}

/// Random values, and shares of them.
fn shared(rng: &mut Randomness, vectors: usize, length: usize) -> (Vec<Bits>, Both<Vec<Bits>>) {
    let mut draw = || (0..vectors).map(|_| random(rng, length)).collect::<Vec<_>>();
    let (values, p1) = (draw(), draw());
    let p2 = values.iter().zip(&p1).map(|(value, share)| value.xor(share)).collect();
    (values, Both { p1, p2 })
}

fn of<'a>(both: &'a Both<Vec<Bits>>, session: &Session) -> &'a [Bits] {
    if session.role == Role::P1 { &both.p1 } else { &both.p2 }
}

fn opened(p1: &[Bits], p2: &[Bits]) -> Vec<Bits> {
    assert_eq!(p1.len(), p2.len());
    p1.iter().zip(p2).map(|(a, b)| a.xor(b)).collect()
}

fn pair<T: Send>(party: impl Fn(&mut Session) -> T + Copy + Send) -> Outcome<T, T> {
    run_pair(Setup::default().seed(3), party, party)
}

/// A random circuit with inputs of both parties.
fn random_circuit(gates: usize, rng: &mut Randomness) -> Circuit {
    let mut g = Builder::new();
    let mut bits = vec![Bit::FALSE];
    bits.extend(g.input(Role::P1, "a", 5));
    bits.extend(g.input(Role::P2, "b", 4));
    for _ in 0..gates {
        let [x, y, kind, _] = rng.array::<4>().map(usize::from);
        let pick = |x: usize| bits[x % bits.len()].negate_if(x >= 128);
        let (a, b) = (pick(x), pick(y));
        bits.push(if kind % 2 == 0 { g.and(a, b) } else { g.xor(a, b) });
    }
    let outputs: Vec<Bit> = bits.iter().rev().take(9).map(|bit| !*bit).collect();
    g.output("out", &outputs);
    g.output("first", &bits[..2]);
    g.finish()
}

#[test]
fn vectors_are_joined_and_parted_at_any_bit() {
    let rng = &mut Randomness::seeded(1);
    for lengths in [[0, 1, 63], [64, 64, 1], [65, 0, 200], [127, 3, 62]] {
        let vectors: Vec<Bits> = lengths.iter().map(|length| random(rng, *length)).collect();
        let all = Bits::concat(&vectors);
        let bools: Vec<bool> = vectors.iter().flat_map(Bits::to_bools).collect();
        assert_eq!(all.to_bools(), bools);
        for size in [1, 7, 64, 100] {
            assert_eq!(Bits::concat(&all.parts(size).collect::<Vec<_>>()), all);
        }
        assert_eq!(Bits::from_bytes(&all.to_bytes(), all.len()), all);
        assert_eq!(bools.into_iter().collect::<Bits>(), all);
    }
    assert_eq!(format!("{:?}", Bits::repeat(true, 9)), "Bits(9 hidden)");
}

#[test]
fn triples_are_products_of_uniform_bits() {
    let outcome = pair(|session| {
        let Triples { a, b, c } = Triples::make(session, 20_000).unwrap();
        [a, b, c]
    });
    let [a, b, c] = [0, 1, 2].map(|i| outcome.p1[i].xor(&outcome.p2[i]));
    assert_eq!(c, a.and_with(&b));
    for bits in outcome.p1.iter().chain(&outcome.p2) {
        let ones = bits.to_bools().into_iter().filter(|bit| *bit).count();
        assert!(ones.abs_diff(10_000) < 360, "{ones}");
    }
}

#[test]
fn products_are_ideal_on_every_source_as_forecast() {
    let rng = &mut Randomness::seeded(2);
    for source in Source::SMALL {
        for length in [0, 1, 64, 1000, 17_000] {
            let (values, shares) = shared(rng, 2, length);
            let outcome = pair(|session| {
                session.use_transfers(source);
                let shares = of(&shares, session);
                let product = and(session, &shares[0], &shares[1]).unwrap();
                let negated = not(session.role, &product);
                (product.clone(), open(session, &negated, Reveal::P2).unwrap())
            });
            let due = values[0].and_with(&values[1]);
            assert_eq!(outcome.p1.0.xor(&outcome.p2.0), due, "{source:?}");
            assert_eq!(outcome.p1.1, None);
            let negated: Vec<bool> = due.to_bools().into_iter().map(|bit| !bit).collect();
            assert_eq!(outcome.p2.1, Some(negated));
            assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
                f.use_transfers(source);
                forecast_and(f, length);
                forecast_open(f, length, Reveal::P2);
            });
        }
    }
}

#[test]
fn random_circuits_are_the_same_garbled_on_bits_and_in_the_plain() {
    let rng = &mut Randomness::seeded(4);
    for round in 0..8 {
        let circuit = random_circuit(12 * round, rng);
        let (program, garbled) = (Program::new(&circuit), SharedInputs::new(&circuit));
        let copies = [1, 2, 64, 70][round % 4];
        let (values, shares) = shared(rng, 9, copies);
        let garbler = Role::BOTH[round % 2];
        let outcome = pair(|session| {
            let shares = of(&shares, session);
            let on_bits = run(session, &program, shares, copies).unwrap();
            let first: Bits = shares.iter().map(|wire| wire.get(0)).collect();
            let again = garbled.run(session, garbler, &first, Reveal::XorShares).unwrap();
            (on_bits, again.unwrap())
        });
        let due = ideal_run(&program, &values, copies).unwrap();
        assert_eq!(opened(&outcome.p1.0, &outcome.p2.0), due);
        let first: Vec<bool> = due.iter().map(|wire| wire.get(0)).collect();
        assert_eq!(outcome.p1.1.xor(&outcome.p2.1).to_bools(), first);
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
            forecast_run(f, &program, copies);
            yao::forecast(f, garbler, garbled.program(), Reveal::XorShares);
        });
    }
}

#[test]
fn a_repeated_program_runs_on_bits_as_well() {
    let program = Program::new(&gallery::comparison(6));
    let repeated = Repeat::new(&program, 9);
    let (values, shares) = shared(&mut Randomness::seeded(5), repeated.input_bits(), 3);
    let outcome = pair(|session| run(session, &repeated, of(&shares, session), 3).unwrap());
    let due = ideal_run(&repeated, &values, 3).unwrap();
    assert_eq!(opened(&outcome.p1, &outcome.p2), due);
}

#[test]
fn bits_become_words_of_every_ring_as_forecast() {
    let rng = &mut Randomness::seeded(6);
    for (length, ring_bits) in [(0, 8), (1, 1), (300, 20), (1000, 64), (66_000, 33)] {
        let (values, shares) = shared(rng, 1, length);
        let outcome =
            pair(|session| to_words(session, &of(&shares, session)[0], ring_bits).unwrap());
        let sum = outcome.p1.plus(&outcome.p2).unwrap();
        let due: Vec<u64> = values[0].to_bools().into_iter().map(u64::from).collect();
        assert_eq!(sum.words(), due, "{length} bits, {ring_bits}");
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
            forecast_to_words(f, length, ring_bits).unwrap();
        });
    }
    let outcome = pair(|session| to_words(session, &Bits::repeat(true, 3), 65).is_err());
    assert!(outcome.p1 && outcome.p2 && outcome.transcripts.p1.is_empty());
    assert!(WordShares::new(65, Vec::new()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn signs_of_words_are_found_and_words_are_selected_by_bits(
        ring_bits in 1u32..=64, length in 0usize..40, seed in 0u64..1000,
    ) {
        let rng = &mut Randomness::seeded(seed);
        let mut words = |length| {
            let draw = (0..length).map(|_| rng.next_u64()).collect();
            WordShares::new(ring_bits, draw).unwrap()
        };
        let shares = Both { p1: words(length), p2: words(length) };
        let value = shares.p1.plus(&shares.p2).unwrap();
        let outcome = pair(|session| {
            let own = if session.role == Role::P1 { &shares.p1 } else { &shares.p2 };
            let negative = negative(session, own).unwrap();
            let selected = select_words(session, &negative, own).unwrap();
            (negative, selected)
        });
        let negative = outcome.p1.0.xor(&outcome.p2.0);
        let due: Bits = value.words().iter().map(|w| w >> (ring_bits - 1) & 1 == 1).collect();
        prop_assert_eq!(&negative, &due);
        let selected = outcome.p1.1.plus(&outcome.p2.1).unwrap();
        for (place, word) in selected.words().iter().enumerate() {
            let due = if negative.get(place) { value.words()[place] } else { 0 };
            prop_assert_eq!(*word, due);
        }
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
            forecast_negative(f, length, ring_bits);
            forecast_select_words(f, length, ring_bits).unwrap();
        });
    }

    #[test]
    fn strings_are_equal_where_all_their_bits_are(
        width in 0usize..9, length in 0usize..40, seed in 0u64..1000,
    ) {
        let rng = &mut Randomness::seeded(seed);
        let (first, one) = shared(rng, width, length);
        let (mut second, mut two) = shared(rng, width, length);
        // Every other string is made equal: random strings are equal only if they are short.
        for (bit, value) in second.iter_mut().enumerate() {
            let even: Bits = (0..length).map(|place| place % 2 == 0).collect();
            let change = value.xor(&first[bit]).and_with(&even);
            *value = value.xor(&change);
            two.p2[bit] = two.p2[bit].xor(&change);
        }
        let outcome = pair(|session| {
            equal(session, of(&one, session), of(&two, session)).unwrap()
        });
        let same = |place: usize| (0..width).all(|b| first[b].get(place) == second[b].get(place));
        let length = if width == 0 { 0 } else { length };
        let due: Bits = (0..length).map(same).collect();
        prop_assert_eq!(outcome.p1.xor(&outcome.p2), due);
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| forecast_all(f, width, length));
    }

    #[test]
    fn unit_vectors_have_their_one_at_the_index(
        places in 1usize..20, length in 0usize..40, gated: bool, seed in 0u64..1000,
    ) {
        let rng = &mut Randomness::seeded(seed);
        let levels = index_bits(places);
        let (index, shares) = shared(rng, levels, length);
        let (gate, gates) = shared(rng, 1, length);
        let outcome = pair(|session| {
            let gate = gated.then(|| &of(&gates, session)[0]);
            unit_vector(session, of(&shares, session), gate, places, length).unwrap()
        });
        let found = opened(&outcome.p1, &outcome.p2);
        prop_assert_eq!(found.len(), places);
        for at in 0..length {
            let number = (0..levels).fold(0, |n, bit| n | usize::from(index[bit].get(at)) << bit);
            let open = !gated || gate[0].get(at);
            let ones: Vec<usize> = (0..places).filter(|place| found[*place].get(at)).collect();
            match (open, number < places) {
                (false, _) => prop_assert!(ones.is_empty()),
                (true, true) => prop_assert_eq!(ones, vec![number]),
                (true, false) => prop_assert_eq!(ones.len(), 1),
            }
        }
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
            forecast_unit_vector(f, places, gated, length);
        });
    }
}

#[test]
fn the_transcript_does_not_depend_on_bits() {
    assert_same_shape(&[1, 2, 3], |seed| {
        let (_, shares) = shared(&mut Randomness::seeded(*seed), 3, 50);
        pair(|session| {
            let shares = of(&shares, session);
            let units = unit_vector(session, shares, None, 8, 50).unwrap();
            to_words(session, &units[3], 12).unwrap();
        })
    });
}

#[test]
fn vectors_that_do_not_fit_are_refused_before_anything_is_sent() {
    let program = Program::new(&gallery::comparison(2));
    let outcome = pair(|session| {
        let (short, long) = (Bits::repeat(true, 3), Bits::repeat(true, 4));
        assert!(and(session, &short, &long).is_err_and(|e| e.says("Internal", "a vector of")));
        let index = [short.clone(), long];
        assert!(
            unit_vector(session, &index, None, 4, 3)
                .is_err_and(|e| e.says("Internal", "a vector of 4 bits where the others have 3"))
        );
        assert!(
            unit_vector(session, &index, None, 5, 3)
                .is_err_and(|e| e.says("Internal", "an index of 2 bits where 3 number"))
        );
        assert!(run(session, &program, &index, 3).is_err_and(|e| e.says("Internal", "input bits")));
    });
    assert!(outcome.transcripts.p1.is_empty());
}

#[test]
fn openings_of_another_length_and_a_peer_that_stops_are_typed_errors() {
    let bits = Bits::repeat(true, 9);
    let outcome = run_pair(
        Setup::default(),
        |session| and(session, &bits, &bits).unwrap_err(),
        |session| {
            Triples::make(session, 9).unwrap();
            session.channel.send_bytes(OPENED, &[0; 5]).unwrap();
            // A party that closes at once could be gone before the other has sent.
            session.channel.receive_bytes(OPENED, 3).unwrap();
        },
    );
    assert_wrong_length(&outcome.p1, 3, 5);
    let outcome = run_pair(
        Setup::default(),
        |session| and(session, &bits, &bits).unwrap_err(),
        |session| drop(Triples::make(session, 9).unwrap()),
    );
    assert!(matches!(outcome.p1.blame(), crate::net::Blame::Connection(_)), "{:?}", outcome.p1);
}

#[test]
fn slices_of_numbers_have_one_bit_of_each() {
    let numbers: Vec<u128> = (1..131u128).map(|i| i.wrapping_mul(u128::MAX / 7 + 12345)).collect();
    for count in [0, 1, 64, 130] {
        let slices = Bits::slices(&numbers[..count], 60..128);
        assert_eq!(slices.len(), 68);
        for (place, bits) in (60..).zip(&slices) {
            let due = numbers[..count].iter().map(|number| number >> place & 1 == 1);
            assert_eq!(*bits, due.collect::<Bits>());
        }
    }
}
