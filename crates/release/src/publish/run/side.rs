//! What one party knows and refuses before it connects: identity, ledger and caps, data.

use std::time::Duration;

use super::deadline;
use crate::Error;
use crate::agreement::{Agreement, Partition};
use crate::net::{Fingerprint, Identity};
use crate::privacy::ledger::{self, Debit, Delta, Hash, History, Ledger, RunId};
use crate::privacy::{Differential, Promise};
use crate::publish::Watcher;
use crate::publish::clock;
use crate::publish::data::Contents;
use crate::publish::local;
use crate::publish::meeting::read_identity;
use crate::publish::party::Party;
use crate::release;
use crate::release::forecast::Records;
use crate::release::plan::{self, Plan};
use crate::release::trajectory::Part;
use crate::role::Role;
use crate::table::Table;
use crate::table::identifiers::by_line;

/// One party and what it knows before it connects.
pub struct Side<'a> {
    /// The agreement, the same at both.
    pub agreement: &'a Agreement,
    /// This party's own file.
    pub party: &'a Party,
    pub(super) identity: Identity,
    pub(super) peer: Fingerprint,
    /// The peer, as the agreement names it.
    pub peer_name: &'a str,
    /// What is known of the release before it is made.
    pub plan: Plan,
}

impl<'a> Side<'a> {
    /// Everything about the two files that can be refused without looking at data or ledger.
    ///
    /// # Errors
    /// If the agreement is for one party, cannot be run, or names another identity for this one.
    pub fn new(
        agreement: &'a Agreement,
        party: &'a Party,
        watcher: &dyn Watcher,
    ) -> Result<Self, Error> {
        // What the model refuses is found before anything is spent.
        clock::check_valid(agreement, ledger::now())?;
        let plan = plan::together(agreement)?;
        let parties = agreement.parties().ok_or_else(release::one_party)?;
        let (own, other) = match party.role {
            Role::P1 => (&parties.p1, &parties.p2),
            Role::P2 => (&parties.p2, &parties.p1),
        };
        let identity = read_identity(&party.identity, party.passphrase_file.as_deref(), watcher)?;
        if identity.fingerprint() != own.fingerprint {
            return Err(Error::input(format!(
                "{} is {}, but the agreement says that {} ({}) is {}",
                party.identity.display(),
                identity.fingerprint(),
                party.role,
                own.name,
                own.fingerprint
            ))
            .advise("use the right identity or role, or agree on this fingerprint"));
        }
        let peer = other.fingerprint;
        Ok(Self { agreement, party, identity, peer, peer_name: &other.name, plan })
    }

    /// Whom this party meets.
    pub fn peer(&self) -> Fingerprint {
        self.peer
    }

    /// What to say about a release of the same name that the ledger knows.
    pub fn remark_on_id(&self, history: &History) -> Option<String> {
        let id = &self.agreement.id;
        let of_id = |run: &&ledger::Run| run.debit.release == *id && !run.is_rehearsal;
        let before = history.runs().iter().rev().find(of_id)?;
        let how = match before.status {
            ledger::Status::Finished => "was made",
            _ => "was begun",
        };
        Some(format!(
            "note: a release \"{id}\" {how} on {} already; this is another one, with ε of its \
             own. Give it another `id` unless that is meant",
            clock::utc(before.time)
        ))
    }

    /// Opens this party's ledger, or makes it if that is said.
    ///
    /// # Errors
    /// If there is none, or one that is not to be there, and those of [`Ledger::open`].
    pub(super) fn open_ledger(&self) -> Result<Ledger, ledger::Error> {
        match self.party.new_ledger {
            true => Ledger::begin(&self.party.ledger),
            false => Ledger::open(&self.party.ledger),
        }
    }

    /// Whether the data set's caps allow what the release would spend.
    ///
    /// # Errors
    /// [`ledger::Error::CapReached`] and [`ledger::Error::CapAbove`].
    pub fn check_caps(&self, history: &History) -> Result<(), ledger::Error> {
        match self.plan.promise.differential() {
            Some(promised) => self.check_caps_for(history, promised),
            None => Ok(()),
        }
    }

