//! Two parties with files of their own, and the processes that they start.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use diptych::net::Identity;
use diptych::privacy::ledger::{self, Run};

/// No fault may keep a party longer than this, on a machine that does much else.
pub const PATIENCE: Duration = Duration::from_secs(300);

pub const BANK: usize = 0;
pub const COMPANY: usize = 1;
const NAMES: [&str; 2] = ["Bank", "Loan company"];
const DIRECTORIES: [&str; 2] = ["bank", "company"];

pub struct Couple {
    place: tempfile::TempDir,
    /// Further lines of both party files.
    pub more: &'static str,
}

impl Couple {
    /// Two parties that know different columns of `people` people each, most of them common.
    pub fn new(people: usize) -> Self {
        let mut tables =
            ["id,job,note,approved\n".to_owned(), "salary,id,approved,sex\n".to_owned()];
        for person in 0..people + people / 4 {
            let Person { job, salary, sex, class } = Person::number(person);
            if person < people {
                tables[BANK] += &format!("id{person:04},{job},MARKERCELL{person},{class}\n");
            }
            if person >= people / 4 {
                tables[COMPANY] += &format!("{salary},ID{person:04} ,{class},{sex}\n");
            }
        }
        Self::with(include_str!("agreement.toml"), tables)
    }

    /// Two parties that know different columns of `people` people each; one alone has the class.
    pub fn one_class(people: usize, labelled: usize) -> Self {
        let couple = Self::new(people);
        let column = if labelled == BANK { 2 } else { 3 };
        let without = couple.read(1 - labelled, "table.csv");
        let without = without.lines().map(|line| {
            let cells = line.split(',').enumerate().filter(|(place, _)| *place != column);
            cells.map(|(_, cell)| cell).collect::<Vec<_>>().join(",") + "\n"
        });
        couple.write(1 - labelled, "table.csv", &without.collect::<String>());
        let owner = format!("[class]\nowner = \"p{}\"\n", labelled + 1);
        for who in [BANK, COMPANY] {
            couple.edit(who, "agreement.toml", "[class]\n", &owner);
        }
        couple
    }

    /// The same where neither learns who is common.
    pub fn hidden(people: usize, labelled: usize, pad_to: Option<usize>) -> Self {
        let couple = Self::one_class(people, labelled);
        let pad = pad_to.map_or(String::new(), |records| format!("pad_to = {records}\n"));
        for who in [BANK, COMPANY] {
            let hidden = format!("[id]\nmembership = \"hidden\"\n{pad}");
            couple.edit(who, "agreement.toml", "[id]\n", &hidden);
        }
        couple
    }

    /// The same with people in shards.
    pub fn in_shards(self, shards: usize) -> Self {
        for who in [BANK, COMPANY] {
            let scale = format!("[scale]\nshards = {shards}\n[class]\n");
            self.edit(who, "agreement.toml", "[class]\n", &scale);
        }
        self
    }

    /// Two parties that know the same columns of different people.
    pub fn horizontal(people: usize) -> Self {
        let table = |whose: usize| {
            let mut table = "id,sex,job,salary,approved\n".to_owned();
            for person in (0..2 * people).filter(|person| person % 2 == whose) {
                let Person { job, salary, sex, class } = Person::number(person);
                table += &format!("MARKERCELL{person},{sex},{job},{salary},{class}\n");
            }
            table
        };
        let agreement = include_str!("agreement.toml")
            .replace("\"vertical\"", "\"horizontal\"\nselection = \"permute-and-flip\"")
            .replace("owner = \"p1\"\n", "")
            .replace("owner = \"p2\"\n", "")
            .replace("[id]\ncolumn = \"id\"\nnormalize = [\"trim\", \"uppercase\"]\n", "");
        Self::with(&agreement, [table(0), table(1)])
    }

    /// The same people in groups, which are no matter of ε.
    pub fn in_groups(self) -> Self {
        for who in [BANK, COMPANY] {
            let text = self.read(who, "agreement.toml");
            let text =
                text.replace("epsilon = \"1.0\"\nspecializations = 3\n", "model = \"lkc\"\n");
            let text = text.replace("\nselection = \"permute-and-flip\"", "");
            let groups = "[lkc]\nacknowledge = \"not differentially private\"\nl = 2\nk = 3\n";
            self.write(who, "agreement.toml", &format!("{text}\n{groups}"));
        }
        self
    }

