//! Decides which vector instructions may be used.
//!
//! A level is a bound. Each kernel takes the widest instructions that the processor has and the
//! level allows; without a bound that is the best that the processor has. All levels compute the
//! same.

use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::Error;

/// How wide vectors may be, from none to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// No vector code of ours. What other crates detect for themselves, they still use.
    Portable,
    /// Registers of 128 bits with AES-NI.
    Aes,
    /// Registers of 256 bits: AVX2, and VAES where there is one.
    Avx2,
    /// Registers of 512 bits: AVX-512 F, BW and VL, and VAES and IFMA where there are such.
    Avx512,
}

/// The level in use plus one; 0 until it is first read.
static IN_USE: AtomicU8 = AtomicU8::new(0);

impl Level {
    /// All of them, from the narrowest.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Aes, Self::Avx2, Self::Avx512];

    /// The level's name in [`VARIABLE`].
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Aes => "aes",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// Those that this processor has, from the narrowest.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|level| level.is_available())
    }

    /// The level in use: the widest that the processor has, unless [`Level::set`] bounded it.
    pub fn in_use() -> Self {
        let place = IN_USE.load(Ordering::Relaxed);
        match Self::ALL.into_iter().nth(usize::from(place).wrapping_sub(1)) {
            Some(level) => level,
            None => Self::first_used(),
        }
    }

    /// Uses this level and no wider one from now on, in the whole process. Values made before keep
    /// their level.
    ///
    /// # Errors
    /// [`Error::LevelUnavailable`] if the processor does not have it.
    pub fn set(self) -> Result<(), Error> {
        if !self.is_available() {
            return Err(Error::LevelUnavailable { level: self.name() });
        }
        IN_USE.store(self as u8 + 1, Ordering::Relaxed);
        Ok(())
    }

    /// [`Level::set`] for the level of this name.
    ///
    /// # Errors
    /// [`Error::UnknownLevel`] if there is no such level, [`Error::LevelUnavailable`] if the processor
    /// does not have it.
    pub fn set_by_name(name: &str) -> Result<(), Error> {
        let known = Self::ALL.into_iter().find(|level| level.name() == name);
        known.ok_or_else(|| Error::UnknownLevel { found: name.to_owned() })?.set()
    }

    /// Tests take the level from the environment, as the command does.
    fn first_used() -> Self {
        #[cfg(any(test, feature = "testing"))]
        if let Ok(name) = std::env::var(VARIABLE) {
            assert_eq!(Self::set_by_name(&name), Ok(()));
            return Self::in_use();
        }
        let widest = Self::available().last().unwrap_or(Self::Portable);
        // A level that was set meanwhile takes precedence.
        let _ = IN_USE.compare_exchange(0, widest as u8 + 1, Ordering::Relaxed, Ordering::Relaxed);
        Self::in_use()
    }

    #[cfg(target_arch = "x86_64")]
    fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            Self::Aes => is_x86_feature_detected!("aes") && is_x86_feature_detected!("ssse3"),
            Self::Avx2 => Self::Aes.is_available() && is_x86_feature_detected!("avx2"),
            Self::Avx512 => {
                Self::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
            }
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_available(self) -> bool {
        self == Self::Portable
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The environment variable with which the user of the command bounds the level.
pub const VARIABLE: &str = "DIPTYCH_SIMD";

/// Whether IFMA may be used: at the level of 512 bits, where the processor has it.
#[cfg(target_arch = "x86_64")]
pub(super) fn ifma() -> bool {
    Level::in_use() == Level::Avx512 && is_x86_feature_detected!("avx512ifma")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_in_use_is_one_that_the_processor_has() {
        assert!(Level::available().any(|level| level == Level::in_use()));
        assert_eq!(Level::available().next(), Some(Level::Portable));
    }

    #[test]
    fn unknown_and_missing_levels_are_refused() {
        for name in ["", "AVX2", "avx1024", "portable "] {
            let refused = Error::UnknownLevel { found: name.to_owned() };
            assert_eq!(Level::set_by_name(name), Err(refused));
        }
        for level in Level::ALL.into_iter().filter(|level| !level.is_available()) {
            let level = level.name();
            assert_eq!(Level::set_by_name(level), Err(Error::LevelUnavailable { level }));
        }
    }
}
