//! Trees of seeds whose levels XOR to Δ (Guo, Yang, Wang, Zhang, Xie, Liu, Zhao: Half-Tree,
//! EUROCRYPT 2023): half the hashes and half the bytes of [`crate::crypto::tree`].
//!
//! The two nodes of level 1 are s and s ⊕ Δ. Node j of level l, x, has the left child H(x, 2^l + j)
//! and the right child x ⊕ H(x, 2^l + j), under a key of the tree's own, with H of
//! [`crate::crypto::garble`]. The children of a node XOR to the node, so every level XORs to Δ.
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
//! It knows all other nodes. One key serves one tree, in which as many hashes are unknown as there are
//! levels: an attacker with p evaluations of AES succeeds with less than p·2⁻¹²², however many trees
//! there are (2·13 targets per key, forwards and backwards; Δ has 127 bits).
//!
//! *Lowest bits.* The leaves' lowest bits are cleared in the end, except that of α at the receiver,
//! which is set: the convention of [`crate::protocol::transfers`]. Only whole trees, with 2^levels
//! leaves, are made. [`regrow`] takes the same time for every α.

use crate::math::wiped;
use crate::simd::aes::RoundKeys;
use crate::simd::lanes;

/// Grows all leaves from the rows Q' of the tree's levels: `nodes`, 2^levels long, become the leaves
/// with clear lowest bits, and `sums` what the receiver gets for the levels from 2 on.
///
/// # Panics
/// If the lengths do not fit each other.
pub fn grow(
    keys: &RoundKeys,
    delta: u128,
    rows: &[u128],
    nodes: &mut [u128],
    space: &mut Vec<u128>,
    sums: &mut [[u8; 16]],
) {
    assert!(sums.len() + 1 == rows.len() && nodes.len() == 1 << rows.len(), "lengths");
    (nodes[0], nodes[1]) = (rows[0], rows[0] ^ delta);
    for (level, (row, sum)) in (1..).zip(rows[1..].iter().zip(sums)) {
        let left = next_level(keys, level, nodes, space);
        *sum = (left ^ row).to_le_bytes();
    }
    nodes.iter_mut().for_each(|node| *node &= !1);
}

/// Grows all leaves but `hole` from the rows T of the tree's levels and what the sender sent; in the
/// place of `hole` comes its leaf ⊕ Δ, which has the lowest bit 1.
///
/// # Panics
/// If the lengths do not fit each other.
pub fn regrow(
    keys: &RoundKeys,
    hole: u32,
    rows: &[u128],
    sums: &[[u8; 16]],
    nodes: &mut [u128],
    space: &mut Vec<u128>,
) {
    let levels = rows.len();
    assert!(sums.len() + 1 == levels && nodes.len() == 1 << levels, "lengths");
    (nodes[0], nodes[1]) = (0, 0);
    lanes::xor_into(&mut nodes[..2], hole >> (levels - 1) ^ 1, rows[0]);
    let mut total = rows[0];
    for (level, (row, sum)) in (1..).zip(rows[1..].iter().zip(sums)) {
        let left = next_level(keys, level, nodes, space);
        // The children of all nodes, the wrong one among them, XOR to these nodes.
        let right = total ^ left;
        let sibling = hole >> (levels - level - 1) ^ 1;
        let found = lanes::choose(left, right, sibling & 1 == 1);
        let mend = found ^ row ^ u128::from_le_bytes(*sum);
        lanes::xor_into(&mut nodes[..2 << level], sibling, mend);
        total ^= mend;
    }
    nodes.iter_mut().for_each(|node| *node &= !1);
    lanes::xor_into(nodes, hole, total | 1);
}

/// The children of the nodes of a level in their place; returns the XOR of the left ones.
fn next_level(keys: &RoundKeys, level: usize, nodes: &mut [u128], space: &mut Vec<u128>) -> u128 {
    let width = 1 << level;
    space.clear();
    // A list that grew by itself would leave nodes behind.
    wiped::make_room(space, width);
    space.extend_from_slice(&nodes[..width]);
    keys.hash(width, space);
    for (j, hash) in space.iter().enumerate().rev() {
        let node = nodes[j];
        nodes[2 * j] = *hash;
        nodes[2 * j + 1] = node ^ hash;
    }
    space.iter().fold(0, |sum, hash| sum ^ hash)
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
            grow(&keys, delta, &sent, &mut leaves, &mut Vec::new(), &mut sums);
            let all = leaves.iter().fold(0, |sum, leaf| sum ^ leaf);
            assert_eq!((all, leaves.iter().all(|leaf| leaf & 1 == 0)), (delta & !1, true));
            for hole in 0..1 << levels {
                let choice = |level: u32| u128::from(!hole >> (levels - 1 - level) & 1);
                let received: Vec<u128> = (0..levels)
                    .map(|level| sent[level as usize] ^ (choice(level) * delta))
                    .collect();
                regrow(&keys, hole, &received, &sums, &mut found, &mut Vec::new());
                for (place, (due, found)) in leaves.iter().zip(&found).enumerate() {
                    let difference = if place == hole as usize { delta } else { 0 };
                    assert_eq!(due ^ found, difference, "{levels} levels, {hole}, {place}");
                }
            }
        }
    }
}