    /// Two parties with these tables, under an agreement that names them P1 and P2.
    pub fn with(agreement: &str, tables: [String; 2]) -> Self {
        let couple = Self { place: tempfile::tempdir().unwrap(), more: "" };
        let mut agreement = agreement.to_owned();
        for who in [BANK, COMPANY] {
            std::fs::create_dir(couple.path(who, "")).unwrap();
            let print = couple.new_identity(who);
            agreement = agreement.replace(["P1", "P2"][who], &print);
        }
        for who in [BANK, COMPANY] {
            couple.write(who, "agreement.toml", &agreement);
            couple.write(who, "table.csv", &tables[who]);
        }
        couple
    }

    /// Gives a party a new identity and returns its fingerprint.
    pub fn new_identity(&self, who: usize) -> String {
        let pem = Identity::generate_pem(NAMES[who]).unwrap();
        let path = self.path(who, "identity.pem");
        std::fs::write(&path, pem.as_bytes()).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        Identity::from_pem(&pem).unwrap().fingerprint().to_string()
    }

    pub fn path(&self, who: usize, name: &str) -> PathBuf {
        self.place.path().join(DIRECTORIES[who]).join(name)
    }

    pub fn read(&self, who: usize, name: &str) -> String {
        std::fs::read_to_string(self.path(who, name)).unwrap()
    }

    pub fn write(&self, who: usize, name: &str, text: &str) {
        std::fs::write(self.path(who, name), text).unwrap();
    }

    /// Changes a file of one party.
    pub fn edit(&self, who: usize, name: &str, from: &str, to: &str) {
        let text = self.read(who, name);
        assert!(text.contains(from), "{from:?} is not in {text}");
        self.write(who, name, &text.replace(from, to));
    }

    pub fn has_release(&self, who: usize) -> bool {
        self.path(who, "release/manifest.json").exists()
    }

    pub fn runs(&self, who: usize) -> Vec<Run> {
        match ledger::read(&self.path(who, "ledger.jsonl")) {
            Ok(history) => history.runs().to_vec(),
            Err(error) => {
                assert!(!self.path(who, "ledger.jsonl").exists(), "{error}");
                Vec::new()
            }
        }
    }

    /// A party's command; the company connects to `address`, the bank listens.
    pub fn command(&self, who: usize, address: &str, first: Option<&str>) -> Command {
        let meeting = match who {
            BANK => "listen = \"127.0.0.1:0\"".to_owned(),
            _ => format!("connect = \"{address}\""),
        };
        let limits = if self.more.is_empty() { "wait_seconds = 20" } else { self.more };
        let role = who + 1;
        let party = format!(
            "role = \"p{role}\"\ndata = \"table.csv\"\nidentity = \"identity.pem\"\n{meeting}\n\
             ledger = \"ledger.jsonl\"\nout = \"release\"\ncap = \"3\"\ndata_set = \"people\"\n{limits}\n"
        );
        self.write(who, "party.toml", &party);
        let program = env!("CARGO_BIN_EXE_diptych");
        let mut command = match first {
            None => Command::new(program),
            Some(script) => {
                let mut shell = Command::new("sh");
                shell.arg("-c").arg(format!("{script} exec \"$0\" \"$@\"")).arg(program);
                shell
            }
        };
        command
            .args(["run", "--agreement"])
            .arg(self.path(who, "agreement.toml"))
            .arg("--party")
            .arg(self.path(who, "party.toml"))
            .env("DIPTYCH_LOG", "debug")
            .stdin(Stdio::null());
        if !self.path(who, "ledger.jsonl").exists() {
            command.arg("--new-ledger");
        }
        command
    }

    /// Starts the bank and then the company; a script may come before either.
    pub fn start_with(&self, scripts: [Option<&str>; 2]) -> [Running; 2] {
        let bank = Running::start(self.command(BANK, "", scripts[BANK]));
        let address = bank.address();
        [bank, Running::start(self.command(COMPANY, &address, scripts[COMPANY]))]
    }

    pub fn start(&self) -> [Running; 2] {
        self.start_with([None, None])
    }

    /// Runs both to their ends.
    pub fn run(&self) -> [Outcome; 2] {
        self.start().map(Running::end)
    }

    /// Starts one party alone, without the data that it would need to connect.
    pub fn start_again(&self, who: usize) -> Outcome {
        let mut command = self.command(who, "127.0.0.1:1", None);
        self.edit(who, "party.toml", "\"table.csv\"", "\"gone.csv\"");
        command.env_remove("DIPTYCH_LOG");
        Running::start(command).end()
    }

