//! The demo of a release by two parties: two child processes, each with files of its own.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::loans::Divided;
use super::{place, show_rows};
use crate::Error;
use crate::app::console::Console;
use crate::app::{keygen, write};
use crate::net::{self, Costs};
use crate::publish::artefacts::{MANIFEST, PRIVATE};
use crate::publish::run::costs;
use crate::publish::verify;

/// No demo takes longer, except for a few seconds per hundred thousand records.
const PATIENCE: Duration = Duration::from_secs(120);

pub(super) fn run(data: &Divided, out: Option<&Path>, console: &Console) -> Result<(), Error> {
    let place = place(out)?;
    set_up(&place, data, console)?;
    let start = Instant::now();
    // A million records are some hundred megabytes.
    let patience = PATIENCE + Duration::from_micros(data.csv[0].len() as u64 * 20);
    hold(&place, data.names, start + patience, console)?;
    let took = start.elapsed();

    let releases = directories(data.names).map(|name| place.join(name).join("release"));
    let read = |path: PathBuf| {
        std::fs::read_to_string(&path).map_err(|error| Error::file(&path, "read", &error))
    };
    let manifests = [read(releases[0].join(MANIFEST))?, read(releases[1].join(MANIFEST))?];
    if manifests[0] != manifests[1] {
        return Err(Error::internal("the two parties ended with different manifests"));
    }
    let manifest: Value = serde_json::from_str(&manifests[0]).map_err(Error::internal)?;
    console.result("The table was generalized in these steps, each chosen privately by both:");
    cut_lines(&manifest).iter().for_each(|line| console.result(line));
    let signed = verify::read_manifest(&releases[0])?;
    show_rows(&releases[0], &signed, console)?;

    for (index, name) in data.names.iter().enumerate() {
        let text = read(releases[index].join(PRIVATE).join(costs::COSTS))?;
        let costs = costs::read(&text)
            .ok_or_else(|| Error::internal(format!("{name} left no record of its costs")))?;
        console.result(format!("\nWhat it cost {name}:"));
        console.result(cost_table(&costs));
    }
    console.result(format!("\nBoth together took {:.1} s.", took.as_secs_f64()));
    console.result("\nWhat each learned about the other's data, besides the release:");
    for (name, learned) in data.names.iter().zip(&data.learned) {
        console.result(format!("  {name}: {learned}"));
    }
    console.result(format!(
        "A reader of the release learns little about any one of these people: {}.",
        signed.promise().map(|promise| promise.to_string()).unwrap_or_default()
    ));
    console.result("\nBoth have the same release, signed by both. Check it again with");
    for release in &releases {
        verify::check(release)?;
        console.result(format!("  diptych verify {}", release.display()));
    }
    console.result(format!(
        "Agreement, keys, party files, tables, ledgers and releases are kept in {}",
        place.display()
    ));
    Ok(())
}

/// Identities, agreement, tables and party files.
fn set_up(place: &Path, data: &Divided, console: &Console) -> Result<(), Error> {
    let directories = directories(data.names).map(|name| place.join(name));
    let mut fingerprints = Vec::new();
    for (index, directory) in directories.iter().enumerate() {
        std::fs::create_dir(directory).map_err(|error| Error::file(directory, "create", &error))?;
        let name = data.names[index];
        let identity = keygen::create(name, &directory.join("identity.pem"), None)?;
        console.say(format!("{name:<12} is {}", identity.fingerprint()));
        fingerprints.push(identity.fingerprint());
        write(&directory.join("table.csv"), &data.csv[index])?;
    }
    let agreement = data.agreement([fingerprints[0], fingerprints[1]]);
    write(&place.join("agreement.toml"), &agreement)?;
    let address = free_address()?;
    let meetings = [format!("listen = \"{address}\""), format!("connect = \"{address}\"")];
    for (index, directory) in directories.iter().enumerate() {
        let role = index + 1;
        let text = format!(
            "role = \"p{role}\"\ndata = \"table.csv\"\nidentity = \"identity.pem\"\n{}\n\
             ledger = \"ledger.jsonl\"\nout = \"release\"\ncap = \"3\"\ndata_set = \"loans\"\n\
             wait_seconds = 60\n",
            meetings[index]
        );
        write(&directory.join("party.toml"), &text)?;
    }
    Ok(())
}

