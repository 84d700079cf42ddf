//! Names of other tools: each resolves, or the error says why not.

mod libpfm4;
mod papi;
mod silicon;
