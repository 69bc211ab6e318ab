//! `expand_message_xmd` of RFC 9380, section 5.3.1, with SHA-512.

use sha2::{Digest, Sha512};

use crate::Error;

const DIGEST_BYTES: usize = 64;
const BLOCK_BYTES: usize = 128;

/// Fills `out` with uniform bytes that depend on the message, on the
/// domain-separation string and on the length asked for.
///
/// # Errors
/// [`Error::ExpandTooLong`] if `out` is longer than 255 digests or the string longer than 255 bytes.
pub fn expand_message_xmd(message: &[u8], separation: &[u8], out: &mut [u8]) -> Result<(), Error> {
    Expander::new(separation)?.expand(message, out)
}

/// The expander with the part that all messages share computed once.
#[derive(Clone)]
pub(super) struct Expander {
    after_padding: Sha512,
    separation_prime: Vec<u8>,
}

impl Expander {
    pub(super) fn new(separation: &[u8]) -> Result<Self, Error> {
        let length = u8::try_from(separation.len()).map_err(|_| Error::ExpandTooLong)?;
        let mut separation_prime = separation.to_vec();
        separation_prime.push(length);
        let mut after_padding = Sha512::new();
        after_padding.update([0; BLOCK_BYTES]);
        Ok(Self { after_padding, separation_prime })
    }

    pub(super) fn expand(&self, message: &[u8], out: &mut [u8]) -> Result<(), Error> {
        let length = u16::try_from(out.len()).map_err(|_| Error::ExpandTooLong)?;
        if out.len().div_ceil(DIGEST_BYTES) > 255 {
            return Err(Error::ExpandTooLong);
        }
        let mut first = self.after_padding.clone();
        first.update(message);
        first.update(length.to_be_bytes());
        first.update([0]);
        first.update(&self.separation_prime);
        let b0: [u8; DIGEST_BYTES] = first.finalize().into();

        let mut previous = [0; DIGEST_BYTES];
        for (number, piece) in (1..=255_u8).zip(out.chunks_mut(DIGEST_BYTES)) {
            for (byte, of_b0) in previous.iter_mut().zip(b0) {
                *byte ^= of_b0;
            }
            let mut next = Sha512::new();
            next.update(previous);
            next.update([number]);
            next.update(&self.separation_prime);
            previous = next.finalize().into();
            piece.copy_from_slice(&previous[..piece.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_255_digests_are_refused() {
        let mut out = vec![0; 255 * 64];
        assert_eq!(expand_message_xmd(b"x", b"y", &mut out), Ok(()));
        out.push(0);
        assert_eq!(expand_message_xmd(b"x", b"y", &mut out), Err(Error::ExpandTooLong));
        out.resize(70_000, 0);
        assert_eq!(expand_message_xmd(b"x", b"y", &mut out), Err(Error::ExpandTooLong));
    }

    #[test]
    fn a_domain_string_of_256_bytes_is_refused() {
        assert_eq!(expand_message_xmd(b"x", &[7; 255], &mut [0; 64]), Ok(()));
        assert_eq!(expand_message_xmd(b"x", &[7; 256], &mut [0; 64]), Err(Error::ExpandTooLong));
    }
}
