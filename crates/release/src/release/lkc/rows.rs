//! Whether a candidate is valid, as in the papers: each party sees everybody's generalized values and
//! tests its own candidates at home, before it bids. *The peer learns them too, person by person.*
//!
//! The owner of a candidate that won tells the peer into which child everybody falls who has the
//! value. Where the peer holds the sensitive attribute it tests what the children would tell of it,
//! and may refuse: it has learned the children then, although they are not released.
//!
//! *Messages*: one number per common person and candidate, 0 for who does not have the value, so that
//! lengths do not tell how many have it; and the peer's answer, where it has a say. Lengths and
//! directions tell how many candidates were examined, and whose.

use super::state::Shared;
use super::vertical::{Met, Side};
use crate::Error;
use crate::net::Tag;
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;
use crate::release::groups::Rule;
use crate::release::impossible;
use crate::role::Role;
use crate::table::{Candidate, Specialization};

/// Two bytes for everybody: the number of a child.
const CHILDREN: Tag = Tag::new(*b"lkcr");
/// People of one message.
const CHUNK: usize = 1 << 19;

/// Tells or hears everybody's child. Nothing if the candidate is refused; the children, if they are
/// the peer's.
///
/// # Errors
/// If the run fails.
#[allow(clippy::option_option, reason = "whether it is valid, and then what was heard")]
pub(super) fn examine(
    session: &mut Session,
    side: &mut Side<'_, '_>,
    owner: Role,
    candidate: Candidate,
    own: Option<&Specialization>,
) -> Result<Option<Option<Vec<u16>>>, Error> {
    let shared = &side.shared;
    let asked = asked(shared, owner, candidate);
    let Some(made) = own else {
        let children = hear(session, shared, candidate)?;
        side.values.see(&side.shared.cuts, candidate.attribute, side.shared.records);
        if asked {
            let met = refuses_nothing(side, candidate, &children);
            session.channel.send(&Met { met })?;
            if !met {
                return Ok(None);
            }
        }
        return Ok(Some(Some(children)));
    };
    let child_of = side.own.records.child_of(made)?;
    let mut children = vec![0u16; shared.records];
    for record in side.values.holding(candidate) {
        children[record] = child_of.of(record as u32) as u16;
    }
    for part in children.chunks(CHUNK) {
        let bytes: Vec<u8> = part.iter().flat_map(|child| child.to_le_bytes()).collect();
        session.channel.send_bytes(CHILDREN, &bytes)?;
    }
    let met = match asked {
        true => session.channel.receive::<Met>()?.met,
        false => true,
    };
    Ok(met.then_some(None))
}

/// The messages of [`examine`].
///
/// # Errors
/// If one cannot be encoded.
pub(super) fn forecast(
    f: &mut Forecast,
    shared: &Shared<'_>,
    owner: Role,
    candidate: Candidate,
) -> Result<(), Error> {
    for first in (0..shared.records).step_by(CHUNK) {
        f.message(owner, CHILDREN, 2 * CHUNK.min(shared.records - first));
    }
    if asked(shared, owner, candidate) {
        f.message_like(owner.peer(), &Met { met: true })?;
    }
    Ok(())
}

/// Whether the peer of a candidate's owner has a say: it holds the sensitive attribute, and a rule that
/// bounds what is told of it speaks of the candidate's attribute.
fn asked(shared: &Shared<'_>, owner: Role, candidate: Candidate) -> bool {
    let touched = |rule: &Rule| rule.is_limited() && rule.attributes.contains(&candidate.attribute);
    shared.holder() == Some(owner.peer()) && shared.rules.iter().any(touched)
}

fn hear(
    session: &mut Session,
    shared: &Shared<'_>,
    candidate: Candidate,
) -> Result<Vec<u16>, Error> {
    let mut children = Vec::with_capacity(shared.records);
    for first in (0..shared.records).step_by(CHUNK) {
        let due = 2 * CHUNK.min(shared.records - first);
        let bytes = session.channel.receive_bytes(CHILDREN, due)?;
        children.extend(bytes.as_chunks().0.iter().map(|bytes| u16::from_le_bytes(*bytes)));
    }
    let count = shared.cuts.number_of_children(candidate);
    if children.iter().any(|child| usize::from(*child) >= count) {
        return Err(impossible("named a child that its value does not have"));
    }
    Ok(children)
}

/// Whether the children of the peer's candidate tell no more of the sensitive attribute than is
/// allowed.
fn refuses_nothing(side: &Side<'_, '_>, candidate: Candidate, children: &[u16]) -> bool {
    let groups = side.groups_after(candidate, |record| usize::from(children[record]));
    let touched = side.shared.rules.iter().filter(|r| r.attributes.contains(&candidate.attribute));
    let given = Some(candidate.attribute);
    touched.into_iter().all(|rule| groups.test(rule, given).offender.is_none())
}
