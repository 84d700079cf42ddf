//! Parts of `run` that `pacman-train` records with: the library to preload, the memory that programs write
//! to, and the names of regions.

pub use crate::run::directory::Directory;
pub use crate::run::embedded::{Embedded, embed};
pub use crate::run::library::find as find_library;
pub use crate::run::memory::{Found, Memory};
pub use crate::run::options::{inherited, preload};
pub use crate::stat::named_twice;
pub use pacman_report::run::names::{Name, Names, tell_apart};
