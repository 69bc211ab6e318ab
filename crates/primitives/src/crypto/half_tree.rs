//! Trees of seeds whose levels XOR to Δ (Guo, Yang, Wang, Zhang, Xie, Liu, Zhao: Half-Tree,
//! EUROCRYPT 2023): half the hashes and half the bytes of [`crate::crypto::tree`].
//!
//! The two nodes of level 1 are s and s ⊕ Δ. Node j of level l, x, has the left child H(x, 2^l + j)
//! and the right child x ⊕ H(x, 2^l + j), under a key of the tree's own, with H of
//! [`crate::crypto::garble`]. A tree has the nodes of a [`TreeShape`]; where a node has one child alone,
//! which is its left one, that is x itself. The children of a node XOR to the node, so every level XORs
//! to Δ.
//!
//! *All but one.* The receiver has a hole α. Of level 1 it gets the node that is not above α; of each
//! level below, the XOR of the nodes on the other side than the path to α: that is every leaf but α.
//! As the leaves XOR to Δ, the XOR of those that it has is leaf α ⊕ Δ. So the leaves are correlated
//! transfers themselves, of which exactly one has the choice 1, and no closing message is needed.
//!
//! *With transfers.* For the choice x at level l (1 where the path turns left) the sender has Q', the
//! receiver T = Q' ⊕ x·Δ. At level 1, s = Q' and T is the node that the receiver is due. Below, the
//! sender sends K ⊕ Q', K the XOR of the left nodes; with T it opens to K if x = 0 and to K ⊕ Δ, the XOR
//! of the right nodes, if x = 1.
//!
//! *Why it hides*: H is circular correlation robust for Δ. On every level the receiver knows the node
//! above α up to Δ, and gets a hash of it, or that hash and the node: pseudorandom, unless it finds Δ.
//! It knows all other nodes. Where the path goes through an only child, what it gets is the XOR of nodes
//! that it has already. One key serves one tree, in which at most as many hashes are unknown as there are
//! levels: an attacker with p evaluations of AES succeeds with less than p·2⁻¹²¹, however many trees
//! there are (2·24 targets per key, forwards and backwards; Δ has 127 bits). A leaf is Δ and something
//! that the receiver knows: it is used as it is in a transfer, and is hashed otherwise.
//!
//! *Transfers of leaves* ([`grow_transfers`], [`regrow_transfers`]). The lowest bits are cleared in the
//! end, except that of α at the receiver, which is set: the convention of
//! `protocol::transfers`. All functions take the same time for every α.

use crate::crypto::tree::TreeShape;
use crate::simd::aes::RoundKeys;
use crate::simd::lanes;

/// Grows all leaves from the rows Q' of the tree's levels, at least one: `nodes` become the leaves, and
/// `sums` what the receiver gets for the levels from 2 on.
///
/// # Panics
/// If the lengths do not fit each other.
pub fn grow(
    shape: TreeShape,
    keys: &RoundKeys,
    delta: u128,
    rows: &[u128],
    nodes: &mut [u128],
    sums: &mut [[u8; 16]],
) {
    check(shape, rows, nodes, sums);
    (nodes[0], nodes[1]) = (rows[0], rows[0] ^ delta);
    for (level, (row, sum)) in (1..).zip(rows[1..].iter().zip(sums)) {
        let left = next_level(shape, keys, level, nodes);
        *sum = (left ^ row).to_le_bytes();
    }
}

/// Grows all leaves but `hole` from the rows T of the tree's levels and the sender's message. The
/// leaf at `hole` is meaningless; XORed with the returned value it becomes the leaf ⊕ Δ.
///
/// # Panics
/// If the lengths do not fit each other.
pub fn regrow(
    shape: TreeShape,
    keys: &RoundKeys,
    hole: u32,
    rows: &[u128],
    sums: &[[u8; 16]],
    nodes: &mut [u128],
) -> u128 {
    let (total, last) = regrow_but_last(shape, keys, hole, rows, sums, nodes);
    lanes::xor_into(nodes, hole ^ 1, last);
    total
}

/// The same where the sibling of `hole` is left as it is. Returns the XOR of all leaves as they should
/// be, and what the sibling must be XORed with.
fn regrow_but_last(
    shape: TreeShape,
    keys: &RoundKeys,
    hole: u32,
    rows: &[u128],
    sums: &[[u8; 16]],
    nodes: &mut [u128],
) -> (u128, u128) {
    check(shape, rows, nodes, sums);
    let levels = shape.levels();
    (nodes[0], nodes[1]) = (0, 0);
    let (mut total, mut mend) = (rows[0], rows[0]);
    for (level, (row, sum)) in (1..).zip(rows[1..].iter().zip(sums)) {
        // A sibling beyond the last node does not exist, and nothing has to be corrected then.
        lanes::xor_into(&mut nodes[..shape.nodes_at(level)], hole >> (levels - level) ^ 1, mend);
        let left = next_level(shape, keys, level, nodes);
        // The children of all nodes, the wrong one among them, XOR to these nodes.
        let right = total ^ left;
        let sibling = hole >> (levels - level - 1) ^ 1;
        let found = lanes::choose(left, right, sibling & 1 == 1);
        mend = found ^ row ^ u128::from_le_bytes(*sum);
        total ^= mend;
    }
    (total, mend)
}

