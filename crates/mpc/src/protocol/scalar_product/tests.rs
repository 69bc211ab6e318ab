//! Ideal = real, what single messages and shares reveal, and invalid messages.

use crate::role::Role;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use num_bigint::{BigInt, BigUint};
use num_traits::One;
use proptest::prelude::*;

use super::stream::{FRESH, RETURNED};
use super::*;
use crate::crypto::paillier::{Backend, PublicKey, SecretKey, Tuning};
use crate::math::Randomness;
use crate::net::{AbortReason, Direction, Limits};
use crate::protocol::Session;
use crate::protocol::pair::{Outcome, Setup, assert_same_shape, assert_wrong_length, run_pair};
use crate::protocol::shares::{IntegerShare, WordShares};

const BITS: usize = 512;
const TUNING: Tuning = Tuning { backend: Backend::Portable, table_bytes: 1 << 20 };

/// One small key for all tests.
fn key() -> &'static SecretKey {
    static KEY: OnceLock<SecretKey> = OnceLock::new();
    KEY.get_or_init(|| small_key(Backend::detect()))
}

fn small_key(backend: Backend) -> SecretKey {
    let tuning = Tuning { backend, ..TUNING };
    SecretKey::generate_for_tests(BITS, tuning, &mut Randomness::seeded(1)).unwrap()
}

fn expected() -> Key<'static> {
    Key::Peer(ExpectedKey::for_tests(BITS, TUNING))
}

fn table(records: usize, cells: [usize; 2]) -> TableShape {
    TableShape { records, cells, sigma: 64, bits: 40 }
}

type Words = Result<WordShares, Error>;

fn run_with(
    seed: u64,
    key: &SecretKey,
    shape: TableShape,
    inputs: [&[u32]; 2],
) -> Outcome<Words, Words> {
    let own = |role| if shape.encrypting_role() == role { Key::Own(key) } else { expected() };
    let party = |session: &mut Session| {
        let (role, own) = (session.role, own(session.role));
        let outcome = count_table(session, own, &shape, inputs[role as usize], &|_| ());
        session.conclude(outcome)
    };
    run_pair(Setup::default().seed(seed), party, party)
}

fn run_table(seed: u64, shape: TableShape, inputs: [&[u32]; 2]) -> Outcome<Words, Words> {
    run_with(seed, key(), shape, inputs)
}

fn opened(outcome: Outcome<Words, Words>) -> Vec<u64> {
    outcome.p1.unwrap().plus(&outcome.p2.unwrap()).unwrap().words().to_vec()
}

fn assert_ideal(seed: u64, shape: TableShape, p1: &[u32], p2: &[u32]) {
    let ideal = ideal_table(&shape, p1, p2).unwrap();
    assert_eq!(opened(run_table(seed, shape, [p1, p2])), ideal, "{shape:?}");
}

fn run_product(
    seed: u64,
    encrypting: Role,
    shape: VectorShape,
    inputs: [&[i64]; 2],
) -> Outcome<Result<IntegerShare, Error>, Result<IntegerShare, Error>> {
    let own = |role| if encrypting == role { Key::Own(key()) } else { expected() };
    run_pair(
        Setup::default().seed(seed),
        |session| product(session, own(Role::P1), &shape, inputs[0], &|_| ()),
        |session| product(session, own(Role::P2), &shape, inputs[1], &|_| ()),
    )
}

fn assert_ideal_product(seed: u64, shape: VectorShape, p1: &[i64], p2: &[i64]) {
    for encrypting in Role::BOTH {
        let outcome = run_product(seed, encrypting, shape, [p1, p2]);
        let sum = outcome.p1.unwrap().number() + outcome.p2.unwrap().number();
        assert_eq!(sum, ideal_product(&shape, p1, p2).unwrap(), "{encrypting} encrypts");
        assert!(sum.bits() <= u64::from(shape.product_bits()));
    }
}

