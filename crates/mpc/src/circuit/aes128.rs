//! AES-128 as a circuit: an example, a known answer and a benchmark.
//!
//! The S-box is an inversion in GF(2⁸) written as a tower GF(((2²)²)²): three
//! products in GF(2⁴) at 9 ANDs and an inversion there at 5, 32 in all.

use super::bit::{Bit, Gates};
use super::builder::Builder;
use super::netlist::Circuit;
use crate::role::Role;

/// The circuit: P1's key and P2's block to the ciphertext, 6,400 ANDs.
///
/// Bit 8i + j of each is bit j (least significant first) of byte i.
pub fn circuit() -> Circuit {
    let mut g = Builder::new();
    let key = g.input(Role::P1, "key", 128);
    let block = g.input(Role::P2, "block", 128);
    let ciphertext = encrypt(&mut g, &key, &block);
    g.output("ciphertext", &ciphertext);
    g.finish()
}

/// Encrypts a block inside a circuit: 6,400 ANDs, key schedule included.
///
/// # Panics
/// If the key or the block is not 128 bits wide.
pub fn encrypt<G: Gates>(g: &mut G, key: &[Bit], block: &[Bit]) -> Vec<Bit> {
    assert!(key.len() == 128 && block.len() == 128, "AES-128 takes 128 bits");
    let field = Tower::new();
    let mut key: Vec<Byte> = bytes(key);
    let mut state: Vec<Byte> = bytes(block);
    add_round_key(g, &mut state, &key);
    let mut round_constant = 1u8;
    for round in 1..=10 {
        (state, key) = g.scope(|g| {
            let key = next_round_key(g, &field, &key, round_constant);
            let substituted: Vec<Byte> = state.iter().map(|byte| field.s_box(g, byte)).collect();
            // ShiftRows: byte (row, column) comes from (row, column + row).
            let mut next: Vec<Byte> =
                (0..16).map(|i| substituted[(i + 4 * (i % 4)) % 16]).collect();
            if round < 10 {
                next = next.chunks(4).flat_map(|column| mix_column(g, column)).collect();
            }
            add_round_key(g, &mut next, &key);
            (next, key)
        });
        round_constant = times_two(round_constant);
    }
    state.concat()
}

type Byte = [Bit; 8];

fn bytes(bits: &[Bit]) -> Vec<Byte> {
    bits.chunks(8).map(|chunk| std::array::from_fn(|i| chunk[i])).collect()
}

fn add_round_key<G: Gates>(g: &mut G, state: &mut [Byte], key: &[Byte]) {
    for (byte, key) in state.iter_mut().zip(key) {
        *byte = xor_bytes(g, byte, key);
    }
}

fn xor_bytes<G: Gates>(g: &mut G, a: &Byte, b: &Byte) -> Byte {
    std::array::from_fn(|i| g.xor(a[i], b[i]))
}

fn next_round_key<G: Gates>(g: &mut G, field: &Tower, key: &[Byte], constant: u8) -> Vec<Byte> {
    let rotated: [Byte; 4] = std::array::from_fn(|i| field.s_box(g, &key[12 + (i + 1) % 4]));
    let mut next: Vec<Byte> = Vec::with_capacity(16);
    for i in 0..16 {
        let before = if i < 4 { rotated[i] } else { next[i - 4] };
        next.push(xor_bytes(g, &key[i], &before));
        if i == 0 {
            for (place, bit) in next[0].iter_mut().enumerate() {
                *bit = bit.negate_if(constant >> place & 1 == 1);
            }
        }
    }
    next
}

fn mix_column<G: Gates>(g: &mut G, column: &[Byte]) -> [Byte; 4] {
    let pairs: [Byte; 4] = std::array::from_fn(|i| xor_bytes(g, &column[i], &column[(i + 1) % 4]));
    std::array::from_fn(|i| {
        // 2a + 3b + c + d = 2(a + b) + b + (c + d)
        let doubled: Byte = std::array::from_fn(|bit| match bit {
            0 => pairs[i][7],
            1 | 3 | 4 => g.xor(pairs[i][bit - 1], pairs[i][7]),
            _ => pairs[i][bit - 1],
        });
        let rest = xor_bytes(g, &column[(i + 1) % 4], &pairs[(i + 2) % 4]);
        xor_bytes(g, &doubled, &rest)
    })
}

/// The maps between AES's GF(2⁸) and the tower, and those inside the tower.
struct Tower {
    into: Linear,
    out_of: Linear,
    square_nu: Linear,
    basis: Linear,
    back: Linear,
}

