//! Parsing of a line: words, numbers, a gate.

use crate::Error;

/// The contents of a gate's line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) numbers: [usize; 5],
    /// How many `numbers` there are; if it is larger than the array there are too many, which no
    /// kind of gate has.
    pub(super) count: usize,
    pub(super) kind: Kind,
}

/// The last word of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    And,
    Xor,
    Inv,
    Eq,
    Eqw,
    Mand,
}

impl Kind {
    fn of(line: usize, word: &[u8]) -> Result<Self, Error> {
        Ok(match word {
            b"AND" => Self::And,
            b"XOR" => Self::Xor,
            b"INV" => Self::Inv,
            b"EQ" => Self::Eq,
            b"EQW" => Self::Eqw,
            b"MAND" => Self::Mand,
            _ => return syntax(line, format!("unknown gate '{}'", shortened(word))),
        })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::And => "AND",
            Self::Xor => "XOR",
            Self::Inv => "INV",
            Self::Eq => "EQ",
            Self::Eqw => "EQW",
            Self::Mand => "MAND",
        }
    }
}

impl Words {
    /// Parses the line that `text` begins with and returns its length, if the line is complete and
    /// in the usual form: `2 1 a b c` or `1 1 a b` with wires below 10^8, one space after each
    /// number, three letters.
    #[inline]
    pub(super) fn usual(text: &[u8]) -> Option<(Self, usize)> {
        let inputs = match text.get(..4)? {
            b"2 1 " => 2,
            b"1 1 " => 1,
            _ => return None,
        };
        let (mut numbers, count) = ([inputs, 1, 0, 0, 0], inputs + 3);
        let mut at = 4;
        for number in &mut numbers[2..count] {
            let (value, digits) = leading_number(*text.get(at..)?.first_chunk()?)?;
            *number = value as usize;
            at += digits;
            if text.get(at) != Some(&b' ') {
                return None;
            }
            at += 1;
        }
        let kind = match text.get(at..at + 4)? {
            b"AND\n" => Kind::And,
            b"XOR\n" => Kind::Xor,
            b"INV\n" => Kind::Inv,
            b"EQW\n" => Kind::Eqw,
            _ => return None,
        };
        Some((Self { numbers, count, kind }, at + 4))
    }

    /// Parses any line.
    pub(super) fn any(line: usize, content: &[u8]) -> Result<Self, Error> {
        let (mut numbers, mut count) = ([0; 5], 0);
        let mut kind: &[u8] = b"";
        let mut words = words(content).peekable();
        while let Some(word) = words.next() {
            if words.peek().is_none() {
                kind = word;
            } else if count < numbers.len() {
                numbers[count] = number(line, word)?;
                count += 1;
            } else {
                count = usize::MAX;
                kind = words.last().unwrap_or(word);
                break;
            }
        }
        Ok(Self { numbers, count, kind: Kind::of(line, kind)? })
    }
}

/// The number that a text begins with and how many digits it has: all eight at once, first in
/// pairs, then in fours.
#[inline]
fn leading_number(text: [u8; 8]) -> Option<(u32, usize)> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let values = u64::from_le_bytes(text) ^ (ONES * u64::from(b'0'));
    // The high bit of the first byte above 9; those after it may be wrong.
    let others = (values | values.wrapping_add(ONES * (0x7f - 9))) & (ONES << 7);
    let digits = others.trailing_zeros() / 8;
    // The first digit is the highest; shorter numbers are padded with zeros to eight digits.
    let values = values.checked_shl(u64::BITS - 8 * digits)?;
    let pairs = (values * 10 + (values >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some(((fours * 10_000 + (fours >> 32)) as u32, digits as usize))
}

/// The words of a line.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// Parses a word as a number.
pub(super) fn number(line: usize, word: &[u8]) -> Result<usize, Error> {
    let mut value = 0usize;
    for byte in word {
        if !byte.is_ascii_digit() {
            return syntax(line, format!("expected a number, found '{}'", shortened(word)));
        }
        // A number too large for its type exceeds every limit here.
        value = value.saturating_mul(10).saturating_add(usize::from(byte - b'0'));
    }
    Ok(value)
}

/// The beginning of a word, escaped for printing.
fn shortened(word: &[u8]) -> String {
    let start = String::from_utf8_lossy(&word[..word.len().min(80)]);
    start.chars().take(20).filter(|c| !c.is_control()).collect()
}

/// Something wrong in a line.
pub(super) fn syntax<T>(line: usize, what: String) -> Result<T, Error> {
    let remedy = "correct the circuit file (format: Bristol Fashion)";
    Err(Error::input(format!("line {line}: {what}; {remedy}")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// If the fast parser accepts a line, the general one must give the same result.
    fn check(text: &str) -> Option<usize> {
        let end = text.find('\n').map_or(text.len(), |end| end + 1);
        let (words, length) = Words::usual(text.as_bytes())?;
        assert_eq!(length, end, "{text:?}");
        assert_eq!(Words::any(1, &text.as_bytes()[..end]).unwrap(), words, "{text:?}");
        Some(length)
    }

    proptest! {
        #[test]
        fn a_line_is_read_alike_where_it_lies_and_word_by_word(
            numbers in prop::collection::vec(prop_oneof!["[0-9]{1,11}", "[12]", "[ -~]{1,3}"], 0..7),
            gaps in prop::collection::vec(prop_oneof![9 => Just(" "), 1 => Just("  "),
                1 => Just("\t"), 1 => Just("\n"), 1 => Just("")], 7),
            starts_usually in any::<bool>(),
            kind in prop_oneof!["(AND|XOR|INV|EQW)", "(EQ|MAND|and|XOR |XORS)", "[A-Z]{0,4}"],
            end in prop_oneof![Just("\n"), Just("\r\n"), Just(""), Just("\n2 1 0 1 2 AND\n")],
        ) {
            let mut text = if starts_usually { "2 1 ".to_owned() } else { String::new() };
            for (number, gap) in numbers.iter().zip(&gaps) {
                text.extend([number, *gap]);
            }
            text.extend([kind.as_str(), end]);
            check(&text);
        }

        #[test]
        fn a_line_in_the_usual_form_is_read_where_it_lies(
            wires in prop::array::uniform3(prop_oneof![0..100u32, 0..100_000_000u32]),
            kind in "(AND|XOR|INV|EQW)", ahead in "[0-9]{1,3} [ -~]{0,8}",
        ) {
            let [a, b, out] = wires;
            let line = match kind.as_str() {
                "AND" | "XOR" => format!("2 1 {a} {b} {out} {kind}\n"),
                _ => format!("1 1 {a} {out} {kind}\n"),
            };
            prop_assert_eq!(check(&(line.clone() + "    " + &ahead)), Some(line.len()));
            for end in 0..line.len() {
                prop_assert_eq!(check(&line[..end]), None, "a line that is not there wholly");
            }
        }

        #[test]
        fn a_leading_number_has_the_digits_that_come_first(text in any::<[u8; 8]>(), digits in 0..9) {
            let mut text = text;
            for byte in &mut text[..digits as usize] {
                *byte = b'0' + *byte % 10;
            }
            let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let expected = std::str::from_utf8(&text[..count]).unwrap().parse().ok();
            prop_assert_eq!(leading_number(text), expected.map(|value: u32| (value, count)));
        }
    }
}
