//! Noise on shared counts by two parties.

use super::mechanism::{measure, source, spend, widths};
use super::{BenchArgs, Figures};
use crate::Error;
use crate::math::Rational;
use crate::mechanism::noise::{JointNoise, OwnNoise, TwoPartyNoise};
use crate::net;
use crate::privacy::AddNoise;
use crate::protocol::shares::WordShares;
use crate::protocol::transfers::Source;

/// Bits of a share: 10^6 records, ten digits of noise, two to spare.
const BITS: u32 = 32;

/// Numbers of counts.
const SIZES: [usize; 3] = [16, 2_048, 16_384];

/// Both forms, for ε = 1/2 on the counts.
pub(super) fn run(options: &BenchArgs, out: &mut Figures) -> Result<(), Error> {
    let most = if options.net.is_some() { 2 } else { SIZES.len() };
    let sizes = options.sizes(&SIZES[..most], &SIZES[..1]);
    let half = Rational::power_of_two(-1);
    for size in sizes {
        let widths = widths(2 * size as u64, half.clone())?;
        let shares = || WordShares::new(BITS, (0..size as u64).collect());
        let own_noise = measure(options, Source::Iknp, |session| {
            let own = OwnNoise::draw(&mut *session.coins, &half, size)?;
            let spend = spend(&half).map_err(net::Error::from)?;
            TwoPartyNoise::prepared(session, own).add_noise(spend, &shares()?)?;
            Ok::<_, net::Error>(())
        })?;
        own_noise.add(format!("two-party noise, {size} counts"), out);
        let ahead = source(2 * size, widths);
        for (how, source) in [("drawn ahead", ahead), ("in a garbled circuit", Source::Iknp)] {
            let joint_noise = measure(options, source, |session| {
                let spend = spend(&half).map_err(net::Error::from)?;
                JointNoise::new(session, widths).add_noise(spend, &shares()?)?;
                Ok::<_, net::Error>(())
            })?;
            joint_noise.add(format!("joint noise, {size} counts, {how}"), out);
        }
    }
    Ok(())
}