impl Tower {
    /// Finds an isomorphism: a root, inside the tower, of AES's polynomial.
    fn new() -> Self {
        let powers = |root: u8| {
            let mut columns = [1u8; 8];
            for i in 1..8 {
                columns[i] = tower_product(columns[i - 1], root);
            }
            columns
        };
        let is_root = |root: &u8| {
            let columns = powers(*root);
            let eighth = tower_product(columns[7], *root);
            eighth ^ columns[4] ^ columns[3] ^ columns[1] ^ columns[0] == 0
        };
        let into = powers((2..=255).find(is_root).unwrap_or(2));
        let mut inverse = [0u8; 8];
        for value in 0..=255u8 {
            let image = apply(&into, value);
            if image.is_power_of_two() {
                inverse[image.trailing_zeros() as usize] = value;
            }
        }
        // The S-box's affine part is applied on the way out.
        let affine = |x: u8| (0..5).fold(0, |sum, turn| sum ^ x.rotate_left(turn));
        let squares: [u8; 4] = std::array::from_fn(|i| product_16(product_16(1 << i, 1 << i), NU));
        Self {
            into: Linear::new(&into, 8),
            out_of: Linear::new(&inverse.map(affine), 8),
            square_nu: Linear::new(&squares, 4),
            basis: Linear::new(&[1, 2, 10, 15], 4),
            back: Linear::new(&[2, 7, 14, 1], 4),
        }
    }

    fn s_box<G: Gates>(&self, g: &mut G, input: &Byte) -> Byte {
        let x = self.into.apply(g, input);
        let inverse = self.invert_256(g, std::array::from_fn(|i| x[i]));
        let mapped = self.out_of.apply(g, &inverse);
        std::array::from_fn(|i| mapped[i].negate_if(0x63 >> i & 1 == 1))
    }

    /// x⁻¹ for x = x₁y + x₀ over GF(2⁴) with y² = y + ν: (x₁²ν + x₁x₀ + x₀²)⁻¹ · (x₁y + x₀ + x₁).
    fn invert_256<G: Gates>(&self, g: &mut G, x: Byte) -> Byte {
        let low: Nibble = std::array::from_fn(|i| x[i]);
        let high: Nibble = std::array::from_fn(|i| x[4 + i]);
        let sum = xor_nibbles(g, high, low);
        let product = multiply_16(g, sum, low);
        let square = self.square_nu.apply(g, &high);
        let norm = xor_nibbles(g, product, std::array::from_fn(|i| square[i]));
        let inverse = self.invert_16(g, norm);
        let (top, bottom) = (multiply_16(g, inverse, high), multiply_16(g, inverse, sum));
        std::array::from_fn(|i| if i < 4 { bottom[i] } else { top[i - 4] })
    }

    /// Inversion in GF(2⁴) with 5 ANDs (Boyar and Peralta), between two changes of basis that were
    /// found by exhaustive search.
    fn invert_16<G: Gates>(&self, g: &mut G, x: Nibble) -> Nibble {
        let basis = self.basis.apply(g, &x);
        let (a, b, c, d) = (basis[0], basis[1], basis[2], basis[3]);
        let ab = g.xor(a, b);
        let ac = g.and(a, c);
        let s = g.xor(d, ac);
        let t = g.and(ab, s);
        let first = g.xor(t, b);
        let cd = g.xor(c, d);
        let u = g.xor(b, ac);
        let v = g.and(u, cd);
        let second = g.xor(v, d);
        let e = g.xor(c, second);
        let f = g.xor(s, second);
        let h = g.and(d, f);
        let third = g.xor(h, e);
        let k = g.xor(s, h);
        let l = g.and(first, k);
        let fourth = g.xor(ab, l);
        let back = self.back.apply(g, &[first, second, third, fourth]);
        [back[0], back[1], back[2], back[3]]
    }
}

/// The image of `value` under the matrix with these columns.
fn apply(columns: &[u8; 8], value: u8) -> u8 {
    (0..8).filter(|i| value >> i & 1 == 1).fold(0, |sum, i| sum ^ columns[i])
}

/// A public matrix as a list of XORs. Pairs that most rows share are added
/// first (Paar's method), which saves about a third of them.
struct Linear {
    pairs: Vec<(usize, usize)>,
    rows: Vec<usize>,
}

