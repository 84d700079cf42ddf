//! The place of code in a module, and the identity of the module's file.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The code of a region: the compiler's function for its body or, for a region seen through OMPT, the call
/// that starts it. The code of a waiting construct is its call of the runtime.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// The file with the code; empty for code outside of any file.
    pub module: PathBuf,
    /// The identity of that file; `None` if the process could not know it. Another file may have the path by
    /// now, or in the reader's part of the file system.
    #[serde(default)]
    pub identity: Option<FileIdentity>,
    /// The address in the file's symbol table: relative to the load address, if the module can be loaded
    /// anywhere.
    pub address: u64,
    /// LLVM's description of the place: `;file;function;line;column;;`.
    pub source: Option<String>,
}

/// Distinguishes the file of a module from others with the same path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileIdentity {
    /// The linker's build ID, in hexadecimal digits.
    BuildId(String),
    /// The system's facts of a file without a build ID.
    Metadata {
        /// The device that has the file.
        device: u64,
        /// The number of the file on its device.
        inode: u64,
        /// The bytes of the file.
        size: u64,
        /// The time of the last change of its content, in nanoseconds since 1970.
        modified: i64,
    },
}

impl FileIdentity {
    /// The build ID, if the file has one.
    pub fn build_id(&self) -> Option<&str> {
        match self {
            FileIdentity::BuildId(id) => Some(id),
            FileIdentity::Metadata { .. } => None,
        }
    }
}

impl fmt::Display for FileIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileIdentity::BuildId(id) => write!(f, "build ID {id}"),
            FileIdentity::Metadata { device, inode, .. } => {
                write!(f, "file {inode} of device {device}")
            }
        }
    }
}
