//! Arrow's C data interface, as far as a table of plain values needs it: columns are read where their
//! producer holds them, without a copy. All unsafe code of the package is in this file.
//!
//! The interface gives no lengths of buffers, so a producer is believed to keep to the specification
//! (https://arrow.apache.org/docs/format/CDataInterface.html): it runs in this process, and could do
//! anything here without us. What can be checked is.

#![expect(unsafe_code, reason = "the interface is one of C structures and pointers")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::io::Write;
use std::ptr::{self, NonNull};
use std::slice;

/// Why a stream is no table.
pub type Problem = String;

/// The name that a capsule with a stream has.
pub const STREAM: &CStr = c"arrow_array_stream";

#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

/// A structure of the interface that is ours: whoever owns one releases it, once.
trait Owned: Sized {
    /// A structure that owns nothing.
    fn empty() -> Self;

    /// Calls its release function, if there is one.
    fn release(&mut self);
}

macro_rules! owned {
    ($structure:ty) => {
        impl Owned for $structure {
            fn empty() -> Self {
                // SAFETY: all fields are numbers, raw pointers and optional functions, for which zero
                // is a value; a structure without a release function owns nothing.
                unsafe { std::mem::zeroed() }
            }

            fn release(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: the structure was filled in by its producer and not released yet, for
                    // release functions set the field to null.
                    unsafe { release(self) };
                    self.release = None;
                }
            }
        }

        impl Drop for $structure {
            fn drop(&mut self) {
                self.release();
            }
        }
    };
}

owned!(Schema);
owned!(Array);
owned!(Stream);

/// What a column holds.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Null,
    Bool,
    Int8,
    Uint8,
    Int16,
    Uint16,
    Int32,
    Uint32,
    Int64,
    Uint64,
    Float32,
    Float64,
    /// Days since 1970, in 4 bytes.
    Days,
    /// So many of these make a second, since 1970, in 8 bytes.
    Time(i64),
    Utf8,
    LargeUtf8,
    Utf8View,
    /// Indices of the one kind into values of the other.
    Dictionary(Box<Kind>, Box<Kind>),
    /// Something that has no plain text, by its name.
    Other(String),
}

impl Kind {
    /// The kind that a schema describes.
    fn of(schema: &Schema) -> Self {
        let format = text(schema.format);
        let plain = match format.as_str() {
            "n" => Self::Null,
            "b" => Self::Bool,
            "c" => Self::Int8,
            "C" => Self::Uint8,
            "s" => Self::Int16,
            "S" => Self::Uint16,
            "i" => Self::Int32,
            "I" => Self::Uint32,
            "l" => Self::Int64,
            "L" => Self::Uint64,
            "f" => Self::Float32,
            "g" => Self::Float64,
            "u" => Self::Utf8,
            "U" => Self::LargeUtf8,
            "vu" => Self::Utf8View,
            "tdD" => Self::Days,
            "tdm" | "tsm:" => Self::Time(1_000),
            "tss:" => Self::Time(1),
            "tsu:" => Self::Time(1_000_000),
            "tsn:" => Self::Time(1_000_000_000),
            other => Self::Other(name_of(other)),
        };
        // SAFETY: a schema's dictionary is null or a schema that lives as long as it does.
        match unsafe { schema.dictionary.as_ref() } {
            None => plain,
            Some(values) => match (plain.is_index(), Self::of(values)) {
                (true, values) if values.is_plain() => {
                    Self::Dictionary(Box::new(plain), Box::new(values))
                }
                (_, values) => Self::Other(format!("dictionary of {}", values.name())),
            },
        }
    }

    fn is_index(&self) -> bool {
        matches!(
            self,
            Self::Int8
                | Self::Uint8
                | Self::Int16
                | Self::Uint16
                | Self::Int32
                | Self::Uint32
                | Self::Int64
                | Self::Uint64
        )
    }

    fn is_plain(&self) -> bool {
        !matches!(self, Self::Dictionary(..) | Self::Other(_))
    }

