use proptest::prelude::*;

use super::*;
use crate::protocol::pair::{
    Outcome, Setup, assert_forecast, assert_same_shape, assert_wrong_length, run_pair,
};
use crate::protocol::transfers::Source;
use crate::protocol::vole::Sets;

const TINY: Method = Method::Lpn(Sets::TINY);

/// Bits of the payload that comes with membership, and of a later one.
const PAYLOAD: usize = 5;
const LATER: usize = 9;

fn names(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|i| format!("person {i}")).collect()
}

fn payloads(count: usize, bits: usize, factor: u32) -> Vec<u32> {
    (0..count as u32).map(|row| row.wrapping_mul(factor) % (1 << bits)).collect()
}

/// One party's shares, and the places of its own rows if it has the bins.
struct Side {
    places: Vec<Option<u32>>,
    members: Members,
    later: Vec<Bits>,
}

type Runs = Outcome<Result<Side, Error>, Result<Side, Error>>;

fn side(
    session: &mut Session,
    method: Method,
    shape: JoinShape,
    list: &[String],
) -> Result<Side, Error> {
    session.use_transfers(Source::SMALL[1]);
    if session.role == shape.owner() {
        let mut bins = Bins::setup(session, method, shape, list)?;
        let members = bins.receive_members(session, PAYLOAD)?;
        let later = bins.receive_payload(session, LATER)?;
        return Ok(Side { places: bins.places().to_vec(), members, later });
    }
    let mut hint = Hint::setup(session, method, shape, list)?;
    let members = hint.send_members(session, PAYLOAD, &payloads(list.len(), PAYLOAD, 3))?;
    let later = hint.send_payload(session, LATER, &payloads(list.len(), LATER, 101))?;
    Ok(Side { places: Vec::new(), members, later })
}

/// `own` is the list of the bins' owner.
fn run(method: Method, seed: u64, shape: JoinShape, own: &[String], peer: &[String]) -> Runs {
    let list = |role: Role| if role == shape.owner() { own } else { peer };
    run_pair(
        Setup::default().seed(seed),
        |session| side(session, method, shape, list(Role::P1)),
        |session| side(session, method, shape, list(Role::P2)),
    )
}

/// Puts shares of numbers together.
fn opened(one: &[Bits], two: &[Bits], bin: usize) -> u32 {
    let bits = one.iter().zip(two).map(|(one, two)| u32::from(one.get(bin) ^ two.get(bin)));
    bits.enumerate().map(|(place, bit)| bit << place).sum()
}

/// Shares give the ideal function, and messages are those forecast.
fn assert_ideal(method: Method, shape: JoinShape, own: &[String], peer: &[String], runs: Runs) {
    let (p1, p2) = (runs.p1.unwrap(), runs.p2.unwrap());
    let places = if shape.owner() == Role::P1 { &p1.places } else { &p2.places };
    assert_eq!(places.len(), shape.bins());
    let mut rows: Vec<u32> = places.iter().copied().flatten().collect();
    rows.sort_unstable();
    assert!(rows.into_iter().eq(0..own.len() as u32), "every row stands in one bin");

    let first = ideal(places, own, peer, &payloads(peer.len(), PAYLOAD, 3));
    let later = ideal(places, own, peer, &payloads(peer.len(), LATER, 101));
    let is_member = p1.members.bits.xor(&p2.members.bits);
    assert_eq!([p1.members.payload.len(), p1.later.len()], [PAYLOAD, LATER]);
    for bin in 0..shape.bins() {
        assert_eq!(is_member.get(bin), first[bin].is_some(), "bin {bin}");
        if let (Some(first), Some(later)) = (first[bin], later[bin]) {
            assert_eq!(opened(&p1.members.payload, &p2.members.payload, bin), first);
            assert_eq!(opened(&p1.later, &p2.later, bin), later);
        }
    }
    assert_forecast(&runs.transcripts, &runs.costs, |f| {
        f.use_transfers(Source::SMALL[1]);
        forecast_setup(f, method, &shape);
        forecast_members(f, &shape, PAYLOAD);
        forecast_payload(f, &shape, LATER);
    });
}

fn shape(owner: Role, own: usize, peer: usize) -> JoinShape {
    JoinShape::new(owner, own, peer).unwrap().small()
}

