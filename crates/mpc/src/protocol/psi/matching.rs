//! Comparing doubly encrypted lists: local, after the last message.

use rayon::prelude::*;

use super::Error;

/// A double encryption, or its digest where elements are wider: what lists are compared by.
pub(super) type DoubleEncryption = [u8; 32];

/// The double encryption of one's own identifier, and its row.
pub(super) type OwnRow = (DoubleEncryption, u32);

/// Own rows whose double encryption the peer has too, ascending by double encryption.
pub(super) fn common_rows(
    own: Vec<OwnRow>,
    peer: Vec<DoubleEncryption>,
) -> Result<Vec<usize>, Error> {
    let mut own = own;
    own.par_sort_unstable();
    if own.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Err(peer_duplicate("what the peer returned"));
    }
    let peer = sorted_distinct(peer, "the peer's list")?;
    let mut rows = Vec::new();
    let mut rest = peer.as_slice();
    for (element, row) in &own {
        rest = skip_below(rest, element);
        if rest.first() == Some(element) {
            rows.push(*row as usize);
        }
    }
    Ok(rows)
}

/// How many double encryptions both lists have.
pub(super) fn common_count(
    own: Vec<DoubleEncryption>,
    peer: Vec<DoubleEncryption>,
) -> Result<usize, Error> {
    let own = own.into_iter().map(|element| (element, 0)).collect();
    Ok(common_rows(own, peer)?.len())
}

/// Rejects a list in which a digest occurs twice, before anything is sent.
pub(super) fn check_distinct(digests: &[[u8; 32]]) -> Result<(), Error> {
    match duplicate(digests) {
        None => Ok(()),
        Some([first, second]) => Err(Error::input(same_rows(first, second))),
    }
}

/// The first digest that occurred before, and where; the first row is row 1.
pub(in crate::protocol) fn duplicate(digests: &[[u8; 32]]) -> Option<[usize; 2]> {
    // By the first eight bytes, which are stored beside the row: whole digests would have to be
    // fetched.
    let first = |digest: &[u8; 32]| u64::from_be_bytes(std::array::from_fn(|i| digest[i]));
    let mut rows: Vec<(u64, u32)> = digests.iter().map(first).zip(0..).collect();
    let of = |(_, row): &(u64, u32)| &digests[*row as usize];
    rows.par_sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| (of(a), a.1).cmp(&(of(b), b.1))));
    let same = |pair: &&[(u64, u32)]| pair[0].0 == pair[1].0 && of(&pair[0]) == of(&pair[1]);
    let found = rows.windows(2).filter(same).min_by_key(|pair| pair[1].1)?;
    Some([found[0].1 as usize + 1, found[1].1 as usize + 1])
}

fn sorted_distinct(
    mut elements: Vec<DoubleEncryption>,
    whose: &'static str,
) -> Result<Vec<DoubleEncryption>, Error> {
    elements.par_sort_unstable();
    if elements.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(peer_duplicate(whose));
    }
    Ok(elements)
}

fn skip_below<'a>(
    mut sorted: &'a [DoubleEncryption],
    bound: &DoubleEncryption,
) -> &'a [DoubleEncryption] {
    while let [first, rest @ ..] = sorted
        && first < bound
    {
        sorted = rest;
    }
    sorted
}

/// Two of one's own rows are the same.
pub(in crate::protocol) fn same_rows(first: usize, second: usize) -> String {
    format!("rows {first} and {second} hold the same identifier; keep one row per individual")
}

/// The peer's elements repeat.
pub(super) fn peer_duplicate(whose: &str) -> Error {
    Error::peer(format!(
        "{whose} holds an element twice; the peer's list has duplicates or its program is faulty"
    ))
}
