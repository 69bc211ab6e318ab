//! Whether a release is what its parties signed, and as its agreement says. Needs nothing but the files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::Error;
use crate::agreement::{self, Agreement};
use crate::math::{Rational, hex};
use crate::privacy::ledger::{self, Delta};
use crate::publish::artefacts::{COMPACT, MANIFEST, RELEASE};
use crate::publish::manifest::{Hashing, Manifest, Promised};
use crate::publish::released::{MAX_RELEASE_BYTES, cuts_of, schema_of};
use crate::release::tree::output::writer;
use crate::release::tree::reading::check_csv;
use crate::release::{examine, plan};
use crate::role::Role;

/// Largest manifest: an agreement, and the cuts and spends of a release.
const MOST_BYTES: u64 = agreement::MAX_CANONICAL_BYTES as u64 * 4;

/// How a line begins that warns.
const WARNING: &str = "warning    ";

/// Checks a directory; the lines say what was found.
///
/// # Errors
/// If a file cannot be read (wrong input) or does not match (failed).
pub fn check(directory: &Path) -> Result<(Manifest, Vec<String>), Error> {
    let manifest = read_manifest(directory)?;
    let lines = verify(&manifest, directory)?;
    Ok((manifest, lines))
}

/// Reads the manifest of a directory.
///
/// # Errors
/// If it cannot be read, or is not in canonical form.
pub fn read_manifest(directory: &Path) -> Result<Manifest, Error> {
    let path = directory.join(MANIFEST);
    let mut bytes = Vec::new();
    open(&path)?
        .take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::file(&path, "read", &error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(changed(format!("{} is larger than any manifest", path.display())));
    }
    Manifest::parse(&bytes).map_err(|problem| changed(format!("{} {problem}", path.display())))
}

/// The warning to show before anyone uses the release, if [`check`] found a reason for one.
pub fn warning(lines: &[String]) -> Option<&str> {
    lines.iter().find_map(|line| line.strip_prefix(WARNING))
}

/// Everything that can be checked, as lines to be read.
fn verify(manifest: &Manifest, directory: &Path) -> Result<Vec<String>, Error> {
    let agreement = check_agreement(manifest)?;
    let promise = check_promise(manifest, &agreement)?;
    check_hash(manifest, directory)?;
    let rows = check_rows(manifest, &agreement, directory)?;
    let signed = check_signatures(manifest, &agreement)?;
    let mut lines = vec![
        format!("release    {rows} rows, as the manifest says"),
        format!(
            "agreement  \"{}\", SHA-256 {}",
            agreement.id,
            manifest.text(&["agreement_sha256"]).unwrap_or_default()
        ),
        format!("promise    {promise}"),
    ];
    if examine::is_needed(&agreement) {
        let seen = examine::released(&agreement, open(&directory.join(RELEASE))?);
        let seen = seen.map_err(changed)?;
        lines.extend(seen.checked.map(|checked| format!("groups     {checked}")));
        lines.extend(seen.warning.map(|warning| format!("{WARNING}{warning}")));
    }
    if check_compact(directory)? {
        lines.push(format!("compact    {COMPACT} is {RELEASE} without the rows of count 0"));
    }
    match manifest.signatures() {
        // A reader of a single line must not miss it.
        0 => lines.splice(0..0, signed).for_each(drop),
        _ => lines.extend(signed),
    }
    Ok(lines)
}

fn check_agreement(manifest: &Manifest) -> Result<Agreement, Error> {
    let canonical = manifest.value(&["agreement"]).map(ToString::to_string).unwrap_or_default();
    let agreement = Agreement::from_canonical(canonical.as_bytes())
        .map_err(|_| changed("the agreement in the manifest is not a valid agreement"))?;
    // That of the original text: older manifests have an older form.
    let hash = hex::encode(Sha256::digest(canonical.as_bytes()));
    if manifest.text(&["agreement_sha256"]) != Some(&hash) {
        return Err(changed("the agreement in the manifest does not have the hash stated there"));
    }
    Ok(agreement)
}

/// The promise is the agreement's; where that is ε, the parts spent do not exceed it.
fn check_promise<'a>(manifest: &'a Manifest, agreement: &Agreement) -> Result<Promised<'a>, Error> {
    let wrong = || changed("the manifest does not state the agreement's promise");
    let stated = manifest.promise().ok_or_else(wrong)?;
    let spends = manifest.value(&["spends"]).and_then(|spends| spends.as_array());
    let Some(agreed) = agreement.epsilon() else {
        let two_parties = agreement.parties().is_some() && manifest.signatures() > 0;
        let plan = if two_parties { plan::together(agreement) } else { plan::alone(agreement) };
        let promise = plan.map_err(|_| wrong())?.promise;
        let same = promise.words().is_some_and(|words| stated == Promised::Words(words));
        return if same && spends.is_some_and(Vec::is_empty) { Ok(stated) } else { Err(wrong()) };
    };
    match stated {
        Promised::Differential { epsilon, delta } if epsilon == agreed.to_string() => {
            check_delta(delta)?;
        }
        _ => return Err(changed("the manifest does not state the agreement's ε")),
    }
    let spent = spends.into_iter().flatten().try_fold(Rational::zero(), |sum, entry| {
        let part: Rational = entry.get("epsilon")?.as_str()?.parse().ok()?;
        Some(&sum + &part)
    });
    match spent {
        Some(spent) if &spent <= agreed.value() => Ok(stated),
        _ => Err(changed("the parts that the manifest says were spent exceed ε")),
    }
}

