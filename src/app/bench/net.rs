//! Frames in memory and over loopback TLS.

use std::thread;
use std::time::Instant;

use super::{BenchArgs, Figures};
use crate::Error;
use crate::net::tls::{self, Listener};
use crate::net::{self, Channel, Identity, Limits, Tag, memory};

const BLOCK: Tag = Tag::new(*b"blok");
const BLOCK_BYTES: usize = 1 << 20;
const BLOCKS: usize = 1024;
const ROUND_TRIPS: usize = 2000;

/// Throughput of large frames and round trips of small ones.
pub(super) fn run(options: &BenchArgs, out: &mut Figures) -> Result<(), Error> {
    let in_memory = match options.net {
        Some(network) => memory::pair_with_network(Limits::default(), network),
        None => memory::pair(Limits::default()),
    };
    // Fewer over a modelled network, which is slow.
    let few = (16, 10);
    let all = if options.quick { few } else { (BLOCKS, ROUND_TRIPS) };
    let modelled = if options.net.is_some() { few } else { all };
    measure("in memory", in_memory, modelled, out)?;
    measure("loopback TLS", loopback_pair()?, all, out)
}

fn measure(
    name: &str,
    (mut here, mut there): (Channel, Channel),
    (blocks, trips): (usize, usize),
    out: &mut Figures,
) -> Result<(), Error> {
    thread::scope(|scope| {
        let echo = move || -> Result<(), net::Error> {
            let mut body = Vec::new();
            for _ in 0..blocks {
                there.receive_bytes_into(BLOCK, BLOCK_BYTES, &mut body)?;
            }
            there.send_bytes(BLOCK, b"done")?;
            for _ in 0..trips {
                there.receive_bytes_into(BLOCK, 4, &mut body)?;
                there.send_bytes(BLOCK, &body)?;
            }
            Ok(())
        };
        let echo =
            thread::Builder::new().spawn_scoped(scope, echo).map_err(net::Error::NoThread)?;
        let block = vec![0x5a; BLOCK_BYTES];
        let start = Instant::now();
        for _ in 0..blocks {
            here.send_bytes(BLOCK, &block)?;
        }
        here.receive_bytes(BLOCK, 4)?;
        let megabytes = (blocks * BLOCK_BYTES) as f64 / 1e6;
        let throughput = megabytes / start.elapsed().as_secs_f64();
        let start = Instant::now();
        for _ in 0..trips {
            here.send_bytes(BLOCK, b"ping")?;
            here.receive_bytes(BLOCK, 4)?;
        }
        let trips_per_second = trips as f64 / start.elapsed().as_secs_f64();
        echo.join().map_err(|_| net::Error::Closed)??;
        let note = format!("{blocks} frames of 1 MiB");
        out.add(format!("{name}: throughput"), throughput, "MB/s", note);
        out.add(
            format!("{name}: round trips"),
            trips_per_second,
            "per second",
            "frames of 4 bytes",
        );
        Ok(())
    })
}

/// Two ends of a real TLS connection in this process.
pub(super) fn loopback_pair() -> Result<(Channel, Channel), Error> {
    let new_identity = || Identity::from_pem(&Identity::generate_pem("bench")?);
    let (one, two) = (new_identity()?, new_identity()?);
    let listener = Listener::bind("127.0.0.1:0")?;
    let address = listener.local_address()?.to_string();
    let peer = two.fingerprint();
    thread::scope(|scope| {
        let accept = || listener.accept(&one, peer, Limits::default());
        let accepting = thread::Builder::new().spawn_scoped(scope, accept);
        let accepting = accepting.map_err(net::Error::NoThread)?;
        let connected = tls::connect(&address, &two, one.fingerprint(), Limits::default())?;
        let accepted = accepting.join().map_err(|_| net::Error::Closed)??;
        Ok((accepted, connected))
    })
}
