//! Bytes as hexadecimal digits, as files and messages spell hashes, keys and signatures.
//!
//! For public bytes only: tables and branches depend on the digits.

use std::fmt::Write;

/// Two lower-case digits for each byte.
pub fn encode(bytes: impl AsRef<[u8]>) -> String {
    let bytes = bytes.as_ref();
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut digits, byte| {
        // Writing to a `String` does not fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// The bytes that an even number of digits spells. Lower-case digits only, so that there is one way
/// to write them.
pub fn decode(digits: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| Some(value(pair[0])? << 4 | value(*pair.get(1)?)?)).collect()
}

/// As [`decode`], if there are `N` bytes.
pub fn decode_array<const N: usize>(digits: &str) -> Option<[u8; N]> {
    if digits.len() == 2 * N { decode(digits)?.try_into().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_from_their_digits() {
        let bytes: Vec<u8> = (0..=255).collect();
        let digits = encode(&bytes);
        assert!(digits.starts_with("000102") && digits.ends_with("fdfeff"), "{digits}");
        assert_eq!(decode(&digits), Some(bytes));
        assert_eq!(decode(""), Some(Vec::new()));
        assert_eq!(decode_array("00ff"), Some([0, 255]));
    }

    #[test]
    fn there_is_one_way_to_write_a_byte() {
        for wrong in ["0", "0aF0", "+f", " f", "0x00", "0g", "é", "00 "] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
        assert_eq!(decode_array::<2>("00"), None);
        assert_eq!(decode_array::<2>("000000"), None);
    }
}
