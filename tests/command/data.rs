//! Where a party's table can come from, and what is said when it does not come or does not fit.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::program::{diptych, diptych_with_input};

pub const AGREEMENT: &str = r#"
[release]
id = "a-release"
partition = "horizontal"
epsilon = "1.0"
specializations = 1
max_records = 1000
[parties.p1]
name = "One"
fingerprint = "ONE"
[parties.p2]
name = "Two"
fingerprint = "sha256:1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c"
[class]
column = "ill"
values = ["yes", "no"]
[[attribute]]
name = "job"
kind = "categorical"
taxonomy = { Any_Job = ["Engineer", "Writer"] }
"#;

const LOCAL: [&str; 7] =
    ["local", "--agreement", "local.toml", "--out", "out", "--problems", "problems.csv"];

/// A place with an agreement for two, one for one, and the identity of the first party.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let (status, fingerprint, _) =
        diptych(place.path(), &["keygen", "--name", "One", "--out", "one.pem"]);
    assert_eq!(status, 0);
    let two = AGREEMENT.replace("ONE", fingerprint.trim());
    std::fs::write(place.path().join("agreement.toml"), &two).unwrap();
    let parties = two.find("[parties.p1]").unwrap()..two.find("[class]").unwrap();
    let mut one = two.replace("\"horizontal\"", "\"local\"");
    one.replace_range(parties.start - 5..parties.end - 5, "");
    std::fs::write(place.path().join("local.toml"), one).unwrap();
    place
}

/// The dry run of a party with these lines in its file.
fn dry_run(place: &Path, lines: &str) -> (i32, String, String) {
    let party = format!(
        "role = \"p1\"\nidentity = \"one.pem\"\nlisten = \"127.0.0.1:0\"\nledger = \"l\"\n\
         out = \"out\"\ncap = \"3\"\ndata_set = \"x\"\n{lines}\n"
    );
    std::fs::write(place.join("party.toml"), party).unwrap();
    std::fs::set_permissions(place.join("party.toml"), PermissionsExt::from_mode(0o644)).unwrap();
    let run = ["run", "--agreement", "agreement.toml", "--party", "party.toml", "--dry-run"];
    diptych(place, &run)
}

