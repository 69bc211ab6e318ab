//! The one source of randomness: ChaCha20, seeded anew from the operating system for every run.

use std::convert::Infallible;
use std::fmt;

use rand::rngs::{ChaCha20Rng, SysRng};
use rand::{Rng, SeedableRng, TryCryptoRng, TryRng};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::Error;

/// A cryptographic generator. It implements [`rand::CryptoRng`], never fails
/// once it exists, and does not print its state.
///
/// Key and unused output are wiped on drop. They stay in one place until then: moving the generator
/// moves the pointer to them, and leaves no copy behind.
pub struct Randomness(Box<ChaCha20Rng>);

impl ZeroizeOnDrop for Randomness {}

/// Does not compile unless ChaCha20 wipes itself, which depends on its features.
const _: fn() = wipes_itself::<ChaCha20Rng>;

const fn wipes_itself<T: ZeroizeOnDrop>() {}

impl Randomness {
    /// A generator with a fresh 256-bit seed from the operating system.
    ///
    /// # Errors
    /// [`Error::SourceFailed`] if the operating system gives no seed.
    pub fn from_os() -> Result<Self, Error> {
        #[cfg(feature = "testing")]
        if let Some(seed) = seed_of_tests() {
            return Ok(Self::seeded(seed));
        }
        let mut seed = Zeroizing::new([0; 32]);
        SysRng.try_fill_bytes(&mut *seed).map_err(|_| Error::SourceFailed)?;
        Ok(Self::from_seed(&seed))
    }

    /// A generator with a fixed seed. For tests, vectors and benchmarks; the command is built
    /// without it.
    #[cfg(any(test, feature = "testing"))]
    pub fn seeded(seed: u64) -> Self {
        Self(Box::new(ChaCha20Rng::seed_from_u64(seed)))
    }

    /// An independent generator, for a worker thread.
    pub fn fork(&mut self) -> Self {
        let mut seed = Zeroizing::new([0; 32]);
        self.0.fill_bytes(&mut *seed);
        Self::from_seed(&seed)
    }

    fn from_seed(seed: &[u8; 32]) -> Self {
        Self(Box::new(ChaCha20Rng::from_seed(*seed)))
    }

    /// `N` random bytes.
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.fill_bytes(&mut bytes);
        bytes
    }
}

/// In test builds only, an environment variable makes whole processes deterministic.
#[cfg(feature = "testing")]
fn seed_of_tests() -> Option<u64> {
    std::env::var("DIPTYCH_TEST_SEED").ok()?.parse().ok()
}

impl TryRng for Randomness {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}

impl TryCryptoRng for Randomness {}

impl fmt::Debug for Randomness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Randomness(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_generators_from_the_operating_system_differ() {
        let mut a = Randomness::from_os().unwrap();
        let mut b = Randomness::from_os().unwrap();
        assert_ne!(a.array::<32>(), b.array::<32>());
    }

    #[test]
    fn a_fork_differs_from_its_parent_and_from_the_next_fork() {
        let mut parent = Randomness::seeded(1);
        let mut first = parent.fork();
        let mut second = parent.fork();
        let (x, y, z) = (parent.array::<32>(), first.array::<32>(), second.array::<32>());
        assert!(x != y && y != z && x != z);
    }

    #[test]
    fn a_generator_wipes_itself_and_moving_it_moves_no_state() {
        wipes_itself::<Randomness>();
        assert_eq!(size_of::<Randomness>(), size_of::<usize>());
    }

    #[test]
    fn a_fork_is_the_generator_that_the_next_32_bytes_seed() {
        let mut fork = Randomness::seeded(1).fork();
        let seed = Randomness::seeded(1).array::<32>();
        let mut expected = ChaCha20Rng::from_seed(seed);
        let mut bytes = [0; 32];
        expected.fill_bytes(&mut bytes);
        assert_eq!(fork.array::<32>(), bytes);
    }

    #[test]
    fn debug_hides_the_state() {
        assert_eq!(format!("{:?}", Randomness::seeded(7)), "Randomness(..)");
    }
}