/// A shape and inputs for it; up to 20 cells, so that up to three ciphertexts per record.
fn tables() -> impl Strategy<Value = (TableShape, Vec<u32>, Vec<u32>)> {
    (0usize..40, 1usize..20, 1usize..20, 1u32..90, 6u32..=64).prop_flat_map(
        |(records, first, second, sigma, bits)| {
            let shape = TableShape { records, cells: [first, second], sigma, bits };
            let inputs = |cells: usize| prop::collection::vec(0..cells as u32, records);
            (Just(shape), inputs(first), inputs(second))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn a_table_is_the_ideal_table((shape, p1, p2) in tables(), seed: u64) {
        assert_ideal(seed, shape, &p1, &p2);
    }

    #[test]
    fn a_binary_product_is_the_ideal_product(
        pairs in prop::collection::vec((0i64..2, 0i64..2), 0..60), seed: u64,
    ) {
        let (p1, p2): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let shape = VectorShape { length: p1.len(), entries: Entries::Binary, sigma: 64 };
        assert_ideal_product(seed, shape, &p1, &p2);
    }

    #[test]
    fn a_signed_product_is_the_ideal_product(
        bits in [1u32..=63, 1u32..=63],
        pairs in prop::collection::vec((any::<i64>(), any::<i64>()), 0..12), seed: u64,
    ) {
        let within = |entry: i64, bits: u32| entry % (1i64 << (bits - 1)).saturating_mul(2);
        let p1: Vec<_> = pairs.iter().map(|pair| within(pair.0, bits[0])).collect();
        let p2: Vec<_> = pairs.iter().map(|pair| within(pair.1, bits[1])).collect();
        let shape = VectorShape { length: p1.len(), entries: Entries::Signed(bits), sigma: 64 };
        assert_ideal_product(seed, shape, &p1, &p2);
    }
}

#[test]
fn tables_are_right_at_the_extremes() {
    for cells in [[1, 1], [1, 5], [5, 1], [9, 8], [8, 9]] {
        for records in [0, 1, 33] {
            let last = cells.map(|cells| vec![cells as u32 - 1; records]);
            let zeros = vec![0; records];
            let shape = table(records, cells);
            assert_ideal(1, shape, &zeros, &zeros);
            assert_ideal(2, shape, &last[0], &last[1]);
            assert_ideal(3, shape, &zeros, &last[1]);
        }
    }
}

#[test]
fn products_are_right_at_the_extremes() {
    for length in [0, 1, 50] {
        let shape = VectorShape { length, entries: Entries::Binary, sigma: 64 };
        for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            assert_ideal_product(4, shape, &vec![a; length], &vec![b; length]);
        }
        let shape = VectorShape { entries: Entries::Signed([63, 63]), ..shape };
        for (a, b) in [(i64::MAX, i64::MAX), (-i64::MAX, i64::MAX), (-i64::MAX, -i64::MAX)] {
            assert_ideal_product(5, shape, &vec![a; length], &vec![b; length]);
        }
    }
}

/// The thesis' example 7.4.2.
#[test]
fn the_product_of_the_thesis_is_two() {
    let (p1, p2) = ([0, 0, 0, 0, 1, 1, 1, 0, 1, 1], [1, 1, 1, 0, 0, 0, 1, 0, 1, 0]);
    let shape = VectorShape { length: 10, entries: Entries::Binary, sigma: 64 };
    assert_eq!(ideal_product(&shape, &p1, &p2).unwrap(), 2.into());
    assert_ideal_product(6, shape, &p1, &p2);
}

#[test]
fn many_chunks_make_one_table_and_progress_hears_of_all() {
    // Two ciphertexts of 128 bytes per record: three chunks.
    let shape = table(5_000, [8, 9]);
    let cells = |modulus: u32| (0..5_000u32).map(|i| i * i % modulus).collect::<Vec<_>>();
    let (p1, p2) = (cells(8), cells(9));
    let heard = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let count = |party: usize| {
        let heard = &heard[party];
        move |items: usize| {
            heard.fetch_add(items, Ordering::Relaxed);
        }
    };
    let outcome = run_pair(
        Setup::default().seed(7),
        |session| count_table(session, Key::Own(key()), &shape, &p1, &count(0)),
        |session| count_table(session, expected(), &shape, &p2, &count(1)),
    );
    let fresh = outcome.transcripts.p1.iter().filter(|(_, tag, _)| *tag == FRESH);
    assert_eq!(fresh.map(|(.., bytes)| bytes).collect::<Vec<_>>(), [&524_288, &524_288, &231_424]);
    assert_eq!(opened(outcome), ideal_table(&shape, &p1, &p2).unwrap());
    let items = shape.items(BITS).unwrap();
    assert_eq!(items, [10_000, 18]);
    assert_eq!(heard.map(AtomicUsize::into_inner), [10_018, 10_018]);
}

#[test]
fn portable_and_vector_code_give_the_same_shares() {
    let shape = table(20, [9, 10]);
    let p1: Vec<u32> = (0..20).map(|i| i % 9).collect();
    let p2: Vec<u32> = (0..20).map(|i| i % 10).collect();
    let run = |backend| {
        let outcome = run_with(8, &small_key(backend), shape, [&p1, &p2]);
        [outcome.p1, outcome.p2].map(|words| words.unwrap().words().to_vec())
    };
    assert_eq!(run(Backend::Portable), run(Backend::Vector));
}

#[test]
fn the_party_with_fewer_cells_encrypts() {
    assert_eq!(table(1, [3, 4]).encrypting_role(), Role::P1);
    assert_eq!(table(1, [4, 4]).encrypting_role(), Role::P1);
    assert_eq!(table(1, [5, 4]).encrypting_role(), Role::P2);
}

#[test]
fn messages_depend_on_the_shape_alone() {
    let inputs = [
        [vec![0; 30], vec![0; 30]],
        [vec![8; 30], vec![3; 30]],
        [(0..30).map(|i| i % 9).collect(), (0..30).map(|i| i % 4).collect()],
    ];
    assert_same_shape(&inputs, |[p1, p2]| run_table(9, table(30, [9, 4]), [p1, p2]));
    let entries = Entries::Signed([9, 9]);
    let vectors = [[[0; 5], [0; 5]], [[-511; 5], [511; 5]], [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]]];
    let shape = VectorShape { length: 5, entries, sigma: 64 };
    assert_same_shape(&vectors, |[p1, p2]| run_product(10, Role::P1, shape, [p1, p2]));
}

