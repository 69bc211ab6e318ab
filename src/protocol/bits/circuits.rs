//! Circuits on shared bits, layer by layer, many copies at once.

use super::{Bits, Error, and, constant, forecast_and};
use crate::circuit::evaluate::evaluate_source;
use crate::circuit::{self, Consumer, Op, Source, Step};
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;

/// Wires of many copies of a circuit: vector i has wire i of every copy.
pub type Slices = Vec<Bits>;

/// What [`run`] computes, for input bits that are known.
///
/// # Errors
/// Unless there is one vector per input bit, all equally long.
pub fn ideal_run(source: &dyn Source, inputs: &[Bits], copies: usize) -> Result<Slices, Error> {
    check_inputs(source, inputs, copies)?;
    let mut outputs = vec![Vec::with_capacity(copies); source.output_bits()];
    for copy in 0..copies {
        let bits: Vec<bool> = inputs.iter().map(|wire| wire.get(copy)).collect();
        let results = evaluate_source(source, &bits)?;
        outputs.iter_mut().zip(results).for_each(|(wire, bit)| wire.push(bit));
    }
    Ok(outputs.into_iter().map(Bits::from_iter).collect())
}

/// Runs `copies` copies of a circuit on shares of their inputs, whoever's they are, and gives shares of
/// their outputs. A round for every layer of ANDs.
///
/// # Errors
/// Unless there is one vector per input bit, all `copies` long; if the connection fails or the peer
/// sends something that is not allowed.
pub fn run(
    session: &mut Session,
    source: &dyn Source,
    inputs: &[Bits],
    copies: usize,
) -> Result<Slices, Error> {
    check_inputs(source, inputs, copies)?;
    let mut wires = Vec::with_capacity(1 + inputs.len());
    wires.push(constant(session.role, true, copies));
    wires.extend_from_slice(inputs);
    let role = session.role;
    let mut run = Run { session, copies, wires, error: None };
    let outputs = source.stream(&mut run);
    if let Some(error) = run.error {
        return Err(error);
    }
    let value = |bit: &circuit::Bit| match bit.as_constant() {
        Some(value) => constant(role, value, copies),
        None => run.wires[bit.id() as usize].xor(&constant(role, bit.negated(), copies)),
    };
    Ok(outputs.iter().map(value).collect())
}

/// The messages of [`run`].
pub fn forecast_run(f: &mut Forecast, source: &dyn Source, copies: usize) {
    source.stream(&mut Layers { f, copies });
}

fn check_inputs(source: &dyn Source, inputs: &[Bits], copies: usize) -> Result<(), Error> {
    let (expected, given) = (source.input_bits(), inputs.len());
    if expected != given {
        return Err(circuit::Error::InputWidth { expected, given }.into());
    }
    super::check_equally_long(copies, &inputs.iter().collect::<Vec<_>>())
}

struct Run<'a> {
    session: &'a mut Session,
    copies: usize,
    wires: Slices,
    error: Option<Error>,
}

impl Run<'_> {
    fn and_layer(&mut self, places: &[(usize, usize, usize)]) -> Result<(), Error> {
        let side = |wires: &Slices, wire: fn(&(usize, usize, usize)) -> usize| {
            let vectors: Vec<Bits> = places.iter().map(|gate| wires[wire(gate)].clone()).collect();
            Bits::concat(&vectors)
        };
        let (a, b) = (side(&self.wires, |gate| gate.0), side(&self.wires, |gate| gate.1));
        let products = and(self.session, &a, &b)?;
        for ((_, _, out), product) in places.iter().zip(products.parts(self.copies)) {
            self.wires[*out] = product;
        }
        Ok(())
    }
}

impl Consumer for Run<'_> {
    fn step(&mut self, values: usize, step: Step<'_>) -> bool {
        if self.wires.len() < values {
            self.wires.resize(values, Bits::repeat(false, self.copies));
        }
        for (a, b, out) in places(step, step.linear) {
            self.wires[out] = self.wires[a].xor(&self.wires[b]);
        }
        let ands: Vec<_> = places(step, step.ands).collect();
        match self.and_layer(&ands) {
            Ok(()) => true,
            Err(error) => {
                self.error = Some(error);
                false
            }
        }
    }
}

/// Where a step's gates read and write, lane by lane.
fn places<'a>(
    step: Step<'_>,
    ops: &'a [Op],
) -> impl Iterator<Item = (usize, usize, usize)> + use<'a> {
    let (base, lanes) = (step.base, step.lanes);
    ops.iter().flat_map(move |op| {
        let at = move |slot: u32, lane: usize| base + slot as usize * lanes + lane;
        let (a, b, out) = (op.a, op.b, op.out);
        (0..lanes).map(move |lane| (at(a, lane), at(b, lane), at(out, lane)))
    })
}

/// Counts ANDs, layer by layer.
struct Layers<'a> {
    f: &'a mut Forecast,
    copies: usize,
}

impl Consumer for Layers<'_> {
    fn step(&mut self, _: usize, step: Step<'_>) -> bool {
        forecast_and(self.f, step.ands.len() * step.lanes * self.copies);
        true
    }
}