/// δ is a number, and no larger than what every page that is signed promises.
fn check_delta(stated: &str) -> Result<(), Error> {
    let most = Delta::at_least(Delta::promised().value());
    match Delta::try_from(stated.to_owned()) {
        Ok(delta) if delta.value() <= most.value() => Ok(()),
        _ => Err(changed("the manifest does not state a δ of at most 2^-40")),
    }
}

fn check_hash(manifest: &Manifest, directory: &Path) -> Result<(), Error> {
    let path = directory.join(RELEASE);
    let hash = hash_of(&path)?;
    if manifest.text(&["release", "file"]) != Some(RELEASE)
        || manifest.text(&["release", "sha256"]) != Some(&hash)
    {
        return Err(changed(format!(
            "{} does not have the hash that the manifest states: it was changed, or belongs to \
             another release",
            path.display()
        )));
    }
    Ok(())
}

/// The hash of a file of any length.
fn hash_of(path: &Path) -> Result<String, Error> {
    let mut hash = Hashing(Sha256::new());
    io::copy(&mut open(path)?, &mut hash).map_err(|error| Error::file(path, "read", &error))?;
    Ok(hex::encode(hash.0.finalize()))
}

/// Every row is one that a release of this agreement has, and there are as many as the manifest says.
fn check_rows(manifest: &Manifest, agreement: &Agreement, directory: &Path) -> Result<u64, Error> {
    let schema = schema_of(agreement, manifest.text(&["format"]));
    let cuts = cuts_of(&schema, manifest.value(&["cuts"]))
        .map_err(|problem| changed(format!("{MANIFEST}, {problem}")))?;
    let stated = manifest.value(&["cuts"]).and_then(|cuts| cuts.as_array()).map_or(0, Vec::len);
    if let Some(most) =
        plan::most_specializations(agreement)?.filter(|most| stated > *most as usize)
    {
        return Err(changed(format!(
            "{MANIFEST} states {stated} specializations, and the agreement allows {most}"
        )));
    }
    if !plan::allows(agreement, cuts.made())? {
        return Err(changed(format!(
            "{MANIFEST} states other cuts than those that follow from the agreement (utility `range`)"
        )));
    }
    let path = directory.join(RELEASE);
    let wrong = |problem: String| changed(format!("{}, {problem}", path.display()));
    let file = open(&path)?;
    let length = file.metadata().map_err(|error| Error::file(&path, "read", &error))?.len();
    if length > MAX_RELEASE_BYTES {
        return Err(wrong(format!("all of it: {length} bytes are more than {MAX_RELEASE_BYTES}")));
    }
    let mut file = file.take(length);
    let mut again = Hashing(Sha256::new());
    let found = check_csv(agreement, &cuts, &mut file, &mut again).map_err(wrong)?;
    // Nobody but another program makes other bytes of the same rows.
    if manifest.text(&["release", "sha256"]) != Some(&hex::encode(again.0.finalize())) {
        return Err(wrong(
            "all of it: it is not written as releases are, with a newline alone after each row, quotes \
             where a cell needs them and no byte order mark"
                .to_owned(),
        ));
    }
    let stated = manifest.value(&["release", "rows"]).and_then(|rows| rows.as_u64());
    if stated != Some(found.rows) {
        let stated = stated.map_or_else(|| "no number of".to_owned(), |rows| rows.to_string());
        let found = found.rows;
        return Err(changed(format!(
            "the manifest states {stated} rows, and the release has {found}"
        )));
    }
    let most = plan::most_people(agreement, found.rows)?;
    if found.people > most {
        return Err(changed(format!(
            "{} counts {} people, though the agreement's `max_records` allows {most} with all noise",
            path.display(),
            found.people
        )));
    }
    Ok(found.rows)
}

