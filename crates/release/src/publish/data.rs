//! The source of a party's table: a file, standard input, a command that prints it, or memory.
//!
//! A command is started without a shell. Nothing of its output is used until it has exited with
//! status 0: any other exit status, an output that ends in the middle of a line, or no end within
//! the limit is an input error, found before this side connects.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::Error;
use crate::net::Stop;
use crate::publish::Watcher;
use crate::publish::files::write_whole;
use crate::release::trajectory::union::Extent;
use crate::release::trajectory::{Form, Part, Paths};
use crate::release::{Data, Step};
use crate::table::csv::unreadable;
use crate::table::{
    BadValues, Cells, Dialect, Encoding, Reading, Table, parse_csv_as, read_cells, regular_file,
};

/// How long standard input and a command may take, unless the party file says otherwise.
pub(crate) const USUAL_SECONDS: u64 = 600;
/// How much of a command's standard error is kept.
const MOST_COMPLAINT: u64 = 1 << 12;
/// How long to wait for the standard error of a command that failed.
const COMPLAINT_WAIT: Duration = Duration::from_secs(1);

/// A table and its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Where it comes from.
    pub from: Origin,
    /// Its format.
    pub dialect: Dialect,
    /// How long standard input or a command may take.
    pub limit: Duration,
    /// The private file that lists all invalid cells and records, if there are any.
    pub problems: Option<PathBuf>,
}

/// Reads a source: gets its name, its bytes, and a progress callback.
type Parser<'p, T> = &'p dyn Fn(&str, &mut dyn Read, &(dyn Fn(usize) + Sync)) -> Result<T, Error>;

/// What a party has, as the agreement says.
#[derive(Clone, Debug)]
pub enum Contents {
    /// A table with attributes and a class.
    Table(Table),
    /// Paths, each with a class.
    Paths(Paths),
    /// Paths that were anonymized, for a release by two.
    Part(Box<Part>),
    /// Records that shards hold elsewhere: so many, and none in this table.
    Elsewhere(usize, Table),
}

impl Contents {
    /// How many records there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Table(table) => table.len(),
            Self::Paths(paths) => paths.len(),
            Self::Part(part) => part.people(),
            Self::Elsewhere(records, _) => *records,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What a release is made from.
    pub fn given(&self) -> Data<'_> {
        match self {
            Self::Table(table) | Self::Elsewhere(_, table) => table.into(),
            Self::Paths(paths) => paths.into(),
            Self::Part(part) => (&**part).into(),
        }
    }

    /// How much would be revealed of paths in a release by two, by this party and by a peer that
    /// has similar ones.
    pub fn extents(&self) -> [Extent; 2] {
        match self {
            Self::Part(part) => [part.extent(); 2],
            Self::Table(_) | Self::Paths(_) | Self::Elsewhere(..) => Default::default(),
        }
    }
}

/// Where a table comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file.
    File(PathBuf),
    /// Standard input.
    StandardInput,
    /// What a program prints.
    Command {
        /// The program and its arguments.
        words: Vec<String>,
        /// The directory in which it is started.
        directory: PathBuf,
    },
    /// A table of the program that called.
    Memory(Memory),
}

/// A table in memory, with its name for messages. Copies share the table; `Debug` shows nothing of
/// it.
#[derive(Clone)]
pub struct Memory {
    /// For messages.
    pub name: String,
    /// The table.
    pub cells: Arc<dyn Cells>,
}

impl PartialEq for Memory {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.cells, &other.cells)
    }
}

impl Eq for Memory {}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory({:?}, ..)", self.name)
    }
}

