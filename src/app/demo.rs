//! `diptych demo`: both parties on this machine, as two processes over a real loopback connection.

mod loans;
mod local;

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::app::connection::ConnectionArgs;
use crate::app::console::Console;
use crate::app::failure::{Failure, Status};
use crate::app::keygen;
use crate::math::Randomness;
use crate::net::{Costs, Fingerprint, Message, Role, Tag};

/// Run both parties on this machine: two processes, one mutually authenticated connection
///
/// For now they meet, prove who they are and greet each other; the table at the
/// end shows what that cost.
#[derive(Args, Debug)]
pub struct DemoArgs {
    /// Make a release of generated loan applications; `local`: one party holds all of them
    #[arg(long, value_enum)]
    partition: Option<DemoPartition>,
    /// How many records to generate
    #[arg(long, value_name = "N", default_value_t = 5_000, requires = "partition",
          value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    records: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DemoPartition {
    Local,
}

/// One of the demo's two child processes.
#[derive(Args, Debug)]
pub struct DemoPartyArgs {
    #[command(flatten)]
    connection: ConnectionArgs,
    /// What the party calls itself
    #[arg(long)]
    name: String,
}

#[derive(Serialize, Deserialize)]
struct Greeting {
    name: String,
}

impl Message for Greeting {
    const TAG: Tag = Tag::new(*b"gree");
}

/// What a child tells its parent, as one line of JSON.
#[derive(Serialize, Deserialize)]
struct PartyReport {
    greeted_by: String,
    session: String,
    costs: Costs,
}

const TERMS: &[u8] = br#"{"protocol":"greeting"}"#;
const NAMES: [&str; 2] = ["Bank", "Loan company"];
const LISTENING: &str = "listening on ";
const DEADLINE: Duration = Duration::from_secs(30);

/// Runs the verb.
///
/// # Errors
/// If a child cannot be started, fails, or does not end in time.
pub fn run(arguments: &DemoArgs, console: &Console) -> Result<(), Failure> {
    if arguments.partition == Some(DemoPartition::Local) {
        return local::run(arguments.records, console);
    }
    let place = DemoDirectory::create()?;
    let identities = NAMES.map(|name| place.0.join(format!("{}.pem", name.replace(' ', "-"))));
    let mut fingerprints = Vec::new();
    for (name, path) in NAMES.iter().zip(&identities) {
        let fingerprint = keygen::create(name, path)?.fingerprint();
        console.say(format!("{name:<12} is {fingerprint}"));
        fingerprints.push(fingerprint);
    }

    let deadline = Instant::now() + DEADLINE;
    let mut first =
        Party::start(Role::P1, &identities[0], fingerprints[1], ["--listen", "127.0.0.1:0"])?;
    let address = first.address()?;
    console.say(format!("{:<12} listens on {address}", NAMES[0]));
    let mut second =
        Party::start(Role::P2, &identities[1], fingerprints[0], ["--connect", &address])?;
    let reports = [first.finish(deadline)?, second.finish(deadline)?];

    if reports[0].session != reports[1].session {
        return Err(Failure::failed("the two parties ended in different sessions"));
    }
    console.say(format!("both are in session {}", &reports[0].session));
    for (name, report) in NAMES.iter().zip(&reports) {
        console.result(format!("\n{name} was greeted by {}; its costs:", report.greeted_by));
        console.result(report.costs.to_string().trim_end());
    }
    Ok(())
}

/// Runs one of the two parties.
///
/// # Errors
/// If the peer does not come or does not greet.
pub fn run_party(arguments: &DemoPartyArgs, console: &Console) -> Result<(), Failure> {
    let mut session = arguments.connection.open(TERMS, console)?;
    session.channel.begin_phase("greeting");
    session.channel.send(&Greeting { name: arguments.name.clone() })?;
    let greeted_by = session.channel.receive::<Greeting>()?.name;
    let session_id = session.id.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let report = PartyReport { greeted_by, session: session_id, costs: session.channel.costs() };
    console.result(serde_json::to_string(&report).map_err(Failure::failed)?);
    Ok(())
}

/// A directory for the demo's own files, readable by its owner alone and removed at the end.
struct DemoDirectory(PathBuf);

impl DemoDirectory {
    fn create() -> Result<Self, Failure> {
        use std::os::unix::fs::DirBuilderExt;
        let suffix = u64::from_le_bytes(Randomness::from_os()?.array());
        let path = std::env::temp_dir().join(format!("diptych-demo-{suffix:016x}"));
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .map_err(|error| Failure::file(&path, "create", &error))?;
        Ok(Self(path))
    }
}

impl DemoDirectory {
    /// The path of a directory that is not removed at the end.
    fn keep(self) -> PathBuf {
        let path = self.0.clone();
        std::mem::forget(self);
        path
    }
}

impl Drop for DemoDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A child process, killed if it is not waited for.
struct Party {
    name: &'static str,
    child: Child,
}

impl Party {
    fn start(
        role: Role,
        identity: &Path,
        peer: Fingerprint,
        meeting: [&str; 2],
    ) -> Result<Self, Failure> {
        let name = NAMES[role as usize];
        let start = || {
            Command::new(std::env::current_exe()?)
                .args(["demo-party", "--name", name, "--wait", "20"])
                .args(["--role", &role.to_string().to_lowercase()])
                .arg("--identity")
                .arg(identity)
                .args(["--peer", &peer.to_string()])
                .args(meeting)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
        };
        let child = start().map_err(|error| {
            Failure::failed(format!("cannot start a process for {name}: {error}"))
        })?;
        Ok(Self { name, child })
    }

    /// Where the child listens, as it says on standard error.
    fn address(&mut self) -> Result<String, Failure> {
        let silent = || Failure::failed("the first party ended before it listened");
        let stderr = self.child.stderr.take().ok_or_else(silent)?;
        let mut lines = BufReader::new(stderr);
        let mut said = String::new();
        loop {
            let mut line = String::new();
            match lines.read_line(&mut line) {
                Ok(0) | Err(_) => return Err(silent().advise(said.trim())),
                Ok(_) => said += &line,
            }
            if let Some(address) = line.strip_prefix(LISTENING) {
                self.child.stderr = Some(lines.into_inner());
                return Ok(address.trim_end_matches([' ', '…', '\n']).to_owned());
            }
        }
    }

    fn finish(&mut self, deadline: Instant) -> Result<PartyReport, Failure> {
        let failed = |what: &str| Failure::failed(format!("{} {what}", self.name));
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Ok(None) => return Err(failed("did not end in time")),
                Err(error) => return Err(failed(&format!("cannot be waited for: {error}"))),
            }
        };
        let output = read_all(self.child.stdout.take());
        if !status.success() {
            let said = read_all(self.child.stderr.take());
            let failure = failed(&format!("failed: {}", said.trim()));
            return Err(Failure { status: Status::Failed, ..failure });
        }
        serde_json::from_str(output.trim()).map_err(|_| failed("ended without a report"))
    }
}

impl Drop for Party {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_all(pipe: Option<impl Read>) -> String {
    let mut text = String::new();
    if let Some(pipe) = pipe {
        let _ = pipe.take(1 << 20).read_to_string(&mut text);
    }
    text
}
