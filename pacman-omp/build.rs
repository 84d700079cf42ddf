//! Builds `libpacman_omp.so`, the library that is preloaded, beside the engine that this package is.
//!
//! It may have no Rust runtime, which needs a C library of its own age; stable Rust has no shared library
//! without one. So it is C, compiled and linked by the compiler that Rust links with.

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

#[allow(dead_code, unused_imports)]
#[path = "src/function.rs"]
mod function;

use function::{CallKind, Function};

const FILE: &str = "libpacman_omp.so";

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    for source in ["build.rs", "src/function.rs", "src/stub.rs", "stub"] {
        println!("cargo::rerun-if-changed={source}");
    }
    ["CC", "RUSTC_LINKER"].iter().for_each(|name| println!("cargo::rerun-if-env-changed={name}"));
    let names: Vec<&str> = exported().map(Function::name).collect();
    // Both libraries define the structure that they share: either definition changes the number by which they know each other.
    let [engine, preloaded] = ["src/stub.rs", "stub/stub.c"].map(fs::read_to_string);
    let shared = [names.join(" "), engine?, preloaded?];
    let table = hash(shared.concat().as_bytes());
    println!("cargo::rustc-env=PACMAN_OMP_TABLE={table}");
    fs::write(out.join("functions.h"), functions(table)?)?;
    let architecture = env::var("CARGO_CFG_TARGET_ARCH")?;
    // As the engine, it is empty on other processors.
    if let Ok(macros) = fs::read_to_string(format!("stub/arch/{architecture}.s")) {
        fs::write(out.join("entries.s"), entries(macros, &names)?)?;
    }
    compile(&out, &architecture)?;
    place(&out.join(FILE), &out)
}

/// The functions that have an entry.
fn exported() -> impl Iterator<Item = Function> {
    let all = (0..Function::COUNT as u32).map(Function::numbered);
    all.filter(|function| function.kind() != CallKind::Called)
}

/// The table for the C code.
fn functions(table: u32) -> Result<String, std::fmt::Error> {
    let [mut text, mut names, mut starts, mut hashes, mut kinds] = [const { String::new() }; 5];
    let mut start = 0;
    for function in exported() {
        let name = function.name();
        write!(names, "\"{name}\\0\"\n    ")?;
        write!(starts, "{start},")?;
        write!(hashes, "{}u,", hash(name.as_bytes()))?;
        write!(kinds, "{},", kind(function))?;
        start += name.len() + 1;
    }
    writeln!(text, "enum {{ COUNT = {} }};", exported().count())?;
    writeln!(text, "#define TABLE {table}u")?;
    writeln!(text, "static const char NAMES[] = {names};")?;
    writeln!(text, "static const uint16_t starts[] = {{{starts}}};")?;
    writeln!(text, "static const uint32_t hashes[] = {{{hashes}}};")?;
    writeln!(
        text,
        "enum {{ OTHER, OF_THE_C_LIBRARY, ASKED_BY_LIBGOMP, STARTS_A_TEAM, COUNTS_THREADS }};"
    )?;
    writeln!(text, "static const uint8_t kinds[] = {{{kinds}}};")?;
    Ok(text)
}

/// The C code's name for the kind of a function: the way it goes in a process without the engine.
fn kind(function: Function) -> &'static str {
    let name = function.name();
    let starts_a_team = name.starts_with("GOMP_parallel") || name == "GOMP_teams_reg";
    let runs_body = starts_a_team && !name.ends_with("_start") && !name.ends_with("_end");
    match function.kind() {
        // libomp has functions for affinity.
        CallKind::UsesAffinity if name.starts_with("kmp_") => "OTHER",
        CallKind::UsesAffinity if name == "pthread_getaffinity_np" => "ASKED_BY_LIBGOMP",
        CallKind::Exits | CallKind::Execs | CallKind::UsesAffinity | CallKind::HandsOnMask => {
            "OF_THE_C_LIBRARY"
        }
        CallKind::Filters | CallKind::Unloads => "OF_THE_C_LIBRARY",
        CallKind::CountsThreads => "COUNTS_THREADS",
        CallKind::Changed if runs_body => "STARTS_A_TEAM",
        CallKind::Changed
        | CallKind::Neutral
        | CallKind::Called
        | CallKind::ChangesTeams
        | CallKind::SetsNumThreads
        | CallKind::Task
        | CallKind::MakesTask
        | CallKind::Taskloop
        | CallKind::TaskBlock
        | CallKind::Waits
        | CallKind::Chunks
        | CallKind::BlockTime
        | CallKind::PushesNumThreads
        | CallKind::Teams
        | CallKind::Mpi
        | CallKind::Marks => "OTHER",
    }
}

