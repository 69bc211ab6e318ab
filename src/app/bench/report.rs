//! The page of `bench all`: a table per section, plots, and what the figures depend on.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use super::machine::Machine;
use super::{Figure, as_json, readable};
use crate::Error;

/// The page's file name.
pub(super) const PAGE: &str = "bench.md";
/// The figures' file name.
pub(super) const FIGURES: &str = "figures.json";

/// A part of the page.
pub(super) struct Section {
    pub title: String,
    /// Text between title and plots.
    pub words: String,
    pub plots: Vec<Plot>,
    pub figures: Vec<Figure>,
}

/// A picture beside the page.
pub(super) struct Plot {
    /// Its file name.
    pub file: String,
    /// For those who do not see it.
    pub alt: String,
    pub svg: String,
}

impl Section {
    /// A subject of `diptych bench`.
    pub fn of_subject(name: &str, purpose: &str, figures: Vec<Figure>) -> Self {
        let words = format!("`diptych bench {name}`: {purpose}.");
        Self { title: name.to_owned(), words, plots: Vec::new(), figures }
    }

    fn markdown(&self) -> String {
        let mut text = format!("\n## {}\n\n{}\n", self.title, self.words);
        for Plot { alt, file, .. } in &self.plots {
            let _ = write!(text, "\n![{alt}]({file})\n");
        }
        text += "\n| name | value | unit | parameters |\n| --- | ---: | --- | --- |\n";
        for Figure { name, value, unit, parameters } in &self.figures {
            let _ = writeln!(
                text,
                "| {} | {} | {unit} | {} |",
                cell(name),
                readable(*value),
                cell(parameters)
            );
        }
        text
    }
}

/// A directory that a page may be written to.
pub(super) struct Place {
    directory: PathBuf,
}

impl Place {
    /// Makes the directory if need be, and sees before anything is measured that it holds nothing
    /// but an earlier page's files.
    ///
    /// # Errors
    /// If it holds something else, or cannot be written.
    pub fn prepare(directory: &Path) -> Result<Self, Error> {
        fs::create_dir_all(directory).map_err(|error| Error::file(directory, "create", &error))?;
        let unreadable = |error| Error::file(directory, "read", &error);
        let earlier = fs::read_to_string(directory.join(PAGE)).unwrap_or_default();
        for entry in fs::read_dir(directory).map_err(unreadable)? {
            let name = entry.map_err(unreadable)?.file_name().to_string_lossy().into_owned();
            if !files_of(&earlier).contains(name.as_str()) {
                let place = directory.display();
                let message = format!("{place} holds {name}, which is not of an earlier report");
                return Err(
                    Error::input(message).advise("choose an empty directory with --out DIR")
                );
            }
        }
        let place = Self { directory: directory.to_owned() };
        if earlier.is_empty() {
            // Found out now rather than after minutes of measuring.
            place.put(PAGE, "")?;
            place.remove(PAGE)?;
        }
        Ok(place)
    }

    /// Writes the page, its plots and its figures in place of an earlier one; gives the page's path.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(
        &self,
        machine: &Machine,
        quick: bool,
        sections: &[Section],
    ) -> Result<PathBuf, Error> {
        let earlier = fs::read_to_string(self.directory.join(PAGE)).unwrap_or_default();
        for file in files_of(&earlier) {
            let _ = fs::remove_file(self.directory.join(file));
        }
        let figures: Vec<Figure> =
            sections.iter().flat_map(|section| section.figures.iter().cloned()).collect();
        // The page first: it names what is written after it.
        self.put(PAGE, &page(machine, quick, sections))?;
        self.put(FIGURES, &as_json(&figures)?)?;
        for plot in sections.iter().flat_map(|section| &section.plots) {
            self.put(&plot.file, &plot.svg)?;
        }
        Ok(self.directory.join(PAGE))
    }

    fn put(&self, name: &str, text: &str) -> Result<(), Error> {
        let path = self.directory.join(name);
        fs::write(&path, text).map_err(|error| Error::file(&path, "write", &error))
    }

    fn remove(&self, name: &str) -> Result<(), Error> {
        let path = self.directory.join(name);
        fs::remove_file(&path).map_err(|error| Error::file(&path, "remove", &error))
    }
}

/// The files of the report that has this page.
fn files_of(page: &str) -> BTreeSet<&str> {
    let plots = page.lines().filter_map(|line| line.strip_prefix("![")?.strip_suffix(')'));
    let plots = plots.filter_map(|line| Some(line.rsplit_once("](")?.1));
    // A page written by hand may name files elsewhere: those are not checked.
    let plots = plots.filter(|file| file.ends_with(".svg") && !file.contains('/'));
    plots.chain([PAGE, FIGURES].into_iter().filter(|_| page.starts_with(TITLE))).collect()
}

const TITLE: &str = "# What Diptych costs\n";

fn page(machine: &Machine, quick: bool, sections: &[Section]) -> String {
    let command = if quick { "diptych bench all --quick" } else { "diptych bench all" };
    let mut text = format!(
        "{TITLE}\nWritten by `{command}`, which repeats it; all numbers are also in \
         [{FIGURES}]({FIGURES}).\n"
    );
    if quick {
        text += "\n**Sizes are small: this is a first look, not figures to compare.**\n";
    }
    if let Some(warning) = machine.warning() {
        let _ = write!(text, "\n**Warning: {warning}.**\n");
    }
    text += "\nBoth parties run in one process on all cores, unless a figure says otherwise, and \
             processor time (CPU) is that of both. Bytes, messages and rounds are counted. A release \
             is drawn at random, and so is its number of rows, which moves its cost.\n\n";
    text += &machine.markdown();
    for section in sections {
        text += &section.markdown();
    }
    text
}

/// Text that stays in its cell.
fn cell(text: &str) -> String {
    text.trim().replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(file: &str) -> Section {
        let plot =
            Plot { file: file.to_owned(), alt: "a plot".to_owned(), svg: "<svg/>".to_owned() };
        Section {
            title: "net".to_owned(),
            words: "Frames.".to_owned(),
            plots: vec![plot],
            figures: vec![Figure::new("a | b", 1234.5, "ms", "x")],
        }
    }

    #[test]
    fn a_report_replaces_an_earlier_one_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().join("bench");
        let machine = Machine::of_this_process();
        for file in ["old.svg", "new.svg"] {
            let prepared = Place::prepare(&place).unwrap();
            let page = prepared.write(&machine, true, &[section(file)]).unwrap();
            let text = fs::read_to_string(page).unwrap();
            assert!(text.contains("| a \\| b | 1 234 | ms | x |"), "{text}");
        }
        assert!(place.join("new.svg").exists() && !place.join("old.svg").exists());
        fs::write(place.join("mine.svg"), "").unwrap();
        let refused = Place::prepare(&place).err().unwrap();
        assert!(refused.message().contains("mine.svg"), "{}", refused.message());
    }

    #[test]
    fn a_page_that_is_not_ours_is_not_overwritten() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join(PAGE), "# My notes\n").unwrap();
        assert!(Place::prepare(place.path()).is_err());
    }
}
