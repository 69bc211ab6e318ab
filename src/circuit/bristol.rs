//! Bristol Fashion: the text format in which circuits are published.
//!
//! The reader takes XOR, AND, INV, EQ and EQW, checks everything and says in
//! which line something is wrong; the circuit comes out folded and without
//! dead gates. The writer uses XOR, AND and INV only.
//!
//! # Example
//!
//! ```
//! use diptych::circuit::bristol::{self, Limits};
//!
//! // Two gates and four wires; two inputs of one bit each; one output of two bits.
//! let half_adder = "2 4\n2 1 1\n1 2\n\n2 1 0 1 2 XOR\n2 1 0 1 3 AND\n";
//! let circuit = bristol::read(half_adder, Limits::default())?;
//! assert_eq!(circuit.evaluate(&[true, true])?, [false, true], "1 + 1 = 2, lowest bit first");
//!
//! let again = bristol::read(&bristol::write(&circuit)?, Limits::default())?;
//! assert_eq!(again.counts(), circuit.counts());
//!
//! let problem = bristol::read(&half_adder.replace("XOR", "NOR"), Limits::default());
//! assert!(problem.is_err_and(|error| error.to_string().starts_with("line 5:")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt::Write;

use super::Error;
use super::bit::{Bit, Gates};
use super::builder::Builder;
use super::netlist::{Circuit, Gate, Owner};

/// How large a circuit the reader accepts. Reading takes about 60 bytes of memory per gate.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Number of gates.
    pub gates: usize,
    /// Number of input bits, and of output bits.
    pub port_bits: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { gates: 1 << 26, port_bits: 1 << 22 }
    }
}

/// Reads a circuit. The first input is P1's, the others are P2's; see
/// [`Circuit::assign_inputs`] to change that.
///
/// # Errors
/// [`Error::Syntax`] or [`Error::TooLarge`] with the line.
pub fn read(text: &str, limits: Limits) -> Result<Circuit, Error> {
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .filter(|(_, line)| !line.trim().is_empty());
    let (first_line, header) = header(&mut lines, "the numbers of gates and wires")?;
    let [gates, wires] = header[..] else {
        return syntax(first_line, format!("expected two numbers, found {}", header.len()));
    };
    limit(first_line, "the number of gates", gates, limits.gates)?;
    let inputs = ports(&mut lines, "the widths of the inputs", limits)?;
    let outputs = ports(&mut lines, "the widths of the outputs", limits)?;
    let input_bits: usize = inputs.iter().sum();
    let output_bits: usize = outputs.iter().sum();
    if gates.checked_add(input_bits) != Some(wires) {
        return syntax(
            first_line,
            format!("{gates} gates and {input_bits} input bits cannot make {wires} wires"),
        );
    }
    if output_bits > wires {
        return syntax(first_line, format!("{wires} wires are too few for the outputs"));
    }
    // No text is shorter than its gates: eight characters are the least for one.
    if gates > text.len() / 8 + 1 {
        return syntax(first_line, format!("the text is too short for {gates} gates"));
    }

    let mut builder = Builder::new();
    let mut values: Vec<Option<Bit>> = Vec::with_capacity(wires);
    for (index, width) in inputs.iter().enumerate() {
        let owner = if index == 0 { Owner::P1 } else { Owner::P2 };
        values.extend(builder.input(owner, &format!("in{index}"), *width).into_iter().map(Some));
    }
    values.resize(wires, None);
    let mut count = 0;
    for (line, content) in lines {
        if count == gates {
            return syntax(line, format!("more than the {gates} gates announced"));
        }
        gate(line, content, &mut builder, &mut values)?;
        count += 1;
    }
    if count < gates {
        let last = text.lines().count().max(1);
        return syntax(last, format!("the text ends after {count} of {gates} gates"));
    }
    // Every gate sets one unset wire, so by now all are set.
    let mut next = wires - output_bits;
    for (index, width) in outputs.iter().enumerate() {
        let bits: Vec<Bit> = values[next..next + width].iter().flatten().copied().collect();
        builder.output(&format!("out{index}"), &bits);
        next += width;
    }
    Ok(builder.finish())
}