fn directories(names: [&str; 2]) -> [String; 2] {
    names.map(directory)
}

/// `loan-company` for a loan company.
fn directory(name: &str) -> String {
    name.to_lowercase().replace(' ', "-")
}

/// An address that is not in use at the moment.
fn free_address() -> Result<String, Error> {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    free.map(|address| address.to_string())
        .map_err(|error| Error::internal(format!("no address on this machine is free: {error}")))
}

/// Runs both parties to their ends.
fn hold(
    place: &Path,
    names: [&'static str; 2],
    deadline: Instant,
    console: &Console,
) -> Result<(), Error> {
    let [mut first, mut second] =
        [Party::start(names[0], place, console)?, Party::start(names[1], place, console)?];
    loop {
        let (one, two) = (first.has_ended()?, second.has_ended()?);
        if one && two {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(Error::internal("the two parties did not end in time"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A child process, killed if it is not waited for; what it says is shown under its name.
struct Party {
    name: &'static str,
    child: Child,
    speaker: Option<JoinHandle<String>>,
}

impl Party {
    fn start(name: &'static str, place: &Path, console: &Console) -> Result<Self, Error> {
        let start = || {
            Command::new(std::env::current_exe()?)
                .args(["run", "--compact", "--new-ledger", "--agreement"])
                .arg(place.join("agreement.toml"))
                .arg("--party")
                .arg(place.join(directory(name)).join("party.toml"))
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
        };
        let mut child = start().map_err(|error| {
            Error::internal(format!("cannot start a process for {name}: {error}"))
        })?;
        let stderr = child.stderr.take();
        let mut party = Self { name, child, speaker: None };
        if let Some(stderr) = stderr {
            let console = console.clone();
            let listen = move || {
                let mut said = String::new();
                for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                    // The cuts are shown once, at the end.
                    if !line.starts_with(' ') {
                        console.say(format!("{name:<12} │ {line}"));
                    }
                    said += &line;
                    said.push('\n');
                }
                said
            };
            let speaker = std::thread::Builder::new().spawn(listen);
            party.speaker = Some(speaker.map_err(net::Error::NoThread)?);
        }
        Ok(party)
    }

    /// Whether it has ended well; a failure is an error.
    fn has_ended(&mut self) -> Result<bool, Error> {
        let status = self.child.try_wait().map_err(Error::internal)?;
        let Some(status) = status else { return Ok(false) };
        if status.success() {
            return Ok(true);
        }
        let said = self.speaker.take().and_then(|speaker| speaker.join().ok()).unwrap_or_default();
        let error = said.find("error:").map_or("", |start| said[start..].trim());
        Err(Error::internal(format!("{} failed: {error}", self.name)))
    }
}

impl Drop for Party {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(speaker) = self.speaker.take() {
            let _ = speaker.join();
        }
    }
}

fn cut_lines(manifest: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let cuts = manifest["cuts"].as_array().cloned().unwrap_or_default();
    cuts.iter()
        .enumerate()
        .map(|(index, cut)| {
            let into: Vec<String> =
                cut["into"].as_array().into_iter().flatten().map(text).collect();
            let (attribute, value) = (text(&cut["attribute"]), text(&cut["value"]));
            format!("{:>4}. {attribute:<8} {value} → {}", index + 1, into.join(", "))
        })
        .collect()
}

fn cost_table(costs: &Costs) -> String {
    let mut lines = vec![format!(
        "  {:<16} {:>12} {:>12} {:>7} {:>9} {:>9}",
        "phase", "bytes out", "bytes in", "rounds", "seconds", "CPU"
    )];
    for cost in costs.phases.iter().chain([&costs.total()]) {
        lines.push(format!(
            "  {:<16} {:>12} {:>12} {:>7} {:>9.2} {:>9.2}",
            cost.phase,
            cost.bytes_sent,
            cost.bytes_received,
            cost.rounds,
            cost.wall.as_secs_f64(),
            cost.cpu.as_secs_f64()
        ));
    }
    lines.join("\n")
}
