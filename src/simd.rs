//! Vector kernels behind run-time detection, each with a portable twin: the only room with unsafe code.

pub mod aes;
pub mod transpose;