#[test]
fn an_empty_table_is_still_sent_as_encryptions() {
    let outcome = run_table(11, table(0, [2, 3]), [&[], &[]]);
    let returned = outcome.transcripts.p1.last().unwrap();
    assert_eq!(*returned, (Direction::Received, RETURNED, 3 * BITS / 4));
    assert!(outcome.p1.as_ref().unwrap().words().iter().any(|word| *word != 0));
    assert_eq!(opened(outcome), [0; 6]);
}

/// Exact: the widest mask and the largest count fill a slot without leaving it, and a mask has at
/// least 2^σ values per possible count and at least as many as the ring has elements.
#[test]
fn masks_are_wide_enough_and_slots_hold_them() {
    for (records, sigma, bits) in [(0, 64, 40), (1, 1, 1), (30_000, 64, 40), (30_000, 20, 64)] {
        let shape = TableShape { records, cells: [5, 5], sigma, bits };
        let key = key().public();
        let plan = TablePlan::new(&shape, key).unwrap();
        let mask_bits = plan.mask_bits();
        assert!(BigUint::one() << mask_bits >= BigUint::from(records) << sigma);
        assert!(mask_bits >= bits);
        let widest = (BigUint::one() << mask_bits) - 1u8;
        let (masked, words) =
            plan.mask(key, &vec![key.sum(&[]); 5], std::iter::repeat(widest)).unwrap();
        assert_eq!(masked.len(), plan.returned());
        let ring = u64::MAX >> (64 - bits);
        assert!(words.iter().all(|word| word & ring == 1));
        // The widest mask plus all records, in every slot at once.
        let slot = (BigUint::one() << mask_bits) - 1u8 + records;
        let full: BigUint = (0..5).map(|i| &slot << (i * plan.width())).sum();
        let mut words = vec![0; 25];
        plan.unpack(0, &full, &mut words).unwrap();
        let due = (records as u64).wrapping_sub(1) & ring;
        assert!(words.iter().step_by(5).all(|word| word & ring == due));
    }
}

/// Each bit of 2,000 masks is one in half of them, within six standard deviations (134): one of
/// 79 bits leaves that by chance once in 6·10^6 choices of the seed.
#[test]
fn every_bit_of_a_mask_is_a_fair_coin() {
    let plan = TablePlan::new(&table(30_000, [5, 5]), key().public()).unwrap();
    let mut rng = Randomness::seeded(12);
    let masks: Vec<BigUint> = plan.draw_masks(&mut rng).take(2_000).collect();
    assert_eq!(plan.mask_bits(), 79);
    for bit in 0..79 {
        let ones = masks.iter().filter(|mask| mask.bit(bit)).count();
        assert!((866..=1134).contains(&ones), "bit {bit}: {ones} of 2000");
    }
    assert!(masks.iter().all(|mask| mask.bits() <= 79));
}

