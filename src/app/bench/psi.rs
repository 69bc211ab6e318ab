//! Set intersection: both parties in one process, on all cores.

use super::pair::{Pair, pair};
use super::process::cpu_time;
use super::{BenchArgs, Figures, names};
use crate::Error;
use crate::crypto::commutative::{BATCH, Domain, Group, Residues, Ristretto};
use crate::math::Randomness;
use crate::protocol::psi::Intersection;
use crate::protocol::transfers::Assumptions;
use crate::protocol::vole::Method;
use crate::protocol::{Workspace, psi};

/// Identifiers per side, where no size is asked for. 10,000,000 take 3 GB and a minute, on request.
const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

/// Identifiers per side for a first look.
const QUICK: usize = 500;

/// Elements that one group operation is measured on.
const PROBES: usize = 16 * BATCH;

/// How identifiers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Oprf,
    Ristretto255,
    Ffdhe3072,
}

impl Form {
    const ALL: [Self; 3] = [Self::Oprf, Self::Ristretto255, Self::Ffdhe3072];

    fn name(self) -> &'static str {
        match self {
            Self::Oprf => "oprf",
            Self::Ristretto255 => "ristretto255",
            Self::Ffdhe3072 => "ffdhe3072",
        }
    }

    /// The longest lists that it is measured on: more would take many minutes.
    fn most(self) -> usize {
        match self {
            Self::Oprf => usize::MAX,
            Self::Ristretto255 => 100_000,
            Self::Ffdhe3072 => 1_000,
        }
    }

    /// Of a first look: a power in the group of residues takes some 20 ms.
    fn quick(self) -> usize {
        match self {
            Self::Ffdhe3072 => 20,
            _ => QUICK,
        }
    }

    fn intersect(self, session: &mut Workspace, list: &[String]) -> Result<Intersection, Error> {
        let options = psi::Options::default();
        Ok(match self {
            Self::Oprf => {
                let method = Method::suited_to(Assumptions::Lpn);
                psi::oblivious::intersect(session, method, list, options)?
            }
            Self::Ristretto255 => psi::intersect(session, &Ristretto::new(), list, options)?,
            Self::Ffdhe3072 => psi::intersect(session, &Residues::ffdhe3072()?, list, options)?,
        })
    }
}

/// Group operations alone, then whole runs of all forms, those of ristretto255 beside the limit that
/// its operations set.
pub(super) fn run(options: &BenchArgs, out: &mut Figures) -> Result<(), Error> {
    let limit = operations(&Ristretto::new(), "ristretto255", PROBES, out)?;
    operations(&Ristretto::portable(), "ristretto255, portable code", PROBES / 4, out)?;
    operations(&Residues::ffdhe3072()?, "residues, ffdhe3072", 32, out)?;
    for size in options.sizes(&SIZES, &[QUICK]) {
        for form in Form::ALL.into_iter().filter(|form| size <= form.most()) {
            let size = options.size_or(size, form.quick());
            let note = match form {
                Form::Ristretto255 => {
                    let limit = 2.0 * size as f64 * limit / 1e6;
                    format!("limit {limit:.2} s: {} group operations and checks", 4 * size)
                }
                _ => "all threads".to_owned(),
            };
            let name = format!("psi {size} × {size}, {}", form.name());
            let run = intersection(options, form, size)?;
            run.add_whole(&name, &note, (2 * size, "element"), out);
        }
    }
    against_a_threshold(options, out)
}

/// Microseconds of CPU that the group operations of one identifier take, both
/// parties together: two encryptions and two re-encryptions for each pair of identifiers.
fn operations<G: Group>(
    group: &G,
    name: &str,
    count: usize,
    out: &mut Figures,
) -> Result<f64, Error> {
    let key = group.generate_key(&mut Randomness::from_os()?);
    let domain = Domain::new([0; 32]);
    let names: Vec<[u8; 8]> = (0..count as u64).map(u64::to_le_bytes).collect();
    let identifiers: Vec<&[u8]> = names.iter().map(<[u8; 8]>::as_slice).collect();
    let width = group.element_bytes();
    let mut elements = vec![0; count * width];
    let mut total = 0.0;
    for what in ["encrypt", "re-encrypt", "check"] {
        let start = cpu_time();
        for (ids, batch) in identifiers.chunks(BATCH).zip(elements.chunks_mut(BATCH * width)) {
            match what {
                "encrypt" => group.encrypt_batch(&key, &domain, ids, batch)?,
                "re-encrypt" => group.reencrypt_batch(&key, batch)?,
                _ => group.check_batch(batch)?,
            }
        }
        let micros = (cpu_time() - start).as_secs_f64() * 1e6 / count as f64;
        out.add(format!("{name}: {what}"), micros, "µs", format!("one core, batches of {BATCH}"));
        total += micros;
    }
    Ok(total)
}

/// Whether half of the identifiers are common, by one circuit.
fn against_a_threshold(options: &BenchArgs, out: &mut Figures) -> Result<(), Error> {
    let size = options.size_or(1_000, QUICK).min(1_000);
    let (a, b) = (names(0, size), names(size / 2, size));
    let at_least = |session: &mut Workspace, list: &[String]| {
        psi::threshold::at_least(session, list, size - size / 2, 64)
    };
    let run =
        pair(options.memory(), |session| at_least(session, &a), |session| at_least(session, &b))?;
    if !(run.p1.reached && run.p2.reached) {
        return Err(Error::internal("the comparison with the threshold is wrong"));
    }
    let name = format!("psi {size} × {size} against a threshold");
    run.add_whole(&name, "σ = 64, set-up included", (2 * size, "element"), out);
    Ok(())
}

/// One intersection of lists of this size, of which half is common.
pub(super) fn intersection(
    options: &BenchArgs,
    form: Form,
    size: usize,
) -> Result<Pair<Intersection, Intersection>, Error> {
    let (a, b) = (names(0, size), names(size / 2, size));
    let run = pair(
        options.memory(),
        |session| form.intersect(session, &a),
        |session| form.intersect(session, &b),
    )?;
    if [run.p1.rows.len(), run.p2.rows.len()] != [size - size / 2; 2] {
        return Err(Error::internal("the intersection is wrong"));
    }
    Ok(run)
}
