//! Runs every example as two programs over TLS, and checks what both print.

#![expect(clippy::panic, clippy::unwrap_used, reason = "helpers of a test")]

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use diptych_mpc::net::Identity;

/// For one example, on a machine that does much else; the longest makes a key of Paillier first.
const LIMIT: Duration = Duration::from_secs(300);

#[test]
fn the_sum_of_encrypted_costs_is_that_of_the_insured() {
    let [hospital, insurer] = run("paillier");
    assert_eq!(hospital, "the insured patients cost 1855");
    assert_eq!(insurer, "the sum of 5 encrypted costs is returned");
}

#[test]
fn commutative_encryption_counts_common_customers() {
    assert_eq!(run("commutative"), ["customers in common: 2", "the bakery has 3 customers"]);
}

#[test]
fn both_shops_find_the_same_customers() {
    let [bakery, bookshop] = run("psi");
    let common = |line: &str| {
        let names = line.split_once(": ").unwrap().1;
        let mut names: Vec<String> = names.split(' ').map(str::to_owned).collect();
        names.sort();
        names
    };
    assert_eq!(common(&bakery), ["ada@example.org", "emmy@example.org"]);
    assert_eq!(common(&bakery), common(&bookshop));
}

#[test]
fn the_reader_gets_the_chosen_keys() {
    let told = run("oblivious_transfer");
    assert_eq!(told, ["3 keys of 6 are taken", "the chosen keys: [10, 21, 31]"]);
}

#[test]
fn both_learn_who_is_richer() {
    assert_eq!(run("garbled_circuit"), ["richer: Bob", "richer: Bob"]);
}

#[test]
fn both_learn_a_ticket_that_was_sold() {
    let [north, south] = run("random_value");
    let ticket: u32 = north.strip_prefix("the ticket: ").unwrap().parse().unwrap();
    assert!(ticket < 310 + 240, "{ticket}");
    assert_eq!(north, south);
}

#[test]
fn both_learn_what_the_basket_costs() {
    assert_eq!(run("scalar_product"), ["the basket costs 6620", "the basket costs 6620"]);
}

#[test]
fn the_resident_learns_the_contribution() {
    assert_eq!(run("polynomial"), ["the contribution is 10117", "the tariff is applied"]);
}

#[test]
fn the_tax_office_learns_the_sums() {
    assert_eq!(
        run("sum_by_group"),
        ["income by town: [60, 35, 85]", "the sums of 3 towns are told"]
    );
}

/// What P1 and P2 print, as two processes.
fn run(example: &str) -> [String; 2] {
    let place = tempfile::tempdir().unwrap();
    let (one, two) = (identity(place.path(), "one.pem"), identity(place.path(), "two.pem"));
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let start = |role: &str, own: &Key, peer: &Key| {
        let arguments = [role, &free, own.file.to_str().unwrap(), &peer.fingerprint];
        let mut command = Command::new(program(example));
        Running(command.args(arguments).stdout(Stdio::piped()).spawn().unwrap())
    };
    let both = [start("p1", &one, &two), start("p2", &two, &one)];
    let deadline = Instant::now() + LIMIT;
    both.map(|program| program.line(deadline))
}

struct Key {
    file: PathBuf,
    fingerprint: String,
}

fn identity(place: &Path, name: &str) -> Key {
    let pem = Identity::generate_pem("example").unwrap();
    let file = place.join(name);
    fs::write(&file, pem.as_bytes()).unwrap();
    Key { file, fingerprint: Identity::from_pem(&pem).unwrap().fingerprint().to_string() }
}

/// Cargo builds examples beside the programs that test, but not for one of them alone.
fn program(example: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let found = own.ancestors().nth(2).unwrap().join("examples").join(example);
    assert!(
        found.exists(),
        "{} is missing: cargo build --examples, as this is built",
        found.display()
    );
    found
}

/// Killed at the end of the test, whatever happens.
struct Running(Child);

impl Running {
    /// The one line that it prints before it ends well.
    fn line(mut self, deadline: Instant) -> String {
        let status = loop {
            match self.0.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() < deadline => sleep(Duration::from_millis(10)),
                None => panic!("it is not over within {LIMIT:?}"),
            }
        };
        assert!(status.success(), "it ends with {status}");
        std::io::read_to_string(self.0.stdout.take().unwrap()).unwrap().trim_end().to_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
