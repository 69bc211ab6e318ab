//! The page that `diptych --help` shows: its verbs by task, on one screen.

use std::fmt::Write as _;

use clap::Command;

const GROUPS: [(&str, &[&str]); 5] = [
    ("Make a release", &["demo", "keygen", "agreement", "run", "local", "model", "ledger"]),
    ("Inspect a release", &["verify", "report", "rows", "evaluate"]),
    ("Primitives", &["psi", "circuit"]),
    ("Check and measure", &["audit", "bench"]),
    ("Installation", &["completions", "man"]),
];

/// Where a verb goes that no group has.
pub(super) const OTHERS: &str = "Others";

/// What the manual says at its end.
pub(super) const MORE: &str = "\
Start with `diptych demo`. Exit status: 0 done; 1 the network or the machine failed, or what was checked \
is not as it should be; 2 wrong usage, input or configuration, and nothing was spent; 3 the peer \
refused, has another identity, broke the protocol or runs under other terms; 4 refused or failed \
on this side, or because of what the two tables have in common, after something was spent; 130 Ctrl-C. \
docs/guide.md has the table, with what the peer is told.\n\n\
The variable DIPTYCH_SIMD=portable|aes|avx2|avx512 limits the vector instructions in use; by \
default, the widest that the processor has are used. DIPTYCH_LOG=warn|info|debug says how much is logged.";

const END: &str = "
Every verb has --help, with examples, and takes
  --quiet                     print only results and errors
  --log-format text|json      how the log on standard error is written
  --color auto|always|never   when to use colour
Exit status: 0 done, 1 failed, 2 wrong input, 3 the peer's fault, 4 failed after
something was spent, 130 Ctrl-C (docs/guide.md). Start with `diptych demo`.
";

/// The page, as a template.
pub(super) fn of(command: &Command) -> String {
    let mut page = "{about}\n\nUsage: {usage}\n".to_owned();
    let grouped = |verb: &str| GROUPS.iter().any(|(_, verbs)| verbs.contains(&verb));
    let names = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let others: Vec<&str> = names.map(Command::get_name).filter(|verb| !grouped(verb)).collect();
    for (title, verbs) in GROUPS.iter().copied().chain([(OTHERS, &others[..])]) {
        let found: Vec<&Command> =
            verbs.iter().filter_map(|verb| command.find_subcommand(verb)).collect();
        if !found.is_empty() {
            let _ = writeln!(page, "\n{title}:");
        }
        for verb in found {
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(page, "  {:<12} {about}", verb.get_name());
        }
    }
    page + END
}
