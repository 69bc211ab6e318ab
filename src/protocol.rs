//! Two-party primitives over a session.