    pub fn verify(&self, who: usize) -> (Option<i32>, String) {
        verify(&self.path(who, "release"), &[])
    }

    /// Both have the release, the same, and it is good.
    pub fn assert_released(&self) {
        for name in ["release/release.csv", "release/manifest.json"] {
            assert_eq!(self.read(BANK, name), self.read(COMPANY, name));
        }
        for who in [BANK, COMPANY] {
            let (status, said) = self.verify(who);
            assert_eq!(status, Some(0), "{said}");
        }
    }

    /// No file of a release unless all of it is there, and good.
    pub fn assert_whole_or_nothing(&self, who: usize) {
        if self.has_release(who) {
            let (status, said) = self.verify(who);
            assert_eq!(status, Some(0), "{said}");
        } else {
            assert!(!self.path(who, "release/release.csv").exists());
        }
    }
}

pub fn verify(directory: &Path, more: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_diptych"))
        .arg("verify")
        .arg(directory)
        .args(more)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

struct Person {
    job: &'static str,
    salary: usize,
    sex: &'static str,
    class: &'static str,
}

impl Person {
    fn number(person: usize) -> Self {
        let job = ["Engineer", "Lawyer", "Dancer", "Writer"][person * 7 % 4];
        let (salary, sex) = (18 + person * 13 % 82, ["Male", "Female"][person / 3 % 2]);
        Self { job, salary, sex, class: if salary > 50 { "Y" } else { "N" } }
    }
}

/// What a process has said so far, and whether it will say more.
#[derive(Default)]
struct Said {
    text: Mutex<(String, bool)>,
    more: Condvar,
}

pub struct Running {
    pub child: Child,
    said: Arc<Said>,
    listener: Option<JoinHandle<()>>,
}

pub struct Outcome {
    pub status: Option<i32>,
    /// All of standard error, the log included.
    pub said: String,
    /// All of standard output.
    pub result: String,
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let said = Arc::new(Said::default());
        let (stderr, heard) = (child.stderr.take().unwrap(), said.clone());
        let listener = std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let mut text = heard.text.lock().unwrap();
                text.0 += &line;
                text.0.push('\n');
                heard.more.notify_all();
            }
            heard.text.lock().unwrap().1 = true;
            heard.more.notify_all();
        });
        Self { child, said, listener: Some(listener) }
    }

    /// Waits until the process has said something; false if it ended without.
    pub fn wait_for(&self, words: &str) -> bool {
        let deadline = Instant::now() + PATIENCE;
        let mut text = self.said.text.lock().unwrap();
        loop {
            if text.0.contains(words) {
                return true;
            }
            assert!(Instant::now() < deadline, "{words:?} was never said: {}", text.0);
            if text.1 {
                return false;
            }
            text = self.said.more.wait_timeout(text, Duration::from_millis(100)).unwrap().0;
        }
    }

    pub fn address(&self) -> String {
        assert!(self.wait_for(" …\n"), "{}", self.said.text.lock().unwrap().0);
        let text = self.said.text.lock().unwrap();
        let line = text.0.lines().find_map(|line| line.strip_prefix("listening on ")).unwrap();
        line.trim_end_matches([' ', '…']).to_owned()
    }

    pub fn kill(&mut self) {
        let _ = self.child.kill();
    }

    pub fn end(mut self) -> Outcome {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None => assert!(
                    Instant::now() < deadline,
                    "it does not end: {}",
                    self.said.text.lock().unwrap().0
                ),
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        self.listener.take().unwrap().join().unwrap();
        let said = self.said.text.lock().unwrap().0.clone();
        // Results are short: they fit what a pipe holds.
        let mut result = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut result).unwrap();
        Outcome { status: status.code(), said, result }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Outcome {
    #[track_caller]
    pub fn assert(&self, status: i32, words: &[&str]) {
        assert_eq!(self.status, Some(status), "{}", self.said);
        for words in words {
            assert!(self.said.contains(words), "{words:?} is not in\n{}", self.said);
        }
    }

    /// The phases that the log names, in the order they began.
    pub fn phases(&self) -> Vec<String> {
        let mut phases: Vec<String> = Vec::new();
        for line in self.said.lines().filter(|line| line.contains("phase begins")) {
            let name = line.split("phase=").nth(1).unwrap().trim_matches('"').to_owned();
            if !phases.contains(&name) {
                phases.push(name);
            }
        }
        phases
    }
}
