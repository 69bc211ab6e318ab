//! One party's side of a release by two.
//!
//! What is refused is refused before connecting, if this side can know it: agreement, party file,
//! identity, ledger and cap, output directory, data. (For the cap alone a peer that is there is
//! told, by a handshake that ends with that word: it would wait for somebody who may not come.)
//! Then, with the peer:
//!
//! | step | what is exchanged | what a failure leaves |
//! | --- | --- | --- |
//! | handshake | the hash of the agreement, roles | nothing spent |
//! | status | program version, unfinished runs, the peer's last head | nothing spent |
//! | set-up | keys and transfers: nothing that depends on data | nothing spent |
//! | debit | that ε is in the ledger, on disk, and its head | ε spent, no release |
//! | release | the protocols | ε spent, no release |
//! | signing | hash and signature of the manifest's body | ε spent; see below |
//! | closing | that the files are written | a release |
//!
//! *If one side dies between signing and closing*: whoever has both signatures writes its release,
//! which is whole and can be checked by anybody; the other has none, is told so when it starts
//! next (by its ledger, and by the peer in the status exchange), and gets a copy from its peer.
//! Nothing is resumed: a retry is another run, with another debit.

pub mod costs;
mod deadline;
pub mod forecast;
mod messages;
pub mod rehearse;
mod unfinished;
mod waiting;

use std::time::Duration;

use crate::agreement::{Agreement, Partition};
use crate::net::{AbortReason, Blame, Fingerprint, Identity, Limits, Stop};
use crate::privacy::ledger::{self, Debit, Delta, Hash, History, Ledger, RunId};
use crate::privacy::{Budget, Differential, Promise};
use crate::protocol::Session;
use crate::protocol::shards::Shard;
use crate::protocol::shards::remote::{Line, Remote};
use crate::publish::artefacts::Output;
use crate::publish::clock;
use crate::publish::data::Contents;
use crate::publish::failure::{Cause, Failure};
use crate::publish::local;
use crate::publish::manifest::{Draft, in_short};
use crate::publish::meeting::{Door, Meeting, read_identity};
use crate::publish::party::Party;
use crate::publish::shards::{Opening, Workers};
use crate::publish::{Watcher, report};
use crate::release::forecast::Records;
use crate::release::plan::{self, Plan};
use crate::release::run::Prepared;
use crate::release::trajectory::Part;
use crate::release::{self, Outcome};
use crate::role::Role;
use crate::table::Table;
use costs::About;
use waiting::{Met, about_ports, while_peer_stays};

/// How long a party that may not run looks for its peer, to tell it.
const LONGEST_TELLING: Duration = Duration::from_secs(5);

/// What a party wants of a run besides the release.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Also write a copy without the rows whose count is 0.
    pub compact: bool,
    /// Also write direction, kind and length of every message, under `private/`.
    pub record: bool,
    /// How many shards may be in work at a time, where people are in shards; 0 counts as 1. The smaller
    /// number of both parties holds: memory is what so many shards need.
    pub shards_at_once: u32,
    /// Each pair of shards meets at a port of its own, n + 1 above that of the leads: so it must be where
    /// the shards of either party are in processes of their own, and both say so.
    pub shard_ports: bool,
}

/// Runs one party's side of a release, to its end.
///
/// # Errors
/// Whatever stops the run, in words; the ledger says what it has spent.
pub fn run(side: &Side<'_>, options: Options, watcher: &dyn Watcher) -> Result<(), Failure> {
    run_with(side, options, None, watcher)
}

