//! What a release promises to the people in its data.

use super::Epsilon;
use crate::math::Rational;

/// A promise. The model of a release decides which one it makes; differential privacy is one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Promise {
    /// (ε, δ)-differential privacy: ε is spent.
    Differential {
        /// Exactly as agreed.
        epsilon: Epsilon,
        /// The probability with which it may fail, at most.
        delta: Rational,
    },
    /// Something else, in one sentence. No ε is spent, and no sum of such promises is known.
    Words(String),
}

impl Promise {
    /// ε, if the promise is differential privacy.
    pub fn epsilon(&self) -> Option<&Epsilon> {
        match self {
            Self::Differential { epsilon, .. } => Some(epsilon),
            Self::Words(_) => None,
        }
    }

    /// δ, if the promise is differential privacy.
    pub fn delta(&self) -> Option<&Rational> {
        match self {
            Self::Differential { delta, .. } => Some(delta),
            Self::Words(_) => None,
        }
    }

    /// The sentence, if the promise is something else.
    pub fn words(&self) -> Option<&str> {
        match self {
            Self::Differential { .. } => None,
            Self::Words(words) => Some(words),
        }
    }
}
