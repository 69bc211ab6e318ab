//! The joint count table.

use num_bigint::BigUint;
use num_traits::One;
use rayon::prelude::*;

use super::stream;
use super::{
    Key, MOST_ENTRIES, MOST_RECORDS, Progress, PublicNumbers, impossible, key_too_short,
    result_out_of_range,
};
use super::{bits_of, check_sigma, key};
use crate::Error;
use crate::crypto::paillier::{self, Ciphertext, GroupSums, Packing, Pool, PublicKey, SecretKey};
use crate::math::{Randomness, limbs, modular};
use crate::protocol::Session;
use crate::protocol::forecast::{Forecast, Work};
use crate::protocol::shares::{WordShares, word_bits};
use crate::protocol::sum_by_group::{input_length, input_out_of_range};
use crate::role::Role;

const PHASE: &str = "count table";

/// Randomisers that are made while records come in, at most.
const STOCK: usize = 4096;

/// The public numbers of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableShape {
    /// Common records.
    pub records: usize,
    /// Cells of P1 and of P2.
    pub cells: [usize; 2],
    /// A mask is so many bits wider than a count.
    pub sigma: u32,
    /// k: counts are shared over Z_{2^k}.
    pub bits: u32,
}

impl TableShape {
    /// The party that encrypts: the one with fewer cells, P1 if they are equal.
    pub fn encrypting_role(&self) -> Role {
        if self.cells[0] <= self.cells[1] { Role::P1 } else { Role::P2 }
    }

    /// How many items each side's progress counts with a key of `key_bits`: ciphertexts sent for
    /// records, and ciphertexts returned for cells.
    ///
    /// # Errors
    /// As [`count_table`] for an impossible shape.
    pub fn items(&self, key_bits: usize) -> Result<[usize; 2], Error> {
        let blocks = self.blocks(key_bits)?;
        let encrypting = self.encrypting_role();
        Ok([self.records * blocks, self.cells[encrypting.peer() as usize] * blocks])
    }

    /// Bits of a mask.
    fn mask_bits(&self) -> u32 {
        (bits_of(self.records) + self.sigma).max(self.bits)
    }

    /// Bits of a slot: a mask plus a count does not reach 2^width.
    fn slot_bits(&self) -> usize {
        self.mask_bits() as usize + 1
    }

    fn blocks(&self, key_bits: usize) -> Result<usize, Error> {
        self.check()?;
        match (key_bits - 1) / self.slot_bits() {
            0 => Err(key_too_short(self.slot_bits() + 1, key_bits)),
            slots => Ok(self.cells[self.encrypting_role() as usize].div_ceil(slots)),
        }
    }

    fn check(&self) -> Result<(), Error> {
        let [first, second] = self.cells;
        if first == 0 || second == 0 {
            return Err(impossible("each party has at least one cell"));
        }
        if first.checked_mul(second).is_none_or(|entries| entries > MOST_ENTRIES) {
            return Err(impossible("the table has more than 2^24 entries"));
        }
        if self.records > MOST_RECORDS {
            return Err(impossible("there are more than 2^32 − 1 records"));
        }
        check_sigma(self.sigma)?;
        if !(1..=64).contains(&self.bits) {
            return Err(Error::input(word_bits(self.bits)));
        }
        if bits_of(self.records) > self.bits {
            return Err(impossible("a count may not fit the output ring; raise its bits"));
        }
        Ok(())
    }

    pub(crate) fn numbers(&self) -> PublicNumbers {
        let [first, second] = self.cells.map(|cells| cells as u64);
        [1, self.records as u64, first, second, u64::from(self.sigma), u64::from(self.bits)]
    }
}

