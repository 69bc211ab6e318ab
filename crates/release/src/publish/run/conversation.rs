//! A run with the peer from the handshake on: status, set-up, debit, release, signing, closing.

use super::costs::About;
use super::{Left, Side, messages, unfinished};
use crate::Error;
use crate::net::Stop;
use crate::privacy::Budget;
use crate::privacy::ledger::{Hash, Ledger, RunId};
use crate::protocol::Workspace;
use crate::publish::artefacts::Output;
use crate::publish::data::Contents;
use crate::publish::local;
use crate::publish::manifest::{Draft, in_short};
use crate::publish::{Event, Watcher};
use crate::release::run::Prepared;
use crate::release::{self, Outcome};
use crate::role::Role;

/// A run from the handshake to its closing, and how far it has come.
pub(super) struct Conversation<'a> {
    pub(super) side: &'a Side<'a>,
    pub(super) data: &'a Contents,
    pub(super) output: &'a Output,
    pub(super) ledger: &'a mut Ledger,
    pub(super) watcher: &'a dyn Watcher,
    pub(super) compact: bool,
    pub(super) run: RunId,
    pub(super) debited: bool,
    pub(super) signed: bool,
    pub(super) written: bool,
}

impl<'a> Conversation<'a> {
    /// Holds it, and returns what it was about.
    pub(super) fn hold(&mut self, session: &mut Workspace) -> Result<About, Error> {
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
            return Err(Error::peer(
                "the peer's signature is not one by the identity in the agreement",
            ));
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
    fn debit(&mut self, session: &mut Workspace) -> Result<(Option<Budget>, [Hash; 2]), Error> {
        session.channel.begin_phase(messages::DEBIT);
        self.watcher.stop().check()?;
        let salt = Hash(session.rng.array());
        // What is spent must have where to go.
        self.output.check_place()?;
        let receipt =
            self.ledger.debit(self.side.debit(&self.side.plan.promise, self.run, salt))?;
        self.debited = true;
        self.side.plan.promise.epsilon().into_iter().for_each(|spent| self.watcher.spent(spent));
        let own = self.ledger.history().head();
        let theirs = messages::exchange_heads(session, own)?;
        self.ledger.note_peer(self.run, theirs)?;
        let debited = match self.side.plan.promise.epsilon() {
            Some(epsilon) => format!("both ledgers are debited ε {epsilon}"),
            None => "the run is in both ledgers".to_owned(),
        };
        self.watcher.tell(Event::Debited, &debited);
        let heads = match self.side.party.role {
            Role::P1 => [own, theirs],
            Role::P2 => [theirs, own],
        };
        Ok((receipt.into_budget(), heads))
    }

    fn release(
        &self,
        session: &mut Workspace,
        prepared: Prepared,
        budget: Option<Budget>,
    ) -> Result<Outcome, Error> {
        let progress = |step| self.watcher.step(step);
        release::run::together(
            session,
            self.side.agreement,
            self.data.given(),
            budget,
            prepared,
            &progress,
        )
    }

    fn tell_result(&self, outcome: &Outcome, draft: &Draft) -> Result<(), Error> {
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
        let made = format!("{}; rows: {}", in_short(&self.side.plan.promise), draft.release.rows);
        watcher.tell(Event::Released, &made);
        watcher.say(&format!("sha256 of release.csv: {}", draft.release.sha256));
        Ok(())
    }

    /// Our release is whole whatever the peer says now; it is only told if its own is.
    fn part(&self, session: &mut Workspace) {
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
    pub(super) fn left(&self) -> Left {
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