    /// Buffers that an array of this kind has at least.
    fn buffers(&self) -> usize {
        match self {
            Self::Null | Self::Other(_) => 0,
            Self::Utf8 | Self::LargeUtf8 | Self::Utf8View => 3,
            Self::Dictionary(..) => 2,
            _ => 2,
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Other(name) => name.clone(),
            Self::Dictionary(..) => "dictionary".to_owned(),
            plain => format!("{plain:?}").to_lowercase(),
        }
    }
}

/// A name for people, for formats whose values are not read.
fn name_of(format: &str) -> String {
    let names = [
        ("e", "float16"),
        ("z", "binary"),
        ("Z", "large_binary"),
        ("vz", "binary_view"),
        ("w:", "fixed_size_binary"),
        ("d:", "decimal"),
        ("td", "date"),
        ("tt", "time"),
        ("ts", "timestamp with a time zone"),
        ("tD", "duration"),
        ("ti", "interval"),
        ("+l", "list"),
        ("+L", "large_list"),
        ("+vl", "list_view"),
        ("+w:", "fixed_size_list"),
        ("+s", "struct"),
        ("+m", "map"),
        ("+u", "union"),
        ("+r", "run_end_encoded"),
    ];
    let known = names.iter().find(|(start, _)| format.starts_with(start));
    known.map_or_else(|| format!("\"{}\"", format.escape_debug()), |(_, name)| (*name).to_owned())
}

fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: texts of the interface end with a zero byte.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

/// A stream's table: its columns' names and kinds, and the batches of its rows.
pub struct Batches {
    names: Vec<String>,
    kinds: Vec<Kind>,
    batches: Vec<Batch>,
    /// Where each batch ends, in rows of the table.
    ends: Vec<usize>,
}

/// Some rows. The views point into what the array holds.
struct Batch {
    columns: Vec<Option<View>>,
    _array: Box<Array>,
}

// SAFETY: what an array holds does not change, and by the specification it may be read and released on
// any thread.
unsafe impl Send for Batch {}
// SAFETY: as above; nothing in it is written.
unsafe impl Sync for Batch {}

