//! Circuits on shared bits, layer by layer, many copies at once.

use super::{Bits, Error, and, constant, forecast_and};
use crate::circuit::check_width;
use crate::circuit::evaluate::evaluate_source;
use crate::circuit::{self, Consumer, Op, Source, Step};
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;
use crate::role::Role;

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

/// Copies of a circuit: vector i of `inputs` has input i of every copy.
pub struct Copies<'a> {
    /// The circuit, whoever's its inputs are.
    pub source: &'a dyn Source,
    /// Shares of its inputs.
    pub inputs: &'a [Bits],
    /// How many there are.
    pub copies: usize,
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
    let mut outputs = run_together(session, &[Copies { source, inputs, copies }])?;
    Ok(outputs.pop().unwrap_or_default())
}

/// Runs several circuits at once, each in copies of its own: as many rounds as the deepest has layers.
///
/// # Errors
/// As for [`run`].
pub fn run_together(session: &mut Session, jobs: &[Copies<'_>]) -> Result<Vec<Slices>, Error> {
    let role = session.role;
    let mut runs = jobs.iter().map(|job| Run::new(role, job)).collect::<Result<Vec<_>, _>>()?;
    let layers = runs.iter().map(|run| run.layers.len()).max().unwrap_or(0);
    for layer in 0..layers {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for run in &mut runs {
            run.begin(layer, &mut first, &mut second);
        }
        let mut products = and(session, &Bits::concat(&first), &Bits::concat(&second))?;
        for run in &mut runs {
            let (own, others) = products.split(run.ands(layer));
            run.end(layer, &own);
            products = others;
        }
    }
    Ok(runs.iter().map(|run| run.results(role)).collect())
}

/// The messages of [`run`].
pub fn forecast_run(f: &mut Forecast, source: &dyn Source, copies: usize) {
    forecast_together(f, &[(source, copies)]);
}

/// The messages of [`run_together`].
pub fn forecast_together(f: &mut Forecast, jobs: &[(&dyn Source, usize)]) {
    let mut all: Vec<usize> = Vec::new();
    for (source, copies) in jobs {
        let mut layers = Layers::default();
        source.stream(&mut layers);
        all.resize(all.len().max(layers.0.len()), 0);
        all.iter_mut().zip(&layers.0).for_each(|(all, layer)| *all += layer.ands.len() * copies);
    }
    all.into_iter().for_each(|ands| forecast_and(f, ands));
}

fn check_inputs(source: &dyn Source, inputs: &[Bits], copies: usize) -> Result<(), Error> {
    check_width(source.input_bits(), inputs.len())?;
    super::check_equally_long(copies, &inputs.iter().collect::<Vec<_>>())
}

/// Where a gate reads and writes.
type Place = (usize, usize, usize);

/// A layer of ANDs, and what comes before it.
struct Layer {
    values: usize,
    linear: Vec<Place>,
    ands: Vec<Place>,
}

/// All layers of a circuit.
#[derive(Default)]
struct Layers(Vec<Layer>);

impl Consumer for Layers {
    fn step(&mut self, values: usize, step: Step<'_>) -> bool {
        let [linear, ands] = [step.linear, step.ands].map(|ops| places(step, ops).collect());
        self.0.push(Layer { values, linear, ands });
        true
    }
}

/// Copies of a circuit that are under way.
struct Run {
    copies: usize,
    layers: Vec<Layer>,
    wires: Slices,
    outputs: Vec<circuit::Bit>,
}

impl Run {
    fn new(role: Role, job: &Copies<'_>) -> Result<Self, Error> {
        check_inputs(job.source, job.inputs, job.copies)?;
        let mut wires = Vec::with_capacity(1 + job.inputs.len());
        wires.push(constant(role, true, job.copies));
        wires.extend_from_slice(job.inputs);
        let mut layers = Layers::default();
        let outputs = job.source.stream(&mut layers);
        Ok(Self { copies: job.copies, layers: layers.0, wires, outputs })
    }

    /// What is free of a layer; appends the two sides of its ANDs.
    fn begin(&mut self, layer: usize, first: &mut Vec<Bits>, second: &mut Vec<Bits>) {
        let Some(layer) = self.layers.get(layer) else { return };
        if self.wires.len() < layer.values {
            self.wires.resize(layer.values, Bits::repeat(false, self.copies));
        }
        for (a, b, out) in &layer.linear {
            self.wires[*out] = self.wires[*a].xor(&self.wires[*b]);
        }
        for (a, b, _) in &layer.ands {
            first.push(self.wires[*a].clone());
            second.push(self.wires[*b].clone());
        }
    }

    /// ANDs of a layer, of all copies.
    fn ands(&self, layer: usize) -> usize {
        self.layers.get(layer).map_or(0, |layer| layer.ands.len() * self.copies)
    }

    /// Takes the products of a layer.
    fn end(&mut self, layer: usize, products: &Bits) {
        let Some(layer) = self.layers.get(layer) else { return };
        for ((_, _, out), product) in layer.ands.iter().zip(products.parts(self.copies)) {
            self.wires[*out] = product;
        }
    }

    fn results(&self, role: Role) -> Slices {
        let value = |bit: &circuit::Bit| match bit.as_constant() {
            Some(value) => constant(role, value, self.copies),
            None => self.wires[bit.id() as usize].xor(&constant(role, bit.negated(), self.copies)),
        };
        self.outputs.iter().map(value).collect()
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
