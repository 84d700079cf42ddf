//! How samples of adaptation are cut short.
//!
//! An adapting library packs the threads of a team onto some contexts for one execution. Two [watchers](watch)
//! outside the program restore their masks when the sample outlasts its allowance: a thread of the command
//! and a process of its own. [`Word`] is the state that both sides change, [`Table`] has a slot for each
//! process. README.md in this folder has the protocol.

pub mod affinity;
mod futex;
mod table;
mod watcher;
mod word;

pub use table::{MEMBERS, Slot, Table};
pub use watcher::{ALIVE, since_boot, watch};
pub use word::{Atomic, Phase, Seen, Watcher, Word};