impl Linear {
    /// The matrix with these columns; no row of it is zero.
    fn new(columns: &[u8], height: usize) -> Self {
        let mut pairs = Vec::new();
        let mut rows: Vec<Vec<bool>> = (0..height)
            .map(|row| columns.iter().map(|column| column >> row & 1 == 1).collect())
            .collect();
        loop {
            let count = columns.len() + pairs.len();
            let shared = |(i, j): &(usize, usize)| rows.iter().filter(|r| r[*i] && r[*j]).count();
            let candidates = (0..count).flat_map(|i| (i + 1..count).map(move |j| (i, j)));
            let best = candidates.max_by_key(shared).filter(|pair| shared(pair) > 0);
            let Some((i, j)) = best else { break };
            pairs.push((i, j));
            for row in &mut rows {
                let both = row[i] && row[j];
                row.push(both);
                if both {
                    (row[i], row[j]) = (false, false);
                }
            }
        }
        let single = |row: &Vec<bool>| row.iter().position(|set| *set).unwrap_or(0);
        Self { pairs, rows: rows.iter().map(single).collect() }
    }

    fn apply<G: Gates>(&self, g: &mut G, input: &[Bit]) -> Vec<Bit> {
        let mut terms = input.to_vec();
        for (i, j) in &self.pairs {
            terms.push(g.xor(terms[*i], terms[*j]));
        }
        self.rows.iter().map(|row| terms[*row]).collect()
    }
}

type Nibble = [Bit; 4];

fn xor_nibbles<G: Gates>(g: &mut G, a: Nibble, b: Nibble) -> Nibble {
    std::array::from_fn(|i| g.xor(a[i], b[i]))
}

/// Karatsuba over GF(2²), z² = z + w: 9 ANDs.
fn multiply_16<G: Gates>(g: &mut G, a: Nibble, b: Nibble) -> Nibble {
    let halves = |x: Nibble| ([x[0], x[1]], [x[2], x[3]]);
    let ((a0, a1), (b0, b1)) = (halves(a), halves(b));
    let add = |g: &mut G, x: [Bit; 2], y: [Bit; 2]| [g.xor(x[0], y[0]), g.xor(x[1], y[1])];
    let (asum, bsum) = (add(g, a0, a1), add(g, b0, b1));
    let (low, high) = (multiply_4(g, a0, b0), multiply_4(g, a1, b1));
    let cross = multiply_4(g, asum, bsum);
    let top = add(g, cross, low);
    // w·(h₁w + h₀) = (h₁ + h₀)w + h₁
    let scaled = [high[1], g.xor(high[0], high[1])];
    let bottom = add(g, low, scaled);
    [bottom[0], bottom[1], top[0], top[1]]
}

/// Karatsuba over GF(2), w² = w + 1: 3 ANDs.
fn multiply_4<G: Gates>(g: &mut G, a: [Bit; 2], b: [Bit; 2]) -> [Bit; 2] {
    let (asum, bsum) = (g.xor(a[0], a[1]), g.xor(b[0], b[1]));
    let (low, high, cross) = (g.and(a[0], b[0]), g.and(a[1], b[1]), g.and(asum, bsum));
    [g.xor(low, high), g.xor(cross, low)]
}

/// ν of y² = y + ν; with it the polynomial has no root in GF(2⁴).
const NU: u8 = 8;

fn product_4(a: u8, b: u8) -> u8 {
    let (a1, a0, b1, b0) = (a >> 1, a & 1, b >> 1, b & 1);
    ((a1 & b0) ^ (a0 & b1) ^ (a1 & b1)) << 1 | ((a0 & b0) ^ (a1 & b1))
}

fn product_16(a: u8, b: u8) -> u8 {
    let (a1, a0, b1, b0) = (a >> 2, a & 3, b >> 2, b & 3);
    let high = product_4(a1, b1);
    (product_4(a1, b0) ^ product_4(a0, b1) ^ high) << 2 | (product_4(a0, b0) ^ product_4(high, 2))
}

fn tower_product(a: u8, b: u8) -> u8 {
    let (a1, a0, b1, b0) = (a >> 4, a & 15, b >> 4, b & 15);
    let high = product_16(a1, b1);
    (product_16(a1, b0) ^ product_16(a0, b1) ^ high) << 4
        | (product_16(a0, b0) ^ product_16(high, NU))
}

fn times_two(x: u8) -> u8 {
    x << 1 ^ if x & 0x80 != 0 { 0x1b } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fips_197_example_encrypts_with_6400_ands() {
        let key: Vec<u8> = (0..16).collect();
        let block: Vec<u8> = (0..16).map(|i| i * 0x11).collect();
        let expected: [u8; 16] = [
            0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4,
            0xc5, 0x5a,
        ];
        let bits = |bytes: &[u8]| -> Vec<bool> {
            bytes.iter().flat_map(|byte| (0..8).map(move |i| byte >> i & 1 == 1)).collect()
        };
        let circuit = circuit();
        let output = circuit.evaluate(&bits(&[key, block].concat())).unwrap();
        assert_eq!(output, bits(&expected));
        assert_eq!(circuit.counts().and, 6400);
    }
}
