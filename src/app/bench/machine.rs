//! What figures depend on besides the program: the machine and how busy it is. The names of the
//! machine and of its users are not read.

use std::fmt::Write;
use std::fs;

use crate::simd::{self, level::Level};

/// One minute's load average from which a machine is called busy.
const BUSY: f64 = 0.5;

/// Crates whose code is part of what is measured, and those that the benchmarks compare with.
const MEASURED: [&str; 5] = ["aes", "crypto-bigint", "curve25519-dalek", "num-bigint", "ring"];
const COMPARED: [&str; 2] = ["fast-paillier", "libpaillier"];
const LOCK: &str = include_str!("../../../Cargo.lock");

/// Facts about this machine. Some are known on Linux only.
pub(super) struct Machine {
    processor: Option<String>,
    cores: usize,
    memory_bytes: Option<u64>,
    system: Option<String>,
    load: Option<f64>,
}

impl Machine {
    /// The current state; call this before anything is measured.
    pub fn of_this_process() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let [name, release] =
            ["ostype", "osrelease"].map(|name| read(&format!("/proc/sys/kernel/{name}")));
        // The first two numbers of the release; what follows may tell who runs the machine.
        let release: Vec<&str> = release.trim().split(['.', '-']).take(2).collect();
        let kernel = format!("{} {}", name.trim(), release.join("."));
        let kilobytes = field(&read("/proc/meminfo"), "MemTotal")
            .and_then(|text| text.strip_suffix(" kB")?.parse::<u64>().ok());
        Self {
            processor: field(&read("/proc/cpuinfo"), "model name"),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: kilobytes.map(|kilobytes| kilobytes * 1024),
            system: Some(kernel.trim().to_owned()).filter(|kernel| !kernel.is_empty()),
            load: read("/proc/loadavg").split(' ').next().and_then(|load| load.parse().ok()),
        }
    }

    /// Why times cannot be trusted, if that is so.
    pub fn warning(&self) -> Option<String> {
        if cfg!(debug_assertions) {
            return Some("built without optimization: times mean nothing".to_owned());
        }
        let load = self.load.filter(|load| *load >= BUSY)?;
        Some(format!(
            "the machine was busy at the start (load average {load}): bytes, messages and rounds \
             are exact, processor time is approximate, and wall time is meaningless"
        ))
    }

    /// The facts as a list in Markdown.
    pub fn markdown(&self) -> String {
        let unknown = "unknown".to_owned();
        let memory = self.memory_bytes.map(|bytes| format!("{:.1} GB", bytes as f64 / 1e9));
        let load = self.load.map(|load| load.to_string());
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "- {name}: {value}");
        };
        line("Processor", self.processor.clone().unwrap_or(unknown.clone()));
        line("Cores", self.cores.to_string());
        line("Vector instructions in use", vector_instructions());
        line("Memory", memory.unwrap_or(unknown.clone()));
        let system =
            self.system.clone().unwrap_or(format!("{} (kernel unknown)", std::env::consts::OS));
        line("System", format!("{system}, {}", std::env::consts::ARCH));
        line("Load average at the start", load.unwrap_or(unknown));
        let (own, rustc) = (env!("CARGO_PKG_VERSION"), env!("DIPTYCH_RUSTC_VERSION"));
        line("Versions", format!("diptych {own}, rustc {rustc}; {}", locked(&MEASURED)));
        line(
            "Beside other crates",
            format!("`cargo bench -p diptych-benches` compares with {}", locked(&COMPARED)),
        );
        text
    }
}

/// The level and what each kernel uses.
pub fn vector_instructions() -> String {
    let kernels = simd::in_use();
    let kernels = kernels.map(|(what, how)| format!("{what} {}", how.unwrap_or("none")));
    format!("level {}: {}", Level::in_use(), kernels.join(", "))
}

/// What follows `name` and a colon.
fn field(text: &str, name: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_prefix(':'))?;
    Some(value.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Names and versions, as `Cargo.lock` has them; the newest where there are several.
fn locked(names: &[&str]) -> String {
    let version = |name: &str| {
        let start = format!("name = \"{name}\"\nversion = \"");
        let found = LOCK.rsplit_once(&start).and_then(|(_, rest)| rest.split('"').next());
        format!("{name} {}", found.unwrap_or("unknown"))
    };
    names.iter().map(|name| version(name)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "model\t\t: 85\nmodel name\t: Some  Processor @ 2 GHz\nMemTotal:    12 kB\n";
        assert_eq!(field(text, "model name").as_deref(), Some("Some Processor @ 2 GHz"));
        assert_eq!(field(text, "MemTotal").as_deref(), Some("12 kB"));
        assert_eq!(field(text, "Mem"), None);
    }

    #[test]
    fn every_crate_that_is_named_has_a_version() {
        let text = locked(&MEASURED) + &locked(&COMPARED);
        assert!(!text.contains("unknown"), "{text}");
    }

    #[test]
    fn a_busy_machine_is_called_busy() {
        let mut machine = Machine::of_this_process();
        machine.load = Some(1.5);
        assert!(machine.warning().is_some() && machine.markdown().contains("- Cores: "));
    }
}
