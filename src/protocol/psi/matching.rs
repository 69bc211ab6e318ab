//! Comparing doubly encrypted lists: local, after the last message.

use rayon::prelude::*;

use super::Error;

/// A double encryption, or its digest where elements are wider: what lists are compared by.
pub(super) type Fingerprint = [u8; 32];

/// The double encryption of one's own identifier, and its row.
pub(super) type OwnRow = (Fingerprint, u32);

/// Own rows whose fingerprint the peer has too, ascending by fingerprint.
pub(super) fn common_rows(own: Vec<OwnRow>, peer: Vec<Fingerprint>) -> Result<Vec<usize>, Error> {
    let mut own = own;
    own.par_sort_unstable();
    if own.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Err(Error::PeerDuplicate("what the peer returned"));
    }
    let peer = sorted_distinct(peer, "the peer's list")?;
    let mut rows = Vec::new();
    let mut rest = peer.as_slice();
    for (fingerprint, row) in &own {
        rest = skip_below(rest, fingerprint);
        if rest.first() == Some(fingerprint) {
            rows.push(*row as usize);
        }
    }
    Ok(rows)
}

/// How many fingerprints both lists have.
pub(super) fn common_count(own: Vec<Fingerprint>, peer: Vec<Fingerprint>) -> Result<usize, Error> {
    let own = own.into_iter().map(|fingerprint| (fingerprint, 0)).collect();
    Ok(common_rows(own, peer)?.len())
}

/// Refuses a list in which a digest occurs twice, before anything is sent.
pub(super) fn check_distinct(digests: &[[u8; 32]]) -> Result<(), Error> {
    let mut rows: Vec<u32> = (0..).take(digests.len()).collect();
    let of = |row: &u32| &digests[*row as usize];
    rows.par_sort_unstable_by(|a, b| (of(a), a).cmp(&(of(b), b)));
    let repeated = rows.windows(2).filter(|pair| of(&pair[0]) == of(&pair[1]));
    match repeated.min_by_key(|pair| pair[1]) {
        None => Ok(()),
        Some(pair) => {
            Err(Error::Duplicate { first: pair[0] as usize + 1, second: pair[1] as usize + 1 })
        }
    }
}

fn sorted_distinct(
    mut fingerprints: Vec<Fingerprint>,
    whose: &'static str,
) -> Result<Vec<Fingerprint>, Error> {
    fingerprints.par_sort_unstable();
    if fingerprints.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Error::PeerDuplicate(whose));
    }
    Ok(fingerprints)
}

fn skip_below<'a>(mut sorted: &'a [Fingerprint], bound: &Fingerprint) -> &'a [Fingerprint] {
    while let [first, rest @ ..] = sorted
        && first < bound
    {
        sorted = rest;
    }
    sorted
}
