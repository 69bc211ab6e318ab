//! Garbled circuits: alone, and between two processes over loopback TLS.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::app::bench::process::{peak_memory_bytes, thread_cpu};
use crate::app::bench::{Figure, Options};
use crate::app::connection::ConnectionArgs;
use crate::app::console::Console;
use crate::app::keygen;
use crate::circuit::{Program, Repeat, Source, aes128, gallery, sha256};
use crate::crypto::garble::{Delta, Evaluator, Garbler, GateHash, random_label};
use crate::math::Randomness;
use crate::protocol::yao::{self, Reveal, Tables};
use crate::role::Role;
use crate::simd::aes::Kernel;

const GARBLE_LIMIT: &str = "limit: 4 AES blocks (0.85 ns each with VAES and AVX-512) + 1/64 key schedule \
                            (0.9 ns) + 4.4 XORs (0.3 ns each) + 96 bytes of labels and 32 of table";
const EVALUATE_LIMIT: &str = "limit: 2 AES blocks + 1/64 key schedule + the same XORs and bytes";
const TLS_LIMIT: &str = "limit: 32 bytes per AND through TLS (about 16 ns per side) on top";

/// AND gates of a run without transport.
const ALONE: usize = 2_000_000;

/// What a run computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Workload {
    Aes,
    AesOnce,
    Sha,
    Compare,
}

impl Workload {
    fn program(self) -> Program {
        Program::new(&match self {
            Self::Aes | Self::AesOnce => aes128::circuit(),
            Self::Sha => sha256::circuit(),
            Self::Compare => gallery::comparison(64),
        })
    }

    /// About `ands` AND gates of it.
    fn source(self, program: &Program, ands: usize) -> Repeat<'_> {
        let count = ands.div_ceil(program.and_count());
        match self {
            Self::Aes => Repeat::new(program, 16).rounds(count.div_ceil(16)),
            Self::AesOnce => Repeat::new(program, 1).rounds(count),
            Self::Sha => Repeat::new(program, 8).rounds(count.div_ceil(8)),
            Self::Compare => Repeat::new(program, count),
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Self::Aes => "AES-128, 16 side by side",
            Self::AesOnce => "AES-128, one after the other",
            Self::Sha => "SHA-256, 8 side by side",
            Self::Compare => "64-bit comparisons",
        }
    }
}

/// Without transport, then between two processes.
///
/// # Errors
/// If a process cannot be started or a run fails.
pub fn run(options: &Options) -> Result<Vec<Figure>, Error> {
    let share = if options.quick { 200 } else { 1 };
    let mut figures = Vec::new();
    for workload in [Workload::Aes, Workload::AesOnce, Workload::Sha, Workload::Compare] {
        figures.extend(alone(workload, ALONE / share)?);
    }
    for (workload, ands) in [
        (Workload::Aes, 10_000_000),
        (Workload::Aes, 100_000_000),
        (Workload::Sha, 10_000_000),
        (Workload::Compare, 2_000_000),
    ] {
        figures.extend(between_processes(workload, ands / share)?);
    }
    Ok(figures)
}

/// Garbling and evaluating in this thread, tables kept in memory.
fn alone(workload: Workload, ands: usize) -> Result<Vec<Figure>, Error> {
    let program = workload.program();
    let source = workload.source(&program, ands);
    let mut rng = Randomness::from_os()?;
    let delta = Delta::random(&mut rng);
    let mut wires = vec![delta.expose()];
    wires.extend((0..source.input_bits()).map(|_| random_label(&mut rng)));
    let mut labels = wires.clone();
    labels[0] = 0;

    let mut garbler = Garbler::new(delta, GateHash::new(1));
    let mut chunks: Vec<Vec<u8>> = Vec::new();
    let mut last = Vec::new();
    let mut copying = Duration::ZERO;
    let start = thread_cpu();
    yao::garble_source(&mut garbler, &source, &mut wires, &mut last, &mut |chunk| {
        let before = thread_cpu();
        chunks.push(chunk.to_vec());
        copying += thread_cpu() - before;
        Ok(())
    })
    .map_err(Error::internal)?;
    let garbling = thread_cpu() - start - copying;
    chunks.push(last);

    let mut evaluator = Evaluator::new(GateHash::new(1));
    let mut chunks = chunks.into_iter();
    let start = thread_cpu();
    yao::evaluate_garbled(
        &mut evaluator,
        &source,
        &mut labels,
        &mut Tables::default(),
        &mut |chunk| {
            *chunk = chunks.next().unwrap_or_default();
            Ok(())
        },
    )
    .map_err(Error::internal)?;
    let evaluating = thread_cpu() - start;

    let gates = garbler.next_gate() as f64;
    let name = workload.describe();
    let per = |time: Duration| time.as_secs_f64() * 1e9 / gates;
    let kernel = Kernel::in_use().instructions().unwrap_or("portable code");
    Ok(vec![
        Figure::new(
            format!("garbling {name}"),
            per(garbling),
            "ns CPU",
            format!("per AND, {gates} ANDs, {kernel}; {GARBLE_LIMIT}"),
        ),
        Figure::new(
            format!("evaluating {name}"),
            per(evaluating),
            "ns CPU",
            format!("per AND, {gates} ANDs, {kernel}; {EVALUATE_LIMIT}"),
        ),
    ])
}

/// One of the two processes of a measurement.
#[derive(Args, Debug)]
pub struct PartyArgs {
    #[command(flatten)]
    connection: ConnectionArgs,
    #[arg(long, value_enum)]
    workload: Workload,
    #[arg(long)]
    ands: usize,
}

#[derive(Serialize, Deserialize)]
struct Report {
    gates: u64,
    setup_seconds: f64,
    seconds: f64,
    cpu_seconds: f64,
    bytes: u64,
    peak_kib: u64,
}