impl Source {
    /// A file in the dialect that its first line shows.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::new(Origin::File(path.into()))
    }

    /// In the dialect that its first line shows.
    pub fn new(from: Origin) -> Self {
        let limit = Duration::from_secs(USUAL_SECONDS);
        Self { from, dialect: Dialect::recognized(), limit, problems: None }
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        match &self.from {
            Origin::File(path) => path.display().to_string(),
            Origin::StandardInput => "standard input".to_owned(),
            Origin::Command { words, .. } => {
                format!("data_command {}", words.first().map_or("", String::as_str))
            }
            Origin::Memory(memory) => memory.name.clone(),
        }
    }

    /// The data set's name, where a file gives it one.
    pub fn file_name(&self) -> Option<String> {
        match &self.from {
            Origin::File(path) => path.file_name().map(|name| name.to_string_lossy().into_owned()),
            Origin::StandardInput | Origin::Command { .. } | Origin::Memory(_) => None,
        }
    }

    /// The unit in which messages count records.
    pub fn place_word(&self) -> &'static str {
        if matches!(self.from, Origin::Memory(_)) { "row" } else { "line" }
    }

    /// Reads a table.
    ///
    /// # Errors
    /// If it is not what the agreement says, or does not arrive.
    pub fn read(&self, reading: &Reading<'_>, watcher: &dyn Watcher) -> Result<Table, Error> {
        watcher.tally().enter("reading");
        let table = match &self.from {
            Origin::Memory(memory) => self.read_memory(memory, reading, watcher)?,
            _ => self.read_with(watcher, &|name, source, progress| {
                let (dialect, source) = self.recognized(name, source, watcher)?;
                parse_csv_as(dialect, name, source, reading, progress)
                    .map_err(|error| self.failure(error))
            })?,
        };
        watcher.say(&format!("read {} records", table.len()));
        // For the owner alone: nothing of it is published.
        for (place, attribute) in reading.schema.attributes.iter().enumerate() {
            let outside = table.outside(place);
            if outside > 0 {
                watcher.say(&format!(
                    "`{}`: {outside} values are out of range and count as the nearest end",
                    attribute.name
                ));
            }
        }
        Ok(table)
    }

    fn read_memory(
        &self,
        memory: &Memory,
        reading: &Reading<'_>,
        watcher: &dyn Watcher,
    ) -> Result<Table, Error> {
        let cells = &*memory.cells;
        watcher.step(Step::Began { phase: "reading", total: cells.records() });
        let progress = |done| watcher.step(Step::Advanced(done));
        let table = read_cells(&memory.name, cells, reading, &progress);
        watcher.stop().check()?;
        let table = table.map_err(|error| self.failure(error))?;
        watcher.step(Step::Ended);
        Ok(table)
    }

    /// Reads paths.
    ///
    /// # Errors
    /// If they are not what the agreement says, or do not arrive.
    pub fn read_paths(&self, form: &Form, watcher: &dyn Watcher) -> Result<Paths, Error> {
        let paths = self.read_with(watcher, &|name, source, progress| {
            let (dialect, source) = self.recognized(name, source, watcher)?;
            Paths::read((name, dialect), source, form, progress)
        })?;
        watcher.say(&format!("read {} paths", paths.len()));
        Ok(paths)
    }

    /// The dialect that the first line shows, and the whole source again.
    fn recognized<'s>(
        &self,
        name: &str,
        source: &'s mut dyn Read,
        watcher: &dyn Watcher,
    ) -> Result<(Dialect, impl Read + use<'s>), Error> {
        let looked = self.dialect.look(source);
        let (dialect, words, source) = looked.map_err(|error| unreadable(name, error))?;
        if let Some(words) = words {
            watcher.say(&format!("{name}: recognized {words}"));
        }
        Ok((dialect, source))
    }

    fn read_with<T>(&self, watcher: &dyn Watcher, parse: Parser<'_, T>) -> Result<T, Error> {
        let name = self.name();
        let total = match &self.from {
            Origin::File(path) => std::fs::metadata(path).map_or(0, |metadata| metadata.len()),
            Origin::StandardInput | Origin::Command { .. } | Origin::Memory(_) => 0,
        };
        let total = usize::try_from(total).unwrap_or(usize::MAX);
        watcher.step(Step::Began { phase: "reading", total });
        let progress = |done| watcher.step(Step::Advanced(done));
        let read = self.read_from(&name, &progress, watcher, parse);
        // An interruption is reported as such, whatever error the source gives.
        watcher.stop().check()?;
        let read = read?;
        watcher.step(Step::Ended);
        Ok(read)
    }

    fn read_from<T>(
        &self,
        name: &str,
        progress: &(dyn Fn(usize) + Sync),
        watcher: &dyn Watcher,
        parse: Parser<'_, T>,
    ) -> Result<T, Error> {
        match &self.from {
            Origin::File(path) => {
                let mut file = regular_file(path).map_err(|error| self.failure(error))?;
                parse(name, &mut file, progress)
            }
            Origin::StandardInput => {
                // Not through the library's buffer: waiting for the file descriptor would ignore
                // what is buffered.
                let input = io::stdin().as_fd().try_clone_to_owned();
                let input = input.map_err(|error| Error::input(format!("{name}: {error}")))?;
                let mut source = Patient::new(File::from(input), self.limit, watcher.stop());
                let read = parse(name, &mut source, progress)?;
                source.ended_with_a_line(name, self.dialect)?;
                Ok(read)
            }
            Origin::Command { words, directory } => {
                let mut running = Running::start(words, directory, self.limit)?;
                let output =
                    running.child.stdout.take().ok_or_else(|| {
                        Error::internal(format!("{name}: its output cannot be had"))
                    })?;
                let mut source = Patient::new(output, self.limit, watcher.stop());
                let read = parse(name, &mut source, progress);
                // The failure of a command is reported first: its output explains less.
                running.end(name, source.at_end, &watcher.stop())?;
                let read = read?;
                source.ended_with_a_line(name, self.dialect)?;
                Ok(read)
            }
            Origin::Memory(_) => Err(Error::input(format!(
                "{name}: paths are read from a file, not from a table in memory"
            ))),
        }
    }

    /// Lists bad values in the file that is named for them, and adds to the error where they are.
    #[must_use]
    pub fn failure(&self, error: Error) -> Error {
        let (Some(path), Some(found)) = (&self.problems, error.origin::<BadValues>()) else {
            return error;
        };
        let distinct = found.found.len();
        let advice = match write_whole(path, &found.to_csv(), 0o600) {
            Ok(()) => format!(
                "all {distinct} of them are listed in {} (private: values of the data)",
                path.display()
            ),
            Err(problem) => format!("they could not be listed in {}: {problem}", path.display()),
        };
        error.advise(advice)
    }
}

