//! Hardware event names, their legal encodings per CPU model, and exact
//! allocation of counters between the hardware contexts of a core.
#![forbid(unsafe_code)]
