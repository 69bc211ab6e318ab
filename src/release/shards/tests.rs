use super::*;
use crate::net::SessionId;

fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("person {number}")).collect()
}

#[test]
fn the_bound_is_the_mean_ten_deviations_and_some_room() {
    for (people, shards, expected) in [
        (0, 4, 0),
        (1, 1, 1),
        (1_000_000, 1, 1_000_000),
        (30, 3, 30),
        // 125,000 + 10·√(10^6·7)/8 = 125,000 + 3,307.2 + 34
        (1_000_000, 8, 128_342),
        (100_000_000, 1_024, 97_657 + 3_124 + 34),
    ] {
        assert_eq!(bound(people, shards), expected, "{people} in {shards}");
    }
    assert!(bound(usize::MAX, 1_024) < usize::MAX / 1_000);
}

/// Bernstein's inequality, in floating point: nothing depends on it.
#[test]
fn a_shard_is_too_full_with_probability_e_to_the_minus_50_at_most() {
    for people in [1usize, 10, 100, 5_000, 1 << 20, 100_000_000] {
        for shards in [2usize, 3, 16, 1_024] {
            let (n, p) = (people as f64, 1.0 / shards as f64);
            let variance = n * p * (1.0 - p);
            let beyond = bound(people, shards) as f64 + 1.0 - n * p;
            let exponent = beyond * beyond / (2.0 * (variance + beyond / 3.0));
            assert!(exponent >= 50.0 || bound(people, shards) == people, "{people} in {shards}");
        }
    }
}

#[test]
fn people_fall_evenly_and_elsewhere_in_every_run() {
    const PEOPLE: usize = 20_000;
    let (names, shards) = (names(PEOPLE), 16);
    let [one, other] = [1, 2].map(|run| Dealing::new(&SessionId::from_bytes([run; 32]), shards));
    let rows = one.rows(&names, PEOPLE).unwrap();
    let mean = PEOPLE as f64 / shards as f64;
    let chi_square: f64 = rows.iter().map(|rows| (rows.len() as f64 - mean).powi(2) / mean).sum();
    // 15 degrees of freedom: 44 is passed once in 10,000 keys, and this one is fixed.
    assert!(chi_square < 44.0, "{chi_square}");
    let mut all: Vec<usize> = rows.concat();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..PEOPLE), "everybody once");
    let together = names.iter().filter(|name| one.shard(name) == other.shard(name)).count();
    assert!((together as f64 / mean - 1.0).abs() < 0.2, "{together} in the same shard again");
}

#[test]
fn a_shard_that_is_too_full_is_refused() {
    let dealing = Dealing::new(&SessionId::from_bytes([3; 32]), 4);
    let same: Vec<String> =
        names(4_000).into_iter().filter(|name| dealing.shard(name) == 2).take(200).collect();
    assert!(bound(same.len(), 4) < 200);
    assert!(matches!(dealing.rows(&same, same.len()), Err(Error::ShardTooFull)));
    assert!(dealing.rows(&same, 4_000).is_ok(), "where the table is padded that far");
}

/// `hashlib.sha256(b"diptych shards v1" + bytes(32) + name).digest()[:8]` as a little-endian number,
/// times 1,000, over 2^64.
#[test]
fn the_hash_is_the_one_that_the_page_states() {
    let dealing = Dealing::new(&SessionId::from_bytes([0; 32]), 1_000);
    let shards = ["ada", "grace", "é"].map(|name| dealing.shard(name));
    assert_eq!(shards, [961, 286, 224]);
}
