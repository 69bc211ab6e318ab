//! Vector OLE over the field with 2^128 elements: the material of [`crate::protocol::oprf`].
//!
//! *Inputs*: a number of elements. *Output*: to the sender Δ and B, to the receiver A and C with
//! C = B + Δ·A in every place, A random. *Learned*: nothing else. *Cost*: see below. *Assumption*:
//! those of [`soft_spoken`], and for [`Method::Lpn`] that learning parity with noise over the field
//! (primal LPN, regular noise, a code with sixteen entries per row) is hard for the [`Sets`] in use.
//! Semi-honest (Boyle, Couteau, Gilboa, Ishai, CCS 2018; Weng, Yang, Katz, Wang: Wolverine, 2021).
//!
//! *From transfers.* 128 transfers under one Δ are an element without a message: with r the
//! choices, A = Σ x^i·r_i, B = Σ x^i·Q_i, C = Σ x^i·T_i. An element takes 496 bytes so.
//!
//! *By LPN.* From k elements (v at the sender; u and w = v + Δ·u at the receiver), t more and t trees of
//! 2^h leaves ([`half_tree`]) come n = t·2^h: row i is M_i·v + s_i at the sender, M_i·u + e_i and
//! M_i·w + r_i at the receiver, M the public matrix of [`field_code`]. The leaves of a tree are hashed, so
//! that they are independent. The receiver has all but one of them, the one at a place that it drew;
//! for that one the sender sends b + Σ s, where b is its part of one of the t elements: with
//! c = b + Δ·a and the leaves that it has, the receiver finds s + Δ·a. So e is a in that place and 0
//! in the others. A tree takes h transfers. One set makes what the next one takes:
//!
//! | set | n | k | t | block | makes |
//! | --- | --- | --- | --- | --- | --- |
//! | first | 10,000 | 1,050 | 1,250 | 8 | for the second, or what is asked for |
//! | second | 112,000 | 8,200 | 1,750 | 64 | for the main one, or what is asked for |
//! | main | 1,945,600 | 110,000 | 1,900 | 1,024 | what is asked for, and for its next iteration |
//!
//! Of each only as many blocks are made as are needed, which follows from the number of elements.
//! 110,383 elements take 1.4 MB, 1,100,383 take 1.6 MB; up to 1,201 are made from transfers alone.
//!
//! *Why it hides.* The sender sees corrections, masked by random bits of transfers that serve once;
//! A is pseudorandom to it by LPN. The receiver learns leaves that it is due, and b + Σ s is masked by
//! the leaf that it has not. What attacks cost is computed by `vectors/generate/lpn_costs.py`: the
//! cheapest attack takes 2^135.4 on the first set, 2^135.2 on the second and 2^138.9 on the main one,
//! peeling of columns included, also if the smallest subsystem that can exist were known. The matrix is fixed by the session's id, hence by both parties'
//! nonces, and no row of it serves twice. Δ is drawn for this use alone.
//!
//! *Time.* The receiver's places are secret: trees are corrected and blocks selected in the same
//! time whatever they are. The only addresses that depend on data are those of the public matrix.
//! *Memory*: 16 bytes per element at the sender, 32 at the receiver, and once more for an iteration
//! of the main set (31 and 62 MB).
//!
//! # Example
//!
//! ```
//! use diptych_mpc::protocol::ot;
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//! use diptych_mpc::protocol::vole::{self, Method};
//!
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| vole::send(session, Method::Direct, 5),
//!     |session| vole::receive(session, Method::Direct, 5),
//! );
//! let (sent, received) = (outcome.p1?, outcome.p2?);
//! assert_eq!(*received.c, vole::ideal(sent.delta.expose(), &sent.b, &received.a));
//! # Ok::<(), diptych_mpc::Error>(())
//! ```
//!
//! [`field_code`]: crate::crypto::field_code
//! [`half_tree`]: crate::crypto::half_tree
//! [`soft_spoken`]: crate::protocol::soft_spoken

mod ends;
mod plan;
#[cfg(test)]
mod tests;

use zeroize::Zeroizing;

pub use plan::{Method, Sets};

use crate::Error;
use crate::crypto::garble::Delta;
use crate::crypto::soft_spoken::Columns;
use crate::net::Tag;
use crate::protocol::Session;
use crate::protocol::forecast::{Forecast, Work};
use crate::protocol::ot;
use crate::protocol::{soft_spoken, transfers};
use crate::role::Role;
use crate::simd::field;

use ends::{ReceiverEnd, SenderEnd};
use plan::Plan;

/// The sender's sums of the trees of some blocks, and what closes each.
const SUMS: Tag = Tag::new(*b"vltr");

/// Transfers behind an element.
const BITS: usize = 128;

/// What the sender has.
pub struct Sent {
    /// Δ.
    pub delta: Delta,
    /// B.
    pub b: Zeroizing<Vec<u128>>,
}

/// What the receiver has.
pub struct Received {
    /// A.
    pub a: Zeroizing<Vec<u128>>,
    /// C.
    pub c: Zeroizing<Vec<u128>>,
}

/// The sender's side; the peer calls [`receive`] with the same numbers.
///
/// # Errors
/// If the connection fails or the peer's messages are not acceptable.
pub fn send(session: &mut Session, method: Method, count: usize) -> Result<Sent, Error> {
    let delta = Delta::random(&mut session.rng);
    let mut end = SenderEnd::setup(session, delta)?;
    let [b] = ends::run(&mut end, session, &Plan::new(method, count))?;
    Ok(Sent { delta: end.into_delta(), b })
}

/// The receiver's side.
///
/// # Errors
/// As for [`send`].
pub fn receive(session: &mut Session, method: Method, count: usize) -> Result<Received, Error> {
    let mut end = ReceiverEnd::setup(session)?;
    let [a, c] = ends::run(&mut end, session, &Plan::new(method, count))?;
    Ok(Received { a, c })
}

/// The ideal function: C, for given Δ, A and B.
///
/// # Panics
/// If A and B differ in length.
pub fn ideal(delta: u128, b: &[u128], a: &[u128]) -> Vec<u128> {
    let mut c = b.to_vec();
    field::add_products(&mut c, a, delta);
    c
}

/// The messages of [`send`] and [`receive`].
pub fn forecast(f: &mut Forecast, sender: Role, method: Method, count: usize) {
    let plan = Plan::new(method, count);
    soft_spoken::forecast_setup(f, sender);
    for elements in ot::chunks(plan.base, ends::BASE_CHUNK) {
        soft_spoken::forecast(f, sender, Columns::Four, elements * BITS);
    }
    for level in &plan.levels {
        soft_spoken::forecast(f, sender, Columns::Four, level.transfers());
        f.message(sender.peer(), transfers::CORRECTIONS, level.transfers().div_ceil(8));
        for blocks in level.chunks() {
            f.message(sender, SUMS, blocks * level.set.message_bytes());
        }
        f.work(Work::Element, level.blocks * level.set.block());
    }
}
