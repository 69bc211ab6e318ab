//! DiffGen by two parties that hold different columns of the same individuals (thesis, 7.1).
//!
//! *Inputs*: the agreement; each party's columns, the class and identifiers. *Output*, to both: the
//! release that one party would have made of the joined table, and nothing else of the other's data.
//!
//! 1. *Set intersection* finds the common individuals and one order for them.
//!    Fewer than `min_common` of them end the run.
//!    Where one party alone has the class, [`super::one_class`] goes on from here. Where nobody is to
//!    learn who is common, [`super::hidden`] is all of it.
//! 2. *Class*: hashes of the class columns are compared in a circuit; P1's copy counts. Where they
//!    differ the run ends, and tells for how many people only if the agreement allows that.
//! 3. *Structure*: each party scores the candidates of its own columns and draws their splits
//!    alone; a distributed mechanism chooses among all candidates. The winner is all that is opened.
//!    The instruction to the peer is the winner's place in the public list and, for an interval, the
//!    split: nothing about records.
//! 4. *Counts*: the joint count table as shares, noise, opening.
//!
//! *Learned by the peer*: the number of identifiers and which are common; whether the class columns
//! agree; the release. *Theorem*: the view of a party is simulated from its own input, these and the
//! release, up to the total variation that [`Sizes`] turns into δ (composition of the simulators of
//! [`psi`], [`crate::mechanism`] and [`sum_by_group`], or [`scalar_product`] if that is agreed); so for the peer's columns
//! of one common individual replaced, each party's view is (2ε, (1 + e^ε)·δ)-private,
//! computationally.
//!
//! *What can be timed*: scoring between two choices takes a party time that depends on its records.
//! It is part of the leak that SECURITY.md states.

use num_bigint::{BigInt, BigUint};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::holder::Holder;
use super::one_class::OneClass;
use super::sizes::{Sizes, scaling};
use super::two_party::{
    CountNoise, Error, Keys, Prepared, assumptions, begin_structure, noisy_records,
};
use super::{Leaves, Plan, Specializer, hidden, run, terms};
use crate::agreement::diffgen::Terms;
use crate::agreement::{Agreement, CountTable, MatchBy, Rehearsal, Selection};
use crate::circuit::integer::equal;
use crate::circuit::{Builder, Program};
use crate::crypto::commutative::{Residues, Ristretto};
use crate::crypto::paillier::{SecretKey, Tuning};
use crate::math::Rational;
use crate::mechanism::exponential::VerticalExponential;
use crate::mechanism::noisy_max::{NoisyMax, Scores};
use crate::mechanism::{self, OneSided};
use crate::net::{Message, Tag};
use crate::privacy::decisions::Decisions;
use crate::privacy::exponential::Exponential;
use crate::privacy::{self, Budget, Choose, Spend};
use crate::protocol::forecast::Forecast;
use crate::protocol::psi::{self, Intersection, intersect, oblivious};
use crate::protocol::scalar_product::{self, ExpectedKey, Key, TableShape};
use crate::protocol::shares::WordShares;
use crate::protocol::sum_by_group::{self, CountShape};
use crate::protocol::vole::Method;
use crate::protocol::yao::{self, Reveal};
use crate::protocol::{Coins, Session};
use crate::release::tree::layout::leaf_offsets;
use crate::release::tree::leaf_records::LeafRecords;
use crate::release::{Outcome, Step, rehearsal};
use crate::role::Role;
use crate::table::{Candidate, CutValue, Cuts, Specialization, Table};

