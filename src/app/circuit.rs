//! `diptych circuit`: inspects any Bristol Fashion circuit, or runs it between two peers.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use crate::Error;
use crate::app::connection::ConnectionArgs;
use crate::app::console::Console;
use crate::circuit::bristol::{Contents, Limits};
use crate::circuit::{self, Program, Source};
use crate::crypto::garble::BYTES_PER_AND;
use crate::protocol::yao::Reveal;
use crate::publish::circuit::{Ready, Roles, read};
use crate::role::Role;

/// Inspect a Bristol Fashion circuit, or run it between two peers
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
    /// The largest number of gates accepted; reading takes about 20 bytes of memory for each
    #[arg(long, value_name = "NUMBER", default_value_t = 1 << 26,
        value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    max_gates: u32,
    /// The largest number of input bits accepted, and of output bits
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
pub fn run(arguments: &CircuitArgs, console: &Console) -> Result<(), Error> {
    match &arguments.action {
        Action::Info { file, limits } => info(file, (*limits).into(), console),
        Action::Run(arguments) => run_with_peer(arguments, console),
    }
}

fn info(file: &Path, limits: Limits, console: &Console) -> Result<(), Error> {
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

fn run_with_peer(arguments: &RunArgs, console: &Console) -> Result<(), Error> {
    let roles = Roles {
        p1_inputs: arguments.p1_inputs.clone(),
        garbler: arguments.garbler,
        reveal: arguments.reveal.into(),
    };
    let (limits, role) = (arguments.limits.into(), arguments.connection.role);
    let ready = Ready::new(&arguments.file, limits, role, &roles, &arguments.input)?;
    let mut session = arguments.connection.open(ready.terms(), console)?;
    match ready.run(&mut session)? {
        Some(outputs) => outputs.iter().for_each(|output| console.result(output)),
        None => console.say("done; only the peer learns the outputs"),
    }
    Ok(())
}