/// Runs one of the two processes; P1 garbles.
///
/// # Errors
/// If the peer does not come or the run fails.
pub fn run_party(arguments: &PartyArgs, console: &Console) -> Result<(), Error> {
    let program = arguments.workload.program();
    let source = arguments.workload.source(&program, arguments.ands);
    let terms = format!("bench yao {:?} {}", arguments.workload, arguments.ands);
    let mut session = arguments.connection.open(terms.as_bytes(), console)?;
    let bits = vec![true; yao::bits_of(&source, session.role)];
    session.channel.begin_phase("set-up");
    let start = Instant::now();
    yao::set_up(&mut session, Role::P1).map_err(Error::internal)?;
    let setup_seconds = start.elapsed().as_secs_f64();
    session.channel.begin_phase("run");
    let start = Instant::now();
    yao::run(&mut session, Role::P1, &source, &bits, Reveal::Both).map_err(Error::internal)?;
    let seconds = start.elapsed().as_secs_f64();
    let costs = session.channel.costs();
    let phase = costs.phase("run");
    let report = Report {
        gates: (arguments.ands.div_ceil(program.and_count()) * program.and_count()) as u64,
        setup_seconds,
        seconds,
        cpu_seconds: phase.cpu.as_secs_f64(),
        bytes: phase.bytes_sent + phase.bytes_received,
        peak_kib: peak_memory_bytes().unwrap_or(0) / 1024,
    };
    console.result(serde_json::to_string(&report).map_err(Error::internal)?);
    Ok(())
}

fn between_processes(workload: Workload, ands: usize) -> Result<Vec<Figure>, Error> {
    let place = Place::create()?;
    let identities = ["one.pem", "two.pem"].map(|name| place.0.join(name));
    let fingerprints = [
        keygen::create("one", &identities[0], None)?.fingerprint().to_string(),
        keygen::create("two", &identities[1], None)?.fingerprint().to_string(),
    ];
    let name = workload.to_possible_value().map(|v| v.get_name().to_owned()).unwrap_or_default();
    let start = |role: &str, identity: &Path, peer: &str, meeting: [&str; 2]| {
        Command::new(std::env::current_exe()?)
            .args(["bench-yao-party", "--role", role, "--peer", peer, "--workload", &name])
            .args(["--ands", &ands.to_string(), "--identity"])
            .arg(identity)
            .args(meeting)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    };
    let failed = |error| Error::internal(format!("cannot start a process: {error}"));
    let mut first = Party(
        start("p1", &identities[0], &fingerprints[1], ["--listen", "127.0.0.1:0"])
            .map_err(failed)?,
    );
    let address = first.address()?;
    let second = Party(
        start("p2", &identities[1], &fingerprints[0], ["--connect", &address]).map_err(failed)?,
    );
    let reports = [first.report()?, second.report()?];
    let [garbler, evaluator] = &reports;
    let gates = garbler.gates as f64;
    let what = format!("{}, {:.0e} ANDs", workload.describe(), gates);
    let per = |seconds: f64| seconds * 1e9 / gates;
    Ok(vec![
        Figure::new(
            format!("{what}: end to end"),
            gates / garbler.seconds.max(evaluator.seconds),
            "AND/s",
            format!("two processes, loopback TLS; {TLS_LIMIT}"),
        ),
        Figure::new(
            format!("{what}: garbler"),
            per(garbler.cpu_seconds),
            "ns CPU",
            "per AND, with TLS",
        ),
        Figure::new(
            format!("{what}: evaluator"),
            per(evaluator.cpu_seconds),
            "ns CPU",
            "per AND, with TLS",
        ),
        Figure::new(
            format!("{what}: traffic"),
            garbler.bytes as f64 / gates,
            "bytes",
            "per AND, inputs and outputs included; the scheme's is 32",
        ),
        Figure::new(
            format!("{what}: peak memory"),
            garbler.peak_kib.max(evaluator.peak_kib) as f64 / 1024.0,
            "MiB",
            "of the larger process",
        ),
        Figure::new(
            format!("{what}: set-up"),
            garbler.setup_seconds.max(evaluator.setup_seconds) * 1e3,
            "ms",
            "base transfers, once per session",
        ),
    ])
}

struct Party(Child);

impl Party {
    /// Where the child listens, as it says on standard error.
    fn address(&mut self) -> Result<String, Error> {
        let silent = || Error::internal("the first process ended before it listened");
        let mut lines = BufReader::new(self.0.stderr.take().ok_or_else(silent)?);
        let mut line = String::new();
        loop {
            line.clear();
            if lines.read_line(&mut line).unwrap_or(0) == 0 {
                return Err(silent());
            }
            if let Some(address) = line.strip_prefix("listening on ") {
                self.0.stderr = Some(lines.into_inner());
                return Ok(address.trim_end_matches([' ', '…', '\n']).to_owned());
            }
        }
    }

    fn report(mut self) -> Result<Report, Error> {
        let mut text = String::new();
        if let Some(stdout) = self.0.stdout.take() {
            let _ = stdout.take(1 << 16).read_to_string(&mut text);
        }
        let _ = self.0.wait();
        serde_json::from_str(text.trim())
            .map_err(|_| Error::internal("a process of the measurement ended without a report"))
    }
}

impl Drop for Party {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A directory that is removed at the end.
struct Place(PathBuf);

impl Place {
    fn create() -> Result<Self, Error> {
        let suffix = u64::from_le_bytes(Randomness::from_os()?.array());
        let path = std::env::temp_dir().join(format!("diptych-bench-{suffix:016x}"));
        std::fs::create_dir(&path).map_err(|error| Error::file(&path, "create", &error))?;
        Ok(Self(path))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
