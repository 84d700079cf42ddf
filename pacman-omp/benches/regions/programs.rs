//! Builds programs, and runs them with and without the preloaded library.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A compiler with OpenMP, and the runtime that its programs have.
pub(crate) struct Compiler {
    pub(crate) name: &'static str,
    #[allow(dead_code, reason = "one of the benchmarks that have this file has no use for it")]
    pub(crate) runtime: &'static str,
    /// The entry that starts a team.
    #[allow(dead_code, reason = "one of the benchmarks that have this file has no use for it")]
    pub(crate) entry: &'static str,
}

pub(crate) const COMPILERS: [Compiler; 2] = [
    Compiler { name: "gcc", runtime: "libgomp", entry: "GOMP_parallel" },
    Compiler { name: "clang", runtime: "libomp", entry: "__kmpc_fork_call" },
];

/// A directory for programs and recordings; removed when dropped.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> io::Result<Scratch> {
        let path = std::env::temp_dir().join(format!("pacman-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("recordings"))?;
        Ok(Scratch(path))
    }

    /// Builds a program from a source file of this package.
    pub(crate) fn build(&self, compiler: &Compiler, source: &str) -> io::Result<PathBuf> {
        self.build_with(compiler, source, &[])
    }

    /// Builds a program with more arguments for the linker.
    pub(crate) fn build_with(
        &self,
        compiler: &Compiler,
        source: &str,
        more: &[&str],
    ) -> io::Result<PathBuf> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
        let stem = source.file_stem().expect("a file has a name").to_string_lossy();
        let program = self.0.join(format!("{stem}-{}", compiler.name));
        let mut command = Command::new(compiler.name);
        command.args(["-O2", "-fopenmp"]).arg(&source).arg("-o").arg(&program);
        command.args(more);
        said(command)?;
        Ok(program)
    }

    /// A run of `program`. Without `options` the library is not preloaded.
    pub(crate) fn run(&self, program: &Path, options: Option<&[(&str, &str)]>) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars() {
            if ["OMP_", "GOMP_", "KMP_", "PACMAN_"].iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        if let Some(options) = options {
            let library = std::env::current_exe().expect("a running program has a file");
            // Cargo builds the library beside the benches.
            command.env("LD_PRELOAD", library.with_file_name("libpacman_omp.so"));
            command.env("PACMAN_OMP_DIR", self.0.join("recordings"));
            command.envs(options.iter().copied());
        }
        command
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover is in the system's temporary directory.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a command that must succeed.
pub(crate) fn said(mut command: Command) -> io::Result<Output> {
    let output = command.output();
    let output = output.map_err(|error| io::Error::other(format!("{command:?}: {error}")))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("{command:?}: {}: {text}", output.status)));
    }
    Ok(output)
}
