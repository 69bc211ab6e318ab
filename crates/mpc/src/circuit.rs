//! Boolean circuits: the type, a builder with integer gadgets, the Bristol Fashion reader and
//! writer, a plain evaluator. Nothing here uses keys or peers.
//!
//! Gadgets ([`integer`]) are written once, against the trait [`Gates`]. It has two implementations:
//! [`Builder`] stores the circuit and shares common subexpressions; [`Stream`] emits gates as they
//! are made and does not keep them, so a circuit of 10⁹ gates needs memory for its live wires only.
//! Whatever runs a circuit (plain evaluator, garbler) is a [`Consumer`] of [`Step`]s: first a list
//! of XORs, then AND gates that do not depend on each other.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::circuit::{Builder, integer};
//! use diptych_mpc::Role;
//!
//! let mut g = Builder::new();
//! let a = g.input(Role::P1, "a", 8);
//! let b = g.input(Role::P2, "b", 8);
//! let larger = integer::maximum(&mut g, &[a, b]);
//! g.output("larger", &larger);
//! let circuit = g.finish();
//!
//! let bits = |number: u8| (0..8).map(|i| number >> i & 1 == 1).collect::<Vec<bool>>();
//! let output = circuit.evaluate(&[bits(3), bits(200)].concat())?;
//! assert_eq!(output, bits(200));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod aes128;
pub mod bit;
pub mod bristol;
pub mod builder;
pub mod chain;
pub mod evaluate;
pub mod gallery;
pub mod integer;
pub mod netlist;
pub mod program;
pub mod random_value;
pub mod schedule;
pub mod sha256;
pub mod size;
pub mod stream;

pub use bit::{Bit, Gates, Keep};
pub use builder::Builder;
pub use chain::Chain;
pub use netlist::{Circuit, Counts, Port};
pub use program::{Program, Repeat};
pub use schedule::{Consumer, Op, Source, Step};
pub use size::Size;
pub use stream::Stream;

pub(crate) use evaluate::check_width;
