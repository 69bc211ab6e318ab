//! Which of the two parties one is.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One of the two parties. The agreement fixes who is which, not who connects to whom. Files and the
/// command line write `p1` and `p2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// The first party.
    P1,
    /// The second party.
    P2,
}

impl Role {
    /// Both, the first party first.
    pub const BOTH: [Self; 2] = [Self::P1, Self::P2];

    /// The other one.
    pub fn peer(self) -> Self {
        match self {
            Self::P1 => Self::P2,
            Self::P2 => Self::P1,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::P1 => "p1",
            Self::P2 => "p2",
        })
    }
}

impl FromStr for Role {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "p1" => Ok(Self::P1),
            "p2" => Ok(Self::P2),
            _ => Err("a role is p1 or p2"),
        }
    }
}
