//! `diptych circuit`: any Bristol Fashion circuit, looked at or run between two peers.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use num_bigint::BigUint;
use sha2::{Digest, Sha256};

use crate::app::connection::ConnectionArgs;
use crate::app::console::Console;
use crate::circuit::bristol::{self, Contents, Limited, Limits};
use crate::circuit::{self, Circuit, Program, Source};
use crate::crypto::garble::BYTES_PER_AND;
use crate::math::hex;
use crate::protocol::yao::{self, Reveal};
use crate::publish::failure::Failure;
use crate::role::Role;

/// Look at a Bristol Fashion circuit, or run it between two peers
#[derive(Args, Debug)]
pub struct CircuitArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Print inputs, outputs, gates, depth and what a run costs
    Info {
        /// The circuit in Bristol Fashion
        file: PathBuf,
        #[command(flatten)]
        limits: LimitArgs,
    },
    /// Run the circuit with a peer that runs the same file; outputs are printed in hexadecimal
    Run(RunArgs),
}

/// How large a circuit may be.
#[derive(Args, Clone, Copy, Debug)]
struct LimitArgs {
    /// Most gates that a circuit may have; reading takes about 20 bytes of memory for each
    #[arg(long, value_name = "NUMBER", default_value_t = 1 << 26,
        value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    max_gates: u32,
    /// Most input bits that a circuit may have, and most output bits
    #[arg(long, value_name = "NUMBER", default_value_t = 1 << 22,
        value_parser = clap::value_parser!(u32).range(1..=1 << 28))]
    max_port_bits: u32,
}

impl From<LimitArgs> for Limits {
    fn from(arguments: LimitArgs) -> Self {
        let LimitArgs { max_gates, max_port_bits } = arguments;
        Self { gates: max_gates as usize, port_bits: max_port_bits as usize }
    }
}

#[derive(Args, Debug)]
struct RunArgs {
    /// The circuit in Bristol Fashion; both sides need the same bytes
    file: PathBuf,
    /// Our inputs in order, hexadecimal (bit 0 of the number is the first wire); once per input
    #[arg(long, value_name = "HEX")]
    input: Vec<String>,
    /// Which inputs are P1's, counted from 0; the others are P2's
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_value = "0")]
    p1_inputs: Vec<usize>,
    /// Who garbles; the other evaluates
    #[arg(long, default_value_t = Role::P1)]
    garbler: Role,
    /// Who learns the outputs
    #[arg(long, value_enum, default_value_t = RevealName::Both)]
    reveal: RevealName,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RevealName {
    P1,
    P2,
    Both,
}

impl From<RevealName> for Reveal {
    fn from(name: RevealName) -> Self {
        match name {
            RevealName::P1 => Self::P1,
            RevealName::P2 => Self::P2,
            RevealName::Both => Self::Both,
        }
    }
}

/// Runs the verb.
///
/// # Errors
/// If the file is not a circuit, the inputs do not fit, or the run with the peer fails.
pub fn run(arguments: &CircuitArgs, console: &Console) -> Result<(), Failure> {
    match &arguments.action {
        Action::Info { file, limits } => info(file, (*limits).into(), console),
        Action::Run(arguments) => run_with_peer(arguments, console),
    }
}

fn info(file: &Path, limits: Limits, console: &Console) -> Result<(), Failure> {
    let (Contents { circuit, lines }, hash) = read(file, limits)?;
    let (counts, program) = (circuit.counts(), Program::from(circuit));
    let widths = |ports: &[circuit::Port]| {
        let widths: Vec<String> = ports.iter().map(|port| port.width.to_string()).collect();
        format!("{} ({} bits)", ports.len(), widths.join(" + "))
    };
    console.result(format!("sha256     {hash}"));
    console.result(format!("inputs     {}", widths(program.inputs())));
    console.result(format!("outputs    {}", widths(program.outputs())));
    console.result(format!("AND        {}", lines.and));
    console.result(format!("XOR        {}", lines.xor));
    console.result(format!("INV        {}", lines.inv));
    if lines.eq + lines.eqw > 0 {
        console.result(format!("EQ         {}", lines.eq));
        console.result(format!("EQW        {}", lines.eqw));
    }
    console.result(format!("to run     {} AND, {} XOR", counts.and, counts.xor));
    console.result(format!("AND depth  {}", counts.and_depth));
    console.result(format!("depth      {}", counts.depth));
    console.result(format!("live wires {}", program.slots()));
    console.result(format!("tables     {} bytes", counts.and * BYTES_PER_AND));
    Ok(())
}

fn run_with_peer(arguments: &RunArgs, console: &Console) -> Result<(), Failure> {
    let (Contents { mut circuit, .. }, hash) = read(&arguments.file, arguments.limits.into())?;
    let mut p1_inputs = arguments.p1_inputs.clone();
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
    let role = arguments.connection.role;
    let bits = own_bits(&circuit, role, &arguments.input)?;
    let (garbler, reveal) = (arguments.garbler, Reveal::from(arguments.reveal));
    let terms = serde_json::json!({
        "protocol": "circuit",
        "sha256": hash,
        "p1_inputs": p1_inputs,
        "garbler": garbler.to_string(),
        "reveal": format!("{reveal:?}"),
    });
    let program = Program::from(circuit);
    let mut session = arguments.connection.open(terms.to_string().as_bytes(), console)?;
    session.channel.begin_phase("circuit");
    let outputs = yao::run(&mut session, garbler, &program, &bits, reveal);
    let outputs = session.conclude(outputs)?;
    let Some(outputs) = outputs else {
        console.say("done; only the peer learns the outputs");
        return Ok(());
    };
    let mut rest = outputs.as_slice();
    for port in program.outputs() {
        let (bits, later) = rest.split_at(port.width);
        console.result(format!(
            "{:0width$x}",
            number_of_bits(bits),
            width = port.width.div_ceil(4)
        ));
        rest = later;
    }
    Ok(())
}

/// Reads a circuit file; returns it with the hash of its bytes.
fn read(path: &Path, limits: Limits) -> Result<(Contents, String), Failure> {
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
                    circuit::Error::TooLarge { what: Limited::Gates, .. } => {
                        failure.advise("raise the limit with --max-gates")
                    }
                    circuit::Error::TooLarge { what: Limited::PortBits, .. } => {
                        failure.advise("raise the limit with --max-port-bits")
                    }
                    circuit::Error::Unreadable { kind, .. } => unreadable(&kind.into()),
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
            bits_of_hex(text, port.width)
                .map_err(|wrong| Failure::wrong_input(format!("input {index}: {wrong}")))?,
        );
    }
    Ok(bits)
}

/// The bits of a hexadecimal number, least significant first.
///
/// # Errors
/// If it is not hexadecimal or does not fit `width` bits; the value is not repeated.
pub fn bits_of_hex(text: &str, width: usize) -> Result<Vec<bool>, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let is_hex = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let number = is_hex.then(|| BigUint::parse_bytes(digits.as_bytes(), 16)).flatten();
    let number = number.ok_or("expected a hexadecimal number")?;
    if number.bits() > width as u64 {
        return Err(format!("the number does not fit {width} bits"));
    }
    Ok((0..width as u64).map(|i| number.bit(i)).collect())
}

/// The number with these bits, least significant first.
pub fn number_of_bits(bits: &[bool]) -> BigUint {
    yao::shares::number(bits)
}
