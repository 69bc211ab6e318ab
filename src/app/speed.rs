//! How fast this machine does what protocols are made of: a short calibration. Most of it is generating
//! a Paillier key, if one is needed, which takes one to five seconds.

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::BigUint;

use crate::Error;
use crate::app::bench::process::cpu_time;
use crate::circuit::{Bit, Builder, Gates, Program};
use crate::crypto::commutative::{Domain, Group, Ristretto};
use crate::crypto::field_code::FieldCode;
use crate::crypto::okvs::{Layout, Store, encode};
use crate::crypto::paillier::{PublicKey, SecretKey, Tuning};
use crate::math::{Randomness, Rational};
use crate::mechanism;
use crate::mechanism::noise::JointNoise;
use crate::mechanism::noisy_max::NoiseWidths;
use crate::privacy::{AddNoise, Budget};
use crate::protocol::Workspace;
use crate::protocol::forecast::{Forecast, Work, Works};
use crate::protocol::pair::{Setup, try_run_workspaces};
use crate::protocol::shares::WordShares;
use crate::protocol::sum_by_group::{self, SumShape};
use crate::protocol::yao::{self, Reveal};
use crate::role::Role;

/// Seconds of CPU that one of each kind takes.
#[derive(Clone, Debug)]
pub struct Speeds {
    seconds: BTreeMap<Work, f64>,
    cores: f64,
}

impl Speeds {
    /// Measures what these conversations need, Paillier under a key of `key_bits`.
    ///
    /// # Errors
    /// If something that is measured fails.
    pub fn measure<'f>(
        forecasts: impl IntoIterator<Item = &'f Forecast>,
        key_bits: usize,
    ) -> Result<Self, Error> {
        let works = forecasts.into_iter().flat_map(Forecast::works);
        let needed: BTreeSet<Work> = works.flat_map(|(_, works)| works.into_keys()).collect();
        let mut seconds = BTreeMap::new();
        if needed.contains(&Work::GroupOperation) {
            seconds.insert(Work::GroupOperation, group_operation()?);
        }
        if needed.contains(&Work::Lookup) {
            matching(&mut seconds)?;
        }
        if needed.contains(&Work::Transfer) {
            garbling(&mut seconds)?;
        }
        if needed.contains(&Work::Hash) {
            seconds.insert(Work::Hash, hashing()?);
        }
        if needed.contains(&Work::MakeKey) || needed.contains(&Work::CheckKey) {
            paillier(key_bits, &mut seconds)?;
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
        Ok(Self { seconds, cores })
    }

    /// Seconds of CPU.
    pub fn cpu(&self, works: &Works) -> f64 {
        works.iter().map(|(work, times)| self.seconds_of(*work) * *times as f64).sum()
    }

    /// Seconds of CPU of a whole conversation.
    pub fn cpu_of(&self, forecast: &Forecast) -> f64 {
        forecast.works().iter().map(|(_, works)| self.cpu(works)).sum()
    }

    /// Seconds on the wall that one party takes alone, on all cores.
    pub fn wall(&self, works: &Works) -> f64 {
        let one = |(work, times): (&Work, &u64)| {
            let cores = if on_all_cores(*work) { self.cores } else { 1.0 };
            self.seconds_of(*work) * *times as f64 / cores
        };
        works.iter().map(one).sum()
    }

    fn seconds_of(&self, work: Work) -> f64 {
        self.seconds.get(&work).copied().unwrap_or(0.0)
    }
}

/// Gates are garbled one after the other, and primes are searched for one after the other.
fn on_all_cores(work: Work) -> bool {
    use Work::{Add, Decrypt, Element, Encrypt, GroupOperation, Hash, PowerBit, Rerandomise};
    matches!(
        work,
        GroupOperation | Element | Hash | Encrypt | Decrypt | Add | Rerandomise | PowerBit
    )
}

/// Both parties' works of one phase on the wall: with Paillier they take turns, otherwise they work
/// at the same time.
pub fn together(speeds: &Speeds, own: &Works, peer: &Works) -> f64 {
    let (own_wall, peer_wall) = (speeds.wall(own), speeds.wall(peer));
    let turns = |works: &Works| works.contains_key(&Work::Encrypt);
    if turns(own) || turns(peer) { own_wall + peer_wall } else { own_wall.max(peer_wall) }
}

