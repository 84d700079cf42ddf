//! Mistakes that a C compiler sees in the header.

use std::process::Command;

use crate::toolchain::{folder, root};

/// Each with a word of the compiler's complaint.
const MISTAKES: [(&str, &str); 4] = [
    ("pacman_session_open(&options, &session);", "unused"),
    ("return pacman_phase_define(session, 0, &phase);", "null"),
    ("return pacman_adapt_done(phase, 1.0);", "incompatible"),
    ("return pacman_begin(session, 0);", "incompatible"),
];

fn compiles(body: &str) -> (bool, String) {
    let folder = folder();
    let source = folder.path().join("mistake.c");
    let program = format!(
        "#include <pacman.h>\n\
         int use(pacman_session *session, pacman_phase phase)\n\
         {{\n\
         pacman_options options = PACMAN_OPTIONS_INIT;\n\
         (void)options; (void)phase; (void)session;\n\
         {body}\n\
         return 0;\n\
         }}\n"
    );
    std::fs::write(&source, program).expect("a source file");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-Wall", "-Werror", "-O1", "-c", "-o", "/dev/null", "-I"]);
    let output = compiler
        .arg(root().join("pacman-ffi/include"))
        .arg(&source)
        .env("LC_ALL", "C")
        .output()
        .expect("there is a C compiler");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn mistakes_are_found_by_the_compiler() {
    let (compiled, said) = compiles("return pacman_begin(session, phase);");
    assert!(compiled, "{said}");
    for (mistake, word) in MISTAKES {
        let (compiled, said) = compiles(mistake);
        assert!(!compiled && said.contains(word), "{mistake}: {said}");
    }
}
