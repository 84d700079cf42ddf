//! Which compilers and runtimes there are, and how programs are built.

use std::fmt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::catalogue::Program;

/// A compiler and the runtime that its programs run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// GCC, on libgomp.
    Gcc,
    /// GCC's program on libomp, preloaded in libgomp's stead.
    GccOnLibomp,
    /// clang, on libomp.
    Clang,
    /// The same with libomp before the library: calls do not pass it, and OMPT tells of regions.
    ClangByOmpt,
}

/// The compiler of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Compiler {
    Gcc,
    Clang,
}

impl Compiler {
    /// The command for this program's language.
    fn command(self, program: &Program) -> Option<&'static str> {
        let clang = self == Compiler::Clang;
        match program.file.rsplit('.').next() {
            Some("cc") => Some(if clang { "clang++" } else { "g++" }),
            Some("f90") => (!clang).then_some("gfortran"),
            _ => Some(if clang { "clang" } else { "gcc" }),
        }
    }
}

impl Flavour {
    pub(crate) const ALL: [Flavour; 4] =
        [Flavour::Gcc, Flavour::GccOnLibomp, Flavour::Clang, Flavour::ClangByOmpt];

    /// The name of its tests.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Flavour::Gcc => "gcc",
            Flavour::GccOnLibomp => "gcc-on-libomp",
            Flavour::Clang => "clang",
            Flavour::ClangByOmpt => "clang-by-ompt",
        }
    }

    pub(crate) fn compiler(self) -> Compiler {
        match self {
            Flavour::Gcc | Flavour::GccOnLibomp => Compiler::Gcc,
            Flavour::Clang | Flavour::ClangByOmpt => Compiler::Clang,
        }
    }
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Flavour::Gcc => "gcc, libgomp",
            Flavour::GccOnLibomp => "gcc, libomp",
            Flavour::Clang => "clang, libomp",
            Flavour::ClangByOmpt => "clang, libomp, OMPT",
        })
    }
}

/// The compilers of this machine.
pub(crate) struct Toolchain {
    present: Vec<&'static str>,
    libomp: Option<PathBuf>,
}

/// A program that can be run, in a folder of its own, with what may be preloaded into it.
pub(crate) struct Built {
    pub(crate) path: PathBuf,
    pub(crate) library: PathBuf,
    pub(crate) libomp: Option<PathBuf>,
    /// The program's; a runtime that was asked for is there by the name that clang's programs ask
    /// the dynamic linker for.
    pub(crate) folder: TempDir,
}

/// The folder of the sources.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("omp/programs")
}

fn asked_for() -> Option<PathBuf> {
    std::env::var_os("PACMAN_OMP_RUNTIME").map(PathBuf::from)
}

/// A runtime that is to be part of clang's programs.
fn archive() -> Option<PathBuf> {
    asked_for().filter(|path| path.extension().is_some_and(|it| it == "a"))
}

fn runs(name: &str) -> bool {
    let mut command = Command::new(name);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The libomp that the dynamic linker knows, or the runtime of its family that is asked for.
fn libomp() -> Option<PathBuf> {
    if let Some(asked) = asked_for() {
        return archive().is_none().then_some(asked);
    }
    let output = Command::new("/sbin/ldconfig").arg("-p").output().ok()?;
    let listing = String::from_utf8(output.stdout).ok()?;
    let line = listing.lines().find(|line| line.trim_start().starts_with("libomp.so"))?;
    Some(PathBuf::from(line.split(" => ").nth(1)?))
}

impl Toolchain {
    pub(crate) fn found() -> Toolchain {
        let compilers = ["gcc", "g++", "gfortran", "clang", "clang++"];
        let present = compilers.into_iter().filter(|name| runs(name)).collect();
        Toolchain { present, libomp: libomp() }
    }

    /// Why a program cannot be built or run in this flavour here.
    pub(crate) fn why_not(&self, program: &Program, flavour: Flavour) -> Option<String> {
        if let Some(why) = program.exception(flavour) {
            return Some(why.to_string());
        }
        let Some(command) = flavour.compiler().command(program) else {
            return Some("LLVM 14 has no compiler for Fortran".to_string());
        };
        if !self.present.contains(&command) {
            return Some(format!("no {command}"));
        }
        let has_runtime = match flavour {
            Flavour::Gcc => true,
            Flavour::GccOnLibomp | Flavour::Clang => self.libomp.is_some(),
            Flavour::ClangByOmpt => self.libomp.is_some() || archive().is_some(),
        };
        (!has_runtime).then(|| "no libomp.so".to_string())
    }

    /// Compiles a program, and the objects that it loads, if it does.
    pub(crate) fn build(
        &self,
        program: &Program,
        compiler: Compiler,
        library: &Path,
    ) -> Result<Built, String> {
        let command = compiler.command(program).expect("why_not was asked");
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let path = folder.path().join(program.name());
        let archive = archive().filter(|_| compiler == Compiler::Clang);
        // A program that loads others is not linked to OpenMP itself: that comes with them.
        let options: &[&str] = if program.parts.is_empty() { &["-fopenmp"] } else { &[] };
        compile(command, program.file, &path, options, archive.as_deref())?;
        for part in program.parts {
            let object = folder.path().join(part).with_extension("so");
            let options = ["-fopenmp", "-shared", "-fPIC"];
            compile(command, &format!("{part}.c"), &object, &options, None)?;
        }
        if let Some(asked) = asked_for().filter(|_| archive.is_none()) {
            let name = folder.path().join("libomp.so.5");
            symlink(asked, name).map_err(|error| error.to_string())?;
        }
        let library = library.to_path_buf();
        Ok(Built { path, library, libomp: self.libomp.clone(), folder })
    }
}

fn compile(
    compiler: &str,
    file: &str,
    to: &Path,
    options: &[&str],
    archive: Option<&Path>,
) -> Result<(), String> {
    let mut command = Command::new(compiler);
    // Warnings are off because each compiler warns of what the other's programs need.
    command.args(["-O2", "-w"]).args(options).arg(sources().join(file));
    if let Some(archive) = archive {
        // The compiler names its shared runtime after all of this, and nothing is left to need it.
        command.arg("-Wl,--as-needed").arg(archive).args(["-lstdc++", "-lm", "-lrt"]);
    }
    let output = command.arg("-o").arg(to).args(["-ldl", "-lpthread"]).output();
    let output = output.map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}
