//! One party's side of a circuit alone: any Bristol Fashion circuit, run with a peer that has the same
//! file.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::circuit::bristol::{self, Contents, Limited, Limits};
use crate::circuit::{self, Circuit, Program, Source};
use crate::math::hex;
use crate::net;
use crate::protocol::Session;
use crate::protocol::yao::{self, Reveal};
use crate::publish::failure::Failure;
use crate::role::Role;

/// What both sides must have in common, besides the file.
#[derive(Clone, Debug)]
pub struct Roles {
    /// Which inputs are P1's, counted from 0; the others are P2's.
    pub p1_inputs: Vec<usize>,
    /// Who garbles; the other evaluates.
    pub garbler: Role,
    /// Who learns the outputs.
    pub reveal: Reveal,
}

/// A circuit that is ready to be run by one party.
pub struct Ready {
    program: Program,
    bits: Vec<bool>,
    garbler: Role,
    reveal: Reveal,
    terms: Vec<u8>,
}

impl Ready {
    /// Reads a circuit and this party's inputs, in their order and in hexadecimal.
    ///
    /// # Errors
    /// If the file is not a circuit, or inputs and roles do not fit it.
    pub fn new(
        file: &Path,
        limits: Limits,
        role: Role,
        roles: &Roles,
        inputs: &[String],
    ) -> Result<Self, Failure> {
        let (Contents { mut circuit, .. }, hash) = read(file, limits)?;
        let mut p1_inputs = roles.p1_inputs.clone();
        p1_inputs.sort_unstable();
        p1_inputs.dedup();
        if p1_inputs.iter().any(|index| *index >= circuit.inputs().len()) {
            let count = circuit.inputs().len();
            return Err(Failure::wrong_input(format!("the circuit has {count} inputs"))
                .advise("name inputs that exist with --p1-inputs, counted from 0"));
        }
        circuit.assign_inputs(|index| {
            if p1_inputs.binary_search(&index).is_ok() { Role::P1 } else { Role::P2 }
        });
        let bits = own_bits(&circuit, role, inputs)?;
        let (garbler, reveal) = (roles.garbler, roles.reveal);
        let terms = serde_json::json!({
            "protocol": "circuit",
            "sha256": hash,
            "p1_inputs": p1_inputs,
            "garbler": garbler.to_string(),
            "reveal": format!("{reveal:?}"),
        });
        let terms = terms.to_string().into_bytes();
        Ok(Self { program: Program::from(circuit), bits, garbler, reveal, terms })
    }

    /// What is compared in the handshake.
    pub fn terms(&self) -> &[u8] {
        &self.terms
    }

    /// Holds the conversation. The outputs are in hexadecimal; there are none for a party that does not
    /// learn them.
    ///
    /// # Errors
    /// Whatever ends it.
    pub fn run(&self, session: &mut Session) -> Result<Option<Vec<String>>, Failure> {
        session.channel.begin_phase("circuit");
        let outputs = yao::run(session, self.garbler, &self.program, &self.bits, self.reveal);
        let Some(outputs) = session.conclude(outputs)? else { return Ok(None) };
        let mut rest = outputs.as_slice();
        let mut shown = Vec::new();
        for port in self.program.outputs() {
            let (bits, later) = rest.split_at(port.width);
            let digits = port.width.div_ceil(4);
            shown.push(format!("{:0digits$x}", yao::shares::number(bits)));
            rest = later;
        }
        Ok(Some(shown))
    }
}

/// Reads a circuit file; returns it with the hash of its bytes.
///
/// # Errors
/// If it cannot be read, or is not a circuit within the limits.
pub fn read(path: &Path, limits: Limits) -> Result<(Contents, String), Failure> {
    let unreadable = |error: &io::Error| Failure::file(path, "read", error);
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    let metadata = file.metadata().map_err(|error| unreadable(&error))?;
    let length = metadata.is_file().then_some(metadata.len());
    let mut hashed = Hashed { inner: file, hash: Sha256::new() };
    let contents =
        bristol::read_from(BufReader::with_capacity(1 << 16, &mut hashed), length, limits)
            .map_err(|error| {
                let failure = Failure::wrong_input(format!("{}: {error}", path.display()));
                match error {
                    net::Error::CircuitTooLarge { what: Limited::Gates, .. } => {
                        failure.advise("raise the limit with --max-gates")
                    }
                    net::Error::CircuitTooLarge { what: Limited::PortBits, .. } => {
                        failure.advise("raise the limit with --max-port-bits")
                    }
                    _ => failure,
                }
            })?;
    let hash = hex::encode(hashed.hash.finalize());
    Ok((contents, hash))
}

/// Hashes what is read.
struct Hashed<R> {
    inner: R,
    hash: Sha256,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hash.update(&buffer[..read]);
        Ok(read)
    }
}

fn own_bits(circuit: &Circuit, role: Role, given: &[String]) -> Result<Vec<bool>, Failure> {
    let own: Vec<_> =
        circuit.inputs().iter().enumerate().filter(|(_, port)| port.owner == Some(role)).collect();
    if own.len() != given.len() {
        let message = format!("{} inputs are ours, {} were given", own.len(), given.len());
        return Err(Failure::wrong_input(message).advise("give --input once for each of ours"));
    }
    let mut bits = Vec::new();
    for ((index, port), text) in own.into_iter().zip(given) {
        bits.extend(
            circuit::evaluate::bits_of_hex(text, port.width)
                .map_err(|wrong| Failure::wrong_input(format!("input {index}: {wrong}")))?,
        );
    }
    Ok(bits)
}