    /// The same for whatever promises this.
    pub(super) fn check_caps_for(
        &self,
        history: &History,
        promised: &Differential,
    ) -> Result<(), ledger::Error> {
        let party = self.party;
        history.check_cap(&party.data_set, &promised.epsilon, &party.cap)?;
        let loss = promised.epsilon_towards_peer();
        let cap = party.cap_towards_peer.as_ref();
        history.check_cap_towards_peer(&party.data_set, &loss, cap)
    }

    /// How long the run may take, with so many records of this party, whatever the peer has.
    ///
    /// # Errors
    /// If there is no forecast.
    pub fn deadline(&self, own: Records) -> Result<Duration, Error> {
        deadline::of(self, own)
    }

    /// Reads what this party brings. Paths are anonymized at once: whatever stops that costs nothing.
    ///
    /// # Errors
    /// If it is not what the agreement says, or cannot be released.
    pub fn read_data(&self, watcher: &dyn Watcher) -> Result<Contents, Error> {
        let Some(form) = release::form_of_paths(self.agreement) else {
            return self.read_table(watcher).map(Contents::Table);
        };
        let paths = self.party.data.read_paths(&form, watcher)?;
        if paths.is_empty() {
            return Err(self.nothing_to_release());
        }
        let part = Part::new(self.agreement, &paths, &|step| watcher.step(step))?;
        watcher.stop().check()?;
        Ok(Contents::Part(Box::new(part)))
    }

    /// Records that shards hold: nothing is read here.
    pub(super) fn elsewhere(&self, records: usize) -> Result<Contents, Error> {
        let most = self.agreement.max_records;
        match (records, release::shards::number(self.agreement)) {
            (0, _) => Err(self.nothing_to_release()),
            (records, _) if records as u64 > most => Err(Error::input(format!(
                "there are {records} records, and the agreement allows {most} (`max_records`)"
            ))
            .advise("agree on a larger number, or leave records out")),
            (_, Some(_)) => Ok(Contents::Elsewhere(records, Table::default())),
            (_, None) => Err(Error::input("the agreement has no shards")
                .advise("agree on them: `shards = N` in [scale]")),
        }
    }

    fn nothing_to_release(&self) -> Error {
        let path = self.party.data.name();
        Error::input(format!("{path} has no record to release")).advise(
            "check that `data` in the party file names the right file, and that `on_bad_value` does not \
             drop all of its records",
        )
    }

    /// Reads this party's table.
    ///
    /// # Errors
    /// If it is not what the agreement says.
    pub fn read_table(&self, watcher: &dyn Watcher) -> Result<Table, Error> {
        let vertical = matches!(self.agreement.partition, Partition::Vertical { .. });
        let owner = vertical.then_some(self.party.role);
        let identifier = self.agreement.identifier();
        let table = local::read(self.agreement, &self.party.data, owner, identifier, watcher)?;
        if table.is_empty() {
            return Err(self.nothing_to_release());
        }
        if let (Some(identifier), Some(names)) = (self.agreement.identifier(), table.identifiers())
        {
            identifier.normalize.check(names).map_err(|error| {
                let (path, column) = (self.party.data.name(), &identifier.column);
                let word = self.party.data.place_word();
                let error = by_line(&error, word, &|record| table.line(record));
                Error::input(format!("{path}, column `{column}`: {error}"))
            })?;
        }
        Ok(table)
    }

    pub(super) fn debit(&self, promise: &Promise, run: RunId, salt: Hash) -> Debit {
        Debit {
            run,
            release: self.agreement.id.clone(),
            data_set: self.party.data_set.clone(),
            epsilon: promise.epsilon().cloned(),
            cap: promise.epsilon().map(|_| self.party.cap.clone()),
            agreement: Hash(self.agreement.hash().0),
            peer: self.peer_name.to_owned(),
            salt,
            delta: promise.delta().map(Delta::at_least),
            towards_peer: promise.differential().map(|promised| promised.towards_peer),
            cap_towards_peer: promise.epsilon().and(self.party.cap_towards_peer.clone()),
            out: Debit::path_for_line(&self.party.out),
            promise: promise.words().map(str::to_owned),
        }
    }
}
