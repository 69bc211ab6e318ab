//! `diptych completions` and `diptych man`: shell completions and the manual page.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::Error;
use crate::app::console::Console;

/// Print what a shell needs to complete this command
#[derive(Args, Debug)]
#[command(after_help = "Examples: diptych completions bash > \
                        ~/.local/share/bash-completion/completions/diptych\n          \
                        diptych completions fish > ~/.config/fish/completions/diptych.fish")]
pub struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Print the manual page, or write one for every verb
#[derive(Args, Debug)]
#[command(after_help = "Examples: diptych man | man -l -\n          \
                        diptych man --out ~/.local/share/man/man1")]
pub struct ManArgs {
    /// An existing directory for the pages of all verbs, in place of standard output
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints a script for a shell.
pub(super) fn completions(
    arguments: &CompletionsArgs,
    mut command: Command,
    console: &Console,
) -> Result<(), Error> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "diptych", &mut script);
    console.result(String::from_utf8_lossy(&script).trim_end());
    Ok(())
}

/// Prints the manual page or writes all of them.
pub(super) fn man(arguments: &ManArgs, command: Command, console: &Console) -> Result<(), Error> {
    // What `help` would say of the other verbs is said by their own pages.
    let command = command.disable_help_subcommand(true);
    if let Some(directory) = &arguments.out {
        clap_mangen::generate_to(command, directory)
            .map_err(|error| Error::file(directory, "write into", &error))?;
        console.result_of_work_done(directory.display());
        return Ok(());
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .map_err(|error| Error::internal(format!("cannot make the page: {error}")))?;
    console.result(String::from_utf8_lossy(&page).trim_end());
    Ok(())
}
