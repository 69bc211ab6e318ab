//! Products.

use std::collections::VecDeque;

use num_bigint::BigUint;

use super::super::bit::{Bit, Gates};
use super::arithmetic::{add, add_carry, add_columns, subtract};
use super::resize;

/// Below this width the school method has fewer ANDs than Karatsuba's.
const KARATSUBA_WIDTH: usize = 24;

/// a · b at the sum of both widths: about 2·w² ANDs, for wide operands O(w^1.58).
pub fn multiply<G: Gates>(g: &mut G, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
    let width = a.len().max(b.len());
    if a.len().min(b.len()) < KARATSUBA_WIDTH || a.len().min(b.len()) * 2 < width {
        return school(g, a, b);
    }
    let half = width.div_ceil(2);
    g.scope(|g| {
        let (a, b) = (resize(a, width), resize(b, width));
        let ((a0, a1), (b0, b1)) = (a.split_at(half), b.split_at(half));
        let low = multiply(g, a0, b0);
        let high = multiply(g, a1, b1);
        let (a01, b01) = (add_carry(g, a0, a1), add_carry(g, b0, b1));
        let cross = multiply(g, &a01, &b01);
        let cross = subtract(g, &cross, &low);
        let cross = subtract(g, &cross, &high);
        // low and high do not overlap; cross is added from `half` upwards.
        let mut product = low;
        product.extend(&high);
        let upper = resize(&product[half..], 2 * width - half);
        let upper = add(g, &upper, &resize(&cross, 2 * width - half));
        product.truncate(half);
        product.extend(upper);
        product
    })
    .into_iter()
    .take(a.len() + b.len())
    .collect()
}

/// a · `factor` at a.len() + bits of `factor`: one addition or subtraction per
/// non-zero digit of the factor's non-adjacent form.
pub fn multiply_constant<G: Gates>(g: &mut G, a: &[Bit], factor: &BigUint) -> Vec<Bit> {
    let width = a.len() + factor.bits() as usize;
    g.scope(|g| {
        let mut total = vec![Bit::FALSE; width];
        // Digits of the form: bits of 3f minus bits of f, shifted down by one.
        let triple = factor * 3u32;
        for shift in 0..triple.bits().saturating_sub(1) as usize {
            let (plus, minus) = (triple.bit(shift as u64 + 1), factor.bit(shift as u64 + 1));
            if plus == minus || shift >= width {
                continue;
            }
            let term = resize(a, width - shift);
            let changed = if plus {
                add(g, &total[shift..], &term)
            } else {
                subtract(g, &total[shift..], &term)
            };
            total.splice(shift.., changed);
        }
        total
    })
}

fn school<G: Gates>(g: &mut G, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
    g.scope(|g| {
        let mut columns = vec![VecDeque::new(); a.len() + b.len()];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                let product = g.and(*x, *y);
                columns[i + j].push_back(product);
            }
        }
        add_columns(g, columns)
    })
}