/// Writes a circuit. Names and owners of ports have no place in the format.
///
/// # Errors
/// [`Error::Unwritable`] if an output is constant and there is no input bit to make it from.
pub fn write(circuit: &Circuit) -> Result<String, Error> {
    let mut writer = Writer::new(circuit);
    for (index, gate) in circuit.gates().iter().enumerate() {
        writer.gate(circuit.input_bits() + 1 + index, *gate);
    }
    writer.copies(circuit)?;
    Ok(writer.text(circuit))
}

type Numbered<'t> = (usize, &'t str);

fn syntax<T>(line: usize, what: String) -> Result<T, Error> {
    Err(Error::Syntax { line, what })
}

fn limit(line: usize, what: &'static str, value: usize, limit: usize) -> Result<(), Error> {
    if value > limit { Err(Error::TooLarge { line, what, limit }) } else { Ok(()) }
}

fn number(line: usize, word: &str) -> Result<usize, Error> {
    let digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    match word.parse() {
        Ok(value) if digits => Ok(value),
        _ => syntax(line, format!("expected a number, found '{}'", shortened(word))),
    }
}

fn shortened(word: &str) -> String {
    word.chars().take(20).filter(|c| !c.is_control()).collect()
}

fn header<'t>(
    lines: &mut impl Iterator<Item = Numbered<'t>>,
    what: &str,
) -> Result<(usize, Vec<usize>), Error> {
    let Some((line, content)) = lines.next() else {
        return syntax(1, format!("the text ends before {what}"));
    };
    let numbers = content.split_ascii_whitespace().map(|word| number(line, word));
    Ok((line, numbers.collect::<Result<_, _>>()?))
}

fn ports<'t>(
    lines: &mut impl Iterator<Item = Numbered<'t>>,
    what: &str,
    limits: Limits,
) -> Result<Vec<usize>, Error> {
    let (line, numbers) = header(lines, what)?;
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
    limit(line, "the number of bits", total, limits.port_bits)?;
    Ok(widths.to_vec())
}

fn gate(
    line: usize,
    content: &str,
    builder: &mut Builder,
    values: &mut [Option<Bit>],
) -> Result<(), Error> {
    let words: Vec<&str> = content.split_ascii_whitespace().take(7).collect();
    let Some((kind, numbers)) = words.split_last() else {
        return syntax(line, "expected a gate".to_owned());
    };
    let numbers: Vec<usize> =
        numbers.iter().map(|word| number(line, word)).collect::<Result<_, _>>()?;
    let wire = |index: usize| match values.get(index) {
        Some(Some(bit)) => Ok(*bit),
        Some(None) => syntax(line, format!("wire {index} is used before it is set")),
        None => syntax(line, format!("there is no wire {index}")),
    };
    let (out, value) = match (*kind, &numbers[..]) {
        ("XOR", &[2, 1, a, b, out]) => (out, builder.xor(wire(a)?, wire(b)?)),
        ("AND", &[2, 1, a, b, out]) => (out, builder.and(wire(a)?, wire(b)?)),
        ("INV", &[1, 1, a, out]) => (out, !wire(a)?),
        ("EQW", &[1, 1, a, out]) => (out, wire(a)?),
        ("EQ", &[1, 1, constant @ (0 | 1), out]) => (out, Bit::constant(constant == 1)),
        ("XOR" | "AND" | "INV" | "EQW" | "EQ", _) => {
            return syntax(line, format!("wrong numbers for a gate {kind}"));
        }
        _ => return syntax(line, format!("unknown gate '{}'", shortened(kind))),
    };
    match values.get_mut(out) {
        Some(place @ None) => *place = Some(value),
        Some(Some(_)) => return syntax(line, format!("wire {out} is set twice")),
        None => return syntax(line, format!("there is no wire {out}")),
    }
    Ok(())
}

/// Where a written gate's value goes; numbers are known only at the end,
/// because the format wants the outputs last.
#[derive(Clone, Copy)]
enum Wire {
    Input(usize),
    Inner(usize),
    Output(usize),
}

