//! Machine code of the C compiler on this machine.

use std::ffi::{CString, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use pacman_suite::skipped;

use super::prove;
use crate::module::with_code;

/// A compiled test, loaded into this process for good.
struct Loaded(*mut c_void);

impl Loaded {
    /// Compiles `source` with the options; `None` without a C compiler.
    fn of(source: &str, compiler: &str, options: &[&str]) -> Option<Loaded> {
        let folder = tempfile::tempdir().expect("a folder for the library");
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/code/tests");
        let library = folder.path().join("tested.so");
        let compile = || {
            let mut command = Command::new(compiler);
            // Without libgomp: the test has the only function of it that is called.
            command.args(["-fPIC", "-fopenmp", "-w", "-c", "-o"]);
            let object = folder.path().join("tested.o");
            command.arg(&object).args(options).arg(sources.join(source));
            assert!(command.status().ok()?.success(), "{source} {options:?} is not compiled");
            // Some of the options need every function when the library is loaded.
            let others = folder.path().join("others.so");
            let mut link = Command::new(compiler);
            link.args(["-shared", "-fPIC", "-o"]).arg(&others);
            link.args(["-x", "c"]).arg(sources.join("others.c"));
            assert!(link.status().ok()?.success(), "others.c is not compiled");
            let mut link = Command::new(compiler);
            link.args(["-shared", "-Wl,-Bsymbolic", "-o"]).arg(&library).args([&object, &others]);
            link.status().ok().map(|status| assert!(status.success(), "{source} is not linked"))
        };
        compile()?;
        let path = CString::new(library.as_os_str().as_bytes()).expect("no zero");
        // SAFETY: the library has no constructors.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY) };
        assert!(!handle.is_null(), "{source} {options:?} is not loaded");
        Some(Loaded(handle))
    }

    fn symbol(&self, name: &str) -> *mut c_void {
        let name = CString::new(name).expect("no zero");
        // SAFETY: a handle that stays open.
        let found = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        assert!(!found.is_null(), "{name:?}");
        found
    }

    /// The body of the region that `function` starts.
    fn body(&self, function: &str) -> u64 {
        let function = self.symbol(function);
        let (known, bodies) = (self.symbol("known").cast::<c_int>(), self.symbol("bodies"));
        // SAFETY: the types are those of the source, and no other thread runs it.
        unsafe {
            known.write(0);
            std::mem::transmute::<*mut c_void, extern "C" fn()>(function)();
            assert_eq!(known.read(), 1, "one region");
            bodies.cast::<u64>().read()
        }
    }
}

/// The functions of a source, which are all tests.
fn functions(source: &str) -> Vec<&str> {
    source.lines().filter_map(|line| line.strip_prefix("void ")?.strip_suffix("(void) {")).collect()
}

const OPTIONS: &[&[&str]] = &[
    &["-O0"],
    &["-O1"],
    &["-O2"],
    &["-O3"],
    &["-Os"],
    &["-O2", "-march=native"],
    &["-O3", "-march=native"],
    &["-Ofast", "-march=skylake-avx512"],
    &["-O3", "-march=haswell", "-funroll-loops"],
    &["-O2", "-fno-plt"],
    &["-O2", "-fcf-protection=full"],
    &["-O1", "-fno-omit-frame-pointer"],
];

/// Functions whose answer is not as `proved` says, one line each.
fn wrong(loaded: &Loaded, source: &str, options: &[&str], proved: bool) -> Vec<String> {
    let names = functions(source);
    assert!(names.len() >= 4, "{names:?}");
    let answers = names.iter().filter_map(|name| {
        let body = loaded.body(name);
        let answer = with_code(body, |code| prove(code, body)).expect("it is code of a module");
        match answer {
            Ok(proof) if proved && !proof.questions.is_empty() => None,
            Err(_) if !proved => None,
            answer => Some(format!("{name} {options:?}: {answer:x?}, body at {body:#x}")),
        }
    });
    answers.collect()
}

fn check(compiler: &str, file: &str, source: &str, proved: bool) {
    let mut found = Vec::new();
    for options in OPTIONS {
        let Some(loaded) = Loaded::of(file, compiler, options) else {
            return skipped(format!("no {compiler}"));
        };
        found.extend(wrong(&loaded, source, options, proved));
    }
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}

#[test]
fn static_loops_of_gcc_are_proved() {
    check("gcc", "shares.c", include_str!("shares.c"), true);
}

#[test]
fn other_uses_of_numbers_are_not_proved() {
    check("gcc", "uses.c", include_str!("uses.c"), false);
}

#[test]
fn static_loops_with_exceptions_are_proved() {
    check("g++", "shares.cc", include_str!("shares.cc"), true);
}

#[test]
fn numbers_in_handlers_are_not_proved() {
    check("g++", "uses.cc", include_str!("uses.cc"), false);
}