/// Whether the copy without zero rows is there, and is that.
fn check_compact(directory: &Path) -> Result<bool, Error> {
    let path = directory.join(COMPACT);
    if path.symlink_metadata().is_err() {
        return Ok(false);
    }
    let unreadable = |error: &dyn std::fmt::Display| changed(format!("{RELEASE}: {error}"));
    let mut whole =
        csv::ReaderBuilder::new().has_headers(false).from_reader(open(&directory.join(RELEASE))?);
    let mut kept = writer(Hashing(Sha256::new()));
    for record in whole.byte_records() {
        let record = record.map_err(|error| unreadable(&error))?;
        if record.iter().next_back() != Some(b"0") {
            kept.write_byte_record(&record).map_err(|error| unreadable(&error))?;
        }
    }
    let kept = kept.into_inner().map_err(|error| unreadable(&error))?;
    match hex::encode(kept.0.finalize()) == hash_of(&path)? {
        true => Ok(true),
        false => Err(changed(format!("{COMPACT} is not {RELEASE} without the rows of count 0"))),
    }
}

fn check_signatures(manifest: &Manifest, agreement: &Agreement) -> Result<Vec<String>, Error> {
    let Some(parties) = agreement.parties() else {
        return match (manifest.signatures(), manifest.signer(0)) {
            (0, _) => Ok(vec![
                "signed     by nobody: a release by one party. The hashes show that the files \
                 belong together, not who made them"
                    .to_owned(),
            ]),
            (1, Some(who)) if manifest.is_signed_by(0, None, who) => Ok(vec![format!(
                "signed     by {who} alone: a release by one party. Compare the fingerprint with \
                 the one that it publishes"
            )]),
            (1, _) => Err(changed("its one signature does not fit the manifest")),
            _ => {
                Err(changed("a release by one party has one signature or none, and this has more"))
            }
        };
    };
    if manifest.signatures() == 0 {
        return Err(changed(format!(
            "nobody has signed it, though the agreement is one between {} and {}: one party made \
             it alone (`diptych local`), or the signatures were removed",
            parties.p1.name, parties.p2.name
        )));
    }
    if manifest.signatures() != 2 {
        return Err(changed("it does not have two signatures"));
    }
    let both = [(Role::P1, &parties.p1), (Role::P2, &parties.p2)];
    let mut lines = Vec::new();
    for (index, (role, party)) in both.into_iter().enumerate() {
        let fingerprint = party.fingerprint;
        if !manifest.is_signed_by(index, Some(role), fingerprint) {
            return Err(changed(format!(
                "the signature of {} ({fingerprint}) does not fit the manifest",
                party.name
            )));
        }
        lines.push(format!("signed     by {}, {fingerprint}", party.name));
    }
    Ok(lines)
}

/// Checks that a ledger still has the line of a release.
///
/// # Errors
/// If it does not, or cannot be read.
pub fn check_ledger(manifest: &Manifest, path: &Path) -> Result<String, Error> {
    let history = ledger::read(path)?;
    let heads: Vec<_> =
        Role::BOTH.into_iter().filter_map(|role| manifest.ledger_head(role)).collect();
    if heads.is_empty() {
        return Err(Error::input("the manifest of a release by one party names no ledger"));
    }
    let entered = |head: &&ledger::Hash| **head != ledger::Hash::BEGINNING;
    if heads.iter().filter(entered).any(|head| history.has_had_head(head)) {
        return Ok(format!("ledger     {} has this release's line", path.display()));
    }
    Err(changed(format!(
        "{} does not have the line in which this release was entered: its last lines were removed, \
         or it is another party's",
        path.display()
    )))
}

fn open(path: &Path) -> Result<File, Error> {
    let unreadable = |error: &io::Error| Error::file(path, "read", error);
    let metadata = std::fs::metadata(path).map_err(|error| unreadable(&error))?;
    if !metadata.is_file() {
        return Err(Error::input(format!("{} is not a file", path.display())));
    }
    File::open(path).map_err(|error| unreadable(&error))
}

/// δ with its first significant digits.
pub fn short_delta(delta: &str) -> String {
    let zeros = delta.chars().take_while(|c| matches!(c, '0' | '.')).count();
    match delta.get(zeros..) {
        // 2 characters for "0."; truncation must not make δ smaller.
        Some(digits) if zeros > 4 && digits.len() > 2 => {
            let first: u32 = digits.get(..2).and_then(|two| two.parse().ok()).unwrap_or(98);
            format!("{:.1}e-{}", f64::from(first + 1) / 10.0, zeros - 1)
        }
        _ => delta.to_owned(),
    }
}

fn changed(what: impl std::fmt::Display) -> Error {
    Error::internal(what).advise("do not rely on this release; get it again from whoever made it")
}

#[cfg(test)]
mod tests {
    use super::short_delta;

    #[test]
    fn a_small_delta_is_shortened_upwards() {
        assert_eq!(short_delta("0.000000000000909494701772928238"), "9.1e-13");
        assert_eq!(short_delta("0.000000000000999"), "10.0e-13");
        assert_eq!((short_delta("0").as_str(), short_delta("0.01").as_str()), ("0", "0.01"));
    }
}
