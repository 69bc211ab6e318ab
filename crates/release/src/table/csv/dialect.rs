//! The dialect of a data file: delimiter, quote, encoding; and the message when it is another one.

use super::MAX_RECORD_BYTES;
use std::io::{self, Cursor, Read};

/// How cells are separated, quoted and encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Between two cells, an ASCII character.
    pub delimiter: u8,
    /// Around a cell that holds delimiters or line breaks, an ASCII character.
    pub quote: u8,
    /// The encoding.
    pub encoding: Encoding,
    /// Whether the delimiter is rather what the first line seems to have.
    pub recognize: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Self { delimiter: b',', quote: b'"', encoding: Encoding::Utf8, recognize: false }
    }
}

impl Dialect {
    /// What the first line shows: commas, semicolons, tabs or vertical bars, and a byte-order mark.
    pub fn recognized() -> Self {
        Self { encoding: Encoding::Recognized, recognize: true, ..Self::default() }
    }

    /// Looks at the first line, where the delimiter is to be recognized. Returns the dialect that it
    /// has, words for it unless it is the usual one, and the whole source again.
    ///
    /// # Errors
    /// If the source cannot be read.
    pub fn look<R: Read>(
        self,
        mut source: R,
    ) -> io::Result<(Self, Option<String>, impl Read + use<R>)> {
        let mut head = Vec::new();
        let whole_line = |head: &[u8]| {
            let end = head.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
            head[..end].iter().any(|byte| byte.is_ascii_graphic())
        };
        while self.recognize && head.len() < MAX_RECORD_BYTES && !whole_line(&head) {
            let more = source.by_ref().take(1 << 12).read_to_end(&mut head)?;
            if more == 0 {
                break;
            }
        }
        let mut found = Self { recognize: false, ..self };
        let mut words = Vec::new();
        if self.recognize {
            let likely = likely_delimiter(&head).filter(|likely| *likely != self.quote);
            found.delimiter = likely.unwrap_or(self.delimiter);
            let known = DELIMITERS.iter().find(|(known, ..)| *known == found.delimiter);
            words.extend(known.map(|(_, plural, _)| format!("cells separated by {plural}")));
        }
        let marked = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
        if self.encoding == Encoding::Recognized && marked {
            words.push("UTF-16".to_owned());
        }
        let words = (!words.is_empty()).then(|| words.join(", "));
        Ok((found, words, Cursor::new(head).chain(source)))
    }

    pub(super) fn reader(self, bytes: &[u8]) -> ::csv::Reader<&[u8]> {
        ::csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(self.delimiter)
            .quote(self.quote)
            .from_reader(bytes)
    }
}

/// The encoding of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// UTF-8, with or without a byte-order mark.
    Utf8,
    /// UTF-16; the byte-order mark says which end comes first, without one the lower.
    Utf16,
    /// The code page of Western European Windows, which has Latin-1 in it.
    Windows1252,
    /// UTF-16 if a byte-order mark says so, otherwise UTF-8.
    Recognized,
}

impl Encoding {
    /// Those that a file may name, each with its word.
    pub const ALL: &'static [(&'static str, Self)] =
        &[("utf-8", Self::Utf8), ("utf-16", Self::Utf16), ("windows-1252", Self::Windows1252)];

    /// The same text in UTF-8.
    pub(super) fn decoded<R: Read>(self, source: R) -> Decoded<R> {
        let state = match self {
            Self::Utf8 => State::Plain,
            Self::Utf16 => State::FirstUnit { assumed: true },
            Self::Windows1252 => State::Windows1252,
            Self::Recognized => State::FirstUnit { assumed: false },
        };
        Decoded { source, state, ready: Vec::new(), taken: 0, rest: Vec::new(), at_end: false }
    }
}

/// The separators that files usually have besides the comma, and how people call them.
const DELIMITERS: [(u8, &str, &str); 3] =
    [(b';', "semicolons", ";"), (b'\t', "tabs", "\\t"), (b'|', "vertical bars", "|")];

/// The separator that the first line seems to have.
pub(super) fn likely_delimiter(bytes: &[u8]) -> Option<u8> {
    let line = bytes.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty())?;
    let count = |wanted: u8| line.iter().filter(|byte| **byte == wanted).count();
    let all = DELIMITERS.map(|(delimiter, ..)| delimiter);
    let found = all.into_iter().chain([b',']).max_by_key(|delimiter| count(*delimiter))?;
    (count(found) > 0).then_some(found)
}

