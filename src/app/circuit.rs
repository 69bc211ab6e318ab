//! `diptych circuit`: any Bristol Fashion circuit, looked at or run between two peers.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use num_bigint::BigUint;
use sha2::{Digest, Sha256};

use crate::app::connection::{ConnectionArgs, RoleName};
use crate::app::console::Console;
use crate::app::failure::Failure;
use crate::circuit::bristol::{self, Limits};
use crate::circuit::{self, Circuit, Owner, Program};
use crate::crypto::garble::BYTES_PER_AND;
use crate::net::Role;
use crate::protocol::yao::{self, Reveal};

/// Longest circuit file that is read.
const LONGEST_FILE: u64 = 2 << 30;

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
    },
    /// Run the circuit with a peer that runs the same file; outputs are printed in hexadecimal
    Run(RunArgs),
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
    #[arg(long, value_enum, default_value_t = RoleName::P1)]
    garbler: RoleName,
    /// Who learns the outputs
    #[arg(long, value_enum, default_value_t = RevealName::Both)]
    reveal: RevealName,
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
/// If the file is no circuit, the inputs do not fit, or the run with the peer fails.
pub fn run(arguments: &CircuitArgs, console: &Console) -> Result<(), Failure> {
    match &arguments.action {
        Action::Info { file } => info(file, console),
        Action::Run(arguments) => run_with_peer(arguments, console),
    }
}

fn info(file: &Path, console: &Console) -> Result<(), Failure> {
    let (circuit, hash) = read(file)?;
    let (counts, program) = (circuit.counts(), Program::new(&circuit));
    let widths = |ports: &[circuit::Port]| {
        let widths: Vec<String> = ports.iter().map(|port| port.width.to_string()).collect();
        format!("{} ({} bits)", ports.len(), widths.join(" + "))
    };
    console.result(format!("sha256     {hash}"));
    console.result(format!("inputs     {}", widths(circuit.inputs())));
    console.result(format!("outputs    {}", widths(circuit.outputs())));
    console.result(format!("AND        {}", counts.and));
    console.result(format!("XOR        {}", counts.xor));
    console.result(format!("INV        {}", counts.inv));
    console.result(format!("AND depth  {}", counts.and_depth));
    console.result(format!("depth      {}", counts.depth));
    console.result(format!("live wires {}", program.slots()));
    console.result(format!("tables     {} bytes", counts.and * BYTES_PER_AND));
    Ok(())
}

fn run_with_peer(arguments: &RunArgs, console: &Console) -> Result<(), Failure> {
    let (mut circuit, hash) = read(&arguments.file)?;
    let mut p1_inputs = arguments.p1_inputs.clone();
    p1_inputs.sort_unstable();
    p1_inputs.dedup();
    if p1_inputs.iter().any(|index| *index >= circuit.inputs().len()) {
        let count = circuit.inputs().len();
        return Err(Failure::wrong_input(format!("the circuit has {count} inputs"))
            .advise("name inputs that exist with --p1-inputs, counted from 0"));
    }
    circuit.assign_inputs(|index| {
        if p1_inputs.binary_search(&index).is_ok() { Owner::P1 } else { Owner::P2 }
    });
    let role: Role = arguments.connection.role.into();
    let bits = own_bits(&circuit, role, &arguments.input)?;
    let (garbler, reveal) = (Role::from(arguments.garbler), Reveal::from(arguments.reveal));
    let terms = serde_json::json!({
        "protocol": "circuit",
        "sha256": hash,
        "p1_inputs": p1_inputs,
        "garbler": garbler.to_string(),
        "reveal": format!("{reveal:?}"),
    });
    let program = Program::new(&circuit);
    let mut session = arguments.connection.open(terms.to_string().as_bytes(), console)?;
    session.channel.begin_phase("circuit");
    let outputs = yao::run(&mut session, garbler, &program, &bits, reveal);
    let outputs = session.conclude(outputs)?;
    let Some(outputs) = outputs else {
        console.say("done; only the peer learns the outputs");
        return Ok(());
    };
    let mut rest = outputs.as_slice();
    for port in circuit.outputs() {
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
fn read(path: &Path) -> Result<(Circuit, String), Failure> {
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(LONGEST_FILE + 1).read_to_string(&mut text))
        .map_err(|error| Failure::file(path, "read", &error))?;
    if text.len() as u64 > LONGEST_FILE {
        return Err(Failure::wrong_input(format!("{} is too long", path.display())));
    }
    let circuit = bristol::read(&text, Limits::default())
        .map_err(|error| Failure::wrong_input(format!("{}: {error}", path.display())))?;
    let hash = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((circuit, hash))
}

fn own_bits(circuit: &Circuit, role: Role, given: &[String]) -> Result<Vec<bool>, Failure> {
    let owner = if role == Role::P1 { Owner::P1 } else { Owner::P2 };
    let own: Vec<_> =
        circuit.inputs().iter().enumerate().filter(|(_, port)| port.owner == Some(owner)).collect();
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
