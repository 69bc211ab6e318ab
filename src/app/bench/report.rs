//! The page of `bench all`: a table per section, plots, and what the figures depend on.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use super::machine::Machine;
use super::{Figure, Figures, readable};
use crate::Error;
use crate::app::write_json;

/// The page's file name.
const PAGE: &str = "bench.md";
/// The figures' file name.
const FIGURES: &str = "figures.json";

/// A part of the page.
pub(super) struct Section {
    pub title: String,
    /// Text between title and plots.
    pub words: String,
    pub plots: Vec<Plot>,
    pub figures: Figures,
}

/// A picture beside the page.
pub(super) struct Plot {
    /// Its file name.
    pub file: String,
    /// Text for readers who cannot see it.
    pub alt: String,
    pub svg: String,
}

/// Creates the directory if need be, and checks before anything is measured that it is empty and
/// writable.
///
/// # Errors
/// If it is not.
pub(super) fn prepare(directory: &Path) -> Result<(), Error> {
    let failed = |error| Error::file(directory, "create", &error);
    fs::create_dir_all(directory).map_err(failed)?;
    if let Some(entry) = fs::read_dir(directory).map_err(failed)?.next() {
        let name = entry.map_err(failed)?.file_name();
        let message = format!("{} is not empty: it holds {}", directory.display(), name.display());
        return Err(Error::input(message).advise("choose an empty directory with --out DIR"));
    }
    crate::app::write(&directory.join(PAGE), "")?;
    fs::remove_file(directory.join(PAGE)).map_err(failed)
}

/// Writes the page, its plots and its figures; returns the page's path.
///
/// # Errors
/// If a file cannot be written.
pub(super) fn write(
    directory: &Path,
    machine: &Machine,
    quick: bool,
    sections: &[Section],
) -> Result<PathBuf, Error> {
    let figures: Vec<&Figure> = sections.iter().flat_map(|section| &section.figures.0).collect();
    write_json(&directory.join(FIGURES), &figures)?;
    for plot in sections.iter().flat_map(|section| &section.plots) {
        crate::app::write(&directory.join(&plot.file), &plot.svg)?;
    }
    crate::app::write(&directory.join(PAGE), &page(machine, quick, sections))?;
    Ok(directory.join(PAGE))
}

fn page(machine: &Machine, quick: bool, sections: &[Section]) -> String {
    let command = if quick { "diptych bench all --quick" } else { "diptych bench all" };
    let mut text = format!(
        "# What Diptych costs\n\nWritten by `{command}`; all numbers are also in \
         [{FIGURES}]({FIGURES}).\n"
    );
    if quick {
        text += "\n**Sizes are small: this is a first impression; do not compare the figures.**\n";
    }
    if let Some(warning) = machine.warning() {
        let _ = write!(text, "\n**Warning: {warning}.**\n");
    }
    text += "\nBoth parties run in one process on all cores, unless a figure says otherwise, and \
             processor time (CPU) is that of both. Bytes, messages and rounds are counted. A release \
             is drawn at random, and so is its number of rows, on which its cost depends.\n\n";
    text += &machine.markdown();
    for Section { title, words, plots, figures } in sections {
        let _ = write!(text, "\n## {title}\n\n{words}\n");
        for Plot { alt, file, .. } in plots {
            let _ = write!(text, "\n![{alt}]({file})\n");
        }
        text += "\n| name | value | unit | parameters |\n| --- | ---: | --- | --- |\n";
        for Figure { name, value, unit, parameters } in &figures.0 {
            let value = readable(*value);
            let cells = [name, &value, unit, parameters];
            let cells = cells.map(|text| text.trim().replace('|', "\\|").replace('\n', " "));
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_its_plots_and_escaped_cells_and_overwrites_nothing() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().join("bench");
        let plot = Plot { file: "a.svg".into(), alt: "a plot".into(), svg: "<svg/>".into() };
        let mut figures = Figures::default();
        figures.add("a | b", 1234.5, "ms", "x");
        let (title, words) = ("net".to_owned(), "Frames.".to_owned());
        let section = Section { title, words, plots: vec![plot], figures };
        prepare(&place).unwrap();
        let page = write(&place, &Machine::of_this_process(), true, &[section]).unwrap();
        let text = fs::read_to_string(page).unwrap();
        assert!(text.contains("| a \\| b | 1 234 | ms | x |"), "{text}");
        assert!(text.contains("![a plot](a.svg)") && place.join("a.svg").exists());
        let refused = prepare(&place).unwrap_err();
        assert!(refused.message().contains("is not empty"), "{}", refused.message());
    }
}