/// The same inputs 12 times, k = 4: 12 · 144 words per party in 16 bins of 108. The statistic of
/// a uniform share exceeds 60 with probability 2·10^-7 (chi-square, 15 degrees of freedom).
#[test]
fn each_partys_shares_alone_are_uniform() {
    let shape = TableShape { records: 12, cells: [12, 12], sigma: 20, bits: 4 };
    let mut seen = [[0u32; 16]; 2];
    for seed in 0..12 {
        let outcome = run_table(seed, shape, [&[3; 12], &[5; 12]]);
        for (seen, words) in seen.iter_mut().zip([outcome.p1, outcome.p2]) {
            words.unwrap().words().iter().for_each(|word| seen[*word as usize] += 1);
        }
    }
    for seen in seen {
        let deviation = |count: u32| (f64::from(count) - 108.0).powi(2) / 108.0;
        let statistic: f64 = seen.into_iter().map(deviation).sum();
        assert!(statistic < 60.0, "{statistic} {seen:?}");
    }
}

#[test]
fn two_runs_on_the_same_input_give_unrelated_shares() {
    let run = |seed| run_table(seed, table(3, [2, 2]), [&[0, 1, 1], &[1, 1, 0]]).p1.unwrap();
    let (one, two) = (run(13), run(14));
    assert!(one.words().iter().zip(two.words()).all(|(one, two)| one != two));
}

#[test]
fn impossible_shapes_and_inputs_are_refused_and_the_peer_is_told() {
    let refuse = |shape: TableShape, cells: &[u32]| {
        let outcome = run_table(15, shape, [cells, &[0; 4]]);
        let peer = outcome.p2.unwrap_err();
        (outcome.p1.unwrap_err().to_string(), peer)
    };
    let good = table(4, [2, 3]);
    for (shape, cells, reason) in [
        (TableShape { cells: [0, 3], ..good }, vec![0; 4], "at least one cell"),
        (TableShape { cells: [1 << 13, 1 << 12], ..good }, vec![0; 4], "2^24 entries"),
        (TableShape { sigma: 0, ..good }, vec![0; 4], "σ must be"),
        (TableShape { sigma: 257, ..good }, vec![0; 4], "σ must be"),
        (TableShape { bits: 65, ..good }, vec![0; 4], "from 1 to 64"),
        (TableShape { bits: 2, ..good }, vec![0; 4], "may not fit the output ring"),
        (good, vec![0; 3], "3 inputs where the shape says 4"),
        (good, vec![0, 1, 2, 0], "input 2 is outside"),
    ] {
        let (own, peer) = refuse(shape, &cells);
        assert!(own.contains(reason), "{own}");
        let told = matches!(peer, Error::PeerAborted(AbortReason::Stopped));
        let same = peer.to_string() == own;
        assert!(told || same, "{peer:?}");
    }
    let one_side = run_pair(
        Setup::default(),
        |session| {
            let outcome = count_table(session, expected(), &good, &[0; 4], &|_| ());
            session.conclude(outcome).unwrap_err()
        },
        |session| count_table(session, expected(), &good, &[0; 4], &|_| ()).unwrap_err(),
    );
    assert!(one_side.p1.says("Input", "p1 encrypts in this shape"));
    assert!(matches!(one_side.p2, Error::PeerAborted(AbortReason::Stopped)));
}

#[test]
fn a_product_that_does_not_fit_the_key_or_its_bounds_is_refused() {
    let refuse = |shape: VectorShape, vector: &[i64]| {
        run_product(16, Role::P1, shape, [vector, vector]).p1.unwrap_err().to_string()
    };
    let good = VectorShape { length: 2, entries: Entries::Signed([4, 4]), sigma: 64 };
    assert!(refuse(good, &[16, 0]).contains("input 0 is outside"));
    assert!(refuse(good, &[0, -16]).contains("input 1 is outside"));
    assert!(refuse(good, &[0]).contains("1 inputs where"));
    let binary = VectorShape { entries: Entries::Binary, ..good };
    assert!(refuse(binary, &[1, -1]).contains("input 1 is outside"));
    let wide = VectorShape { entries: Entries::Signed([64, 1]), ..good };
    assert!(refuse(wide, &[0, 0]).contains("1 to 63 bits"));
    let small = SecretKey::generate_for_tests(256, TUNING, &mut Randomness::seeded(3)).unwrap();
    let large = VectorShape { entries: Entries::Signed([63, 63]), sigma: 128, ..good };
    let plan = ProductPlan::new(&large, Role::P1, small.public());
    assert!(plan.is_err_and(|e| e.says("Input", "of 260 bits do not fit a key of 256 bits")));
    let shape = TableShape { records: 9, cells: [1, 1], sigma: 128, bits: 64 };
    assert!(TablePlan::new(&shape, small.public()).is_ok(), "one slot of 133 bits");
    assert!(
        shape
            .items(128)
            .is_err_and(|e| e.says("Input", "of 134 bits do not fit a key of 128 bits"))
    );
}

