//! The room as a whole, on processors that lack what it is written for.

mod stand_in;