/// Makes a release with the peer: see [`two_party`](super::two_party).
pub(super) fn release(
    session: &mut Session,
    agreement: &Agreement,
    table: &Table,
    budget: Budget,
    prepared: Prepared,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Outcome, Error> {
    if agreement.membership().is_hidden() {
        return hidden::release(session, agreement, table, budget, prepared.keys, progress);
    }
    let plan = Plan::new(agreement)?;
    let sizes = Sizes::of(agreement, &plan)?;
    let identifiers = table.identifiers().ok_or(NO_IDENTIFIERS)?;
    let Intersection { rows, peer_size } = common_rows(session, agreement, identifiers, progress)?;
    check_common(agreement, rows.len())?;
    let table = table.select(&rows);
    let release = match plan.class_owner() {
        None => {
            compare_classes(session, agreement, &table)?;
            let mut specializer = Vertical {
                session,
                holder: Holder::new(&plan, &table)?,
                agreement,
                terms: plan.terms(),
                sizes: &sizes,
                records: rows.len(),
                prepared,
                progress,
            };
            run(&plan, budget, &mut specializer, &|step| progress(step))?
        }
        Some(owner) => {
            let mut specializer =
                OneClass::start(session, agreement, &plan, &sizes, &table, owner, progress)?;
            run(&plan, budget, &mut specializer, &|step| progress(step))?
        }
    };
    Ok(Outcome { release, in_both: Some(rows.len()), peer_records: Some(peer_size) })
}

pub(super) const NO_IDENTIFIERS: Error =
    Error::WrongInput("the data was read without identifiers; read it for a vertical agreement");

/// How the common individuals of a release are found.
enum Matched {
    Function(Method),
    Curve(Ristretto),
    Residues(Box<Residues>),
}

fn matched_by(agreement: &Agreement) -> Result<Matched, Error> {
    let by = agreement.matching().unwrap_or_default().by;
    Ok(match by {
        MatchBy::Oprf => Matched::Function(Method::suited_to(assumptions(terms(agreement)?))),
        MatchBy::Ristretto255 => Matched::Curve(Ristretto::default()),
        MatchBy::Ffdhe3072 => {
            let group = Residues::ffdhe3072().map_err(psi::Error::from)?;
            Matched::Residues(Box::new(group))
        }
    })
}

/// The messages by which the common individuals are found, for lists of so many.
pub(super) fn forecast_intersection(
    f: &mut Forecast,
    agreement: &Agreement,
    own: usize,
    peer: usize,
) -> Result<(), Error> {
    match matched_by(agreement)? {
        Matched::Function(method) => oblivious::forecast(f, method, own, peer),
        Matched::Curve(group) => psi::forecast_intersect(f, &group, own, peer),
        Matched::Residues(group) => psi::forecast_intersect(f, &*group, own, peer),
    }
    Ok(())
}

/// This party's rows of the common individuals, in the common order.
fn common_rows(
    session: &mut Session,
    agreement: &Agreement,
    identifiers: &[String],
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Intersection, Error> {
    let starts = |total| progress(Step::Began { phase: "set intersection", total });
    let options = psi::Options {
        largest_set: usize::try_from(agreement.max_records).unwrap_or(usize::MAX),
        starts: &starts,
        progress: &|items| progress(Step::Advanced(items)),
    };
    Ok(match matched_by(agreement)? {
        Matched::Function(method) => oblivious::intersect(session, method, identifiers, options)?,
        Matched::Curve(group) => intersect(session, &group, identifiers, options)?,
        Matched::Residues(group) => intersect(session, &*group, identifiers, options)?,
    })
}

/// Ends the run if fewer people are common than is agreed. Both know how many are.
fn check_common(agreement: &Agreement, common: usize) -> Result<(), Error> {
    let least = agreement.matching().map_or(0, |matching| matching.min_common);
    if common as u64 >= least {
        return Ok(());
    }
    let column = agreement.identifier().map(|id| id.column.clone()).unwrap_or_default();
    Err(Error::TooFewCommon { common, least, column })
}

/// Ends the run unless both parties have the same class for every common individual. Hashes of the
/// columns are compared inside a circuit: nobody sees the other's, and one bit is opened.
fn compare_classes(
    session: &mut Session,
    agreement: &Agreement,
    table: &Table,
) -> Result<(), Error> {
    session.channel.begin_phase("class");
    let mut hash = Sha256::new();
    hash.update(b"diptych class column v1");
    hash.update(session.id.as_bytes());
    hash.update(table.classes());
    let hash: [u8; 32] = hash.finalize().into();
    let bits: Vec<bool> = (0..256).map(|i| hash[i / 8] >> (i % 8) & 1 == 1).collect();
    let same = yao::run(session, Role::P1, &same_hash(), &bits, Reveal::Both);
    match same.map_err(mechanism::Error::from)?.as_deref() {
        Some([true]) => Ok(()),
        _ => {
            let differing = count_differing(session, agreement, table)?;
            let column = agreement.schema.class.column.clone();
            Err(Error::ClassesDiffer { column, differing })
        }
    }
}

/// Of how many of the common people in `table` the class differs, where the agreement lets a
/// rehearsal tell that.
fn count_differing(
    session: &mut Session,
    agreement: &Agreement,
    table: &Table,
) -> Result<Option<usize>, Error> {
    if agreement.matching().and_then(|matching| matching.rehearse) != Some(Rehearsal::Labels) {
        return Ok(None);
    }
    let labelled = rehearsal::labelled(table).ok_or(NO_IDENTIFIERS)?;
    let options = psi::Options { largest_set: table.len(), starts: &|_| (), progress: &|_| () };
    let same = psi::cardinality(session, &Ristretto::default(), &labelled, options)?;
    Ok(Some(table.len().saturating_sub(same.common)))
}

/// Whether two hashes are the same.
fn same_hash() -> Program {
    let mut g = Builder::new();
    let [first, second] =
        [(Role::P1, "p1"), (Role::P2, "p2")].map(|(owner, name)| g.input(owner, name, 256));
    let same = equal(&mut g, &first, &second);
    g.output("same", &[same]);
    Program::new(&g.finish())
}

/// The messages of comparing the class columns.
pub(super) fn forecast_classes(f: &mut Forecast) {
    f.begin_phase("class");
    yao::forecast(f, Role::P1, &same_hash(), Reveal::Both);
}

/// The message that tells a split.
pub(super) fn forecast_split(f: &mut Forecast, owner: Role) -> Result<(), Error> {
    Ok(f.message_like(owner, &Split { point: 0 })?)
}

const NO_KEY: Error = Error::WrongInput("the release was prepared for another agreement");

fn key_bits(terms: &Terms, keys: Keys) -> Result<usize, Error> {
    match keys {
        #[cfg(any(test, feature = "testing"))]
        Keys::ForTests(bits) => Ok(bits),
        Keys::Agreed => terms.paillier_bits.map(|bits| bits as usize).ok_or(NO_KEY),
    }
}

/// A key for the count table, should the tree want ours.
pub(super) fn make_key(
    session: &mut Session,
    terms: &Terms,
    keys: Keys,
) -> Result<SecretKey, Error> {
    let (bits, rng) = (key_bits(terms, keys)?, &mut session.rng);
    Ok(match keys {
        Keys::Agreed => SecretKey::generate(bits, Tuning::default(), rng)?,
        #[cfg(any(test, feature = "testing"))]
        Keys::ForTests(_) => SecretKey::generate_for_tests(bits, Tuning::default(), rng)?,
    })
}

/// One party's side of [`run`].
struct Vertical<'a, 'p, 't> {
    session: &'a mut Session,
    holder: Holder<'p, 't>,
    agreement: &'a Agreement,
    terms: &'a Terms,
    sizes: &'a Sizes,
    records: usize,
    prepared: Prepared,
    progress: &'a (dyn Fn(Step) + Sync),
}

#[derive(Serialize, Deserialize)]
struct Split {
    point: u32,
}

impl Message for Split {
    const TAG: Tag = Tag::new(*b"dgsp");
    const MOST_BYTES: usize = 4;
}

/// Tells the peer the split of an interval that has won, or hears it.
pub(super) fn exchange_split(
    session: &mut Session,
    winner: Candidate,
    own: Option<u32>,
) -> Result<u32, Error> {
    if let Some(point) = own {
        session.channel.send(&Split { point })?;
        return Ok(point);
    }
    let Split { point } = session.channel.receive()?;
    let inside = matches!(winner.value, CutValue::Interval { start, end }
        if start < point && point < end);
    if inside { Ok(point) } else { Err(Error::ImpossibleSplit) }
}

impl Specializer for Vertical<'_, '_, '_> {
    type Error = Error;

    /// Both know how many are common; the release shall tell no more of it than its noise lets it.
    fn noisy_records(&mut self, spend: Spend) -> Result<i64, Error> {
        let own = if self.session.role == Role::P1 { self.records as u64 } else { 0 };
        noisy_records(self.session, self.terms, self.sizes, spend, own)
    }

    fn begin(&mut self, plan: &Plan) -> Result<(), Error> {
        begin_structure(self.session, self.holder.plan(), plan, self.sizes)
    }

    /// The owner of the column draws alone; the peer has nothing to do.
    fn draw_splits(
        &mut self,
        spend: Spend,
        attribute: usize,
        intervals: &[CutValue],
    ) -> Result<(), Error> {
        if !self.holder.holds(attribute) {
            self.session.coins.skip(intervals.len());
            return Ok(());
        }
        // The peer waits meanwhile.
        let mut mechanism = Exponential::new(scaling(), Alone(&mut *self.session.coins))
            .within(self.sizes.largest_score);
        Ok(self.holder.draw_splits(spend, attribute, intervals, &mut mechanism, false)?)
    }

    fn choose(&mut self, spend: Spend, candidates: &[Candidate]) -> Result<usize, Error> {
        let own = candidates
            .iter()
            .filter(|candidate| self.holder.holds(candidate.attribute))
            .map(|candidate| self.holder.score(*candidate))
            .collect::<Result<Vec<_>, _>>()?;
        let peer = candidates.len() - own.len();
        let scores = OneSided { own, peer };
        let calibration = self.holder.plan().calibration();
        let choice = match self.terms.selection {
            Selection::Exponential => {
                let terms = self.sizes.by_weight(self.terms.profile);
                VerticalExponential::with(self.session, terms).choose(
                    spend,
                    calibration,
                    &scores,
                )?
            }
            Selection::PermuteAndFlip => {
                let mut mechanism = NoisyMax::with(self.session, self.sizes.by_noisy_max())?;
                mechanism.choose(spend, calibration, &Scores::OneSided(scores))?
            }
        };
        Ok(choice.index)
    }

    fn split_of(&mut self, winner: Candidate) -> Result<u32, Error> {
        let own = match self.holder.holds(winner.attribute) {
            true => Some(self.holder.split_of(winner)?),
            false => None,
        };
        exchange_split(self.session, winner, own)
    }

    fn specialize(
        &mut self,
        made: &Specialization,
        children: &[CutValue],
        _: Option<Spend>,
    ) -> Result<(), Error> {
        Ok(self.holder.specialize(made, children)?)
    }

    fn noisy_counts(&mut self, spend: Spend, cuts: &Cuts, _: &Leaves) -> Result<Vec<i64>, Error> {
        let layout = Layout::new(cuts, self.agreement);
        let noise =
            CountNoise::prepare(self.terms, self.sizes, &spend, layout.entries(), self.session)?;
        self.session.channel.begin_phase("count table");
        let counts = layout.in_release_order(&self.count_table(cuts, &layout)?)?;
        noise.add(self.session, spend, &counts)
    }
}

