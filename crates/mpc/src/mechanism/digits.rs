//! Geometric noise inside a circuit, digit by digit: see [`crate::privacy::digits`].

use crate::circuit::integer::{bernoulli, xor};
use crate::circuit::{Bit, Gates};
use crate::privacy::digits::DigitSampler;

/// A noise from both parties' bits: at most τ − 1 ANDs per digit, none for a digit that is never 1.
pub(super) fn draw<G: Gates>(
    g: &mut G,
    sampler: &DigitSampler,
    p1: &[Bit],
    p2: &[Bit],
) -> Vec<Bit> {
    let tau = sampler.tau() as usize;
    let pairs = p1.chunks(tau).zip(p2.chunks(tau));
    pairs
        .zip(sampler.thresholds())
        .map(|((a, b), threshold)| {
            g.scope(|g| {
                let joint = xor(g, a, b);
                bernoulli(g, &joint, threshold)
            })
        })
        .collect()
}