/// CPU seconds of `work`, per item.
fn each(items: usize, work: impl FnOnce() -> Result<(), Error>) -> Result<f64, Error> {
    let start = cpu_time();
    work()?;
    Ok(cpu_time().saturating_sub(start).as_secs_f64() / items as f64)
}

/// The mean of encrypting and encrypting again.
fn group_operation() -> Result<f64, Error> {
    const ELEMENTS: usize = 512;
    let group = Ristretto::default();
    let key = group.generate_key(&mut Randomness::from_os()?);
    let names: Vec<[u8; 8]> = (0..ELEMENTS as u64).map(u64::to_le_bytes).collect();
    let names: Vec<&[u8]> = names.iter().map(<[u8; 8]>::as_slice).collect();
    let mut elements = vec![0; ELEMENTS * group.element_bytes()];
    each(2 * ELEMENTS, || {
        group.encrypt_many(&key, &Domain::new([0; 32]), &names, &mut elements, &|_| ())?;
        Ok(group.reencrypt_many(&key, &mut elements, &|_| ())?)
    })
}

/// Rows of the code at the receiver, who has two of each, and storing and looking up keys.
fn matching(seconds: &mut BTreeMap<Work, f64>) -> Result<(), Error> {
    const ROWS: usize = 1 << 13;
    const KEYS: usize = 1 << 13;
    let (secret, code) = (vec![7; 1 << 15], FieldCode::new(1));
    let [mut a, mut c] = [0; 2].map(|start| vec![start; ROWS]);
    let element = each(ROWS, || {
        code.add(0, [&secret, &secret], [&mut a, &mut c]);
        Ok(())
    })?;
    let rng = &mut Randomness::from_os()?;
    let keys: Vec<u128> = (0..KEYS).map(|_| u128::from_le_bytes(rng.array())).collect();
    let layout = Layout::for_keys(KEYS);
    let lookup = each(2 * KEYS, || {
        let (seed, table) = encode(layout, &keys, &keys, rng).map_err(Error::internal)?;
        Store::new(layout, seed).decode(&table, &keys, |key| *key);
        Ok(())
    })?;
    seconds.insert(Work::Element, element);
    // And as much again for its hashes and for comparing.
    seconds.insert(Work::Lookup, 2.0 * lookup);
    Ok(())
}

/// A circuit of transfers alone, then joint noise, which is most of what releases garble.
fn garbling(seconds: &mut BTreeMap<Work, f64>) -> Result<(), Error> {
    const TRANSFERS: usize = 1 << 16;
    const COUNTS: usize = 256;
    const WIDTHS: NoiseWidths = NoiseWidths { tau: 64, digits: 9 };
    const BITS: u32 = 20;
    let half = Rational::power_of_two(-1);
    let mut g = Builder::new();
    let bits = g.input(Role::P2, "bits", TRANSFERS);
    let parity = bits.iter().fold(Bit::FALSE, |sum, bit| g.xor(sum, *bit));
    g.output("parity", &[parity]);
    let transfers = Program::new(&g.finish());

    let party = |session: &mut Workspace| -> Result<(), Error> {
        session.channel.begin_phase("set-up");
        yao::set_up(session, Role::P1).map_err(Error::internal)?;
        let bits = vec![true; yao::bits_of(&transfers, session.role)];
        session.channel.begin_phase("transfers");
        let out = yao::run(session, Role::P1, &transfers, &bits, Reveal::Both);
        out.map_err(Error::internal)?;
        let budget = &"1".parse().map_err(Error::internal)?;
        let spend = Budget::new(budget).spend("calibration", &half).map_err(Error::internal)?;
        let counts = WordShares::new(BITS, vec![0; COUNTS]).map_err(Error::internal)?;
        session.channel.begin_phase("noise");
        JointNoise::new(session, WIDTHS).add_noise(spend, &counts).map_err(Error::internal)?;
        Ok(())
    };
    let outcome = try_run_workspaces(Setup::default(), party, party)?;
    outcome.p1?;
    outcome.p2?;
    let mut forecast = Forecast::new(Role::P1);
    let shaped: Result<(), crate::net::Error> =
        mechanism::noise::joint::forecast(&mut forecast, &half, WIDTHS, BITS, COUNTS);
    shaped.map_err(Error::internal)?;
    let works = forecast.works().first().map(|(_, works)| works.clone()).unwrap_or_default();
    let times = |work| works.get(&work).copied().unwrap_or(0) as f64;
    let phase = |costs: &crate::net::Costs, name: &str| costs.phase(name).cpu.as_secs_f64();
    let both = [&outcome.costs.p1, &outcome.costs.p2];
    let mean = |name| both.iter().map(|costs| phase(costs, name)).sum::<f64>() / 2.0;
    let transfer = mean("transfers") / TRANSFERS as f64;
    seconds.insert(Work::BaseTransfers, mean("set-up"));
    seconds.insert(Work::Transfer, transfer);
    for (work, costs) in [(Work::Garble, both[0]), (Work::Evaluate, both[1])] {
        let gates = phase(costs, "noise") - transfer * times(Work::Transfer);
        seconds.insert(work, gates.max(0.0) / times(Work::Garble).max(1.0));
    }
    Ok(())
}