impl Vertical<'_, '_, '_> {
    fn count_table(&mut self, cuts: &Cuts, layout: &Layout) -> Result<WordShares, Error> {
        let cells = layout.cells_of_records(self.holder.leaf_records(), cuts, self.session.role);
        match self.terms.count_table {
            Some(CountTable::Paillier) => self.encrypted_table(layout, &cells),
            _ => self.transferred_table(layout, &cells),
        }
    }

    fn transferred_table(&mut self, layout: &Layout, cells: &[u32]) -> Result<WordShares, Error> {
        let shape = layout.by_transfers(self.records, self.sizes);
        (self.progress)(Step::Began { phase: "count table", total: self.records });
        let progress = |records| (self.progress)(Step::Advanced(records));
        Ok(sum_by_group::count_table(self.session, &shape, cells, &progress)?)
    }

    fn encrypted_table(&mut self, layout: &Layout, cells: &[u32]) -> Result<WordShares, Error> {
        let shape = layout.by_encryption(self.records, self.sizes);
        let bits = key_bits(self.terms, self.prepared.keys)?;
        let items = shape.items(bits)?.iter().sum();
        (self.progress)(Step::Began { phase: "count table", total: items });
        let key = if shape.encrypting_role() == self.session.role {
            Key::Own(self.prepared.secret.as_ref().ok_or(NO_KEY)?)
        } else {
            Key::Peer(self.expected_key(bits)?)
        };
        let progress = |items| (self.progress)(Step::Advanced(items));
        Ok(scalar_product::count_table(self.session, key, &shape, cells, &progress)?)
    }

    fn expected_key(&self, bits: usize) -> Result<ExpectedKey, Error> {
        Ok(match self.prepared.keys {
            Keys::Agreed => ExpectedKey::new(bits, Tuning::default())?,
            #[cfg(any(test, feature = "testing"))]
            Keys::ForTests(_) => ExpectedKey::for_tests(bits, Tuning::default()),
        })
    }
}

