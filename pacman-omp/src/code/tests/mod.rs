//! Machine code of the C compiler on this machine.

mod settled;

use std::ffi::{CString, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use pacman_suite::skipped;

use super::{Calls, Code, Tables, called_function, prove, prove_function};
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

#[test]
fn loops_in_called_functions_are_proved_and_answers_are_not() {
    for options in OPTIONS {
        let Some(loaded) = Loaded::of("called.c", "gcc", options) else { return skipped("no gcc") };
        let body = loaded.body("calls");
        let functions = loaded.symbol("functions").cast::<[u64; 5]>();
        // SAFETY: the type is that of the source.
        let [shares, nested, answers, uses, alone] = unsafe { functions.read() };
        let all = [shares, nested, answers, uses, alone];
        let (called, proved, as_body) = with_code(body, |code| {
            let mut calls = Calls::new();
            let called = |function: u64| called_function(code, &mut calls, &[body], function + 1);
            let questions = |function| prove_function(code, function).map(|it| it.questions.len());
            (all.map(called), all.map(questions), prove(code, answers).is_ok())
        })
        .expect("it is code of a module");
        let expected = [Some(shares), Some(nested), Some(answers), Some(uses), None];
        assert_eq!(called, expected, "{options:?}: nobody calls the last");
        assert_eq!((&proved[0], &proved[1]), (&Ok(2), &Ok(2)), "{options:?}");
        assert!(proved[2..4].iter().all(Result::is_err), "{options:?}: {proved:x?}");
        assert!(as_body, "{options:?}: only the answer has a number");
    }
}

/// Random numbers of 32 bits, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) as usize % limit
    }
}

/// Copies of code and tables with some bytes changed: any answer is right, but there must be one.
#[test]
fn damaged_code_and_tables_are_examined_to_an_end() {
    let options = &["-O3", "-march=skylake-avx512"];
    let Some(loaded) = Loaded::of("shares.cc", "g++", options) else { return skipped("no g++") };
    let bodies: Vec<u64> =
        functions(include_str!("shares.cc")).iter().map(|name| loaded.body(name)).collect();
    let (bytes, start, imports, tables) = with_code(bodies[0], |code| {
        let tables = code.handlers.clone().expect("C++ has handlers");
        let segments: Vec<_> =
            tables.segments.iter().map(|(start, bytes)| (*start, bytes.to_vec())).collect();
        let imports = code.imports.iter().map(|(slot, name)| (*slot, CString::from(*name)));
        let imports: Vec<_> = imports.collect();
        (code.bytes.to_vec(), code.start, imports, (segments, tables.header))
    })
    .expect("it is code of a module");
    let (mut random, mut proved, mut refused) = (Random(7), 0, 0);
    for round in 0..3_000 {
        let body = bodies[round % bodies.len()];
        let (mut bytes, mut segments) = (bytes.clone(), tables.0.clone());
        for _ in 0..random.below(6) {
            let at = (body - start) as usize + random.below(400);
            if let Some(byte) = bytes.get_mut(at) {
                *byte = random.below(256) as u8;
            }
        }
        for _ in 0..random.below(3) {
            let (_, segment) = &mut segments[round % tables.0.len()];
            let at = random.below(segment.len());
            segment[at] = random.below(256) as u8;
        }
        let segments = segments.iter().map(|(start, bytes)| (*start, &bytes[..])).collect();
        let handlers = Some(Tables { segments, header: tables.1 });
        let imports = imports.iter().map(|(slot, name)| (*slot, name.as_c_str())).collect();
        let code = Code { bytes: &bytes, start, imports, handlers };
        match prove_function(&code, body) {
            Ok(_) => proved += 1,
            Err(_) => refused += 1,
        }
        let _ = called_function(&code, &mut Calls::new(), &bodies, body + 8);
    }
    assert!(proved > 100 && refused > 100, "{proved} proved, {refused} refused");
}
