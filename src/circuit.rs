//! Boolean circuits: the type, a builder with integer gadgets, the Bristol Fashion reader and writer, a plain evaluator.
//!
//! Still empty. It knows nothing of keys or peers.