impl Batches {
    /// Takes the stream out of a capsule and reads it to its end.
    ///
    /// # Errors
    /// If it fails, or is not a stream of tables.
    ///
    /// # Safety
    /// The pointer must be that of a capsule with the name [`STREAM`], which holds a stream.
    pub unsafe fn take(capsule: NonNull<c_void>) -> Result<Self, Problem> {
        let there = capsule.cast::<Stream>();
        // SAFETY: by the caller's word there is a stream; moving it out and leaving an empty one behind
        // is how a consumer takes it.
        let mut stream = Box::new(unsafe { ptr::replace(there.as_ptr(), Stream::empty()) });
        if stream.release.is_none() {
            return Err("its stream was used already; make another one".to_owned());
        }
        let schema = stream.schema()?;
        if text(schema.format) != "+s" {
            return Err("it is not a table, but one column".to_owned());
        }
        let children = children(schema.children, schema.n_children)?;
        let mut table = Self {
            names: children.iter().map(|child| text(child.name)).collect(),
            kinds: children.iter().map(|child| Kind::of(child)).collect(),
            batches: Vec::new(),
            ends: Vec::new(),
        };
        while let Some(array) = stream.next()? {
            let rows = count(array.length)?;
            let before = table.records();
            table.batches.push(Batch::new(array, &table.kinds)?);
            table.ends.push(before.checked_add(rows).ok_or("it has too many rows")?);
        }
        Ok(table)
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub fn records(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The name of a column's type, if its values have no plain text.
    pub fn unreadable(&self, column: usize) -> Option<&str> {
        match self.kinds.get(column) {
            Some(Kind::Other(name)) => Some(name),
            _ => None,
        }
    }

    /// Appends a cell as text; nothing where the value is missing.
    pub fn write(&self, record: usize, column: usize, text: &mut Vec<u8>) {
        let index = self.ends.partition_point(|end| *end <= record);
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        let view = self.batches.get(index).and_then(|batch| batch.columns.get(column)?.as_ref());
        if let Some(view) = view {
            view.write(record - start, text);
        }
    }
}

impl Stream {
    fn schema(&mut self) -> Result<Schema, Problem> {
        let get = self.get_schema.ok_or("its stream has no schema")?;
        let mut schema = Schema::empty();
        // SAFETY: the stream was not released, and the schema is one to fill in.
        match unsafe { get(self, &mut schema) } {
            0 => Ok(schema),
            code => Err(self.failure(code)),
        }
    }

    /// The next batch; at the end nothing.
    fn next(&mut self) -> Result<Option<Box<Array>>, Problem> {
        let get = self.get_next.ok_or("its stream has no batches")?;
        let mut array = Box::new(Array::empty());
        // SAFETY: as above.
        match unsafe { get(self, &mut *array) } {
            0 => Ok(array.release.is_some().then_some(array)),
            code => Err(self.failure(code)),
        }
    }

    fn failure(&mut self, code: c_int) -> Problem {
        // SAFETY: the stream was not released, and its last call failed.
        let said = self.get_last_error.map(|last| text(unsafe { last(self) })).unwrap_or_default();
        format!("its stream failed ({code}): {said}")
    }
}

impl Batch {
    fn new(array: Box<Array>, kinds: &[Kind]) -> Result<Self, Problem> {
        let (length, offset) = (count(array.length)?, count(array.offset)?);
        if array.null_count != 0 && !array.buffer(0).is_null() {
            return Err("whole rows of it are missing".to_owned());
        }
        let children = children(array.children, array.n_children)?;
        if children.len() != kinds.len() {
            return Err("a batch has not the columns of the schema".to_owned());
        }
        let columns = children
            .iter()
            .zip(kinds)
            .map(|(child, kind)| View::new(child, kind, offset, length))
            .collect::<Result<_, _>>()?;
        Ok(Self { columns, _array: array })
    }
}

impl Array {
    /// A buffer's address; null where there is none.
    fn buffer(&self, index: usize) -> *const u8 {
        let known = usize::try_from(self.n_buffers).is_ok_and(|buffers| index < buffers);
        if !known || self.buffers.is_null() {
            return ptr::null();
        }
        // SAFETY: there are `n_buffers` addresses.
        unsafe { *self.buffers.add(index) }.cast()
    }
}

fn count(number: i64) -> Result<usize, Problem> {
    usize::try_from(number).map_err(|_| "it states a negative length".to_owned())
}

fn children<'a, T>(list: *mut *mut T, length: i64) -> Result<Vec<&'a T>, Problem> {
    let length = count(length)?;
    if length > 0 && list.is_null() {
        return Err("it names columns that are not there".to_owned());
    }
    // SAFETY: there are so many addresses, each of a structure that lives as long as its parent, which
    // the caller keeps.
    let child = |index| unsafe { (*list.add(index)).as_ref() };
    (0..length).map(|index| child(index).ok_or("a column is not there".to_owned())).collect()
}

/// Values of one kind, where their producer holds them.
struct View {
    kind: Kind,
    length: usize,
    /// Where the first value stands in the buffers.
    offset: usize,
    validity: *const u8,
    values: *const u8,
    /// Text of `utf8` and `large_utf8`.
    data: *const u8,
    /// Texts of `utf8_view` that are too long to stand in place.
    pieces: Vec<(*const u8, usize)>,
    dictionary: Option<Box<View>>,
}

impl View {
    /// A view of `length` values from `start` on; nothing where the kind has no text.
    fn new(
        array: &Array,
        kind: &Kind,
        start: usize,
        length: usize,
    ) -> Result<Option<Self>, Problem> {
        if matches!(kind, Kind::Other(_)) {
            return Ok(None);
        }
        let (own, offset) = (count(array.length)?, count(array.offset)?);
        let fits = start.checked_add(length).is_some_and(|end| end <= own);
        let offset = offset.checked_add(start).filter(|_| fits);
        let offset = offset.ok_or("a column is shorter than the table")?;
        if count(array.n_buffers)? < kind.buffers() {
            return Err("a column has not the buffers of its type".to_owned());
        }
        let mut view = Self {
            kind: kind.clone(),
            length,
            offset,
            validity: ptr::null(),
            values: array.buffer(1),
            data: array.buffer(2),
            pieces: Vec::new(),
            dictionary: None,
        };
        if array.null_count != 0 && *kind != Kind::Null {
            view.validity = array.buffer(0);
        }
        if length > 0 && view.values.is_null() && *kind != Kind::Null {
            return Err("a column has no values".to_owned());
        }
        if *kind == Kind::Utf8View {
            view.pieces = pieces(array)?;
        }
        if let Kind::Dictionary(_, values) = kind {
            // SAFETY: an array's dictionary is null or an array that lives as long as it does.
            let dictionary = unsafe { array.dictionary.as_ref() };
            let dictionary = dictionary.ok_or("a column's dictionary is not there")?;
            view.dictionary =
                Self::new(dictionary, values, 0, count(dictionary.length)?)?.map(Box::new);
        }
        Ok(Some(view))
    }

    /// A value of a buffer of numbers.
    fn number<T: Copy>(&self, index: usize) -> T {
        // SAFETY: the caller asks for an index below `length`, and `new` has seen that the array has
        // `offset + length` values of this kind.
        unsafe { self.values.cast::<T>().add(self.offset + index).read_unaligned() }
    }

    fn is_missing(&self, index: usize) -> bool {
        !self.validity.is_null() && !bit(self.validity, self.offset + index)
    }

    fn write(&self, index: usize, text: &mut Vec<u8>) {
        if index >= self.length || self.is_missing(index) {
            return;
        }
        // Writing to memory does not fail.
        let _ = match &self.kind {
            Kind::Null | Kind::Other(_) => Ok(()),
            Kind::Bool => {
                let truth = bit(self.values, self.offset + index);
                text.write_all(if truth { b"True" } else { b"False" })
            }
            Kind::Int8 => write!(text, "{}", self.number::<i8>(index)),
            Kind::Uint8 => write!(text, "{}", self.number::<u8>(index)),
            Kind::Int16 => write!(text, "{}", self.number::<i16>(index)),
            Kind::Uint16 => write!(text, "{}", self.number::<u16>(index)),
            Kind::Int32 => write!(text, "{}", self.number::<i32>(index)),
            Kind::Uint32 => write!(text, "{}", self.number::<u32>(index)),
            Kind::Int64 => write!(text, "{}", self.number::<i64>(index)),
            Kind::Uint64 => write!(text, "{}", self.number::<u64>(index)),
            Kind::Float32 => match self.number::<f32>(index) {
                number if number.is_nan() => Ok(()),
                number => write!(text, "{number}"),
            },
            Kind::Float64 => write_float(self.number(index), text),
            Kind::Days => write_day(self.number::<i32>(index).into(), text),
            Kind::Time(per_second) => write_time(self.number(index), *per_second, text),
            Kind::Utf8 => {
                let (start, end) = (self.number::<i32>(index), self.number::<i32>(index + 1));
                text.write_all(self.part(start.into(), end.into()))
            }
            Kind::LargeUtf8 => {
                text.write_all(self.part(self.number(index), self.number(index + 1)))
            }
            Kind::Utf8View => text.write_all(self.viewed(index)),
            Kind::Dictionary(by, _) => {
                let place = self.place(by, index);
                if let (Some(dictionary), Some(place)) = (&self.dictionary, place) {
                    dictionary.write(place, text);
                }
                Ok(())
            }
        };
    }

    /// The bytes between two offsets.
    fn part(&self, start: i64, end: i64) -> &[u8] {
        match (usize::try_from(start), usize::try_from(end)) {
            (Ok(start), Ok(end)) if start < end && !self.data.is_null() => {
                // SAFETY: offsets of an array are places in its text.
                unsafe { slice::from_raw_parts(self.data.add(start), end - start) }
            }
            _ => &[],
        }
    }

    /// A text of a view: in place if it has up to 12 bytes, or else in one of the pieces.
    fn viewed(&self, index: usize) -> &[u8] {
        let at = (self.offset + index) * 16;
        // SAFETY: a view takes 16 bytes, and there are `offset + length` of them.
        let view = unsafe { slice::from_raw_parts(self.values.add(at), 16) };
        let number = |at: usize| {
            let bytes = view.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            usize::try_from(i32::from_ne_bytes(bytes.unwrap_or_default())).unwrap_or(0)
        };
        let length = number(0);
        if length <= 12 {
            return &view[4..4 + length];
        }
        let (piece, start) = (number(8), number(12));
        match self.pieces.get(piece) {
            Some((data, size)) if start + length <= *size && !data.is_null() => {
                // SAFETY: the piece has `size` bytes.
                unsafe { slice::from_raw_parts(data.add(start), length) }
            }
            _ => &[],
        }
    }

    /// The place in the dictionary.
    fn place(&self, by: &Kind, index: usize) -> Option<usize> {
        match by {
            Kind::Int8 => self.number::<i8>(index).try_into().ok(),
            Kind::Uint8 => Some(self.number::<u8>(index).into()),
            Kind::Int16 => self.number::<i16>(index).try_into().ok(),
            Kind::Uint16 => Some(self.number::<u16>(index).into()),
            Kind::Int32 => self.number::<i32>(index).try_into().ok(),
            Kind::Uint32 => self.number::<u32>(index).try_into().ok(),
            Kind::Int64 => self.number::<i64>(index).try_into().ok(),
            Kind::Uint64 => self.number::<u64>(index).try_into().ok(),
            _ => None,
        }
    }
}

/// A number as a file has it: whole ones without a point, and none where it is not a number.
pub fn write_float(number: f64, text: &mut Vec<u8>) -> std::io::Result<()> {
    // Adding 0 makes 0 of −0.
    if number.is_nan() { Ok(()) } else { write!(text, "{}", number + 0.0) }
}

/// A date in ISO 8601, from the days since 1970, in the Gregorian calendar.
fn write_day(days: i64, text: &mut Vec<u8>) -> std::io::Result<()> {
    // Years begin in March here, so that a leap day is the last one; 400 years have 146,097 days.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    write!(text, "{:04}-{month:02}-{day:02}", era * 400 + year + later)
}

/// A time in ISO 8601; of midnight the date alone.
fn write_time(time: i64, per_second: i64, text: &mut Vec<u8>) -> std::io::Result<()> {
    let (seconds, part) = (time.div_euclid(per_second), time.rem_euclid(per_second));
    let second = seconds.rem_euclid(86_400);
    write_day(seconds.div_euclid(86_400), text)?;
    if (second, part) == (0, 0) {
        return Ok(());
    }
    write!(text, "T{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60)?;
    if part == 0 {
        return Ok(());
    }
    write!(text, ".{:0digits$}", part, digits = per_second.ilog10() as usize)
}

/// A time as Python writes it; of midnight the date alone.
pub fn without_midnight(written: &str) -> &str {
    let date = written.split_once("T00:00:00");
    let nothing_else = |rest: &str| rest.bytes().all(|byte| matches!(byte, b'.' | b'0'));
    date.filter(|(_, rest)| nothing_else(rest)).map_or(written, |(date, _)| date)
}

fn bit(bits: *const u8, index: usize) -> bool {
    // SAFETY: the callers ask for places below `offset + length` in buffers of so many bits.
    let byte = unsafe { *bits.add(index / 8) };
    (byte >> (index % 8)) & 1 == 1
}

/// The buffers of long texts: all between the views and the list of their lengths.
fn pieces(array: &Array) -> Result<Vec<(*const u8, usize)>, Problem> {
    let buffers = count(array.n_buffers)?;
    let sizes = array.buffer(buffers - 1).cast::<i64>();
    (2..buffers - 1)
        .map(|index| {
            if sizes.is_null() {
                return Err("a column has no lengths of its texts".to_owned());
            }
            // SAFETY: the last buffer has a length for each of these.
            let size = unsafe { sizes.add(index - 2).read_unaligned() };
            Ok((array.buffer(index), count(size)?))
        })
        .collect()
}