#[test]
fn everything_that_does_not_fit_is_told_at_once_and_listed_in_a_private_file() {
    let place = place();
    let place = place.path();
    let csv = "job,ill\n".to_owned() + &"Enginer,yes\nWriter,No\n".repeat(20);
    std::fs::write(place.join("t.csv"), csv).unwrap();
    let (status, _, told) = diptych(place, &[&LOCAL[..], &["--data", "t.csv"]].concat());
    assert_eq!(status, 2);
    for words in [
        "error: t.csv: 2 bad values, found 40 times:",
        "t.csv:2: column `job` (field 1): `Enginer` is not a value of the taxonomy: did you mean \
         `Engineer`? (20 times: lines 2, 4, 6, …)",
        "t.csv:3: column `ill` (field 2): `No` is not a class: did you mean `no`?",
        "help: all 2 of them are listed in problems.csv",
    ] {
        assert!(told.contains(words), "{words:?} is not in\n{told}");
    }
    let listed = std::fs::read_to_string(place.join("problems.csv")).unwrap();
    assert!(listed.starts_with("column,field,value,count,first_line,nearest,problem\n"));
    assert!(listed.contains("\"ill\",2,\"No\",20,3,\"no\","), "{listed}");
    let mode = std::fs::metadata(place.join("problems.csv")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_file_of_semicolons_is_recognized_unless_the_party_file_says_otherwise() {
    let place = place();
    let place = place.path();
    std::fs::write(place.join("t.csv"), "job;ill\n'Writer';yes\n").unwrap();
    for lines in
        ["data = \"t.csv\"\nquote = \"'\"", "data = \"t.csv\"\nquote = \"'\"\ndelimiter = \";\""]
    {
        let (status, _, told) = dry_run(place, lines);
        assert_eq!(status, 0, "{told}");
        let words = "t.csv: recognized cells separated by semicolons";
        assert_eq!(told.contains(words), !lines.contains("delimiter"), "{told}");
    }
    let (status, _, told) = dry_run(place, "data = \"t.csv\"\ndelimiter = \",\"");
    assert_eq!(status, 2);
    let words = "t.csv:1: the first line is one column: is it separated by semicolons? Then say \
                 delimiter = \";\" in the party file";
    assert!(told.contains(words), "{told}");
    let lines = "data = \"t.csv\"\ndelimiter = \";\"\nquote = \"'\"\nencoding = \"windows-1252\"";
    let (status, said, told) = dry_run(place, lines);
    assert_eq!(status, 0, "{told}");
    assert!(said.contains("A dry run of") && told.contains("read 1 records"), "{said}{told}");
    let more = ["--data", "t.csv", "--delimiter", ";", "--quote", "'"];
    let (status, _, told) = diptych(place, &[&LOCAL[..], &more].concat());
    assert_eq!(status, 0, "{told}");
    for (lines, words) in [
        ("delimiter = \";;\"", "`delimiter` must be one character"),
        ("delimiter = \"\\\"\"", "`delimiter` and `quote` are the same character"),
        ("encoding = \"utf8\"", "did you mean \"utf-8\"?"),
    ] {
        let (status, _, told) = dry_run(place, &format!("data = \"t.csv\"\n{lines}"));
        assert_eq!(status, 2);
        assert!(told.contains(words), "{told}");
    }
}

#[test]
fn standard_input_is_a_table_if_it_is_whole() {
    let place = place();
    let place = place.path();
    let local = |input: &str, more: &[&str]| {
        let arguments = [&LOCAL[..], &["--data", "-"], more].concat();
        let (status, _, told) = diptych_with_input(place, &arguments, input);
        (status, told)
    };
    let (status, told) = local("job,ill\nWriter,ye", &[]);
    assert_eq!(status, 2);
    assert!(told.contains("standard input:2: column `ill`"), "{told}");
    let (status, told) = local("job,ill\nWriter,yes", &[]);
    assert_eq!(status, 2);
    assert!(told.contains("standard input ends in the middle of a line"), "{told}");
    let (status, told) = local("", &["--ledger", "l", "--cap", "1"]);
    assert_eq!(status, 2);
    assert!(told.contains("give it with --data-set"), "{told}");
    let (status, told) = local("job,ill\nWriter,yes\n", &[]);
    assert_eq!(status, 0, "{told}");
    assert!(told.contains("read 1 records"), "{told}");
}

#[test]
fn a_command_is_a_table_only_if_it_ends_well_in_time_and_whole() {
    let place = place();
    let place = place.path();
    let command =
        |words: &str| dry_run(place, &format!("data_seconds = 2\ndata_command = {words}"));
    let (status, said, told) = command("[\"printf\", \"job,ill\\nWriter,yes\\nWriter,no\\n\"]");
    assert_eq!(status, 0, "{told}");
    assert!(told.contains("read 2 records") && said.contains("A dry run"), "{told}");
    for (words, parts) in [
        (
            "[\"sh\", \"-c\", \"printf 'job,ill\\nWriter,yes\\n'; echo no such table >&2; exit 3\"]",
            &[
                "data_command sh failed (exit status: 3)",
                "nothing that it printed is used; it said: no such table",
            ][..],
        ),
        ("[\"sh\", \"-c\", \"exit 1\"]", &["data_command sh failed (exit status: 1)"]),
        // What it started keeps the line open on which it would complain.
        (
            "[\"sh\", \"-c\", \"sleep 40 >/dev/null & exit 4\"]",
            &["data_command sh failed (exit status: 4)"],
        ),
        (
            "[\"printf\", \"job,ill\\nWriter,yes\"]",
            &["data_command printf ends in the middle of a line"],
        ),
        (
            "[\"sleep\", \"60\"]",
            &["data_command sleep did not end within 2 s", "raise `data_seconds`"],
        ),
        (
            "[\"sh\", \"-c\", \"printf 'job,ill\\nWriter,yes\\n'; exec >/dev/null; sleep 60\"]",
            &["data_command sh did not end within 2 s"],
        ),
        ("[\"no-such-program\"]", &["cannot start data_command no-such-program", "PATH"]),
        ("[\"printf\", \"job,ill\\nWriter,maybe\\n\"]", &["data_command printf:2: column `ill`"]),
        ("[]", &["`data_command` names no program"]),
        ("\"psql\"", &["`data_command` is text, but must be a list"]),
    ] {
        let begun = std::time::Instant::now();
        let (status, _, told) = command(words);
        assert_eq!(status, 2, "{words}: {told}");
        for part in parts {
            assert!(told.contains(part), "{part:?} is not in\n{told}");
        }
        assert!(begun.elapsed().as_secs() < 30, "{words}");
    }
    let (_, _, told) = dry_run(place, "data = \"x\"\ndata_command = [\"true\"]");
    assert!(told.contains("`data` and `data_command` exclude each other"), "{told}");
}

#[test]
fn a_command_in_a_file_that_others_may_write_is_not_run() {
    let place = place();
    let place = place.path();
    let lines = "data_command = [\"touch\", \"was-run\"]";
    dry_run(place, lines);
    assert!(place.join("was-run").exists(), "it is started in the directory of the party file");
    std::fs::remove_file(place.join("was-run")).unwrap();
    for mode in [0o664, 0o646] {
        std::fs::set_permissions(place.join("party.toml"), PermissionsExt::from_mode(mode))
            .unwrap();
        let run = ["run", "--agreement", "agreement.toml", "--party", "party.toml", "--dry-run"];
        let (status, _, told) = diptych(place, &run);
        assert_eq!(status, 2);
        assert!(told.contains("others may write the file: it is not run"), "{told}");
        assert!(told.contains("chmod go-w party.toml"), "{told}");
        assert!(!place.join("was-run").exists());
    }
}

#[test]
fn a_real_sqlite_is_a_source() {
    let place = place();
    let place = place.path();
    let made = Command::new("sqlite3")
        .args([
            "people.db",
            "create table p(job, ill); insert into p values('Writer','yes'),('Engineer','no')",
        ])
        .current_dir(place)
        .status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no sqlite3 was found");
        return;
    }
    let command = "[\"sqlite3\", \"-csv\", \"-header\", \"people.db\", \"select * from p\"]";
    let (status, _, told) = dry_run(place, &format!("data_command = {command}"));
    assert_eq!(status, 0, "{told}");
    assert!(told.contains("read 2 records"), "{told}");
    let wrong = command.replace("from p", "from q");
    let (status, _, told) = dry_run(place, &format!("data_command = {wrong}"));
    assert_eq!(status, 2);
    assert!(told.contains("failed (exit status: 1)") && told.contains("no such table"), "{told}");
}

/// A PostgreSQL of our own, that listens on a socket in its directory alone.
struct Postgres {
    server: Child,
    programs: PathBuf,
}

impl Postgres {
    /// Nothing where it is not installed or does not start; says so.
    fn start(place: &Path) -> Option<Self> {
        let skipped = |why: &str| eprintln!("skipped: {why}");
        let Some(programs) = Self::programs() else {
            skipped("no PostgreSQL (initdb, postgres, psql) was found");
            return None;
        };
        let home = place.join("pg");
        std::fs::create_dir(&home).unwrap();
        // It refuses to run as root: as nobody, then.
        let nobody = (rustix::process::geteuid().is_root()).then_some(65_534);
        if nobody.is_some() {
            std::fs::set_permissions(place, PermissionsExt::from_mode(0o711)).unwrap();
            std::os::unix::fs::chown(&home, nobody, nobody).unwrap();
        }
        let program = |name: &str| {
            let mut command = Command::new(programs.join(name));
            command.current_dir(&home).stdin(Stdio::null()).stdout(Stdio::null());
            if let Some(nobody) = nobody {
                command.uid(nobody).gid(nobody);
            }
            command
        };
        let data = home.join("data");
        let made = program("initdb")
            .args([
                "--auth=trust",
                "--username=tester",
                "--no-sync",
                "--locale=C",
                "-E",
                "UTF8",
                "-D",
            ])
            .arg(&data)
            .stderr(Stdio::null())
            .status();
        if !made.is_ok_and(|status| status.success()) {
            skipped("initdb fails here");
            return None;
        }
        let server = program("postgres")
            .arg("-D")
            .arg(&data)
            .arg("-k")
            .arg(&home)
            .args(["-c", "listen_addresses=", "-F"])
            .stderr(Stdio::null())
            .spawn();
        let mut started = Self { server: server.unwrap(), programs };
        for _ in 0..300 {
            if started.ask(place, "select 1") {
                return Some(started);
            }
            if started.server.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        skipped("PostgreSQL does not start here");
        None
    }

    /// Where its programs are: in the path, or where Debian keeps the newest.
    fn programs() -> Option<PathBuf> {
        let path = std::env::var_os("PATH")?;
        let mut versions: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
            .map(|versions| versions.flatten().map(|entry| entry.path().join("bin")).collect())
            .unwrap_or_default();
        versions.sort();
        let has_all = |place: &PathBuf| {
            ["initdb", "postgres", "psql"].iter().all(|name| place.join(name).is_file())
        };
        std::env::split_paths(&path).chain(versions.into_iter().rev()).find(has_all)
    }

    /// The words of a command that asks it, as a party file has them.
    fn words(&self, place: &Path, question: &str) -> Vec<String> {
        let (psql, home) = (self.programs.join("psql"), place.join("pg"));
        let words = [&psql.display().to_string(), "-X", "--csv", "-h", &home.display().to_string()];
        let who = ["-U", "tester", "-d", "postgres", "-c", question];
        words.into_iter().chain(who).map(str::to_owned).collect()
    }

    fn ask(&self, place: &Path, question: &str) -> bool {
        let words = self.words(place, question);
        let mut command = Command::new(&words[0]);
        let command = command.args(&words[1..]).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // It ends the processes that it started.
        let pid = rustix::process::Pid::from_child(&self.server);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
        let _ = self.server.wait();
    }
}

#[test]
fn a_real_postgresql_is_a_source() {
    let place = place();
    let place = place.path();
    let Some(postgres) = Postgres::start(place) else { return };
    assert!(postgres.ask(
        place,
        "create table p as select case when n % 3 = 0 then 'Writer' else 'Engineer' end as job, \
         case when n % 2 = 0 then 'yes' else 'no' end as ill, n from generate_series(1, 900) n",
    ));
    let source = |question: &str| {
        let words = serde_json::Value::from(postgres.words(place, question));
        format!("data_command = {words}")
    };
    let (status, _, told) = dry_run(place, &source("select job, ill from p"));
    assert_eq!(status, 0, "{told}");
    assert!(told.contains("read 900 records"), "{told}");
    let (status, _, told) = dry_run(place, &source("select job, ill from q"));
    assert_eq!(status, 2);
    assert!(told.contains("failed (exit status: 1)") && told.contains("does not exist"), "{told}");
    let (status, _, told) = dry_run(place, &source("select job, ill, 1 / (n - 800) from p"));
    assert_eq!(status, 2, "it fails in the middle of the table");
    assert!(told.contains("division by zero") && !told.contains("read "), "{told}");
    let (status, _, told) = dry_run(place, &source("select job, upper(ill) as ill from p"));
    assert_eq!(status, 2);
    assert!(told.contains("`YES`") && told.contains("450"), "{told}");
}
