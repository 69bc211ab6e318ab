//! The reader works line by line, so that the text is never in memory as a whole.

use std::io::{BufRead, Read};

use super::line::{Kind, Words, number, syntax, words};
use super::{Limited, Limits};
use crate::Error;
use crate::circuit::bit::{Bit, Gates};
use crate::circuit::builder::Builder;
use crate::circuit::netlist::Circuit;
use crate::role::Role;

/// Longest line that is read: room for four million ports of one bit.
const LONGEST_LINE: u64 = 1 << 24;

/// A circuit file.
#[derive(Clone, Debug)]
pub struct Contents {
    /// What it computes, folded and without dead gates.
    pub circuit: Circuit,
    /// The gates as written in the file.
    pub lines: GateLines,
}

/// How many gates of each kind a file has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GateLines {
    /// Conjunctions.
    pub and: usize,
    /// Exclusive ors.
    pub xor: usize,
    /// Negations.
    pub inv: usize,
    /// Constants.
    pub eq: usize,
    /// Copies.
    pub eqw: usize,
}

/// Reads a circuit as [`super::read`] does, from a file or a pipe. `length` is that of the text, if
/// it is known: a text that is too short for its gates is then rejected before memory is allocated.
///
/// # Errors
/// If the text cannot be read, breaks the format or exceeds a limit, with the line.
pub fn read_from(
    text: impl BufRead,
    length: Option<u64>,
    limits: Limits,
) -> Result<Contents, Error> {
    let limits =
        Limits { gates: limits.gates.min(1 << 30), port_bits: limits.port_bits.min(1 << 28) };
    let mut lines = Lines { text, line: Vec::new(), number: 0 };
    let Header { gates, wires, inputs, outputs } = header(&mut lines, length, limits)?;
    // Without a length, memory is allocated as gates are read.
    let room = if length.is_some() { gates } else { 0 };
    let mut values = Values { builder: Builder::for_file(room), codes: Vec::new() };
    values.codes.reserve_exact(if length.is_some() { wires } else { 0 });
    for (index, width) in inputs.iter().enumerate() {
        let owner = if index == 0 { Role::P1 } else { Role::P2 };
        let bits = values.builder.input(owner, &format!("in{index}"), *width);
        values.codes.extend(bits.into_iter().map(|bit| bit.code() + 1));
    }
    let mut counts = GateLines::default();
    let mut count = 0;
    while let Some(words) = lines.next_words()? {
        if count == gates {
            return syntax(lines.number, format!("more than the {gates} gates announced"));
        }
        gate(lines.number, &words, wires, &mut values, &mut counts)?;
        count += 1;
    }
    if count < gates {
        let last = lines.number.max(1);
        return syntax(last, format!("the text ends after {count} of {gates} gates"));
    }
    // Every gate sets one unset wire, so by now all are set.
    let Values { mut builder, codes } = values;
    let mut next = wires - outputs.iter().sum::<usize>();
    for (index, width) in outputs.iter().enumerate() {
        let bits: Vec<Bit> =
            codes[next..next + width].iter().map(|code| Bit::from_code(code - 1)).collect();
        builder.output(&format!("out{index}"), &bits);
        next += width;
    }
    drop(codes);
    Ok(Contents { circuit: builder.finish(), lines: counts })
}

/// The lines that are not blank, with their numbers from 1.
struct Lines<T> {
    text: T,
    line: Vec<u8>,
    /// The number of `line`; at the end, that of the last line.
    number: usize,
}

impl<T: BufRead> Lines<T> {
    /// Goes to the next line that is not blank; false at the end.
    fn advance(&mut self) -> Result<bool, Error> {
        loop {
            self.line.clear();
            let mut part = self.text.by_ref().take(LONGEST_LINE);
            let read = part
                .read_until(b'\n', &mut self.line)
                .map_err(|error| unreadable(self.number + 1, &error))?;
            if read == 0 {
                return Ok(false);
            }
            self.number += 1;
            if read as u64 == LONGEST_LINE && self.line.last() != Some(&b'\n') {
                return syntax(self.number, format!("more than {LONGEST_LINE} characters"));
            }
            if !self.line.iter().all(u8::is_ascii_whitespace) {
                return Ok(true);
            }
        }
    }

    /// The words of the next line that is not blank. A line in the usual form is parsed in the
    /// buffer.
    #[inline]
    fn next_words(&mut self) -> Result<Option<Words>, Error> {
        if let Ok(ahead) = self.text.fill_buf()
            && let Some((words, length)) = Words::usual(ahead)
        {
            self.text.consume(length);
            self.number += 1;
            return Ok(Some(words));
        }
        // Everything unusual, including read errors, is handled again here.
        match self.advance()? {
            true => Words::any(self.number, &self.line).map(Some),
            false => Ok(None),
        }
    }

    /// The same where a line must follow.
    fn expect(&mut self, what: &str) -> Result<(), Error> {
        if self.advance()? {
            return Ok(());
        }
        syntax(self.number.max(1), format!("the text ends before {what}"))
    }

    /// The numbers of the line.
    fn numbers(&self) -> Result<Vec<usize>, Error> {
        words(&self.line).map(|word| number(self.number, word)).collect()
    }
}

struct Header {
    gates: usize,
    wires: usize,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
}