/// Counts the common records in every pair of cells; each party gets a share of every count.
/// `cells` are this party's, one per record in the common order. Both parties' `progress` is called
/// for the items that [`TableShape::items`] counts.
///
/// # Errors
/// See [`Error`].
///
/// # Example
///
/// ```
/// use diptych_mpc::crypto::paillier::{SecretKey, Tuning};
/// use diptych_mpc::math::Randomness;
/// use diptych_mpc::protocol::Session;
/// use diptych_mpc::protocol::pair::{Setup, run_pair};
/// use diptych_mpc::Error;
/// use diptych_mpc::paper::scalar_product::{ExpectedKey, Key, TableShape, count_table};
/// use diptych_mpc::protocol::yao::Reveal;
/// use num_bigint::BigUint;
///
/// let tuning = Tuning { table_bytes: 1 << 20, ..Tuning::default() };
/// // Primes that everyone knows, so that the example is quick: a run takes `SecretKey::generate`.
/// let prime = |distance: u32| (BigUint::from(1u32) << 1024) - distance;
/// let mut rng = Randomness::from_os()?;
/// let key = SecretKey::from_primes(&prime(105), &prime(1397), tuning, &mut rng)?;
/// let expected = ExpectedKey::new(2048, tuning)?;
///
/// // Of three people P1 knows the job, 0 or 1, and P2 the town, 0, 1 or 2.
/// let shape = TableShape { records: 3, cells: [2, 3], sigma: 64, bits: 16 };
/// let (jobs, towns) = ([0, 1, 1], [2, 0, 0]);
/// let table = |session: &mut Session, key, cells: &[u32]| -> Result<_, Error> {
///     let shares = count_table(session, key, &shape, cells, &|_| ())?;
///     Ok(shares.open(session, Reveal::Both)?)
/// };
/// let outcome = run_pair(
///     Setup::default(),
///     |session| table(session, Key::Own(&key), &jobs),
///     |session| table(session, Key::Peer(expected), &towns),
/// );
/// // One person has job 0 in town 2, two have job 1 in town 0.
/// assert_eq!(outcome.p1?, Some(vec![0, 0, 1, 2, 0, 0]));
/// assert_eq!(outcome.p2?, Some(vec![0, 0, 1, 2, 0, 0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn count_table(
    session: &mut Session,
    key: Key<'_>,
    shape: &TableShape,
    cells: &[u32],
    progress: Progress<'_>,
) -> Result<WordShares, Error> {
    run(session, key, shape, cells, progress)
}

/// The messages of [`count_table`] under a key of `key_bits`, which its owner has already.
///
/// # Errors
/// As [`count_table`] for an impossible shape.
pub fn forecast_table(f: &mut Forecast, shape: &TableShape, key_bits: usize) -> Result<(), Error> {
    let [sent, returned] = shape.items(key_bits)?;
    let (owner, evaluator) = (shape.encrypting_role(), shape.encrypting_role().peer());
    let works = if f.role() == owner {
        vec![(Work::Encrypt, sent), (Work::Decrypt, returned)]
    } else {
        vec![(Work::CheckKey, 1), (Work::Add, sent), (Work::Rerandomise, returned)]
    };
    f.begin_phase(PHASE);
    key::forecast(f, owner, key_bits)?;
    let width = paillier::ciphertext_bytes(key_bits);
    stream::forecast_fresh(f, owner, sent, width);
    stream::forecast_returned(f, evaluator, returned, width);
    works.into_iter().for_each(|(work, times)| f.work(work, times));
    Ok(())
}

/// The ideal function of [`count_table`]: how many records have both cells, row-major by P1's.
///
/// # Errors
/// For inputs of wrong number or out of range.
pub fn ideal_table(shape: &TableShape, p1: &[u32], p2: &[u32]) -> Result<Vec<u64>, Error> {
    check_inputs(shape, Role::P1, p1)?;
    check_inputs(shape, Role::P2, p2)?;
    let mut counts = vec![0; shape.cells[0] * shape.cells[1]];
    for (first, second) in p1.iter().zip(p2) {
        counts[*first as usize * shape.cells[1] + *second as usize] += 1;
    }
    Ok(counts)
}

