//! Vector kernels behind run-time detection, each with a portable twin: the only room with unsafe code.
//!
//! Still empty. Montgomery multiplication of eight numbers at once (AVX-512 IFMA) will live here.
