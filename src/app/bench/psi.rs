//! Set intersection: both parties in one process, on all cores.

use std::time::Duration;

use crate::Error;
use crate::app::bench::process::{Taken, cpu_time, taken};
use crate::app::bench::scalar_product::total_bytes;
use crate::app::bench::{Figure, Options};
use crate::crypto::commutative::{BATCH, Domain, Group, Residues, Ristretto};
use crate::math::Randomness;
use crate::protocol::pair::run_pair;
use crate::protocol::psi::Intersection;
use crate::protocol::transfers::Assumptions;
use crate::protocol::vole::Method;
use crate::protocol::{Session, psi};

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

    fn intersect(self, session: &mut Session, list: &[String]) -> Result<Intersection, Error> {
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
///
/// # Errors
/// If a run fails.
pub fn run(options: &Options) -> Result<Vec<Figure>, Error> {
    let group = Ristretto::new();
    let mut figures = Vec::new();
    let limit = operations(&group, "ristretto255", PROBES, &mut figures)?;
    operations(&Ristretto::portable(), "ristretto255, portable code", PROBES / 4, &mut figures)?;
    operations(&Residues::ffdhe3072()?, "residues, ffdhe3072", 32, &mut figures)?;
    for size in options.sizes(&SIZES, &[QUICK]) {
        for form in Form::ALL.into_iter().filter(|form| size <= form.most()) {
            let size = options.size_or(size, form.quick());
            figures.extend(whole_run(options, form, size, limit)?);
        }
    }
    figures.extend(against_a_threshold(options)?);
    Ok(figures)
}

/// Microseconds of CPU that the group operations of one identifier take, both
/// parties together: two encryptions and two re-encryptions for each pair of identifiers.
fn operations<G: Group>(
    group: &G,
    name: &str,
    count: usize,
    figures: &mut Vec<Figure>,
) -> Result<f64, Error> {
    let key = group.generate_key(&mut Randomness::from_os()?);
    let domain = Domain::new([0; 32]);
    let names: Vec<[u8; 8]> = (0..count as u64).map(u64::to_le_bytes).collect();
    let identifiers: Vec<&[u8]> = names.iter().map(<[u8; 8]>::as_slice).collect();
    let width = group.element_bytes();
    let mut elements = vec![0; count * width];

    let start = cpu_time();
    for (identifiers, out) in identifiers.chunks(BATCH).zip(elements.chunks_mut(BATCH * width)) {
        group.encrypt_batch(&key, &domain, identifiers, out)?;
    }
    let encrypt = micros_each(start, count);
    let start = cpu_time();
    for elements in elements.chunks_mut(BATCH * width) {
        group.reencrypt_batch(&key, elements)?;
    }
    let reencrypt = micros_each(start, count);
    let start = cpu_time();
    for elements in elements.chunks(BATCH * width) {
        group.check_batch(elements)?;
    }
    let check = micros_each(start, count);

    let parameters = format!("one core, batches of {BATCH}");
    for (what, micros) in [("encrypt", encrypt), ("re-encrypt", reencrypt), ("check", check)] {
        figures.push(Figure::new(format!("{name}: {what}"), micros, "µs", parameters.clone()));
    }
    Ok(encrypt + reencrypt + check)
}

/// Whether half of the identifiers are common, through one circuit.
fn against_a_threshold(options: &Options) -> Result<Vec<Figure>, Error> {
    let size = options.size_or(1_000, QUICK).min(1_000);
    let (a, b) = (names(0, size), names(size / 2, size));
    let threshold = size - size / 2;
    let party = |list: &[String], session: &mut Session| {
        psi::threshold::at_least(session, list, threshold, 64)
    };
    let (outcome, Taken { wall, cpu, .. }) = taken(|| {
        run_pair(options.setup(), |session| party(&a, session), |session| party(&b, session))
    });
    if !(outcome.p1?.reached && outcome.p2?.reached) {
        return Err(Error::internal("the comparison with the threshold is wrong"));
    }
    let name = format!("psi {size} × {size} against a threshold");
    let bytes = total_bytes(&outcome.costs.p1, &outcome.costs.p2);
    Ok(vec![
        Figure::new(format!("{name}: CPU, both roles"), cpu, "s", "σ = 64, set-up included"),
        Figure::new(format!("{name}: wall"), wall, "s", "both roles, one thread each"),
        Figure::new(format!("{name}: bytes"), bytes as f64 / 1e6, "MB", "both directions"),
    ])
}

/// One intersection of lists of this size: what it took, and the bytes of both directions.
pub(super) fn intersection(
    options: &Options,
    form: Form,
    size: usize,
) -> Result<(Taken, u64), Error> {
    // Half of them are common.
    let (a, b) = (names(0, size), names(size / 2, size));
    let (outcome, taken) = taken(|| {
        run_pair(
            options.setup(),
            |session| form.intersect(session, &a),
            |session| form.intersect(session, &b),
        )
    });
    let (p1, p2) = (outcome.p1?, outcome.p2?);
    if (p1.rows.len(), p2.rows.len()) != (size - size / 2, size - size / 2) {
        return Err(Error::internal("the intersection is wrong"));
    }
    let bytes = total_bytes(&outcome.costs.p1, &outcome.costs.p2);
    Ok((taken, bytes))
}

fn whole_run(
    options: &Options,
    form: Form,
    size: usize,
    operations_micros: f64,
) -> Result<Vec<Figure>, Error> {
    let (Taken { wall, cpu, peak_bytes }, bytes) = intersection(options, form, size)?;
    let name = format!("psi {size} × {size}, {}", form.name());
    let both = 2.0 * size as f64;
    let limit = both * operations_micros / 1e6;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let parameters = match form {
        Form::Ristretto255 => {
            format!("limit {limit:.2} s: {} group operations and the checks, as above", 4 * size)
        }
        _ => "all threads of both parties".to_owned(),
    };
    let mut figures = vec![
        Figure::new(format!("{name}: CPU, both roles"), cpu, "s", parameters),
        Figure::new(format!("{name}: wall"), wall, "s", format!("both roles on {cores} cores")),
        Figure::new(
            format!("{name}: bytes"),
            bytes as f64 / 1e6,
            "MB",
            format!("both directions: {:.1} bytes per element", bytes as f64 / both),
        ),
    ];
    if let Some(peak) = peak_bytes {
        figures.push(Figure::new(
            format!("{name}: peak memory"),
            peak as f64 / 1e6,
            "MB",
            "both parties and both lists of identifiers in one process",
        ));
    }
    Ok(figures)
}

fn micros_each(start: Duration, count: usize) -> f64 {
    (cpu_time() - start).as_secs_f64() * 1e6 / count as f64
}

fn names(first: usize, count: usize) -> Vec<String> {
    (first..first + count).map(|number| format!("individual {number:09}")).collect()
}
