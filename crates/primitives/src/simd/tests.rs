//! The vector code on processors that lack its instructions.

mod stand_in;