fn run(
    session: &mut Session,
    key: Key<'_>,
    shape: &TableShape,
    cells: &[u32],
    progress: Progress<'_>,
) -> Result<WordShares, Error> {
    shape.check()?;
    check_inputs(shape, session.role, cells)?;
    let encrypting = shape.encrypting_role();
    if (session.role == encrypting) != matches!(key, Key::Own(_)) {
        return Err(Error::input(format!(
            "{encrypting} encrypts in this shape; the other side must expect its key"
        )));
    }
    session.channel.begin_phase(PHASE);
    let words = match key {
        Key::Own(secret) => encrypt(session, secret, shape, cells, progress)?,
        Key::Peer(expected) => {
            let public = expected.receive(session, &shape.numbers())?;
            evaluate(session, &public, shape, cells, progress)?
        }
    };
    WordShares::new(shape.bits, words)
}

fn encrypt(
    session: &mut Session,
    secret: &SecretKey,
    shape: &TableShape,
    cells: &[u32],
    progress: Progress<'_>,
) -> Result<Vec<u64>, Error> {
    let plan = TablePlan::new(shape, secret.public())?;
    key::send(session, shape.numbers(), secret.public())?;
    let plaintext = |item| Ok(plan.plaintext(item, cells));
    stream::send_fresh(session, secret, plan.sent(), plaintext, progress)?;

    let mut words = vec![0; plan.entries()];
    let channel = &mut session.channel;
    stream::receive_returned(channel, secret, plan.returned(), progress, |first, plaintexts| {
        let mut numbered = (first..).zip(plaintexts);
        numbered.try_for_each(|(place, plaintext)| plan.unpack(place, plaintext, &mut words))
    })?;
    Ok(words)
}

fn evaluate(
    session: &mut Session,
    public: &PublicKey,
    shape: &TableShape,
    cells: &[u32],
    progress: Progress<'_>,
) -> Result<Vec<u64>, Error> {
    let plan = TablePlan::new(shape, public)?;
    // Randomisers do not depend on what arrives, so they are made meanwhile.
    let stock = Pool::start(public, plan.returned().min(STOCK))?;
    let mut sums = GroupSums::new(public, plan.returned());
    stream::receive_fresh(&mut session.channel, public, plan.sent(), |first, items| {
        let groups = (first..).take(items.len()).map(|item| plan.group(item, cells));
        Ok(sums.add(items, &groups.collect::<Vec<_>>(), progress)?)
    })?;

    let masks = plan.draw_masks(&mut session.rng);
    let (masked, words) = plan.mask(public, &sums.finish(), masks)?;
    let mut results = Vec::with_capacity(masked.len());
    while results.len() < masked.len()
        && let Some(randomiser) = stock.try_take()
    {
        results.push(public.rerandomise(&masked[results.len()], randomiser));
    }
    progress(results.len());
    let rest = &masked[results.len()..];
    results.extend(public.rerandomise_all(rest, &mut session.rng, progress)?);
    stream::send_returned(&mut session.channel, public, &results)?;
    Ok(words)
}

/// The arithmetic of a run: which record and cell goes where. A *block* is the part of the
/// encrypting party's cells that one ciphertext holds.
pub(crate) struct TablePlan {
    shape: TableShape,
    encrypting: Role,
    packing: Packing,
    blocks: usize,
}

impl TablePlan {
    pub fn new(shape: &TableShape, key: &PublicKey) -> Result<Self, Error> {
        let blocks = shape.blocks(key.bits())?;
        let packing = Packing::new(key, shape.slot_bits())?;
        Ok(Self { shape: *shape, encrypting: shape.encrypting_role(), packing, blocks })
    }

    /// Ciphertexts that are sent, those of one record one after the other.
    pub fn sent(&self) -> usize {
        self.shape.records * self.blocks
    }

    /// Ciphertexts that return, those of one of the evaluating party's cells one after the other.
    pub fn returned(&self) -> usize {
        self.shape.cells[self.encrypting.peer() as usize] * self.blocks
    }

    /// Bits of a mask.
    #[cfg(feature = "audit")]
    pub fn mask_bits(&self) -> u32 {
        self.shape.mask_bits()
    }

    /// Bits of a slot.
    #[cfg(feature = "audit")]
    pub fn width(&self) -> usize {
        self.packing.width()
    }

