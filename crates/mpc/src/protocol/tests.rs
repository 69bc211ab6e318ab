//! All protocols together.

pub(crate) mod announced;