#[test]
fn parties_with_different_shapes_stop() {
    let outcome = run_pair(
        Setup::default(),
        |session| count_table(session, Key::Own(key()), &table(2, [1, 2]), &[0; 2], &|_| ()),
        |session| {
            let outcome = count_table(session, expected(), &table(2, [1, 3]), &[0; 2], &|_| ());
            session.conclude(outcome)
        },
    );
    assert!(outcome.p2.is_err_and(|e| e.says("Peer", "another shape")));
    assert!(matches!(outcome.p1, Err(Error::PeerAborted(AbortReason::BadMessage))));
}

/// P1, the encrypting party, sends arbitrary messages; P2 is honest.
fn hostile_owner(speak: impl FnOnce(&mut Session, PublicNumbers) + Send) -> Error {
    let shape = table(3, [1, 2]);
    let numbers = [1, 3, 1, 2, 64, 40];
    run_pair(
        Setup::default(),
        |session| {
            speak(session, numbers);
            assert!(session.channel.receive_bytes(RETURNED, 0).is_err(), "nothing was returned");
        },
        |session| count_table(session, expected(), &shape, &[0, 1, 1], &|_| ()).unwrap_err(),
    )
    .p2
}

fn number(number: &BigUint) -> Vec<u8> {
    let digits = number.to_bytes_be();
    let mut bytes = vec![0; BITS / 4 - digits.len()];
    bytes.extend(digits);
    bytes
}

