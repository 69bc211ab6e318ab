//! Bristol Fashion: the text format in which circuits are published.
//!
//! The reader accepts XOR, AND, INV, EQ and EQW, checks everything and reports the line of an
//! error; the resulting circuit has constants folded, no dead gates, and nearby equal gates merged.
//! It rejects by name what it does not support: MAND, which does several ANDs in a line, and the
//! format that preceded this one. The writer uses XOR, AND and INV only.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::circuit::bristol::{self, Limits};
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

use std::fmt::{self, Write};

use super::bit::Bit;
use super::netlist::{Circuit, Gate};
use crate::Error;

mod line;
mod reader;

pub use reader::{Contents, GateLines, read_from};

/// How large a circuit the reader accepts. Reading takes about 20 bytes of memory per gate.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Number of gates, up to 2³⁰.
    pub gates: usize,
    /// Number of input bits, and of output bits, up to 2²⁸.
    pub port_bits: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { gates: 1 << 26, port_bits: 1 << 22 }
    }
}

/// What [`Limits`] limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limited {
    /// The number of gates.
    Gates,
    /// The number of input bits, or of output bits.
    PortBits,
}

impl fmt::Display for Limited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gates => "the number of gates",
            Self::PortBits => "the number of input or output bits",
        })
    }
}

/// Reads a circuit. The first input is P1's, the others are P2's; see
/// [`Circuit::assign_inputs`] to change that.
///
/// # Errors
/// If the text breaks the format or exceeds a limit, with the line.
pub fn read(text: &str, limits: Limits) -> Result<Circuit, Error> {
    Ok(read_from(text.as_bytes(), Some(text.len() as u64), limits)?.circuit)
}

/// Writes a circuit. The format cannot express names and owners of ports.
///
/// # Errors
/// If an output is constant and there is no input bit to make it from.
pub fn write(circuit: &Circuit) -> Result<String, Error> {
    let mut writer = Writer::new(circuit);
    for (index, gate) in circuit.gates().iter().enumerate() {
        writer.gate(circuit.input_bits() + 1 + index, *gate);
    }
    writer.copies(circuit)?;
    Ok(writer.text(circuit))
}

/// Where a written gate's value goes; numbers are known only at the end, because the format
/// requires the outputs to be last.
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
        // Gates come after their inputs, so the place of the plain wire is always known.
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

    /// Outputs without a gate of their own: negations, copies, inputs, constants.
    fn copies(&mut self, circuit: &Circuit) -> Result<(), Error> {
        for (position, bit) in circuit.output_bits().iter().enumerate() {
            if self.direct[position] {
                continue;
            }
            if bit.id() == 0 && self.places[0][0].is_none() {
                if circuit.input_bits() == 0 {
                    return Err(Error::internal(
                        "a constant output without any input; such a circuit has no Bristol \
                         Fashion form",
                    ));
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
