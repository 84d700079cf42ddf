//! An installed tree that the tests of this program share.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use pacman_suite::command::finish;
use pacman_suite::skipped;
use tempfile::TempDir;

/// The folder that the workspace lies in.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace")
}

/// The installer, without what the environment of the test would change in it.
pub(crate) fn installer() -> Command {
    let mut command = Command::new(root().join("install.sh"));
    command.env_remove("DESTDIR");
    command
}

/// `pacman-pmu` as cargo built it beside the programs of this package; `None`, said aloud, where it was not built.
pub(crate) fn everyday() -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_BIN_EXE_pacman-train")).with_file_name("pacman-pmu");
    if !program.exists() {
        skipped("no pacman-pmu: cargo builds it with -p pacman-cli");
        return None;
    }
    Some(program)
}

/// A folder of links to what cargo has built for this test, and to the everyday command.
pub(crate) fn built() -> TempDir {
    let built = tempfile::tempdir().expect("a folder");
    link_built(built.path());
    built
}

/// Fills the folder with these links.
pub(crate) fn link_built(folder: &Path) {
    let test = std::env::current_exe().expect("a test has a path");
    let own = [env!("CARGO_BIN_EXE_pacman-train"), env!("CARGO_BIN_EXE_pacman-pages")];
    let programs = own.map(PathBuf::from).into_iter().chain(everyday());
    let libraries = ["libpacman.so", "libpacman.a", "libpacman_omp.so", "libpacman_omp_engine.so"];
    let libraries = libraries.map(|name| test.with_file_name(name));
    for file in programs.chain(libraries) {
        let name = file.file_name().expect("a file");
        assert!(file.exists(), "cargo builds {} with this test", file.display());
        symlink(&file, folder.join(name)).expect("a link");
    }
}

/// Installs below `folder` what cargo has built for this test.
pub(crate) fn install(folder: &Path, arguments: &[&str]) {
    let built = built();
    let mut installer = installer();
    installer.env("DESTDIR", folder).arg("--from").arg(built.path()).args(arguments);
    finish(&mut installer);
}

/// The prefix of an installed tree, moved after the installation, because a tree is often installed in
/// one place and used in another.
pub(crate) fn tree() -> &'static Path {
    static TREE: OnceLock<PathBuf> = OnceLock::new();
    TREE.get_or_init(|| {
        // Lasts as long as the target folder: tests end without a moment to tidy up.
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("install");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        install(&folder, &["--prefix", "/first"]);
        let prefix = folder.join("second");
        std::fs::rename(folder.join("first"), &prefix).expect("the tree moves");
        prefix
    })
}

/// The standard output of a command that must succeed.
pub(crate) fn text(command: &mut Command) -> String {
    String::from_utf8(finish(command).stdout).expect("UTF-8")
}
