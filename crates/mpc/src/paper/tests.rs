//! The papers' mechanisms give the same results as the single-party forms, and no protocol reads a
//! message that is longer than it may be.

mod announced;
mod division;
mod exponential;
mod horizontal;

use crate::Error;
use crate::math::Randomness;
use crate::mechanism::OneSided;
use crate::mechanism::tests::{joined, one_sided, spend, whole, with_generators, with_tape};
use crate::privacy::choice::{Score, Scored};
use crate::privacy::decisions::Tape;
use crate::protocol::Session;
use crate::protocol::pair::{Outcome, Setup, run_pair};
use crate::role::Role;
