//! No bytes make a shard panic that its lead might call it with, nor those who deal records to it.

#![no_main]

use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use diptych::agreement::Agreement;
use diptych::math::Randomness;
use diptych::net::{Limits, memory};
use diptych::protocol::Session;
use diptych::protocol::shards::remote::Server;
use diptych::publish::shards::{Opening, Taken, deal};
use diptych::release::shards::{Host, records};
use diptych::Role;
use libfuzzer_sys::fuzz_target;

const TEXT: &str = r#"
    [release]
    id = "shards"
    partition = "vertical"
    epsilon = "1"
    specializations = 1
    max_records = 100
    [parties.p1]
    name = "North"
    fingerprint = "sha256:1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a"
    [parties.p2]
    name = "South"
    fingerprint = "sha256:2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b"
    [id]
    column = "id"
    normalize = ["trim"]
    [class]
    column = "ill"
    values = ["yes", "no"]
    [[attribute]]
    name = "job"
    kind = "categorical"
    owner = "p1"
    taxonomy = { Any_Job = ["Engineer", "Writer"] }
    [[attribute]]
    name = "town"
    kind = "categorical"
    owner = "p2"
    taxonomy = { Any_Town = ["A", "B"] }
    [scale]
    shards = 3
"#;

static AGREEMENT: LazyLock<Arc<Agreement>> = LazyLock::new(|| {
    let read = Agreement::parse("a.toml", TEXT.as_bytes(), &|_| Err("no files".to_owned()));
    Arc::new(read.expect("it is well formed"))
});

/// A session whose peer has gone.
fn alone() -> Session {
    let limits = Limits { read: Duration::from_secs(1), ..Limits::default() };
    let (first, second) = memory::pair(limits);
    let peer = thread::spawn(|| {
        Session::establish(second, Role::P2, b"fuzz", Randomness::seeded(2)).map(drop)
    });
    let session = Session::establish(first, Role::P1, b"fuzz", Randomness::seeded(1));
    peer.join().expect("no panic").expect("a peer");
    session.expect("a session")
}

fuzz_target!(|bytes: &[u8]| {
    let _ = records::read(&AGREEMENT, Role::P1, bytes, true);
    if let Some((head, rest)) = bytes.split_at_checked(80)
        && let Ok(opening) = Opening::from_bytes(head)
    {
        let _ = deal(&AGREEMENT, Role::P1, rest, &opening);
        let _ = Taken::new(&AGREEMENT, Role::P1, &opening, &[rest]);
    }
    let host = Host::new(alone(), AGREEMENT.clone(), None);
    let _ = Server::new(Box::new(host)).serve(bytes);
});
