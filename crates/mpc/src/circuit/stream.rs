//! Circuits that are generated while they run.

use super::bit::{Bit, Gates, Keep};
use super::netlist::Port;
use super::schedule::{Consumer, STREAM_WINDOW, Scheduler, Source};
use crate::role::Role;

/// A builder that passes its gates to a [`Consumer`] and does not keep them.
///
/// Wires made inside a [`Gates::scope`] and not returned from it are freed at its end; using one
/// later gives wrong results. Equal subexpressions are not shared.
pub struct Stream<'c> {
    scheduler: Scheduler<'c>,
    /// Per open scope, the slots made in it.
    scopes: Vec<Vec<u32>>,
    /// Per slot, the number of the last scope that returned it.
    marks: Vec<u64>,
    scope_number: u64,
}

impl Gates for Stream<'_> {
    fn xor_gate(&mut self, a: Bit, b: Bit) -> Bit {
        let slot = self.scheduler.xor(a.id(), b.id());
        self.own(slot)
    }

    fn and_gate(&mut self, a: Bit, b: Bit) -> Bit {
        let slot = self.scheduler.and(a, b);
        self.own(slot)
    }

    fn scope<R: Keep>(&mut self, inner: impl FnOnce(&mut Self) -> R) -> R {
        self.scopes.push(Vec::new());
        let result = inner(self);
        let mut made = self.scopes.pop().unwrap_or_default();
        self.scope_number += 1;
        let (marks, number) = (&mut self.marks, self.scope_number);
        result.each_bit(&mut |bit| {
            let slot = bit.id() as usize;
            if marks.len() <= slot {
                marks.resize(slot + 1, 0);
            }
            marks[slot] = number;
        });
        made.retain(|slot| {
            let keep = self.marks.get(*slot as usize) == Some(&number);
            if !keep {
                self.scheduler.release(*slot);
            }
            keep
        });
        if let Some(outer) = self.scopes.last_mut() {
            outer.append(&mut made);
        }
        result
    }
}

impl Stream<'_> {
    fn own(&mut self, slot: u32) -> Bit {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(slot);
        }
        Bit::wire(slot)
    }
}

/// A [`Source`] from a function that builds the circuit on a [`Stream`].
pub struct Generated<F> {
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    window: usize,
    build: F,
}

impl<F> Generated<F>
where
    F: Fn(&mut Stream<'_>, &[Vec<Bit>]) -> Vec<Vec<Bit>> + Sync,
{
    /// `build` gets the inputs and returns the outputs, which must have the declared widths.
    pub fn new(inputs: &[(Role, &str, usize)], outputs: &[(&str, usize)], build: F) -> Self {
        let input = |&(owner, name, width): &(Role, &str, usize)| Port {
            name: name.to_owned(),
            owner: Some(owner),
            width,
        };
        let output =
            |&(name, width): &(&str, usize)| Port { name: name.to_owned(), owner: None, width };
        Self {
            inputs: inputs.iter().map(input).collect(),
            outputs: outputs.iter().map(output).collect(),
            window: STREAM_WINDOW,
            build,
        }
    }

    /// Sorts `gates` gates together instead of the default number. More of them find more ANDs that
    /// can be hashed at once in long parallel chains; both parties must choose the same.
    #[must_use]
    pub fn window(self, gates: usize) -> Self {
        Self { window: gates, ..self }
    }
}

impl<F> Source for Generated<F>
where
    F: Fn(&mut Stream<'_>, &[Vec<Bit>]) -> Vec<Vec<Bit>> + Sync,
{
    fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    /// # Panics
    /// If the outputs do not have the widths declared.
    fn stream(&self, consumer: &mut dyn Consumer) -> Vec<Bit> {
        let scheduler = Scheduler::new(consumer, self.input_bits(), self.window);
        let mut stream =
            Stream { scheduler, scopes: Vec::new(), marks: Vec::new(), scope_number: 0 };
        let mut next = 1;
        let mut inputs = Vec::with_capacity(self.inputs.len());
        for port in &self.inputs {
            inputs.push((next..next + port.width as u32).map(Bit::wire).collect::<Vec<_>>());
            next += port.width as u32;
        }
        let outputs = (self.build)(&mut stream, &inputs);
        stream.scheduler.drain();
        assert!(
            outputs.iter().map(Vec::len).eq(self.outputs.iter().map(|port| port.width)),
            "a generated circuit returns the outputs that it declares"
        );
        outputs.concat()
    }
}