struct Writer {
    lines: Vec<(&'static str, Wire, Option<Wire>, Wire)>,
    inner: usize,
    /// Per wire of the circuit: where it and its negation are.
    places: Vec<[Option<Wire>; 2]>,
    /// Per wire of the circuit: the output that its gate is written as.
    output_of: Vec<Option<usize>>,
    direct: Vec<bool>,
}

impl Writer {
    fn new(circuit: &Circuit) -> Self {
        let wires = circuit.input_bits() + 1 + circuit.gates().len();
        let mut places = vec![[None; 2]; wires];
        for (index, place) in places[1..=circuit.input_bits()].iter_mut().enumerate() {
            place[0] = Some(Wire::Input(index));
        }
        let mut output_of = vec![None; wires];
        let mut direct = vec![false; circuit.output_bits().len()];
        for (position, bit) in circuit.output_bits().iter().enumerate() {
            let id = bit.id() as usize;
            if !bit.negated() && id > circuit.input_bits() && output_of[id].is_none() {
                output_of[id] = Some(position);
                direct[position] = true;
            }
        }
        Self { lines: Vec::new(), inner: 0, places, output_of, direct }
    }

    fn fresh(&mut self) -> Wire {
        self.inner += 1;
        Wire::Inner(self.inner - 1)
    }

    fn place(&mut self, bit: Bit) -> Wire {
        let id = bit.id() as usize;
        // Gates stand after their inputs, so the plain place is always known.
        let plain = self.places[id][0].unwrap_or(Wire::Input(0));
        match (bit.negated(), self.places[id][1]) {
            (false, _) => plain,
            (true, Some(wire)) => wire,
            (true, None) => {
                let wire = self.fresh();
                self.lines.push(("INV", plain, None, wire));
                self.places[id][1] = Some(wire);
                wire
            }
        }
    }

    fn gate(&mut self, id: usize, gate: Gate) {
        let (kind, a, b) = match gate {
            Gate::Xor(a, b) => ("XOR", a, b),
            Gate::And(a, b) => ("AND", a, b),
        };
        let (a, b) = (self.place(a), self.place(b));
        let out = match self.output_of[id] {
            Some(position) => Wire::Output(position),
            None => self.fresh(),
        };
        self.lines.push((kind, a, Some(b), out));
        self.places[id][0] = Some(out);
    }

    /// Outputs that are no gate of their own: negations, copies, inputs, constants.
    fn copies(&mut self, circuit: &Circuit) -> Result<(), Error> {
        for (position, bit) in circuit.output_bits().iter().enumerate() {
            if self.direct[position] {
                continue;
            }
            if bit.id() == 0 && self.places[0][0].is_none() {
                if circuit.input_bits() == 0 {
                    return Err(Error::Unwritable("a constant output without any input"));
                }
                let zero = self.fresh();
                self.lines.push(("XOR", Wire::Input(0), Some(Wire::Input(0)), zero));
                self.places[0][0] = Some(zero);
            }
            let opposite = self.place(!*bit);
            self.lines.push(("INV", opposite, None, Wire::Output(position)));
        }
        Ok(())
    }

    fn text(self, circuit: &Circuit) -> String {
        let inputs = circuit.input_bits();
        let number = |wire: Wire| match wire {
            Wire::Input(index) => index,
            Wire::Inner(index) => inputs + index,
            Wire::Output(index) => inputs + self.inner + index,
        };
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{} {}", self.lines.len(), inputs + self.lines.len());
        for ports in [circuit.inputs(), circuit.outputs()] {
            let _ = write!(text, "{}", ports.len());
            for port in ports {
                let _ = write!(text, " {}", port.width);
            }
            text.push('\n');
        }
        text.push('\n');
        for (kind, a, b, out) in &self.lines {
            let (a, out) = (number(*a), number(*out));
            let _ = match b {
                Some(b) => writeln!(text, "2 1 {a} {} {out} {kind}", number(*b)),
                None => writeln!(text, "1 1 {a} {out} {kind}"),
            };
        }
        text
    }
}

#[cfg(test)]
mod tests;