/// With sizes as they are, then with lists padded to one size, for either owner.
fn assert_all_forms(own: &[String], peer: &[String], seed: u64) {
    let pad = own.len().max(peer.len()) + 7;
    for owner in Role::BOTH {
        for shape in [shape(owner, own.len(), peer.len()), shape(owner, pad, pad)] {
            assert_ideal(TINY, shape, own, peer, run(TINY, seed, shape, own, peer));
        }
    }
}

#[test]
fn lists_of_every_relation_and_size_give_the_ideal_shares() {
    for (own, peer) in [
        (names(0..0), names(0..0)),
        (names(0..0), names(0..4)),
        (names(0..4), names(0..0)),
        (names(0..1), names(0..1)),
        (names(0..1), names(1..2)),
        (names(0..9), names(9..18)),
        (names(0..12), names(0..12)),
        (names(0..40), names(25..60)),
    ] {
        assert_all_forms(&own, &peer, 1);
    }
}

#[test]
fn a_join_with_the_bins_and_sets_in_use_gives_the_ideal_shares() {
    let (own, peer) = (names(0..60), names(20..150));
    let shape = JoinShape::new(Role::P2, own.len(), peer.len()).unwrap();
    assert_eq!((shape.bins(), shape.target_bits()), (11_060, 78));
    let method = Method::Lpn(Sets::STANDARD);
    assert_ideal(method, shape, &own, &peer, run(method, 2, shape, &own, &peer));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn any_two_lists_give_the_ideal_shares(
        seed: u64,
        own in proptest::collection::hash_set("[a-d]{0,3}", 0..20),
        peer in proptest::collection::hash_set("[a-d]{0,3}", 0..20),
    ) {
        let lists: [Vec<String>; 2] = [own, peer].map(|list| list.into_iter().collect());
        assert_all_forms(&lists[0], &lists[1], seed);
    }
}

#[test]
fn nothing_that_can_be_counted_tells_who_is_common() {
    let lists = [
        (names(0..15), names(100..125)),
        (names(0..15), names(0..25)),
        (names(0..15), (0..25).map(|i| "y".repeat(i)).collect()),
    ];
    for owner in Role::BOTH {
        assert_same_shape(&lists, |(own, peer)| run(TINY, 3, shape(owner, 15, 25), own, peer));
    }
}

#[test]
fn padded_lists_of_different_lengths_look_the_same() {
    let lists = [
        (names(0..0), names(0..0)),
        (names(0..30), names(0..0)),
        (names(0..3), names(0..30)),
        (names(0..30), names(0..30)),
    ];
    assert_same_shape(&lists, |(own, peer)| run(TINY, 4, shape(Role::P1, 30, 30), own, peer));
}

/// Ones among so many bits: within six deviations of half.
fn assert_fair(ones: usize, of: usize, what: &str) {
    let distance = (2 * ones).abs_diff(of) as f64;
    assert!(distance < 6.0 * (of as f64).sqrt(), "{what}: {ones} of {of}");
}

#[test]
fn each_party_s_shares_are_fair_coins_for_members_and_others() {
    let (own, peer) = (names(0..600), names(300..900));
    let shape = shape(Role::P1, 600, 600);
    let runs = run(TINY, 5, shape, &own, &peer);
    let (p1, p2) = (runs.p1.unwrap(), runs.p2.unwrap());
    let is_member = p1.members.bits.xor(&p2.members.bits);
    for side in [&p1, &p2] {
        for common in [false, true] {
            let bins: Vec<usize> =
                (0..shape.bins()).filter(|bin| is_member.get(*bin) == common).collect();
            let vectors = [&side.members.bits].into_iter();
            for bits in vectors.chain(&side.members.payload).chain(&side.later) {
                let ones = bins.iter().filter(|bin| bits.get(**bin)).count();
                assert_fair(ones, bins.len(), "a share");
            }
        }
    }
    // Where nobody is common, what shares of the payload make is random too.
    let garbage: Vec<u32> = (0..shape.bins())
        .filter(|bin| !is_member.get(*bin))
        .map(|bin| opened(&p1.later, &p2.later, bin))
        .collect();
    let ones: u32 = garbage.iter().map(|value| value.count_ones()).sum();
    assert_fair(ones as usize, garbage.len() * LATER, "garbage");
}

