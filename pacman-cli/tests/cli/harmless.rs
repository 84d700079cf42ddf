//! Commands whose arguments and files have hostile names, and all that they print.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Output;

use pacman_events::shown::is_unsafe;
use serde_json::Value;

use super::pacman_pmu;
use super::scratch::Scratch;

/// Clears the screen, sets its title, turns the line around, returns to its begin.
pub(super) const NAME: &str =
    "a\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}31m\u{202e}\u{2066}\u{200f}\u{7f}\r\tb";

/// The same, and begins a line of its own.
pub(super) const LINES: &str =
    "a\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}31m\u{202e}\u{2066}\u{200f}\u{7f}\r\tb\nFORGED";

/// The same as a name of a file, which need not be text.
pub(super) fn file_name() -> OsString {
    let mut name = LINES.as_bytes().to_vec();
    name.extend(b"\xff\xc3'\\");
    OsStr::from_bytes(&name).to_owned()
}

/// A directory with a hostile name, and what is in it.
pub(super) struct Place {
    pub(super) scratch: Scratch,
    path: PathBuf,
}

impl Place {
    pub(super) fn new() -> Place {
        let scratch = Scratch::new();
        let path = scratch.path("").join(file_name());
        fs::create_dir(&path).unwrap();
        Place { scratch, path }
    }

    pub(super) fn file(&self, name: &str, content: &str) -> OsString {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path.into_os_string()
    }

    pub(super) fn at(&self, name: &str) -> OsString {
        self.path.join(name).into_os_string()
    }
}

/// How the answer is written, and so what it may have in it.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Form {
    Text,
    /// Control characters are escaped by the format, others are data.
    Json,
    /// Data as it is.
    Csv,
}

pub(super) fn run(arguments: &[&OsStr]) -> Output {
    let mut command = pacman_pmu(&[]);
    command.args(arguments).env("COLUMNS", "200").env_remove("RUST_BACKTRACE");
    command.output().expect("the command was built")
}

/// Runs a command whose arguments or files have hostile names, and looks at all it says.
pub(super) fn harmless(form: Form, status: i32, arguments: &[&dyn AsRef<OsStr>]) -> String {
    let arguments: Vec<&OsStr> = arguments.iter().map(|word| (*word).as_ref()).collect();
    let answer = run(&arguments);
    let about = || format!("{arguments:?}: {answer:?}");
    let text = |bytes: &[u8]| match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(error) => panic!("{error} in the answer of {}", about()),
    };
    let (mut out, mut err) = (text(&answer.stdout), text(&answer.stderr));
    // Its standard output is the program's.
    if arguments[0] == "stat" && form != Form::Text {
        std::mem::swap(&mut out, &mut err);
    }
    let unexpected = |text: &str, allowed: fn(char) -> bool| {
        text.chars().find(|letter| is_unsafe(*letter) && *letter != '\n' && !allowed(*letter))
    };
    assert_eq!(unexpected(&err, |_| false), None, "standard error of {}", about());
    let allowed: fn(char) -> bool = match form {
        Form::Text => |_| false,
        Form::Json => |letter| letter >= ' ',
        Form::Csv => |_| true,
    };
    assert_eq!(unexpected(&out, allowed), None, "standard output of {}", about());
    let forged = |text: &str| text.lines().any(|line| line.trim_start().starts_with("FORGED"));
    assert!(!forged(&err) && (form == Form::Csv || !forged(&out)), "{}", about());
    if form == Form::Json {
        out.parse::<Value>().unwrap_or_else(|error| panic!("{error}: {}", about()));
    }
    assert_eq!(answer.status.code(), Some(status), "{}", about());
    let said = out + &err;
    assert!(!said.is_empty() || status == 0, "nothing is said: {}", about());
    said
}

/// A place's own path, as it is shown.
pub(super) fn shown_name() -> String {
    let shown = r"/a\e[2J\e]0;t\a\u009b31m\u202e\u2066\u200f\x7f\r\tb\nFORGED\xff\xc3\'\\";
    shown.replace("\\a", "\\x07")
}
