//! Parts of tests that this machine cannot run.
//!
//! Each is said at once, and kept for the list that the test `zz_skips` prints after all others. The
//! list is by process of cargo, which starts every test program itself.

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A test, or a part of one, that did not run.
#[derive(Debug)]
pub struct Skip {
    /// The program of the test, as cargo names the target.
    pub program: String,
    /// The test; empty where a thread of its own skipped the part.
    pub test: String,
    /// Empty if all of the test, or all that was left of it, did not run.
    pub part: String,
    /// The lack of this machine.
    pub why: String,
}

/// Says that the calling test leaves out what is left of it, and why.
///
/// Past the capture of a test's output: passing tests show it, too.
pub fn skipped(why: impl Display) {
    skipped_part("", why);
}

/// Says that the calling test leaves out a part of itself, and why.
///
/// # Panics
/// If it cannot be kept for the list: a skip that nobody sees is a test that passes without running.
pub fn skipped_part(part: impl Display, why: impl Display) {
    let thread = std::thread::current();
    let test = thread.name().filter(|name| *name != "main").unwrap_or_default();
    let (part, why) = (line(part), line(why));
    let words: Vec<&str> = [test, &part, &why].into_iter().filter(|it| !it.is_empty()).collect();
    // A closed standard error is no reason to fail.
    let _ = std::io::stderr().write_all(format!("skipped: {}\n", words.join(": ")).as_bytes());
    let program = own_path();
    let program = program.file_stem().map(OsStr::to_string_lossy).unwrap_or_default();
    // Cargo appends a hash.
    let program = program.rsplit_once('-').map_or(&*program, |(name, _)| name);
    let list = kept();
    let mut list = OpenOptions::new()
        .create(true)
        .append(true)
        .open(list)
        .unwrap_or_else(|error| panic!("cannot keep a skip in {}: {error}", list.display()));
    // One write, so that lines of programs that run at once do not mix.
    list.write_all(format!("{program}\t{test}\t{part}\t{why}\n").as_bytes()).expect("room for it");
}

/// One line without tabs.
fn line(text: impl Display) -> String {
    text.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The skips of this run of cargo so far; and forgets those of earlier ones.
///
/// # Panics
/// If the list is there and cannot be read.
pub fn skips() -> Vec<Skip> {
    let own = kept();
    for entry in fs::read_dir(own.parent().expect("a folder")).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.split_once('-')?.0.parse().ok());
        if process.is_none_or(|process| run_of(process).as_deref() != name.to_str()) {
            let _ = fs::remove_file(entry.path());
        }
    }
    let text =
        if own.exists() { fs::read_to_string(own).expect("the list") } else { String::new() };
    let skip = |line: &str| {
        let mut fields = line.split('\t').map(str::to_owned);
        let mut field = || fields.next().unwrap_or_default();
        Skip { program: field(), test: field(), part: field(), why: field() }
    };
    text.lines().map(skip).collect()
}

/// Where this run's list is kept, beside the programs.
fn kept() -> &'static Path {
    static KEPT: OnceLock<PathBuf> = OnceLock::new();
    KEPT.get_or_init(|| {
        let program = own_path();
        let folder = program.ancestors().nth(2).expect("target/debug/deps/test").join("skipped");
        fs::create_dir_all(&folder).expect("cargo's own directory can be written to");
        // SAFETY: getppid takes nothing and cannot fail.
        let parent = unsafe { libc::getppid() };
        folder.join(run_of(parent).unwrap_or_else(|| format!("{parent}-0")))
    })
}

fn own_path() -> PathBuf {
    std::env::current_exe().expect("a test has a path")
}

/// The name of the run that this process of cargo is: its number, which is used again some time,
/// and when it started.
fn run_of(process: i32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Behind the name, which may have blanks and parentheses, the 20th field is the start.
    let start = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?;
    Some(format!("{process}-{start}"))
}