/// Where the entries of the joint table lie in the release. Public.
pub(super) struct Layout {
    classes: usize,
    /// To whose cells the class belongs.
    class_owner: Role,
    /// What P1's and P2's combinations add to the place of a leaf.
    offsets: [Vec<usize>; 2],
}

impl Layout {
    pub(super) fn new(cuts: &Cuts, agreement: &Agreement) -> Self {
        let offsets = Role::BOTH.map(|owner| {
            let attributes = agreement.schema.attributes.iter().enumerate();
            let own: Vec<usize> = attributes
                .filter(|(_, a)| a.owner == Some(owner))
                .map(|(index, _)| index)
                .collect();
            leaf_offsets(cuts, &own)
        });
        let class = &agreement.schema.class;
        let class_owner = class.owner.unwrap_or(Role::P1);
        Self { classes: class.values.len(), class_owner, offsets }
    }

    /// Cells of P1 and of P2; those of the class's owner are its leaves times the classes.
    pub(super) fn cells(&self) -> [usize; 2] {
        Role::BOTH.map(|role| {
            let classes = if role == self.class_owner { self.classes } else { 1 };
            self.offsets[role as usize].len() * classes
        })
    }

    /// The cell of every record of a party.
    pub(super) fn cells_of_records(
        &self,
        leaf_records: &LeafRecords<'_>,
        cuts: &Cuts,
        role: Role,
    ) -> Vec<u32> {
        let mut cells = leaf_records.leaf_of_records(cuts);
        if role == self.class_owner {
            let (classes, codes) = (self.classes as u32, leaf_records.class_codes());
            let labelled = cells.iter_mut().zip(codes);
            labelled.for_each(|(cell, class)| *cell = *cell * classes + u32::from(*class));
        }
        cells
    }