    /// Entries of the table.
    pub fn entries(&self) -> usize {
        self.shape.cells[0] * self.shape.cells[1]
    }

    /// What the encrypting party encrypts: 1 in the slot of the record's cell, if it is in this block.
    pub fn plaintext(&self, item: usize, cells: &[u32]) -> BigUint {
        let (record, block) = (item / self.blocks, item % self.blocks);
        let cell = cells[record] as usize;
        let slots = self.packing.slots();
        if cell / slots == block {
            BigUint::one() << (cell % slots * self.packing.width())
        } else {
            BigUint::default()
        }
    }

    /// The sum to which the evaluating party adds a ciphertext.
    pub fn group(&self, item: usize, cells: &[u32]) -> usize {
        cells[item / self.blocks] as usize * self.blocks + item % self.blocks
    }

    /// One mask after the other, as many as are asked for.
    pub fn draw_masks(&self, rng: &mut Randomness) -> impl Iterator<Item = BigUint> {
        let bits = self.shape.mask_bits() as usize;
        let draw = move || limbs::to_biguint(&modular::random_limbs(bits, bits.div_ceil(64), rng));
        std::iter::repeat_with(draw)
    }

    /// The sums with their masks on, and the evaluating party's words: the masks' negatives. Takes
    /// one mask per entry, in the order in which they return.
    pub fn mask(
        &self,
        key: &PublicKey,
        sums: &[Ciphertext],
        mut masks: impl Iterator<Item = BigUint>,
    ) -> Result<(Vec<Ciphertext>, Vec<u64>), Error> {
        let mut words = vec![0; self.entries()];
        let mut plaintexts = Vec::with_capacity(sums.len());
        for place in 0..self.returned() {
            let masks: Vec<BigUint> = masks.by_ref().take(self.slots_in(place)).collect();
            for (slot, mask) in masks.iter().enumerate() {
                words[self.entry(place, slot)] = low_word(mask).wrapping_neg();
            }
            plaintexts.push(self.packing.pack(&masks)?);
        }
        let add = |(sum, mask): (&Ciphertext, &BigUint)| Ok(key.add_plain(sum, mask)?);
        let masked = sums.par_iter().zip(&plaintexts).map(add);
        Ok((masked.collect::<Result<_, Error>>()?, words))
    }

    /// The encrypting party's words of one returned plaintext: counts with masks on.
    pub fn unpack(
        &self,
        place: usize,
        plaintext: &BigUint,
        words: &mut [u64],
    ) -> Result<(), Error> {
        let slots = self.slots_in(place);
        if plaintext.bits() > (slots * self.packing.width()) as u64 {
            return Err(result_out_of_range(place));
        }
        for (slot, value) in self.packing.unpack(plaintext, slots)?.iter().enumerate() {
            words[self.entry(place, slot)] = low_word(value);
        }
        Ok(())
    }

    /// How many slots of a returned ciphertext are entries.
    fn slots_in(&self, place: usize) -> usize {
        let cells = self.shape.cells[self.encrypting as usize];
        let before = place % self.blocks * self.packing.slots();
        self.packing.slots().min(cells - before)
    }

    /// The index in the table of a slot of a returned ciphertext.
    fn entry(&self, place: usize, slot: usize) -> usize {
        let encrypting = place % self.blocks * self.packing.slots() + slot;
        let evaluating = place / self.blocks;
        match self.encrypting {
            Role::P1 => encrypting * self.shape.cells[1] + evaluating,
            Role::P2 => evaluating * self.shape.cells[1] + encrypting,
        }
    }
}

fn low_word(number: &BigUint) -> u64 {
    number.iter_u64_digits().next().unwrap_or(0)
}

fn check_inputs(shape: &TableShape, role: Role, cells: &[u32]) -> Result<(), Error> {
    if cells.len() != shape.records {
        return Err(input_length(cells.len(), shape.records));
    }
    match cells.iter().position(|cell| *cell as usize >= shape.cells[role as usize]) {
        Some(place) => Err(input_out_of_range(place)),
        None => Ok(()),
    }
}
