//! The error of this package.

use crate::crypto::paillier::{MAXIMUM_BITS, MINIMUM_BITS};
use crate::math::Range;

/// Every error of this package. Whose fault one is depends on where the bytes came from, which only
/// the caller knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system gave no randomness. Abort the run: nothing may continue with a weaker
    /// source.
    #[error("the operating system's random source failed; nothing secret can be made without it")]
    SourceFailed,
    /// A word that names no level of vector instructions.
    #[error("{found:?} is not a level of vector instructions")]
    UnknownLevel {
        /// What was given in place of a level.
        found: String,
    },
    /// A level that the processor does not have.
    #[error("this processor does not have the level {level} of vector instructions")]
    LevelUnavailable {
        /// Its name.
        level: &'static str,
    },
    /// A text is not a fraction.
    #[error("not a fraction: write whole numbers as `3` or `3/40`, the lower one not zero")]
    NotAFraction,
    /// Montgomery arithmetic needs an odd modulus above 1.
    #[error("the modulus must be odd and above 1")]
    BadModulus,
    /// Arithmetic modulo a square needs a modulus that fills its highest limb.
    #[error("the length of the modulus must be a multiple of 64 bits, not {0}")]
    UnalignedModulus(u64),
    /// An exponent is longer than the length that was declared for it.
    #[error(
        "the exponent has {found} bits, more than the {allowed} declared; declare a longer one"
    )]
    ExponentTooLong {
        /// Bits of the exponent.
        found: u64,
        /// Bits declared.
        allowed: u64,
    },
    /// The number has no inverse.
    #[error("the number is not invertible modulo the modulus")]
    NotInvertible,
    /// A range without elements.
    #[error("the range holds no number; give an upper bound above 0")]
    EmptyRange,
    /// A prime of this length cannot be made.
    #[error("a prime of {0} bits cannot be made; ask for at least 128 bits")]
    PrimeTooShort(u64),
    /// A number that was received has the wrong length or is out of range.
    #[error("the number is out of range: expected {0}")]
    OutOfRange(Range),
    /// More bytes were requested than `expand_message_xmd` can produce.
    #[error("the expander gives 16320 bytes at most and takes a domain string of 255 at most")]
    ExpandTooLong,
    /// A received element of commutative encryption is not the canonical encoding of an element of
    /// the group. The peer, or something between, is faulty: abort the run.
    #[error(
        "received element {position} is not the canonical encoding of an element of the group; the \
         peer's program is faulty, end the run"
    )]
    NotInGroup {
        /// Its position in what was received, counted from 0.
        position: usize,
    },
    /// A received element of commutative encryption is the neutral one, which every key maps to itself.
    #[error(
        "received element {position} is the identity, which no honest encryption gives; the peer's \
         program is faulty, end the run"
    )]
    Identity {
        /// Its position in what was received, counted from 0.
        position: usize,
    },
    /// The bytes of a key of commutative encryption are not an exponent.
    #[error("the key is not a canonical non-zero exponent; generate a new one")]
    NotAnExponent,
    /// A modulus of commutative encryption is shorter than is safe or longer than is practical.
    #[error("the modulus is {0} bits long; {USE_SAFE_PRIME}")]
    SafePrimeLength(u64),
    /// p or (p − 1)/2 is composite.
    #[error("the modulus is not a safe prime; {USE_SAFE_PRIME}")]
    NotSafePrime,
    /// A buffer does not have the length of whole elements.
    #[error("{got} bytes where {expected} were due")]
    Width {
        /// The expected length.
        expected: usize,
        /// The actual length.
        got: usize,
    },
    /// A group element of the base transfers is not one that the protocol allows.
    #[error(
        "a group element of the base transfers is not canonical or is the identity; the run was aborted"
    )]
    InvalidPoint,
    /// A table with too few or too many ciphertexts.
    #[error("the garbled table has {found} bytes where {expected} are due; the run was aborted")]
    TableLength {
        /// Bytes needed.
        expected: usize,
        /// Bytes present.
        found: usize,
    },
    /// An output label that is neither of the wire's two.
    #[error(
        "the label returned for output bit {index} is neither of the two possible; the run was aborted"
    )]
    OutputLabel {
        /// Which output bit.
        index: usize,
    },
    /// There is no placement of the identifiers in their bins.
    #[error(
        "the identifiers do not go into their bins, which happens once in 2^65 runs; run again"
    )]
    NoPlacement,
    /// No seed gives a store of these keys: they are not distinct.
    #[error("no store holds these keys; are they distinct?")]
    NoStore,
    /// Keys of this length are not supported.
    #[error(
        "keys of {0} bits are not supported; use a multiple of 128 bits from {MINIMUM_BITS} to {MAXIMUM_BITS}"
    )]
    UnsupportedLength(usize),
    /// The modulus has another length than was agreed.
    #[error("the modulus has {found} bits where {expected} were agreed")]
    ModulusLength {
        /// Bits of the modulus.
        found: u64,
        /// Bits agreed.
        expected: usize,
    },
    /// The modulus is even.
    #[error("the modulus is even: this is not a Paillier key")]
    EvenModulus,
    /// The modulus is prime.
    #[error("the modulus is prime: this is not a Paillier key")]
    PrimeModulus,
    /// The modulus has a small factor.
    #[error("the modulus is divisible by {0}: this key protects nothing")]
    SmallFactor(u32),
    /// The modulus is a power.
    #[error("the modulus is a perfect power: this is not a Paillier key")]
    PerfectPower,
    /// h_n is not between 2 and n² − 1.
    #[error("the key's h_n is out of range")]
    BaseOutOfRange,
    /// h_n shares a factor with n.
    #[error("the key's h_n is not coprime to the modulus")]
    BaseNotCoprime,
    /// Two primes that do not make a key.
    #[error("these primes do not make a key: {0}")]
    BadPrimes(&'static str),
    /// Received bytes have the wrong length.
    #[error("expected {expected} bytes and got {found}")]
    WrongLength {
        /// Bytes received.
        found: usize,
        /// Bytes expected.
        expected: usize,
    },
    /// A received ciphertext is 0 or not below n².
    #[error("ciphertext {0} is out of range; the peer does not follow the protocol")]
    CiphertextOutOfRange(usize),
    /// A received ciphertext shares a factor with n.
    #[error("a ciphertext is not coprime to the modulus; the peer does not follow the protocol")]
    CiphertextNotCoprime,
    /// Two lists that belong together differ in length, or a group number is too large.
    #[error("lists of {0} and {1} items do not belong together")]
    Mismatch(usize, usize),
    /// A plaintext is not below n.
    #[error("plaintext {0} is not below the modulus; split it or use a longer key")]
    PlaintextOutOfRange(usize),
    /// A signed number does not fit.
    #[error("the number does not fit between -(n-1)/2 and (n-1)/2")]
    SignedOutOfRange,
    /// Given randomness is not between 1 and n − 1 and coprime to n, or too long an exponent.
    #[error("the given randomness is out of range")]
    RandomnessOutOfRange,
    /// No slot of this width fits.
    #[error("slots of {width} bits do not fit in a key of {bits} bits")]
    SlotWidth {
        /// Width asked for.
        width: usize,
        /// Length of the modulus.
        bits: usize,
    },
    /// More values than slots.
    #[error("{found} values do not fit in {slots} slots")]
    TooManySlots {
        /// Values given.
        found: usize,
        /// Slots there are.
        slots: usize,
    },
    /// A value is wider than its slot, or a packed plaintext is wider than its slots.
    #[error("the value of slot {0} is wider than its slot")]
    SlotOverflow(usize),
    /// The pool's thread has ended.
    #[error("the pool of randomisers has stopped; start a new one")]
    PoolStopped,
}

const USE_SAFE_PRIME: &str = "use ffdhe3072, or a safe prime of 2048 to 8192 bits";

impl Error {
    /// The same, for a list that begins `by` elements before this part of it.
    #[must_use]
    pub fn shifted(self, by: usize) -> Self {
        match self {
            Self::NotInGroup { position } => Self::NotInGroup { position: position + by },
            Self::Identity { position } => Self::Identity { position: position + by },
            other => other,
        }
    }
}