/// What to say about a first line of so many columns that is not written in this dialect.
pub(super) fn hint(bytes: &[u8], columns: usize, dialect: Dialect) -> Option<String> {
    let utf16 = bytes.starts_with(b"\xff\xfe")
        || bytes.starts_with(b"\xfe\xff")
        || bytes.iter().take(64).filter(|byte| **byte == 0).count() >= 4;
    if utf16 && dialect.encoding != Encoding::Utf16 {
        return Some(
            "the file looks like UTF-16: save it as UTF-8, or say encoding = \"utf-16\" in the \
             party file (--encoding for `diptych local`)"
                .to_owned(),
        );
    }
    let found = likely_delimiter(bytes).filter(|found| *found != dialect.delimiter)?;
    if columns > 1 {
        return None;
    }
    let (_, plural, written) =
        *DELIMITERS.iter().find(|(known, ..)| *known == found).unwrap_or(&(b',', "commas", ","));
    Some(format!(
        "the first line is one column: is it separated by {plural}? Then say delimiter = \
         \"{written}\" in the party file (--delimiter for `diptych local`)"
    ))
}

/// A source of bytes, as UTF-8. Invalid bytes become U+FFFD, which no value contains.
pub(super) struct Decoded<R> {
    source: R,
    state: State,
    ready: Vec<u8>,
    taken: usize,
    /// Bytes that are not yet a whole character.
    rest: Vec<u8>,
    at_end: bool,
}

#[derive(Clone, Copy)]
enum State {
    Plain,
    FirstUnit {
        /// UTF-16 even without a byte-order mark.
        assumed: bool,
    },
    Utf16 {
        low_first: bool,
    },
    Windows1252,
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if matches!(self.state, State::Plain) && self.taken == self.ready.len() {
            return self.source.read(out);
        }
        while self.taken == self.ready.len() && !self.at_end {
            self.decode_more()?;
        }
        let count = out.len().min(self.ready.len() - self.taken);
        out[..count].copy_from_slice(&self.ready[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

impl<R: Read> Decoded<R> {
    fn decode_more(&mut self) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.rest);
        let before = bytes.len();
        bytes.resize(before + (64 << 10), 0);
        let read = self.source.read(&mut bytes[before..])?;
        bytes.truncate(before + read);
        self.at_end = read == 0;
        if let State::FirstUnit { assumed } = self.state {
            if bytes.len() < 2 && !self.at_end {
                self.rest = bytes;
                return Ok(());
            }
            self.state = match bytes.get(..2) {
                Some(b"\xff\xfe") => State::Utf16 { low_first: true },
                Some(b"\xfe\xff") => State::Utf16 { low_first: false },
                _ if assumed => State::Utf16 { low_first: true },
                _ => State::Plain,
            };
        }
        (self.ready, self.taken) = match self.state {
            State::Utf16 { low_first } => (self.utf16(&bytes, low_first), 0),
            State::Windows1252 => {
                (bytes.iter().map(|byte| windows_1252(*byte)).collect::<String>().into_bytes(), 0)
            }
            State::Plain | State::FirstUnit { .. } => (bytes, 0),
        };
        Ok(())
    }

    fn utf16(&mut self, bytes: &[u8], low_first: bool) -> Vec<u8> {
        let unit = |pair: &[u8]| {
            let pair = [pair[0], pair[1]];
            if low_first { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) }
        };
        let mut whole = bytes.len() / 2 * 2;
        // The first half of a pair waits for the second.
        if whole >= 2 && !self.at_end && (0xd800..0xdc00).contains(&unit(&bytes[whole - 2..])) {
            whole -= 2;
        }
        self.rest = bytes[whole..].to_vec();
        let units = bytes[..whole].chunks_exact(2).map(unit);
        let mut text: String = char::decode_utf16(units)
            .map(|decoded| decoded.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        if self.at_end && !self.rest.is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            self.rest.clear();
        }
        text.into_bytes()
    }
}

/// The characters that the code page has where Latin-1 has control characters.
fn windows_1252(byte: u8) -> char {
    const CHARACTERS: [char; 32] = [
        '€', '\u{fffd}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{fffd}', 'Ž',
        '\u{fffd}', '\u{fffd}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ',
        '\u{fffd}', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => CHARACTERS[usize::from(byte - 0x80)],
        other => char::from(other),
    }
}
