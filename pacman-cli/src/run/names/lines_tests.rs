//! Lines against addr2line's, at each address of the code of programs.

use std::fs;
use std::process::Command;
use std::time::{Duration, SystemTime};

use object::{Object as _, ObjectSection as _, SectionKind};
use pacman_suite::skipped;

use super::module::Module;

const PROGRAM: &str = r#"
#include <stdio.h>
#include <string.h>
static inline __attribute__((always_inline)) double square(double x) {
  return x *
         x;
}
__attribute__((cold, noinline)) static void fail(const char *why) { puts(why); }
int main(int argc, char **argv) {
  double sum = 0;
  for (int i = 0; i < argc * 1000; i++) {
    switch (i % 5) {
    case 0: sum += square(i); break;
    case 1: sum -= strlen(argv[0]); break;
    case 2: sum *= 1.5; break;
    default: sum += 1;
    }
#line 4000 "elsewhere/generated.h"
    if (sum < 0)
      fail("negative");
#line 30 "source.c"
  }
  return sum > 7;
}
"#;

/// Compilers, formats and optimisation differ in the instructions of line programs that they use.
#[test]
fn lines_are_those_of_addr2line() {
    let scratch = tempfile::tempdir().expect("a directory");
    let (source, other) = (scratch.path().join("source.c"), scratch.path().join("other.c"));
    fs::write(&source, PROGRAM).expect("a file");
    fs::write(&other, "int other(int a) {\n  return a *\n    3;\n}\n").expect("a file");
    let mut compared = 0;
    for compiler in ["gcc", "clang"] {
        for flags in [
            &["-gdwarf-5", "-O0"][..],
            &["-gdwarf-4", "-O2"],
            &["-gdwarf-3", "-O1", "-ffunction-sections"],
            &["-gdwarf-5", "-O3", "-gz"],
            &["-gsplit-dwarf", "-O2"],
            &["-O2"],
        ] {
            let program = scratch.path().join("program");
            let mut command = Command::new(compiler);
            command.current_dir(scratch.path()).args(flags).args(["-o", "program", "source.c"]);
            let Ok(answer) = command.arg(&other).output() else {
                skipped(format!("no {compiler}"));
                break;
            };
            assert!(answer.status.success(), "{compiler} {flags:?}: {answer:?}");
            let later = SystemTime::now() + Duration::from_secs(60);
            let module = Module::open(&program, later).expect("it was made just now");
            let content = fs::read(&program).expect("a file");
            let file = object::File::parse(&*content).expect("ELF");
            for text in file.sections().filter(|section| section.kind() == SectionKind::Text) {
                for address in text.address()..text.address() + text.size() {
                    let (own, expected) =
                        (module.place_of(address), module.place_by_loader(address));
                    assert_eq!(own, expected, "{compiler} {flags:?} at {address:#x}");
                    compared += u32::from(own.is_some_and(|(file, _)| file.ends_with(".h")));
                }
            }
        }
    }
    assert!(compared > 100 || compared == 0, "code of the other file: {compared} bytes");
}

/// Only what the own decoder cannot read is left to addr2line.
#[test]
fn usual_programs_are_decoded_without_addr2line() {
    let scratch = tempfile::tempdir().expect("a directory");
    let source = scratch.path().join("source.c");
    fs::write(&source, PROGRAM).expect("a file");
    for (compiler, flags) in [("gcc", "-g"), ("clang", "-g"), ("gcc", "-gdwarf-4")] {
        let program = scratch.path().join("program");
        let mut command = Command::new(compiler);
        command.args([flags, "-O2", "-o"]).arg(&program).arg(&source);
        let Ok(answer) = command.output() else {
            skipped(format!("no {compiler}"));
            continue;
        };
        assert!(answer.status.success(), "{compiler} {flags}: {answer:?}");
        let later = SystemTime::now() + Duration::from_secs(60);
        let module = Module::open(&program, later).expect("it was made just now");
        let content = fs::read(&program).expect("a file");
        let file = object::File::parse(&*content).expect("ELF");
        let main = file.symbol_by_name("main").map(|one| object::ObjectSymbol::address(&one));
        let place = module.place_of(main.expect("it has one"));
        assert_eq!(place.and_then(|(_, line)| line), Some(9), "{compiler} {flags}");
        assert!(!module.has_loader(), "{compiler} {flags}: addr2line was asked");
    }
}
