//! Libraries and C programs for `c_api.rs`: built here, run here.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use pacman_suite::command::finish;
use tempfile::TempDir;

/// A dialect with the flags under which the header must not draw a warning.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Language {
    C99,
    Cpp11,
}

impl Language {
    pub(crate) fn compiler(self) -> &'static str {
        match self {
            Language::C99 => "cc",
            Language::Cpp11 => "c++",
        }
    }
}

/// How a program gets at the library.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Linking {
    Shared,
    Static,
}

/// The libraries that a program must add, by rustc, to the archive, on Linux with glibc.
const NATIVE: [&str; 7] = ["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl", "-lc"];

const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// The libraries as cargo built them, in the profile of this test.
pub(crate) struct Libraries {
    pub(crate) shared: PathBuf,
    archive: PathBuf,
    /// A folder with the shared library under its soname.
    pub(crate) links: PathBuf,
}

/// A folder that goes when it is dropped.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder for temporary files")
}

/// The folder that the workspace lies in.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the workspace")
}

/// Copies of the libraries that cargo has built for this test, with the link that the loader looks for.
pub(crate) fn libraries() -> &'static Libraries {
    static COPIED: OnceLock<Libraries> = OnceLock::new();
    COPIED.get_or_init(|| {
        let test = std::env::current_exe().expect("a test has a path");
        // Lasts as long as the target folder: tests end without a moment to tidy up.
        let links = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("libpacman");
        std::fs::create_dir_all(&links).expect("a folder for copies");
        let copy = |name: &str| {
            let (new, own) =
                (links.join(format!(".{name}-{}", std::process::id())), links.join(name));
            std::fs::copy(test.with_file_name(name), &new)
                .unwrap_or_else(|error| panic!("cargo builds {name} with this test: {error}"));
            std::fs::rename(new, &own).expect("the same folder");
            own
        };
        let archive = copy("libpacman.a");
        let shared = copy("libpacman.so");
        let soname = links.join("libpacman.so.0");
        let _ = std::fs::remove_file(&soname);
        symlink("libpacman.so", soname).expect("a link");
        Libraries { shared, archive, links }
    })
}

/// Compiles a program of `tests/c` or `examples/c` against the built libraries.
pub(crate) fn compile(
    source: &str,
    language: Language,
    linking: Linking,
    more: &[&str],
    into: &TempDir,
) -> PathBuf {
    let libraries = libraries();
    let program = into.path().join("program");
    let dialect = match language {
        Language::C99 => ["-x", "c", "-std=c99"],
        Language::Cpp11 => ["-x", "c++", "-std=c++11"],
    };
    let mut command = Command::new(language.compiler());
    command.args(dialect).args(WARNINGS).args(["-O2", "-pthread"]).args(more);
    command.arg("-I").arg(root().join("pacman-ffi/include"));
    command.arg(root().join(source)).args(["-x", "none", "-o"]).arg(&program);
    match linking {
        Linking::Shared => {
            command.arg("-L").arg(&libraries.links).arg("-lpacman");
        }
        Linking::Static => {
            command.arg(&libraries.archive).args(NATIVE);
        }
    }
    finish(&mut command);
    program
}

/// A command that finds the shared library.
pub(crate) fn program(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.env("LD_LIBRARY_PATH", &libraries().links);
    command
}
