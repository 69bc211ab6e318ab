//! The compression function of SHA-256 as a circuit: an example, a known answer and a benchmark.

use num_bigint::BigUint;

use super::bit::{Bit, Gates};
use super::builder::Builder;
use super::integer::{add, constant, xor};
use super::netlist::Circuit;
use crate::role::Role;

/// The circuit: P1's 512-bit block and P2's 256-bit chaining state to the new state.
///
/// Each is a list of 32-bit words in the standard's order, every word least
/// significant bit first.
pub fn circuit() -> Circuit {
    let mut g = Builder::new();
    let block = g.input(Role::P1, "block", 512);
    let state = g.input(Role::P2, "state", 256);
    let state = compress(&mut g, &state, &block);
    g.output("state", &state);
    g.finish()
}

/// One compression inside a circuit: about 22,500 ANDs.
///
/// # Panics
/// If the state is not 256 bits wide or the block not 512.
pub fn compress<G: Gates>(g: &mut G, state: &[Bit], block: &[Bit]) -> Vec<Bit> {
    assert!(state.len() == 256 && block.len() == 512, "SHA-256 takes 256 and 512 bits");
    let words = |bits: &[Bit]| -> Vec<Word> { bits.chunks(32).map(<[Bit]>::to_vec).collect() };
    let mut schedule = words(block);
    let initial = words(state);
    let mut h = initial.clone();
    for (round, round_constant) in round_constants().into_iter().enumerate() {
        if round >= 16 {
            let s0 = sigma(g, &schedule[round - 15], [7, 18], Some(3));
            let s1 = sigma(g, &schedule[round - 2], [17, 19], Some(10));
            let a = add(g, &schedule[round - 16], &s0);
            let b = add(g, &schedule[round - 7], &s1);
            schedule.push(add(g, &a, &b));
        }
        let e = h[4].clone();
        let s1 = big_sigma(g, &e, [6, 11, 25]);
        let choice: Word = (0..32).map(|i| g.mux(e[i], h[5][i], h[6][i])).collect();
        let with_constant = add(g, &schedule[round], &constant(&BigUint::from(round_constant), 32));
        let t = add(g, &h[7], &with_constant);
        let u = add(g, &s1, &choice);
        let t1 = add(g, &t, &u);
        let s0 = big_sigma(g, &h[0], [2, 13, 22]);
        let majority: Word = (0..32).map(|i| g.majority(h[0][i], h[1][i], h[2][i])).collect();
        let t2 = add(g, &s0, &majority);
        let (new_e, new_a) = (add(g, &h[3], &t1), add(g, &t1, &t2));
        h.rotate_right(1);
        h[0] = new_a;
        h[4] = new_e;
    }
    initial.iter().zip(&h).flat_map(|(old, new)| add(g, old, new)).collect()
}

/// The initial chaining state.
#[cfg(test)]
fn initial_state() -> [u32; 8] {
    std::array::from_fn(|i| root_fraction(nth_prime(i), 2))
}

type Word = Vec<Bit>;

fn rotate(word: &[Bit], by: usize) -> Word {
    (0..32).map(|i| word[(i + by) % 32]).collect()
}

fn sigma<G: Gates>(g: &mut G, word: &[Bit], turns: [usize; 2], shift: Option<usize>) -> Word {
    let turned = xor(g, &rotate(word, turns[0]), &rotate(word, turns[1]));
    match shift {
        Some(by) => xor(g, &turned, &word[by..]),
        None => turned,
    }
}

fn big_sigma<G: Gates>(g: &mut G, word: &[Bit], turns: [usize; 3]) -> Word {
    let turned = sigma(g, word, [turns[0], turns[1]], None);
    xor(g, &turned, &rotate(word, turns[2]))
}

fn round_constants() -> [u32; 64] {
    std::array::from_fn(|i| root_fraction(nth_prime(i), 3))
}

/// The first 32 bits of the fractional part of a root, as the standard defines its constants.
fn root_fraction(prime: u32, degree: u32) -> u32 {
    let scaled = (BigUint::from(prime) << (32 * degree)).nth_root(degree);
    scaled.iter_u32_digits().next().unwrap_or(0)
}

fn nth_prime(n: usize) -> u32 {
    let is_prime = |c: &u32| (2..*c).take_while(|d| d * d <= *c).all(|d| !c.is_multiple_of(d));
    (2u32..).filter(is_prime).nth(n).unwrap_or(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fips_180_message_abc_hashes_correctly() {
        let mut block = [0u32; 16];
        block[0] = 0x6162_6380;
        block[15] = 24;
        let expected = [
            0xba78_16bfu32,
            0x8f01_cfea,
            0x4141_40de,
            0x5dae_2223,
            0xb003_61a3,
            0x9617_7a9c,
            0xb410_ff61,
            0xf200_15ad,
        ];
        let bits = |words: &[u32]| -> Vec<bool> {
            words.iter().flat_map(|word| (0..32).map(move |i| word >> i & 1 == 1)).collect()
        };
        let circuit = circuit();
        let input = [bits(&block), bits(&initial_state())].concat();
        assert_eq!(circuit.evaluate(&input).unwrap(), bits(&expected));
        assert!(circuit.counts().and < 23_000, "{:?}", circuit.counts());
    }
}
