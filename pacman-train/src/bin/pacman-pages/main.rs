//! Writes the man pages and the shell completions that `install.sh` installs.
//!
//! A program of its own, so that `pacman-pmu` carries neither of the generators.

mod command;
mod functions;
mod header;
mod roff;

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let [header, folder] = arguments.as_slice() else {
        eprintln!(
            "usage: pacman-pages HEADER FOLDER   (pacman.h, and where man1, man3 and completions go)"
        );
        return ExitCode::from(2);
    };
    match generate(Path::new(header), Path::new(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(line) => {
            eprintln!("pacman-pages: {line}");
            ExitCode::FAILURE
        }
    }
}

fn generate(header: &Path, folder: &Path) -> Result<(), String> {
    let text = fs::read_to_string(header)
        .map_err(|error| format!("cannot read {}: {error}", header.display()))?;
    let header =
        header::parse(&text).map_err(|line| format!("cannot use {}: {line}", header.display()))?;
    put(&folder.join("man1"), command::pages())?;
    put(&folder.join("man3"), Ok(functions::pages(&header)))?;
    put(&folder.join("completions"), Ok(command::completions()))
}

/// Writes the files of one folder: pairs of name and text.
fn put(folder: &Path, files: io::Result<Vec<(String, Vec<u8>)>>) -> Result<(), String> {
    let failed = |error: io::Error| format!("cannot write into {}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    for (name, text) in files.map_err(failed)? {
        fs::write(folder.join(name), text).map_err(failed)?;
    }
    Ok(())
}
