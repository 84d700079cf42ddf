//! A directory for what one test writes, compiles and reads.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::Command;

use pacman_suite::skipped;
use tempfile::TempDir;

use super::text;

/// A directory of one test's own.
pub(super) struct Scratch(TempDir);

impl Scratch {
    pub(super) fn new() -> Scratch {
        Scratch(tempfile::tempdir().expect("a directory for a test"))
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The same as text, for arguments.
    #[allow(dead_code, reason = "one of the test programs that share this file needs no text")]
    pub(super) fn named(&self, name: &str) -> String {
        self.path(name).to_str().expect("a path in UTF-8").to_owned()
    }

    pub(super) fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).expect("a file for a test");
        path
    }

    /// Compiles C; `None`, said aloud, where there is no such compiler.
    pub(super) fn compile(&self, compiler: &str, flags: &[&str], source: &str) -> Option<PathBuf> {
        let source = self.file("source.c", source);
        let made = self.path(&format!("made-{compiler}"));
        let done = Command::new(compiler).args(flags).arg("-o").arg(&made).arg(&source).output();
        match done {
            Ok(done) if done.status.success() => Some(made),
            Ok(done) => {
                skipped(format_args!("{compiler} {flags:?} says {}", text(&done.stderr).trim()));
                None
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                skipped(format_args!("no {compiler}"));
                None
            }
            Err(error) => panic!("{compiler}: {error}"),
        }
    }
}