/// The same where `workers` have the records, if they do: the party's own table is not read then.
///
/// # Errors
/// As [`run`], and if a worker fails.
pub fn run_with(
    side: &Side<'_>,
    options: Options,
    workers: Option<&dyn Workers>,
    watcher: &dyn Watcher,
) -> Result<(), Failure> {
    let (agreement, party) = (side.agreement, side.party);
    let mut ledger = side.open_ledger()?;
    unfinished::tell(&mut ledger, side, watcher)?;
    let checked = side.check_caps(ledger.history());
    if let Err(ledger::Error::CapReached { .. }) = &checked {
        side.tell_of_cap(&agreement.canonical(), watcher);
    }
    checked?;
    let (spends, accepted) = (side.plan.promise.epsilon().is_some(), agreement.accept_composition);
    ledger.check_composition(&party.data_set, spends, accepted)?;
    ledger.reserve()?;
    if let Some(remark) = side.remark_on_id(ledger.history()) {
        watcher.say(&remark);
    }
    let output = Output::prepare(&party.out, agreement, &side.plan, options.compact)?;
    let data = match workers {
        None => side.read_data(watcher)?,
        Some(workers) => side.elsewhere(workers.records())?,
    };
    plan::check_records(agreement, data.len())?;

    let (own, paths) = (data.len(), data.extents());
    let limit = side.deadline(Records { own, paths, ..Records::default() })?;
    let mut session =
        side.meet(options, workers, watcher).map_err(|failure| match failure.cause {
            // Leads meet before their shards do.
            Cause::Stopped if agreement.shards.is_some() => failure.advise("nothing was spent"),
            Cause::Stopped => failure.advise("nothing was spent, and the peer has seen nobody"),
            _ => failure,
        })?;
    session.end_within(limit);
    watcher.say(&format!("{} is here and under the same agreement", side.peer_name));
    if options.record {
        session.record_transcript();
    }
    let mut conversation = Conversation {
        side,
        data: &data,
        output: &output,
        ledger: &mut ledger,
        watcher,
        compact: options.compact,
        run: RunId(*session.id.as_bytes()),
        debited: false,
        signed: false,
        written: false,
    };
    match conversation.hold(&mut session) {
        Ok(about) => {
            if let Err(failure) = costs::write(&output, side, &session, &about, options.record) {
                // The release is whole without it.
                watcher.say(&format!("what the run cost could not be noted: {}", failure.message));
            }
            report::accompany(&party.out, watcher);
            Ok(())
        }
        Err(failure) => {
            let left = conversation.left();
            Err(left.end(failure, &mut session, &mut ledger, side.peer_name, watcher))
        }
    }
}

