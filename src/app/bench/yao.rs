//! Garbled circuits: alone, and between two parties over loopback TLS.

use std::time::Duration;

use super::pair::{Line, pair};
use super::process::thread_cpu;
use super::{BenchArgs, Figures};
use crate::Error;
use crate::circuit::{Program, Repeat, Source, aes128, gallery, sha256};
use crate::crypto::garble::{Delta, Evaluator, Garbler, GateHash, random_label};
use crate::math::Randomness;
use crate::protocol::Workspace;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// Without transport, then between two parties.
pub(super) fn run(options: &BenchArgs, out: &mut Figures) -> Result<(), Error> {
    let share = if options.quick { 200 } else { 1 };
    for workload in [Workload::Aes, Workload::AesOnce, Workload::Sha, Workload::Compare] {
        alone(workload, ALONE / share, out)?;
    }
    for (workload, ands) in [
        (Workload::Aes, 10_000_000),
        (Workload::Aes, 100_000_000),
        (Workload::Sha, 10_000_000),
        (Workload::Compare, 2_000_000),
    ] {
        over_tls(workload, ands / share, out)?;
    }
    Ok(())
}

/// Garbling and evaluating in this thread, tables kept in memory.
fn alone(workload: Workload, ands: usize, out: &mut Figures) -> Result<(), Error> {
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
    for (what, time, limit) in
        [("garbling", garbling, GARBLE_LIMIT), ("evaluating", evaluating, EVALUATE_LIMIT)]
    {
        let note = format!("per AND, {gates} ANDs, {kernel}; {limit}");
        out.add(format!("{what} {name}"), per(time), "ns CPU", note);
    }
    Ok(())
}

/// Over loopback TLS, each party in one thread; P1 garbles.
fn over_tls(workload: Workload, ands: usize, out: &mut Figures) -> Result<(), Error> {
    let program = workload.program();
    let source = workload.source(&program, ands);
    let party = |session: &mut Workspace| {
        let bits = vec![true; yao::bits_of(&source, session.role)];
        session.channel.begin_phase("set-up");
        yao::set_up(session, Role::P1)?;
        session.channel.begin_phase("run");
        yao::run(session, Role::P1, &source, &bits, Reveal::Both).map(drop)
    };
    let run = pair(Line::Tls, party, party)?;
    let [garbler, evaluator] = run.phase("run");
    let gates = (ands.div_ceil(program.and_count()) * program.and_count()) as f64;
    let what = format!("{}, {gates:.0e} ANDs", workload.describe());
    let seconds = garbler.wall.max(evaluator.wall).as_secs_f64();
    let note = format!("loopback TLS, one thread each; {TLS_LIMIT}");
    out.add(format!("{what}: end to end"), gates / seconds, "AND/s", note);
    for (who, cost) in [("garbler", &garbler), ("evaluator", &evaluator)] {
        let nanos = cost.cpu.as_secs_f64() * 1e9 / gates;
        out.add(format!("{what}: {who}"), nanos, "ns CPU", "per AND, with TLS");
    }
    let bytes = (garbler.bytes_sent + garbler.bytes_received) as f64 / gates;
    let note = "per AND, inputs and outputs included; 32 are of the scheme";
    out.add(format!("{what}: traffic"), bytes, "bytes", note);
    if let Some(peak) = run.taken.peak_bytes {
        out.add(format!("{what}: peak memory"), peak as f64 / 1e6, "MB", "of both parties");
    }
    let [first, second] = run.phase("set-up").map(|cost| cost.wall.as_secs_f64() * 1e3);
    out.add(format!("{what}: set-up"), first.max(second), "ms", "base transfers, once per session");
    Ok(())
}
