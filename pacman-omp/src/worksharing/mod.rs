//! Static loops inside one parallel region get threads of their own number.

mod partition;
mod ring;
mod schedule;
