//! The place of code in a module.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The code of a region: the compiler's function for its body or, for a region seen through OMPT, the call
/// that starts it. The code of a waiting construct is its call of the runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// The file with the code; empty for code outside of any file.
    pub module: PathBuf,
    /// The address in the file's symbol table: relative to the load address, if the module can be loaded
    /// anywhere.
    pub address: u64,
    /// LLVM's description of the place: `;file;function;line;column;;`.
    pub source: Option<String>,
}