fn header<T: BufRead>(
    lines: &mut Lines<T>,
    length: Option<u64>,
    limits: Limits,
) -> Result<Header, Error> {
    lines.expect("the numbers of gates and wires")?;
    let (first_line, first) = (lines.number, lines.numbers()?);
    let [gates, wires] = first[..] else {
        return syntax(first_line, format!("expected two numbers, found {}", first.len()));
    };
    limit(first_line, Limited::Gates, gates, limits.gates)?;
    let (of_inputs, of_outputs) = ("the widths of the inputs", "the widths of the outputs");
    lines.expect(of_inputs)?;
    let (line, numbers) = (lines.number, lines.numbers()?);
    let outputs_follow = lines.advance()?;
    check_not_old(line, &numbers, &lines.line)?;
    let inputs = ports(line, of_inputs, &numbers, limits)?;
    if !outputs_follow {
        return syntax(lines.number, format!("the text ends before {of_outputs}"));
    }
    let outputs = ports(lines.number, of_outputs, &lines.numbers()?, limits)?;
    let input_bits: usize = inputs.iter().sum();
    if gates.checked_add(input_bits) != Some(wires) {
        return syntax(
            first_line,
            format!("{gates} gates and {input_bits} input bits cannot make {wires} wires"),
        );
    }
    if outputs.iter().sum::<usize>() > wires {
        return syntax(first_line, format!("{wires} wires are too few for the outputs"));
    }
    // A gate takes at least eight characters, so a shorter text cannot contain them all.
    if length.is_some_and(|length| gates as u64 > length / 8 + 1) {
        return syntax(first_line, format!("the text is too short for {gates} gates"));
    }
    Ok(Header { gates, wires, inputs, outputs })
}

/// The format before this one has one line for all ports, two inputs and an output, and then gates.
fn check_not_old(line: usize, inputs: &[usize], next: &[u8]) -> Result<(), Error> {
    let is_gate = words(next).last().is_some_and(|word| word[0].is_ascii_alphabetic());
    let [first, second, output] = inputs else { return Ok(()) };
    if !is_gate {
        return Ok(());
    }
    let inputs = match second {
        0 => format!("1 {first}"),
        _ => format!("2 {first} {second}"),
    };
    syntax(
        line,
        format!(
            "this is the old Bristol format, whose second line has the bits of two inputs and of \
             the output; put the two lines '{inputs}' and '1 {output}' in its place"
        ),
    )
}

fn ports(line: usize, what: &str, numbers: &[usize], limits: Limits) -> Result<Vec<usize>, Error> {
    let Some((count, widths)) = numbers.split_first() else {
        return syntax(line, format!("expected {what}"));
    };
    if *count != widths.len() {
        return syntax(line, format!("{count} widths announced, {} found", widths.len()));
    }
    if widths.contains(&0) {
        return syntax(line, "a width of zero".to_owned());
    }
    let total = widths.iter().fold(0usize, |sum, width| sum.saturating_add(*width));
    limit(line, Limited::PortBits, total, limits.port_bits)?;
    Ok(widths.to_vec())
}

/// The circuit's bit for every wire of the file.
struct Values {
    builder: Builder,
    /// Per wire: 0 if it is not set yet, else one more than its bit's code. Only as long as the
    /// highest wire set so far requires.
    codes: Vec<u32>,
}

impl Values {
    #[inline]
    fn get(&self, line: usize, wires: usize, wire: usize) -> Result<Bit, Error> {
        match self.codes.get(wire) {
            Some(0) => {}
            Some(code) => return Ok(Bit::from_code(code - 1)),
            None if wire >= wires => return syntax(line, format!("there is no wire {wire}")),
            None => {}
        }
        syntax(line, format!("wire {wire} is used before it is set"))
    }

    #[inline]
    fn set(&mut self, line: usize, wires: usize, wire: usize, bit: Bit) -> Result<(), Error> {
        if wire >= wires {
            return syntax(line, format!("there is no wire {wire}"));
        }
        if self.codes.len() == wire {
            self.codes.push(bit.code() + 1); // almost always
            return Ok(());
        }
        if self.codes.len() < wire {
            self.codes.resize(wire + 1, 0);
        }
        if self.codes[wire] != 0 {
            return syntax(line, format!("wire {wire} is set twice"));
        }
        self.codes[wire] = bit.code() + 1;
        Ok(())
    }
}

#[inline]
fn gate(
    line: usize,
    words: &Words,
    wires: usize,
    values: &mut Values,
    counts: &mut GateLines,
) -> Result<(), Error> {
    let numbers = words.numbers.get(..words.count).unwrap_or(&[]);
    let (out, value, counter) = match (words.kind, numbers) {
        (Kind::Xor, &[2, 1, a, b, out]) => {
            let [a, b] = [values.get(line, wires, a)?, values.get(line, wires, b)?];
            (out, values.builder.xor(a, b), &mut counts.xor)
        }
        (Kind::And, &[2, 1, a, b, out]) => {
            let [a, b] = [values.get(line, wires, a)?, values.get(line, wires, b)?];
            (out, values.builder.and(a, b), &mut counts.and)
        }
        (Kind::Inv, &[1, 1, a, out]) => (out, !values.get(line, wires, a)?, &mut counts.inv),
        (Kind::Eqw, &[1, 1, a, out]) => (out, values.get(line, wires, a)?, &mut counts.eqw),
        (Kind::Eq, &[1, 1, constant @ (0 | 1), out]) => {
            (out, Bit::constant(constant == 1), &mut counts.eq)
        }
        (Kind::Mand, _) => {
            let what = "a gate MAND, which does several ANDs at once, is not supported: write a \
                        line AND for each of them";
            return syntax(line, what.to_owned());
        }
        (kind, _) => {
            return syntax(line, format!("wrong numbers for a gate {}", kind.name()));
        }
    };
    *counter += 1;
    values.set(line, wires, out, value)
}

fn unreadable(line: usize, error: &std::io::Error) -> Error {
    Error::input(format!("line {line}: the circuit file cannot be read: {}", error.kind()))
}

fn limit(line: usize, what: Limited, value: usize, limit: usize) -> Result<(), Error> {
    if value > limit { Err(Error::CircuitTooLarge { line, what, limit }) } else { Ok(()) }
}
