#![doc = include_str!("../README.md")]

#[cfg(feature = "audit")]
pub mod audit;
pub mod budget;
pub mod choice;
pub mod decisions;
pub mod digits;
pub mod epsilon;
mod error;
pub mod exponential;
pub mod laplace;
pub mod ledger;
pub mod noisy_max;
mod promise;
pub mod sampler;
pub mod slack;
pub mod taylor;

pub use budget::{Budget, Spend};
pub use choice::{AddNoise, Calibration, Choice, Choose, Score, Scored};
pub use epsilon::Epsilon;
pub use error::Error;
pub use promise::Promise;

#[doc(no_inline)]
pub use diptych_primitives::math;
