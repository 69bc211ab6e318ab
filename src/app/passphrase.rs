//! Asking for a passphrase on a terminal, without showing it.

use std::io::{IsTerminal, Stdin, stdin};

use rustix::io::{Errno, read};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use crate::Error;
use crate::app::console::Console;
use crate::net::Identity;

/// Asks for a passphrase; nothing where there is no terminal, or the answer is empty or Ctrl-C.
pub fn ask(console: &Console, question: &str) -> Option<Zeroizing<String>> {
    if !stdin().is_terminal() || !std::io::stderr().is_terminal() || console.is_json() {
        return None;
    }
    let unseen = Unseen::begin()?;
    console.prompt(question);
    let answer = read_line(&unseen.terminal);
    drop(unseen);
    console.prompt("\n");
    answer.filter(|answer| !answer.is_empty())
}

/// Asks for a new passphrase, twice.
///
/// # Errors
/// If there is no terminal, or the answers are empty or not the same.
pub fn ask_for_new(console: &Console) -> Result<Zeroizing<String>, Error> {
    let first = ask(console, "a passphrase for the new key: ").ok_or_else(|| {
        Error::input("no passphrase was given")
            .advise("type it on a terminal, or name a file that holds it: --passphrase-file FILE")
    })?;
    match ask(console, "once more: ") {
        Some(second) if *second == *first => Ok(first),
        _ => Err(Error::input("the two passphrases are not the same; nothing was written")),
    }
}

/// The terminal while what is typed is not shown; restored afterwards, however that ends.
struct Unseen {
    terminal: Stdin,
    before: Termios,
}

impl Unseen {
    fn begin() -> Option<Self> {
        let terminal = stdin();
        let before = tcgetattr(&terminal).ok()?;
        let mut quiet = before.clone();
        // Ctrl-C is read as a character too: a signal would leave the echo turned off.
        quiet.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
        tcsetattr(&terminal, OptionalActions::Flush, &quiet).ok()?;
        Some(Self { terminal, before })
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        let _ = tcsetattr(&self.terminal, OptionalActions::Flush, &self.before);
    }
}

/// A line, read byte by byte so that no buffer but ours has it; nothing after Ctrl-C or Ctrl-D.
fn read_line(terminal: &Stdin) -> Option<Zeroizing<String>> {
    const CTRL_C: u8 = 3;
    const CTRL_D: u8 = 4;
    const CTRL_U: u8 = 21;
    // Allocated at its largest length: reallocation would leave the secret behind.
    let mut line = Zeroizing::new(Vec::with_capacity(Identity::LONGEST_PASSPHRASE));
    let mut byte = Zeroizing::new([0]);
    loop {
        match read(terminal, &mut *byte) {
            Ok(0) => return None,
            Err(Errno::INTR) => continue,
            Err(_) => return None,
            Ok(_) => {}
        }
        match byte[0] {
            b'\n' | b'\r' => break,
            CTRL_C | CTRL_D => return None,
            CTRL_U => line.clear(),
            // Backspace takes a whole character.
            8 | 127 => while line.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {},
            byte if line.len() < Identity::LONGEST_PASSPHRASE => line.push(byte),
            _ => return None,
        }
    }
    let text = str::from_utf8(&line).ok()?;
    Some(Zeroizing::new(text.to_owned()))
}