/// A running command, killed with all its children when dropped.
struct Running {
    child: Child,
    complaint: Option<Receiver<String>>,
    deadline: Instant,
    limit: Duration,
}

impl Running {
    fn start(words: &[String], directory: &Path, limit: Duration) -> Result<Self, Error> {
        let Some((program, arguments)) = words.split_first() else {
            return Err(Error::input("data_command is empty"));
        };
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| {
                Error::input(format!("cannot start data_command {program}: {error}"))
                    .advise("check the program's name, and that it is in PATH")
            })?;
        let complaint = child.stderr.take().and_then(|mut stderr| {
            let (told, complaint) = channel();
            let listen = move || {
                let mut kept = Vec::new();
                let _ = stderr.by_ref().take(MOST_COMPLAINT).read_to_end(&mut kept);
                let _ = told.send(String::from_utf8_lossy(&kept).into_owned());
                let _ = io::copy(&mut stderr, &mut io::sink());
            };
            thread::Builder::new().spawn(listen).ok().map(|_| complaint)
        });
        Ok(Self { child, complaint, deadline: Instant::now() + limit, limit })
    }

    /// Checks the exit status of the command; one whose output was not read to the end need not
    /// have exited.
    fn end(&mut self, name: &str, read: bool, stop: &Stop) -> Result<(), Error> {
        let seconds = self.limit.as_secs();
        let late = || {
            Error::input(format!("{name} did not end within {seconds} s"))
                .advise("raise `data_seconds` in the party file, or mend the command")
        };
        loop {
            stop.check()?;
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => {
                    let said = self.complaint();
                    return Err(Error::input(format!(
                        "{name} failed ({status}); nothing that it printed is used{said}"
                    ))
                    .advise("run the command by hand to see what is wrong"));
                }
                // Nobody reads what it still prints: it would wait for ever.
                Ok(None) if !read => {
                    return if Instant::now() >= self.deadline { Err(late()) } else { Ok(()) };
                }
                Ok(None) if Instant::now() >= self.deadline => return Err(late()),
                Ok(None) => thread::sleep(Duration::from_millis(5)),
                Err(error) => return Err(Error::internal(format!("{name}: {error}"))),
            }
        }
    }

    fn complaint(&mut self) -> String {
        // Its children may outlive it and keep the pipe open: do not wait for that.
        let said = self.complaint.take().map(|told| told.recv_timeout(COMPLAINT_WAIT));
        let said = said.and_then(Result::ok).unwrap_or_default();
        let words: Vec<&str> = said.split_whitespace().collect();
        let said: String = words.join(" ").chars().take(500).flat_map(char::escape_debug).collect();
        if said.is_empty() { said } else { format!("; it said: {said}") }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None))
            && let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
        {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// A source that may be slow, but has a time limit and can be interrupted.
struct Patient<R> {
    source: R,
    deadline: Instant,
    limit: Duration,
    stop: Stop,
    last: Option<[u8; 2]>,
    at_end: bool,
}

impl<R> Patient<R> {
    fn new(source: R, limit: Duration, stop: Stop) -> Self {
        Self { source, deadline: Instant::now() + limit, limit, stop, last: None, at_end: false }
    }

    /// A table that was truncated most probably ends in the middle of a line.
    fn ended_with_a_line(&self, name: &str, dialect: Dialect) -> Result<(), Error> {
        let wide = matches!(dialect.encoding, Encoding::Utf16 | Encoding::Recognized);
        match self.last {
            Some([_, b'\n']) => Ok(()),
            Some([b'\n', 0]) if wide => Ok(()),
            _ => Err(Error::input(format!(
                "{name} ends in the middle of a line, so it may be cut; nothing of it is used"
            ))
            .advise("if it is whole, let its last line end with a line feed")),
        }
    }
}

impl<R: Read + AsFd> Read for Patient<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.stop.is_set() {
                return Err(io::Error::other("stopped from the keyboard or by a signal"));
            }
            if Instant::now() >= self.deadline {
                let text = format!("it did not end within {} s", self.limit.as_secs());
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            let look = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
            let mut ready = [PollFd::new(&self.source, PollFlags::IN)];
            match poll(&mut ready, Some(&look)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => break,
                Err(error) => return Err(error.into()),
            }
        }
        let count = self.source.read(buffer)?;
        match &buffer[..count] {
            [] => self.at_end = !buffer.is_empty(),
            [only] => self.last = Some([self.last.map_or(0, |[_, last]| last), *only]),
            [.., before, last] => self.last = Some([*before, *last]),
        }
        Ok(count)
    }
}
