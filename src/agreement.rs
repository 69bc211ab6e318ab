//! The agreement that two organisations sign: parsing, checking, canonical form, hash, plain words.
//!
//! Still empty. It knows nothing of the files of one party.