/// One party and what it knows before it connects.
pub struct Side<'a> {
    /// The agreement, the same at both.
    pub agreement: &'a Agreement,
    /// This party's own file.
    pub party: &'a Party,
    identity: Identity,
    peer: Fingerprint,
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
    ) -> Result<Self, Failure> {
        // What the model refuses is found before anything is spent.
        let plan = plan::together(agreement)?;
        let parties = agreement.parties().ok_or(release::Error::OneParty)?;
        let (own, other) = match party.role {
            Role::P1 => (&parties.p1, &parties.p2),
            Role::P2 => (&parties.p2, &parties.p1),
        };
        let identity = read_identity(&party.identity, party.passphrase_file.as_deref(), watcher)?;
        if identity.fingerprint() != own.fingerprint {
            return Err(Failure::wrong_input(format!(
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

    fn door<'d>(
        &'d self,
        meeting: &'d Meeting,
        limits: Limits,
        watcher: &'d dyn Watcher,
    ) -> Door<'d> {
        let role = self.party.role;
        let (identity, peer, stop) = (&self.identity, self.peer, watcher.stop());
        Door { meeting, identity, peer, role, limits, watcher, stop, listener: None }
    }

    /// Meets the peer, and its shards, if there are such.
    fn meet(
        &self,
        options: Options,
        workers: Option<&dyn Workers>,
        watcher: &dyn Watcher,
    ) -> Result<Session, Failure> {
        if let Some(shards) = release::shards::paired(self.agreement) {
            return self.meet_in_shards(shards, options, workers, watcher);
        }
        let terms = self.agreement.canonical();
        let mut door = self.door(&self.party.meeting, self.party.limits, watcher);
        let (Some(workers), Some(shards)) = (workers, release::shards::number(self.agreement))
        else {
            return door.meet(terms.as_bytes(), false);
        };
        // Nobody waits for shards that meet nobody: they have their records before the peer is met.
        let lines = workers.open(&Opening::alone(self.agreement, shards), &watcher.stop())?;
        watcher.say(&format!("{shards} shards have their records"));
        let mut session = door.meet(terms.as_bytes(), false)?;
        session.shards.at_once = options.shards_at_once.max(1) as usize;
        ask_workers(&mut session, Some(workers), lines, watcher);
        Ok(session)
    }

    /// Meets the peer, and its shards, one after the other.
    fn meet_in_shards(
        &self,
        shards: usize,
        options: Options,
        workers: Option<&dyn Workers>,
        watcher: &dyn Watcher,
    ) -> Result<Session, Failure> {
        let terms = self.agreement.canonical();
        let own_ports = options.shard_ports || workers.is_some();
        if own_ports {
            // A port above 65535 is rejected before connecting.
            self.party.meeting.of_shard(shards.saturating_sub(1))?;
        }
        let mut door = self.door(&self.party.meeting, self.party.limits, watcher);
        let mut session = door.meet(terms.as_bytes(), !own_ports)?;
        let at_once = options.shards_at_once.max(1);
        session.shards.at_once = messages::exchange_at_once(&mut session, at_once)?;
        let opening = Opening::new(self.agreement, &session.id, shards);
        let about_ports = |failure| about_ports(failure, own_ports);
        let met = while_peer_stays(&mut session, watcher, about_ports, |stop| {
            if let Some(workers) = workers {
                return workers.open(&opening, stop).map(Met::Lines);
            }
            door.stop = stop.clone();
            let meet = |number| match own_ports {
                true => self.meet_at_port(&opening, number, watcher, stop),
                false => door.meet(&opening.terms(number), number + 1 < shards),
            };
            let met: Result<_, _> = (0..shards).map(meet).collect();
            met.map(Met::Sessions).map_err(about_ports)
        });
        match met? {
            Met::Lines(lines) => ask_workers(&mut session, workers, lines, watcher),
            Met::Sessions(sessions) => session.shards.sessions = sessions,
        }
        watcher.say(&format!("{shards} shards are connected"));
        Ok(session)
    }

    /// Meets one of the peer's shards at its own port.
    ///
    /// # Errors
    /// If it does not come, or the meeting has no such port.
    pub(super) fn meet_shard(
        &self,
        opening: &Opening,
        shard: usize,
        watcher: &dyn Watcher,
    ) -> Result<Session, Failure> {
        self.meet_at_port(opening, shard, watcher, &watcher.stop())
            .map_err(|failure| about_ports(failure, true))
    }

    fn meet_at_port(
        &self,
        opening: &Opening,
        shard: usize,
        watcher: &dyn Watcher,
        stop: &Stop,
    ) -> Result<Session, Failure> {
        let meeting = self.party.meeting.of_shard(shard)?;
        let mut door = self.door(&meeting, self.party.limits, watcher);
        door.stop = stop.clone();
        door.meet(&opening.terms(shard), false)
    }

    /// Tells a peer that waits already that this side's cap lets no such run begin.
    fn tell_of_cap(&self, terms: &str, watcher: &dyn Watcher) {
        let name = self.peer_name;
        watcher.say(&format!("the cap allows no such run; telling {name}, if it is there"));
        let connect = self.party.limits.connect.min(LONGEST_TELLING);
        let limits = Limits { connect, ..self.party.limits };
        let mut door = self.door(&self.party.meeting, limits, watcher);
        match door.meet(terms.as_bytes(), false) {
            Ok(mut session) => {
                session.channel.abort(AbortReason::OverCap);
                watcher.say(&format!("{name} is told"));
            }
            Err(_) => watcher.say(&format!("{name} could not be told")),
        }
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
    fn open_ledger(&self) -> Result<Ledger, ledger::Error> {
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
    fn check_caps_for(
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
    pub fn deadline(&self, own: Records) -> Result<Duration, Failure> {
        deadline::of(self, own)
    }

    /// Reads what this party brings. Paths are anonymized at once: whatever stops that costs nothing.
    ///
    /// # Errors
    /// If it is not what the agreement says, or cannot be released.
    pub fn read_data(&self, watcher: &dyn Watcher) -> Result<Contents, Failure> {
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
    fn elsewhere(&self, records: usize) -> Result<Contents, Failure> {
        let most = self.agreement.max_records;
        match (records, release::shards::number(self.agreement)) {
            (0, _) => Err(self.nothing_to_release()),
            (records, _) if records as u64 > most => Err(Failure::wrong_input(format!(
                "there are {records} records, and the agreement allows {most} (`max_records`)"
            ))
            .advise("agree on a larger number, or leave records out")),
            (_, Some(_)) => Ok(Contents::Elsewhere(records, Table::default())),
            (_, None) => Err(Failure::wrong_input("the agreement has no shards")
                .advise("agree on them: `shards = N` in [scale]")),
        }
    }

    fn nothing_to_release(&self) -> Failure {
        let path = self.party.data.name();
        Failure::wrong_input(format!("{path} has no record to release")).advise(
            "check that `data` in the party file names the right file, and that `on_bad_value` does not \
             drop all of its records",
        )
    }

    /// Reads this party's table.
    ///
    /// # Errors
    /// If it is not what the agreement says.
    pub fn read_table(&self, watcher: &dyn Watcher) -> Result<Table, Failure> {
        let vertical = matches!(self.agreement.partition, Partition::Vertical { .. });
        let owner = vertical.then_some(self.party.role);
        let identifier = self.agreement.identifier();
        let table = local::read(self.agreement, &self.party.data, owner, identifier, watcher)?;
        if table.is_empty() {
            return Err(self.nothing_to_release());
        }
        if let (Some(identifier), Some(names)) = (self.agreement.identifier(), table.identifiers())
        {
            identifier.normalize.check_unique(names).map_err(|error| {
                let (path, column) = (self.party.data.name(), &identifier.column);
                let error =
                    error.by_line(self.party.data.place_word(), &|record| table.line(record));
                Failure::wrong_input(format!("{path}, column `{column}`: {error}"))
            })?;
        }
        Ok(table)
    }

    fn debit(&self, promise: &Promise, run: RunId, salt: Hash) -> Debit {
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

/// From now on the lead asks its shards over these lines.
fn ask_workers(
    session: &mut Session,
    workers: Option<&dyn Workers>,
    lines: Vec<Box<dyn Line>>,
    watcher: &dyn Watcher,
) {
    session.shards.records = workers.map(Workers::records);
    let remote = |line| Box::new(Remote::new(line)) as Box<dyn Shard>;
    session.shards.asked = lines.into_iter().map(remote).collect();
    session.stop_on(&watcher.stop());
}

/// A run from the handshake to its closing, and how far it has come.
struct Conversation<'a> {
    side: &'a Side<'a>,
    data: &'a Contents,
    output: &'a Output,
    ledger: &'a mut Ledger,
    watcher: &'a dyn Watcher,
    compact: bool,
    run: RunId,
    debited: bool,
    signed: bool,
    written: bool,
}

impl<'a> Conversation<'a> {
    /// Holds it, and returns what it was about.
    fn hold(&mut self, session: &mut Session) -> Result<About, Failure> {
        let peer = self.side.peer_name;
        // What may have changed while this side waited is seen before the peer can spend anything.
        self.ledger.check_name()?;
        self.output.check_place()?;
        self.output.refuse_to_overwrite()?;
        unfinished::compare(session, self.ledger, peer, self.watcher)?;
        // The later the debit, the less a cut line costs: everything that needs no data comes first.
        let prepared = release::run::prepare(session, self.side.agreement)?;
        let (budget, heads) = self.debit(session)?;
        let outcome = self.release(session, prepared, budget)?;
        let warning = local::examined(self.side.agreement, &outcome.release)?;

        // Nothing is signed whose debit is in a file that nobody will open.
        self.ledger.check_name()?;
        session.channel.begin_phase(messages::SIGNING);
        let draft = Draft::new(
            self.side.agreement,
            &outcome.release,
            &self.side.plan.promise,
            Some(heads),
        )?;
        let message = draft.to_be_signed()?;
        let own = self.side.identity.sign(&message)?;
        // From here on the peer may have a release: this side takes its own, asked to stop or not.
        session.stop_on(&Stop::default());
        self.signed = true;
        let theirs = messages::exchange_signatures(session, &message, own)?;
        if !theirs.is_by(self.side.peer, &message) {
            let problem = "the peer's signature is not one by the identity in the agreement";
            return Err(Failure::new(&Blame::Peer, problem));
        }
        let own = (self.side.party.role, self.side.identity.fingerprint(), own);
        let mut both = [own, (self.side.party.role.peer(), self.side.peer, theirs)];
        both.sort_by_key(|(role, ..)| *role as u8);
        let both = both.map(|(role, who, signature)| (Some(role), who, signature));
        let manifest = draft.signed(&both)?;
        self.output.write(&outcome.release, &draft.release, &manifest, self.compact)?;
        self.written = true;
        self.ledger.finish(self.run)?;
        self.tell_result(&outcome, &draft)?;
        warning.iter().for_each(|warning| self.watcher.say(warning));
        self.part(session);
        Ok(About {
            own: self.data.len(),
            peer: outcome.peer_records,
            common: outcome.in_both,
            course: outcome.course,
            paths: outcome.paths,
        })
    }

    /// Puts the whole ε into the ledger, and sees that the peer has done so too.
    fn debit(&mut self, session: &mut Session) -> Result<(Option<Budget>, [Hash; 2]), Failure> {
        session.channel.begin_phase(messages::DEBIT);
        self.watcher.stop().check()?;
        let salt = Hash(session.rng.array());
        // What is spent must have where to go.
        self.output.check_place()?;
        let receipt =
            self.ledger.debit(self.side.debit(&self.side.plan.promise, self.run, salt))?;
        self.debited = true;
        let own = self.ledger.history().head();
        let theirs = messages::exchange_heads(session, own)?;
        self.ledger.note_peer(self.run, theirs)?;
        self.watcher.say(&match self.side.plan.promise.epsilon() {
            Some(epsilon) => format!("both ledgers are debited ε {epsilon}"),
            None => "the run is in both ledgers".to_owned(),
        });
        let heads = match self.side.party.role {
            Role::P1 => [own, theirs],
            Role::P2 => [theirs, own],
        };
        Ok((receipt.into_budget(), heads))
    }

    fn release(
        &self,
        session: &mut Session,
        prepared: Prepared,
        budget: Option<Budget>,
    ) -> Result<Outcome, Failure> {
        let progress = |step| self.watcher.step(step);
        Ok(release::run::together(
            session,
            self.side.agreement,
            self.data.given(),
            budget,
            prepared,
            &progress,
        )?)
    }

    fn tell_result(&self, outcome: &Outcome, draft: &Draft) -> Result<(), Failure> {
        let watcher = self.watcher;
        if let Some(common) = outcome.in_both {
            watcher.say(&format!(
                "of our {} records {common} are about people whom {} has too (not protected by ε: \
                 for this side only)",
                self.data.len(),
                self.side.peer_name
            ));
        }
        local::keep_notes(self.output, &outcome.release, watcher);
        local::cut_lines(&outcome.release)?.iter().for_each(|line| watcher.say(line));
        watcher.say(&format!(
            "{}; rows: {}",
            in_short(&self.side.plan.promise),
            draft.release.rows
        ));
        watcher.say(&format!("sha256 of release.csv: {}", draft.release.sha256));
        Ok(())
    }

    /// Our release is whole whatever the peer says now; it is only told if its own is.
    fn part(&self, session: &mut Session) {
        session.channel.begin_phase(messages::CLOSING);
        let name = self.side.peer_name;
        match messages::exchange_written(session) {
            Ok(()) => self.watcher.say(&format!("{name} has its copy, signed by both, as we do")),
            Err(error) => self.watcher.say(&format!(
                "our release is complete and signed by both, but {name} did not confirm that it \
                 has written its own ({error}); if it has none, give it release.csv and \
                 manifest.json of {}, and nothing of private/",
                self.output.directory().display()
            )),
        }
    }

    /// What is left of a run that failed now.
    fn left(&self) -> Left {
        if self.written {
            let place = self.output.directory().display();
            return Left::Entered(vec![format!(
                "the release in {place} is complete; the next start notes that in the ledger, once it \
                 can be written"
            )]);
        }
        if !self.debited {
            return Left::Nothing;
        }
        let mut lines = vec![local::left(&self.side.plan.promise)];
        if self.signed {
            lines.push(format!(
                "{} may have the complete release: ask for a copy, and check it with `diptych verify`",
                self.side.peer_name
            ));
        }
        Left::Open(lines)
    }
}

/// What is left of a conversation that failed.
enum Left {
    /// Nothing was spent.
    Nothing,
    /// The ledger has it, with nothing to add; these lines say so.
    Entered(Vec<String>),
    /// The ledger has it, and waits to hear how it ended.
    Open(Vec<String>),
}

impl Left {
    /// Tells the ledger and the peer that a conversation is over, and adds what is left of it to the
    /// failure. The ledger first: whoever is told may start again at once, and asks then what became
    /// of this run.
    fn end(
        self,
        mut failure: Failure,
        session: &mut Session,
        ledger: &mut Ledger,
        peer: &str,
        watcher: &dyn Watcher,
    ) -> Failure {
        let noted = match &self {
            Self::Open(_) => ledger.abort(RunId(*session.id.as_bytes())),
            Self::Nothing | Self::Entered(_) => Ok(()),
        };
        if let Some(reason) = failure.tell {
            session.channel.abort(reason);
        }
        costs::tell_end(&session.costs(), watcher);
        let stopped = failure.cause == Cause::Stopped;
        let mut lines = match self {
            Self::Entered(lines) | Self::Open(lines) => {
                failure.spent = true;
                lines
            }
            Self::Nothing if stopped || failure.advice.is_none() => {
                vec!["nothing was spent".to_owned()]
            }
            Self::Nothing => Vec::new(),
        };
        lines.extend(noted.err().map(|error| format!("that it ended could not be noted: {error}")));
        if stopped {
            lines.push(format!("{peer} is told that this side was stopped"));
        }
        lines.extend(failure.advice.take());
        failure.advise(lines.join("\n       "))
    }
}