fn bad_numbers() -> [(BigUint, &'static str); 4] {
    let n = key().public().modulus();
    let p = BigUint::from_bytes_be(&key().to_bytes()[..BITS / 16]);
    [
        (BigUint::default(), "ciphertext 1 is out of range"),
        (n * n, "ciphertext 1 is out of range"),
        (n.clone(), "a ciphertext is not coprime"),
        (p * 77u8, "a ciphertext is not coprime"),
    ]
}

#[test]
fn bad_keys_of_the_peer_are_refused() {
    let good = key().public().to_bytes();
    let other = SecretKey::generate_for_tests(384, TUNING, &mut Randomness::seeded(4)).unwrap();
    let prime = glass_pumpkin::prime::from_rng(BITS, &mut Randomness::seeded(2)).unwrap();
    let mut prime_key = prime.to_bytes_be();
    prime_key.extend(&good[BITS / 8..]);
    let mut even = good.clone();
    even[BITS / 8 - 1] ^= 1;
    let mut no_base = good.clone();
    no_base[BITS / 8..].fill(0);
    for (bytes, reason) in [
        (other.public().to_bytes(), "expected 192 bytes and got 144"),
        (good[..191].to_vec(), "expected 192 bytes and got 191"),
        (Vec::new(), "expected 192 bytes and got 0"),
        (prime_key, "prime"),
        (even, "even"),
        (no_base, "out of range"),
    ] {
        let found = hostile_owner(|session, numbers| {
            session.channel.send(&Opening { numbers, key: bytes }).unwrap();
        });
        assert!(found.to_string().contains(reason), "{found}");
    }
    assert!(ExpectedKey::new(2048, TUNING).is_ok());
    for bits in [0, 512, 2047, 2050, 1 << 20] {
        assert!(ExpectedKey::new(bits, TUNING).is_err());
    }
}

fn open_well(session: &mut Session, numbers: PublicNumbers) {
    session.channel.send(&Opening { numbers, key: key().public().to_bytes() }).unwrap();
}

#[test]
fn bad_ciphertexts_and_counts_of_the_owner_are_refused() {
    for (bad, reason) in bad_numbers() {
        let bytes = [number(&BigUint::one()), number(&bad), number(&BigUint::one())].concat();
        let found = hostile_owner(|session, numbers| {
            open_well(session, numbers);
            session.channel.send_bytes(FRESH, &bytes).unwrap();
        });
        assert!(found.says("Peer", reason), "{found}");
    }
    for length in [0, 1, 2 * BITS / 4, 3 * BITS / 4 - 1, 4 * BITS / 4] {
        let found = hostile_owner(|session, numbers| {
            open_well(session, numbers);
            session.channel.send_bytes(FRESH, &vec![1; length]).unwrap();
        });
        assert_wrong_length(&found, 384, length);
    }
    let found = hostile_owner(|session, numbers| {
        open_well(session, numbers);
        session.channel.send_bytes(RETURNED, &[1; 384]).unwrap();
    });
    assert!(matches!(found, Error::UnexpectedMessage { .. }), "{found}");
    let found = hostile_owner(|session, _| session.channel.send_bytes(FRESH, &[]).unwrap());
    assert!(matches!(found, Error::UnexpectedMessage { .. }), "{found}");
}

/// P2 returns arbitrary messages; P1 is honest and owns the key.
fn hostile_evaluator(answer: impl FnOnce(&mut Session) + Send) -> Error {
    let shape = table(1, [1, 2]);
    run_pair(
        Setup::default(),
        |session| count_table(session, Key::Own(key()), &shape, &[0], &|_| ()).unwrap_err(),
        |session| {
            session.channel.receive::<Opening>().unwrap();
            session.channel.receive_bytes(FRESH, BITS / 4).unwrap();
            answer(session);
            // Stays connected until P1 is done.
            assert!(session.channel.receive_bytes(RETURNED, 0).is_err());
        },
    )
    .p1
}

#[test]
fn bad_results_of_the_evaluating_party_are_refused() {
    for (bad, reason) in bad_numbers() {
        let bytes = [number(&BigUint::one()), number(&bad)].concat();
        let found =
            hostile_evaluator(|session| session.channel.send_bytes(RETURNED, &bytes).unwrap());
        assert!(found.says("Peer", reason), "{found}");
    }
    for length in [0, BITS / 4, 2 * BITS / 4 + 1, 3 * BITS / 4] {
        let found = hostile_evaluator(|session| {
            session.channel.send_bytes(RETURNED, &vec![1; length]).unwrap()
        });
        assert_wrong_length(&found, 256, length);
    }
    // Plaintext 2^66 does not fit the slot of 1 + 64 + 1 bits that this shape has.
    let public: &PublicKey = key().public();
    let wide = public.encrypt(&(BigUint::one() << 66), &mut Randomness::seeded(17)).unwrap();
    let mut bytes = Vec::new();
    wide.write(&mut bytes);
    wide.write(&mut bytes);
    let found = hostile_evaluator(|session| session.channel.send_bytes(RETURNED, &bytes).unwrap());
    assert!(found.says("Peer", "result 0 is outside its bounds"), "{found}");
}

#[test]
fn a_product_outside_its_bounds_is_refused() {
    let shape = VectorShape { length: 3, entries: Entries::Signed([4, 4]), sigma: 10 };
    let plan = ProductPlan::new(&shape, Role::P1, key().public()).unwrap();
    let open = |number: i64| plan.open(&key().public().encode_signed(&number.into()).unwrap());
    // Product below 2^10, mask below 2^21.
    assert_eq!(open((1 << 22) - 1).unwrap(), BigInt::from((1 << 22) - 1));
    assert_eq!(open(-1023).unwrap(), BigInt::from(-1023));
    assert!(open(1 << 22).is_err_and(|e| e.says("Peer", "result 0 is outside its bounds")));
    assert!(open(-1024).is_err_and(|e| e.says("Peer", "result 0 is outside its bounds")));
}

#[test]
fn a_peer_that_falls_silent_or_leaves_ends_the_run() {
    let limits = Limits { read: std::time::Duration::from_millis(50), ..Limits::default() };
    let gone = run_pair(
        Setup::default(),
        |session| count_table(session, Key::Own(key()), &table(9, [1, 1]), &[0; 9], &|_| ()),
        |session| session.channel.receive::<Opening>().map(|_| ()),
    );
    assert!(matches!(gone.p1, Err(Error::Closed)));
    let silent = run_pair(
        Setup::default().limits(limits),
        |session| session.channel.receive_bytes(FRESH, 0).is_err(),
        |session| count_table(session, expected(), &table(9, [1, 1]), &[0; 9], &|_| ()),
    );
    assert!(matches!(silent.p2, Err(Error::Timeout { .. } | Error::Closed)));
}
