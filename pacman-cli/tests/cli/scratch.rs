//! A directory for what one test writes, compiles and reads.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use pacman_tests::skipped;

use super::text;

/// A directory of one test's own.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new() -> Scratch {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("pacman-pmu-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a directory for a test");
        Scratch(path)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The same as text, for arguments.
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
            Err(error) => {
                skipped(format_args!("no {compiler}: {error}"));
                None
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