/// What an owner who asks for nobody in common receives, hint by hint, with the giver's list.
fn tables(peer: &[String], fields: &[Fields]) -> Vec<Vec<u128>> {
    let shape = shape(Role::P1, 10, peer.len());
    let outcome = run_pair(
        Setup::default().seed(6),
        |session| {
            let mut bins = Bins::setup(session, TINY, shape, &names(0..10)).unwrap();
            let mut next = |fields| {
                bins.hints += 1;
                hint::receive(session, &shape, fields).unwrap().1
            };
            fields.iter().map(|fields| next(*fields)).collect()
        },
        |session| {
            let mut hint = Hint::setup(session, TINY, shape, peer).unwrap();
            for fields in fields {
                let payloads = payloads(peer.len(), fields.payload, 1);
                hint.give(session, *fields, &payloads).unwrap();
            }
        },
    );
    outcome.p1
}

#[test]
fn a_hint_has_no_bit_that_is_not_masked_by_target_or_mask() {
    // A bit of F beyond the fields would reveal members.
    let all = [Fields { target: 69, payload: 3 }, Fields { target: 0, payload: 1 }];
    for peer in [names(100..160), names(0..0)] {
        for (table, fields) in tables(&peer, &all).iter().zip(all) {
            let bits = fields.target + fields.payload;
            assert!(table.iter().all(|block| block >> bits == 0));
            let ones: u32 = table.iter().map(|block| block.count_ones()).sum();
            assert_fair(ones as usize, table.len() * bits, "a table");
        }
    }
    let fields = Fields { target: 70, payload: 6 };
    assert_eq!(fields.programmed(0, 0, u128::MAX) >> 76, 0);
    assert_eq!(fields.read(u128::MAX, 0) >> 76, 0);
}

#[test]
fn every_bin_has_a_target_and_a_mask_of_its_own() {
    let fields = Fields { target: 69, payload: 32 };
    let mut rng = crate::math::Randomness::seeded(7);
    let mut all: Vec<u128> = fields.draw(2_000, &mut rng).to_vec();
    all.extend(fields.draw(2_000, &mut rng).iter());
    let ones: u32 = all.iter().map(|block| block.count_ones()).sum();
    assert_fair(ones as usize, 4_000 * 101, "blocks");
    for part in [u128::from(u64::MAX), u128::from(u32::MAX) << 69] {
        let mut parts: Vec<u128> = all.iter().map(|block| block & part).collect();
        parts.sort_unstable();
        let repeated = parts.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!(repeated < 3, "targets and masks are drawn for each hint and bin");
    }
}

/// Under one output number, hints at the same key would differ only by what was drawn for its bin:
/// two people of one bin would reveal that both are there.
#[test]
fn a_later_hint_is_under_another_number_of_the_function() {
    let (people, shape) = (names(0..8), shape(Role::P1, 8, 8));
    let later = payloads(8, LATER, 101);
    for repeats in [false, true] {
        let outcome = run_pair(
            Setup::default().seed(8),
            |session| side(session, TINY, shape, &people).unwrap(),
            |session| {
                session.use_transfers(Source::SMALL[1]);
                let mut hint = Hint::setup(session, TINY, shape, &people).unwrap();
                hint.send_members(session, PAYLOAD, &payloads(8, PAYLOAD, 3)).unwrap();
                assert_eq!(hint.hints, 1);
                hint.hints -= u64::from(repeats);
                hint.send_payload(session, LATER, &later).unwrap()
            },
        );
        let places = outcome.p1.places.iter().enumerate();
        let right = places.filter_map(|(bin, row)| row.map(|row| (bin, row as usize)));
        let right =
            right.filter(|(bin, row)| opened(&outcome.p1.later, &outcome.p2, *bin) == later[*row]);
        assert_eq!(right.count() == 8, !repeats);
    }
}