/// Sums by group of a usual shape, with all that belongs to a record; transfers are counted apart.
fn hashing() -> Result<f64, Error> {
    const SHAPE: SumShape = SumShape { records: 4096, groups: 64, words: 16, bits: 20 };
    each(2 * SHAPE.hashes() as usize, || {
        sum_by_group::exercise(SHAPE);
        Ok(())
    })
}

fn paillier(bits: usize, seconds: &mut BTreeMap<Work, f64>) -> Result<(), Error> {
    const MANY: usize = 64;
    const FEW: usize = 16;
    const EXPONENT: usize = 512;
    let rng = &mut Randomness::from_os()?;
    let tuning = Tuning::default();
    let start = cpu_time();
    let key = SecretKey::generate(bits, tuning, rng).map_err(Error::internal)?;
    key.prepare();
    seconds.insert(Work::MakeKey, cpu_time().saturating_sub(start).as_secs_f64());
    let (bytes, start) = (key.public().to_bytes(), cpu_time());
    let public = PublicKey::from_bytes(&bytes, bits, tuning, rng).map_err(Error::internal)?;
    seconds.insert(Work::CheckKey, cpu_time().saturating_sub(start).as_secs_f64());

    let plaintexts: Vec<BigUint> = (0..MANY).map(BigUint::from).collect();
    let mut wire = Vec::new();
    let encrypt = each(MANY, || {
        let fresh = key.encrypt_all(&plaintexts, rng, &|_| ()).map_err(Error::internal)?;
        fresh.iter().for_each(|ciphertext| ciphertext.write(&mut wire));
        Ok(())
    })?;
    seconds.insert(Work::Encrypt, encrypt);
    let mut received = Vec::new();
    let add = each(MANY, || {
        received = public.read(&wire, MANY).map_err(Error::internal)?;
        let _ = public.sum(&received.iter().collect::<Vec<_>>());
        Ok(())
    })?;
    seconds.insert(Work::Add, add);
    received.truncate(FEW);
    let power = each(FEW * EXPONENT, || {
        let factors = vec![(BigUint::from(1u8) << EXPONENT) - 1u8; FEW];
        public
            .mul_plain_all(&received, &factors, &[EXPONENT; FEW], &|_| ())
            .map_err(Error::internal)?;
        Ok(())
    })?;
    seconds.insert(Work::PowerBit, power);
    let mut returned = Vec::new();
    let rerandomise = each(FEW, || {
        returned = public.rerandomise_all(&received, rng, &|_| ()).map_err(Error::internal)?;
        Ok(())
    })?;
    seconds.insert(Work::Rerandomise, rerandomise);
    let decrypt = each(FEW, || {
        let _ = key.decrypt_all(&returned, &|_| ());
        Ok(())
    })?;
    seconds.insert(Work::Decrypt, decrypt);
    Ok(())
}