/// [`grow`] of a tree with 2^levels leaves that are transfers: their lowest bits are clear.
///
/// # Panics
/// If the lengths do not fit each other.
pub fn grow_transfers(
    keys: &RoundKeys,
    delta: u128,
    rows: &[u128],
    nodes: &mut [u128],
    sums: &mut [[u8; 16]],
) {
    grow(whole(rows), keys, delta, rows, nodes, sums);
    nodes.iter_mut().for_each(|node| *node &= !1);
}

/// [`regrow`] of a tree with 2^levels leaves that are transfers; in the place of `hole` comes its
/// leaf ⊕ Δ, which has the lowest bit 1.
///
/// # Panics
/// If the lengths do not fit each other.
pub fn regrow_transfers(
    keys: &RoundKeys,
    hole: u32,
    rows: &[u128],
    sums: &[[u8; 16]],
    nodes: &mut [u128],
) {
    let (total, last) = regrow_but_last(whole(rows), keys, hole, rows, sums, nodes);
    lanes::clear_and_xor_into(nodes, hole, [total | 1, last & !1]);
}

/// The tree that has no node without two children.
fn whole(rows: &[u128]) -> TreeShape {
    TreeShape::new(1 << rows.len())
}

fn check(shape: TreeShape, rows: &[u128], nodes: &[u128], sums: &[[u8; 16]]) {
    let lengths = (rows.len(), sums.len() + 1, nodes.len());
    assert_eq!(lengths, (shape.levels(), shape.levels(), shape.leaves()), "lengths");
}

/// The children of the nodes of a level in their place; returns the XOR of the left ones.
fn next_level(shape: TreeShape, keys: &RoundKeys, level: usize, nodes: &mut [u128]) -> u128 {
    let children = shape.nodes_at(level + 1);
    let in_pairs = children / 2 * 2;
    let mut only = 0;
    if in_pairs < children {
        only = nodes[in_pairs / 2];
        nodes[in_pairs] = only;
    }
    only ^ keys.children(1 << level, &mut nodes[..in_pairs])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::tree::record_keys;

    fn row(number: u128) -> u128 {
        (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_0c13_57bd_2469)
    }

    #[test]
    fn leaves_are_correlated_transfers_with_one_choice_set() {
        let delta = row(99) | 1;
        for levels in [1u32, 2, 3, 5, 8] {
            let keys = record_keys(5, u64::from(levels));
            let sent: Vec<u128> = (0..u128::from(levels)).map(row).collect();
            let (mut leaves, mut found) = (vec![0; 1 << levels], vec![0; 1 << levels]);
            let mut sums = vec![[0; 16]; levels as usize - 1];
            grow_transfers(&keys, delta, &sent, &mut leaves, &mut sums);
            let all = leaves.iter().fold(0, |sum, leaf| sum ^ leaf);
            assert_eq!((all, leaves.iter().all(|leaf| leaf & 1 == 0)), (delta & !1, true));
            for hole in 0..1 << levels {
                let choice = |level: u32| u128::from(!hole >> (levels - 1 - level) & 1);
                let received: Vec<u128> = (0..levels)
                    .map(|level| sent[level as usize] ^ (choice(level) * delta))
                    .collect();
                regrow_transfers(&keys, hole, &received, &sums, &mut found);
                for (place, (due, found)) in leaves.iter().zip(&found).enumerate() {
                    let difference = if place == hole as usize { delta } else { 0 };
                    assert_eq!(due ^ found, difference, "{levels} levels, {hole}, {place}");
                }
            }
        }
    }

    #[test]
    fn every_level_xors_to_delta_however_many_leaves_there_are() {
        let delta = row(98) | 1;
        for leaves in [2, 3, 4, 5, 6, 7, 9, 13, 33, 64, 65, 100] {
            let shape = TreeShape::new(leaves);
            let levels = shape.levels();
            let keys = record_keys(6, u64::from(leaves));
            let sent: Vec<u128> = (0..levels as u128).map(row).collect();
            let (mut all, mut found) = (vec![0; leaves as usize], vec![0; leaves as usize]);
            let mut sums = vec![[0; 16]; levels - 1];
            grow(shape, &keys, delta, &sent, &mut all, &mut sums);
            assert_eq!(all.iter().fold(0, |sum, leaf| sum ^ leaf), delta, "{leaves} leaves");
            for hole in 0..leaves {
                let choices = shape.path(hole).map(|right| u128::from(!right));
                let received: Vec<u128> =
                    sent.iter().zip(choices).map(|(row, choice)| row ^ (choice * delta)).collect();
                let total = regrow(shape, &keys, hole, &received, &sums, &mut found);
                found[hole as usize] ^= total;
                for (place, (due, found)) in all.iter().zip(&found).enumerate() {
                    let difference = if place == hole as usize { delta } else { 0 };
                    assert_eq!(due ^ found, difference, "{leaves} leaves, {hole}, {place}");
                }
            }
        }
    }
}
