//! Static loops inside one parallel region get threads of their own number.

mod course;
mod partition;
mod ring;
mod schedule;
mod stretch;
