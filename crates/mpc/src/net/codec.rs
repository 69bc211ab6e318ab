//! Encodes messages into bytes and decodes them.
//!
//! bincode is unmaintained (RUSTSEC-2025-0141), so no other module uses it: replacing it means
//! rewriting this file. Integers are fixed-width and little-endian, so that lengths reveal nothing
//! about values.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Largest body that the codec reads or writes. Bulk data is sent as raw bytes instead.
pub const CODEC_LIMIT: usize = 1 << 24;

const TOO_LARGE: &str = "it is too large for the codec";
const INVALID: &str = "its bytes do not decode";
const TRAILING: &str = "bytes are left over";

fn configuration() -> impl bincode::config::Config {
    bincode::config::standard()
        .with_little_endian()
        .with_fixed_int_encoding()
        .with_limit::<CODEC_LIMIT>()
}

/// The bytes of a value.
///
/// # Errors
/// What is wrong, if they would exceed [`CODEC_LIMIT`].
pub fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, &'static str> {
    let bytes = bincode::serde::encode_to_vec(value, configuration()).map_err(|_| TOO_LARGE)?;
    if bytes.len() > CODEC_LIMIT { Err(TOO_LARGE) } else { Ok(bytes) }
}

/// The value that all of the bytes encode. A length inside the bytes is checked against the limit
/// before anything is allocated for it.
///
/// # Errors
/// What is wrong, for anything that [`encode`] does not produce for this type.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, &'static str> {
    if bytes.len() > CODEC_LIMIT {
        return Err(TOO_LARGE);
    }
    let (value, read) =
        bincode::serde::decode_from_slice(bytes, configuration()).map_err(|_| INVALID)?;
    if read == bytes.len() { Ok(value) } else { Err(TRAILING) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Sample {
        number: u64,
        flag: bool,
        bytes: Vec<u8>,
        name: String,
        choice: Option<u32>,
    }

    proptest! {
        #[test]
        fn what_is_encoded_decodes_to_itself(
            number: u64, flag: bool, bytes in proptest::collection::vec(any::<u8>(), 0..99),
            name: String, choice: Option<u32>,
        ) {
            let sample = Sample { number, flag, bytes, name, choice };
            let encoded = encode(&sample).unwrap();
            prop_assert_eq!(decode::<Sample>(&encoded).unwrap(), sample);
        }

        #[test]
        fn garbage_never_panics_and_decodes_only_to_what_encodes_to_it(
            garbage in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            if let Ok(sample) = decode::<Sample>(&garbage) {
                prop_assert_eq!(encode(&sample).unwrap(), garbage);
            }
        }

        #[test]
        fn a_truncated_message_is_an_error(number: u64, cut in 0usize..8) {
            let encoded = encode(&number).unwrap();
            prop_assert_eq!(decode::<u64>(&encoded[..cut]), Err(INVALID));
        }
    }

    #[test]
    fn integers_have_the_same_width_whatever_their_value() {
        assert_eq!(encode(&0u64).unwrap().len(), encode(&u64::MAX).unwrap().len());
    }

    #[test]
    fn a_length_of_two_to_the_sixty_is_refused_without_allocating_it() {
        let mut bytes = (1u64 << 60).to_le_bytes().to_vec();
        bytes.push(0);
        assert_eq!(decode::<Vec<u8>>(&bytes), Err(INVALID));
        assert_eq!(decode::<Vec<u64>>(&bytes), Err(INVALID));
        assert_eq!(decode::<String>(&bytes), Err(INVALID));
    }

    #[test]
    fn bytes_left_over_are_an_error() {
        assert_eq!(decode::<u8>(&[1, 2]), Err(TRAILING));
    }
}
