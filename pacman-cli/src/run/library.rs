//! Finding libpacman_omp.so, and the engine that it loads where something can be observed.

use std::path::{Path, PathBuf};

use pacman_events::shown::shown_path;
use pacman_regions::arena::{VERSION, VERSION_SYMBOL};

use super::embedded::{self, ENGINE, FILE};
use crate::elf;
use crate::error::{CliError, CliResult};

/// The library to preload, or one line about why there is none.
pub fn find() -> CliResult<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|name| !name.is_empty()) {
        let path = std::path::absolute(&named)
            .map_err(|error| CliError::BadInput(format!("{VARIABLE} is {named:?}: {error}")))?;
        return check(path).map_err(|error| error.within(VARIABLE));
    }
    let program = std::env::current_exe()
        .map_err(|error| CliError::BadInput(format!("cannot tell where pacman-pmu is: {error}")))?;
    let beside = program.parent().unwrap_or(Path::new("/"));
    let all =
        || PLACES.iter().map(|place| beside.join(place).join(FILE)).filter(|path| path.exists());
    // Cargo may have put the engine beside another copy.
    let whole = all().find(|path| path.with_file_name(ENGINE).exists());
    match whole.or_else(|| all().next()) {
        Some(path) => check(path),
        None => match embedded::unpacked() {
            Ok(Some(path)) => check(path),
            Ok(None) => Err(missing(beside)),
            Err(why) => {
                Err(CliError::BadInput(format!("{why}, or {VARIABLE} a copy of the library")))
            }
        },
    }
}

fn missing(beside: &Path) -> CliError {
    CliError::BadInput(format!(
        "{FILE}, which run preloads, is not in {}, nor in ../lib or ../lib/pacman beside it, nor in this program; in the \
         sources, run ./install.sh or cargo install --path pacman-cli --features embedded, or let {VARIABLE} name a copy",
        shown_path(&beside)
    ))
}

fn check(path: PathBuf) -> CliResult<PathBuf> {
    let shown = shown_path(&path).to_string();
    let refused = |why: &str| Err(CliError::BadInput(format!("{shown} {why}")));
    if !path.exists() {
        return refused("does not exist");
    }
    let Some(header) = elf::header(&path) else {
        return refused("is not an ELF shared object");
    };
    if header.bits != 64 || !header.is_relocatable {
        return refused("is not a 64-bit ELF shared object");
    }
    if elf::own().is_some_and(|own| own.machine != header.machine) {
        return refused("is for another processor architecture");
    }
    // The library is empty on other processors.
    if cfg!(target_arch = "x86_64") {
        // The engine writes the recordings, whatever link names the library.
        let engine = std::fs::canonicalize(&path).unwrap_or(path.clone()).with_file_name(ENGINE);
        let is_stub = elf::exported_number(&path, STUB_SYMBOL).is_some();
        if is_stub && !engine.exists() {
            return refused(&format!("has no {ENGINE} beside it; install both from one release"));
        }
        match elf::exported_number(if is_stub { &engine } else { &path }, VERSION_SYMBOL) {
            Some(VERSION) => {}
            Some(other) => {
                return refused(&format!(
                    "is of another release: it writes recordings of version {other}, and this command \
                     reads version {VERSION}; install both from one release"
                ));
            }
            None => {
                return refused(
                    "is of another release: it does not say which version of recordings it writes; \
                     install both from one release",
                );
            }
        }
    }
    // The dynamic linker takes both for separators, and knows no escape.
    if path.to_string_lossy().contains([' ', ':']) {
        return refused(&format!(
            "has a blank or a colon in its name, which LD_PRELOAD cannot hold; let {VARIABLE} name \
             a link to it"
        ));
    }
    Ok(path)
}

/// The library exports it for the engine.
const STUB_SYMBOL: &str = "pacman_omp_stub";
pub(super) const VARIABLE: &str = "PACMAN_OMP_LIBRARY";

/// Beside this command: as packages install it, and where cargo puts it.
const PLACES: [&str; 4] = ["", "../lib", "../lib/pacman", "deps"];