    /// The table by sums by group.
    pub(super) fn by_transfers(&self, records: usize, sizes: &Sizes) -> CountShape {
        CountShape { records, cells: self.cells(), bits: sizes.count_bits }
    }

    /// The table under encryption.
    pub(super) fn by_encryption(&self, records: usize, sizes: &Sizes) -> TableShape {
        let (sigma, bits) = (sizes.widths.sigma, sizes.count_bits);
        TableShape { records, cells: self.cells(), sigma, bits }
    }

    pub(super) fn entries(&self) -> usize {
        self.cells().iter().product()
    }

    /// Entry `cell1 · m2 + cell2` of the table goes to its leaf and class.
    pub(super) fn in_release_order(&self, table: &WordShares) -> Result<WordShares, Error> {
        let mut words = vec![0; self.entries()];
        let cells = self.cells();
        for (entry, word) in table.words().iter().enumerate() {
            let of_both = [entry / cells[1], entry % cells[1]];
            let labelled = of_both[self.class_owner as usize];
            let other = of_both[self.class_owner.peer() as usize];
            let leaf = self.offsets[self.class_owner as usize][labelled / self.classes]
                + self.offsets[self.class_owner.peer() as usize][other];
            words[leaf * self.classes + labelled % self.classes] = *word;
        }
        Ok(WordShares::new(table.bits(), words)?)
    }
}

/// Coins for the decisions that this party makes alone.
pub(super) struct Alone<'a>(pub(super) &'a mut dyn Coins);

impl Decisions for Alone<'_> {
    fn uniform_below(&mut self, bound: &BigUint) -> Result<BigUint, privacy::Error> {
        self.0.uniform_below(bound)
    }

    fn geometric(&mut self, rate: &Rational) -> Result<BigUint, privacy::Error> {
        self.0.geometric(rate)
    }

    fn discrete_laplace(&mut self, rate: &Rational) -> Result<BigInt, privacy::Error> {
        self.0.discrete_laplace(rate)
    }
}