/// The entries: a jump through each slot. A slot leads to the code that finds its target until that is known.
/// `macros` has the code of both for the architecture.
fn entries(mut text: String, names: &[&str]) -> Result<String, std::fmt::Error> {
    text.push_str(
        ".section .note.GNU-stack,\"\",@progbits
.section .tbss,\"awT\",@nobits
.balign 8
.globl pacman_omp_worker
.type pacman_omp_worker, @object
.size pacman_omp_worker, 8
pacman_omp_worker: .zero 8
.section .data.rel,\"aw\",@progbits
.balign 64
.globl pacman_omp_slots
.hidden pacman_omp_slots
pacman_omp_slots:
",
    );
    for at in 0..names.len() {
        writeln!(text, ".quad pacman_omp_unresolved + 16 * {at}")?;
    }
    writeln!(text, ".text\n.balign 16\n.globl pacman_omp_unresolved")?;
    writeln!(text, ".hidden pacman_omp_unresolved\npacman_omp_unresolved:")?;
    for at in 0..names.len() {
        writeln!(text, "unresolved {at}")?;
    }
    for (at, name) in names.iter().enumerate() {
        writeln!(text, "entry {name}, {at}")?;
    }
    Ok(text)
}

/// The hash of symbol names in GNU's tables.
fn hash(name: &[u8]) -> u32 {
    name.iter().fold(5381, |hash: u32, &byte| hash.wrapping_mul(33).wrapping_add(byte.into()))
}

fn compile(out: &Path, architecture: &str) -> Result<(), Box<dyn Error>> {
    let of = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let compiler = of("CC").or_else(|| of("RUSTC_LINKER")).unwrap_or_else(|| "cc".into());
    // CC may have options.
    let compiler = compiler.to_string_lossy().into_owned();
    let mut words = compiler.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("cc"));
    command.args(words);
    command.args(["-shared", "-nostdlib", "-fPIC", "-O2", "-g0", "-std=gnu11", "-Wall"]);
    command.args(["-ffreestanding", "-fvisibility=hidden", "-fno-plt", "-fno-stack-protector"]);
    // Nothing that some dynamic linker lacks. `defs` refuses any reference that is not weak.
    command.args(["-Wl,-soname,libpacman_omp.so", "-Wl,--hash-style=both", "-Wl,-z,defs"]);
    command.args(["-Wl,-z,nopack-relative-relocs", "-Wl,-z,nodelete", "-Wl,-z,now"]);
    // Fewer system calls in every process.
    command.args(["-Wl,-z,noseparate-code", "-Wl,-z,norelro", "-Wl,--build-id=none"]);
    command.arg("-I").arg(out).arg("-o").arg(out.join(FILE));
    if architecture == "aarch64" {
        // Atomic operations without libgcc; the begin of each function is a place that BTI lets jumps arrive at.
        command.args(["-mno-outline-atomics", "-mbranch-protection=bti"]);
    }
    let entries = out.join("entries.s");
    match entries.exists() {
        true => command.arg("stub/stub.c").arg(entries),
        false => command.args(["-x", "c", "/dev/null"]),
    };
    let done = command.output().map_err(|error| {
        format!("cannot run {} (CC can name another C compiler): {error}", compiler)
    })?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        return Err(format!("{} cannot build {FILE}: {said}", compiler).into());
    }
    Ok(())
}

/// Puts a copy where cargo puts the engine: beside the programs of the profile, and beside its tests.
fn place(built: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let profile = out.ancestors().nth(3).ok_or("OUT_DIR is not in a folder of cargo's")?;
    for folder in [profile.to_path_buf(), profile.join("deps")] {
        fs::create_dir_all(&folder)?;
        let (new, place) = (folder.join(format!("{FILE}.new")), folder.join(FILE));
        fs::copy(built, &new)?;
        // Cargo runs this again where the copy is gone, or newer than the run.
        File::options().write(true).open(&new)?.set_modified(SystemTime::UNIX_EPOCH)?;
        fs::rename(new, &place)?;
        println!("cargo::rerun-if-changed={}", place.display());
    }
    println!("cargo::metadata=folder={}", profile.join("deps").display());
    Ok(())
}