#[test]
fn a_target_has_enough_bits_for_all_bins_and_fits_beside_a_payload() {
    for (identifiers, bits) in [(1, 78), (8192, 78), (1_000_000, 85), (MOST_IDENTIFIERS, 94)] {
        let shape = JoinShape::new(Role::P1, identifiers, 1).unwrap();
        assert_eq!(shape.target_bits(), bits);
        assert!(shape.bins() <= 1 << (bits - 64) && shape.bins() > 1 << (bits - 65));
        assert!(bits + MOST_PAYLOAD_BITS <= 128 && shape.bins() <= okvs::MOST_KEYS);
    }
    assert_eq!([0, 1, 2, 3].map(failures), [3, 3, 4, 4]);
}

#[test]
fn one_s_own_mistakes_are_refused_before_anything_is_sent() {
    let shape = shape(Role::P1, 3, 3);
    let owner = |list: Vec<&'static str>| {
        let outcome = run_pair(
            Setup::default(),
            move |session| Bins::setup(session, TINY, shape, &list).err().unwrap(),
            |_| (),
        );
        assert_eq!(outcome.transcripts.p1, []);
        outcome.p1
    };
    assert!(owner(vec!["a", "b", "a"]).says("Internal", "rows 1 and 3 hold the same"));
    assert!(owner(vec!["a"; 4]).says("Internal", "4 identifiers where there may be 3"));
    let giver = |list: Vec<&'static str>| {
        let outcome = run_pair(
            Setup::default(),
            |_| (),
            move |session| Hint::setup(session, TINY, shape, &list).err().unwrap(),
        );
        assert_eq!(outcome.transcripts.p2, []);
        outcome.p2
    };
    assert!(giver(vec!["b", "b"]).says("Internal", "rows 1 and 2 hold the same"));
    assert!(giver(vec!["a"; 4]).says("Internal", "4 identifiers where there may be 3"));
    let turned = run_pair(
        Setup::default(),
        |session| Hint::setup(session, TINY, shape, &["a"]).err(),
        |session| Bins::setup(session, TINY, shape, &["a"]).err(),
    );
    assert!(turned.p1.is_some_and(|e| e.says("Internal", "belong to p1")));
    assert!(turned.p2.is_some_and(|e| e.says("Internal", "belong to p1")));
    let beyond = JoinShape::new(Role::P1, 1, MOST_IDENTIFIERS + 1);
    assert!(beyond.is_err_and(|e| e.says("Internal", "identifiers where there may be")));
}

#[test]
fn payloads_that_do_not_fit_are_refused() {
    let fields = |bits| Fields::new(70, bits).unwrap();
    assert!(Fields::new(70, 33).is_err_and(|e| e.says("Internal", "more than 32 bits")));
    assert!(fields(32).check_payloads(&[u32::MAX, 0], 2).is_ok());
    assert!(fields(0).check_payloads(&[], 2).is_ok());
    assert!(fields(0).check_payloads(&[0, 0], 2).is_ok());
    for (bits, payloads) in [(0, vec![0, 1]), (5, vec![32, 0]), (31, vec![0, 1 << 31])] {
        let refused = fields(bits).check_payloads(&payloads, 2);
        assert!(refused.is_err_and(|e| e.says("Internal", &format!("more than {bits} bits"))));
    }
    for payloads in [vec![], vec![1], vec![1; 3]] {
        let refused = fields(5).check_payloads(&payloads, 2);
        assert!(refused.is_err_and(|e| e.says("Internal", "payloads for 2 identifiers")));
    }
}

#[test]
fn a_hint_of_another_length_is_a_typed_error() {
    let shape = shape(Role::P1, 2, 2);
    for (seed, columns, due) in [(15, None, 16), (16, Some(7), 72 * 10)] {
        let outcome = run_pair(
            Setup::default(),
            |session| {
                let mut bins = Bins::setup(session, TINY, shape, &["a", "b"]).unwrap();
                bins.receive_members(session, PAYLOAD).unwrap_err()
            },
            |session| {
                Hint::setup(session, TINY, shape, &["a"]).unwrap();
                session.channel.send_bytes(hint::SEED, &vec![0; seed]).unwrap();
                if let Some(columns) = columns {
                    session.channel.send_bytes(hint::STORE, &vec![0; columns]).unwrap();
                }
            },
        );
        assert_wrong_length(&outcome.p1, due, columns.unwrap_or(seed));
    }
}
