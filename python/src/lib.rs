//! The native half of the Python package `diptych`: what its modules call, and nothing that people do.

mod agreement;
mod arrow;
mod conversation;
mod frame;
mod ledger;
mod release;
mod shards;
mod watch;

use diptych::Error;
use pyo3::prelude::*;

/// A failure as the package's own exception, with the command's words and exit status.
fn raised(py: Python<'_>, failure: &Error) -> PyErr {
    let made = py.import("diptych._errors").and_then(|errors| {
        let status = failure.status() as u8;
        errors.call_method1("of_status", (status, failure.message(), failure.advice()))
    });
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// What Python gets of a result.
trait OrRaise<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Into<Error>> OrRaise<T> for Result<T, E> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raised(py, &error.into()))
    }
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::agreement::Agreement;
    #[pymodule_export]
    use super::conversation::{circuit, keygen, psi};
    #[pymodule_export]
    use super::frame::{Table, value_text};
    #[pymodule_export]
    use super::ledger::{acknowledge, allow_rehearsal, create_ledger, raise_cap, read_ledger};
    #[pymodule_export]
    use super::release::{local, open, picture, rehearse, report, rows, run, verify};
    /// The version of the program.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use super::shards::{Stopped, Worker, deal, partition, party_role};
}
