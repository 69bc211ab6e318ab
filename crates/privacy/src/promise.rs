//! What a release promises to the people in its data, towards its readers and towards the peer.

use serde::{Deserialize, Serialize};

use super::Epsilon;
use crate::math::Rational;
use crate::math::exponential::exp_upper;

/// A promise. The model of a release decides which one it makes; differential privacy is one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Promise {
    /// (ε, δ)-differential privacy: ε is spent.
    Differential(Differential),
    /// Something else, in one sentence. No ε is spent, and no sum of such promises is known.
    Words(String),
}

/// (ε, δ)-differential privacy towards readers, and what becomes of it towards the peer of a run by two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differential {
    /// Exactly as agreed.
    pub epsilon: Epsilon,
    /// The probability with which it may fail, at most.
    pub delta: Rational,
    /// How often both count towards the peer.
    pub towards_peer: Towards,
}

/// How often a promise counts towards the peer of a run, which sees more of it than the release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Towards {
    /// Once, as towards everybody: the peer does not know how many records there are.
    Once,
    /// Twice: the peer learns how many records there are, so its neighbours have a record replaced.
    Twice,
}

impl Promise {
    /// What is promised, if it is differential privacy.
    pub fn differential(&self) -> Option<&Differential> {
        match self {
            Self::Differential(promised) => Some(promised),
            Self::Words(_) => None,
        }
    }

    /// ε, if the promise is differential privacy.
    pub fn epsilon(&self) -> Option<&Epsilon> {
        self.differential().map(|promised| &promised.epsilon)
    }

    /// δ, if the promise is differential privacy.
    pub fn delta(&self) -> Option<&Rational> {
        self.differential().map(|promised| &promised.delta)
    }

    /// The sentence, if the promise is something else.
    pub fn words(&self) -> Option<&str> {
        match self {
            Self::Differential(_) => None,
            Self::Words(words) => Some(words),
        }
    }
}

impl Differential {
    /// ε towards the peer.
    pub fn epsilon_towards_peer(&self) -> Rational {
        self.towards_peer.loss(&self.epsilon)
    }

    /// δ towards the peer, at most: going from neighbour to neighbour n times is
    /// (n·ε, (1 + e^ε + … + e^((n − 1)·ε))·δ)-private.
    pub fn delta_towards_peer(&self) -> Rational {
        let step = exp_upper(self.epsilon.value(), 64);
        let mut power = Rational::whole(1u32);
        let mut sum = Rational::zero();
        for _ in 0..self.towards_peer.factor() {
            sum = &sum + &power;
            power = (&power * &step).round_up(64);
        }
        &sum * &self.delta
    }
}

impl Towards {
    /// What the peer may learn of a run that spends so much.
    pub fn loss(self, epsilon: &Epsilon) -> Rational {
        epsilon.value() * &Rational::whole(self.factor())
    }

    /// By which ε is multiplied.
    pub fn factor(self) -> u64 {
        match self {
            Self::Once => 1,
            Self::Twice => 2,
        }
    }

    /// Why: the change of the data that the peer must not notice.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Once => "a record added or removed",
            Self::Twice => "a record replaced by another",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn towards_the_peer_both_numbers_follow_from_the_factor() {
        let delta = Rational::power_of_two(-41);
        let of = |towards_peer| {
            let epsilon = "0.5".parse().unwrap();
            let promised = Differential { epsilon, delta: delta.clone(), towards_peer };
            (promised.epsilon_towards_peer(), promised.delta_towards_peer())
        };
        assert_eq!(of(Towards::Once), ("1/2".parse().unwrap(), delta.clone()));
        let (epsilon, twice) = of(Towards::Twice);
        assert_eq!(epsilon, Rational::whole(1u32));
        // 1 + e^0.5 = 2.648721…
        let [low, high] = ["264872/100000", "264873/100000"]
            .map(|times| &times.parse::<Rational>().unwrap() * &delta);
        assert!(low < twice && twice < high, "{twice:?}");
    }
}
