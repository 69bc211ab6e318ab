//! The wire format: a header of eight bytes (tag, then length as little-endian u32), then the body.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::net::Error;
use crate::net::codec::CODEC_LIMIT;

/// Length of a frame's header.
pub const HEADER_BYTES: usize = 8;

/// Names a type of message on the wire: four ASCII characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tag([u8; 4]);

impl Tag {
    /// A tag from four characters, such as `*b"helo"`.
    pub const fn new(name: [u8; 4]) -> Self {
        Self(name)
    }

    /// The four bytes as on the wire.
    pub const fn bytes(self) -> [u8; 4] {
        self.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The bytes come from the peer and are escaped for printing.
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A type that is sent as one frame.
pub trait Message: Serialize + DeserializeOwned {
    /// The tag of its frames, different for every message of a protocol.
    const TAG: Tag;
    /// The longest message of this type: a longer frame is rejected by its header.
    const MOST_BYTES: usize = CODEC_LIMIT;
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the body is.
    pub tag: Tag,
    /// Bytes in the body.
    pub length: usize,
}

impl Header {
    /// A header for a body that is about to be sent.
    ///
    /// # Errors
    /// [`Error::FrameTooLarge`] if the body exceeds `limit` or four gigabytes.
    pub fn for_body(tag: Tag, body: &[u8], limit: usize) -> Result<Self, Error> {
        let length = body.len();
        if length > limit || u32::try_from(length).is_err() {
            return Err(Error::FrameTooLarge { length: length as u64, limit });
        }
        Ok(Self { tag, length })
    }

    /// The header as on the wire.
    pub fn encode(self) -> [u8; HEADER_BYTES] {
        let [a, b, c, d] = self.tag.bytes();
        let [e, f, g, h] = (self.length as u32).to_le_bytes();
        [a, b, c, d, e, f, g, h]
    }

    /// Reads a header. What it announces must be checked before anything is allocated.
    pub fn decode(bytes: [u8; HEADER_BYTES]) -> Self {
        let [a, b, c, d, e, f, g, h] = bytes;
        let length = u32::from_le_bytes([e, f, g, h]) as usize;
        Self { tag: Tag::new([a, b, c, d]), length }
    }

    /// # Errors
    /// [`Error::FrameTooLarge`] if the announced body exceeds `limit`.
    pub fn check(self, limit: usize) -> Result<(), Error> {
        if self.length <= limit {
            return Ok(());
        }
        Err(Error::FrameTooLarge { length: self.length as u64, limit })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_eight_bytes_decode_to_what_encodes_to_them_and_may_exceed_the_limit(
            bytes: [u8; HEADER_BYTES], limit in 0usize..1 << 33,
        ) {
            let header = Header::decode(bytes);
            prop_assert_eq!(header.encode(), bytes);
            match header.check(limit) {
                Ok(()) => prop_assert!(header.length <= limit),
                Err(Error::FrameTooLarge { length, .. }) => prop_assert!(length > limit as u64),
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }

    #[test]
    fn a_hostile_tag_prints_harmlessly() {
        assert_eq!(Tag::new([0x1b, b'"', b'a', 0xff]).to_string(), r#""\x1b\"a\xff""#);
    }
}
