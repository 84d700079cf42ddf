//! Which C files of a folder include which, and which call functions of which.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::modules::Modules;

/// The C files of a folder as modules, by name: a file imports what it includes of the folder, and a source the
/// sources whose functions it names.
pub(crate) fn read(files: &[(PathBuf, String)]) -> Modules {
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    let names: BTreeSet<String> = files.iter().map(|(path, _)| name(path)).collect();
    let defined: BTreeMap<String, String> = files
        .iter()
        .flat_map(|(path, text)| defined(text).into_iter().map(|own| (own, name(path))))
        .collect();
    let mut read = Modules::default();
    for (path, text) in files {
        let own = name(path);
        let imports = read.imports.entry(own.clone()).or_default();
        let mut import = |to: &str, line: usize, what: &str| {
            if to != own {
                let place = format!("{}:{line} names {what}", path.display());
                imports.entry(to.to_owned()).or_insert(place);
            }
        };
        for (at, line) in text.lines().enumerate() {
            let included = line.strip_prefix("#include \"").and_then(|rest| rest.strip_suffix('"'));
            if let Some(included) = included.filter(|file| names.contains(*file)) {
                import(included, at + 1, included);
            }
            if own.ends_with(".c") {
                let words = line.split(|one: char| !one.is_alphanumeric() && one != '_');
                for word in words.filter(|_| !line.trim_start().starts_with(['/', '*'])) {
                    if let Some(to) = defined.get(word) {
                        import(to, at + 1, word);
                    }
                }
            }
        }
    }
    read
}

/// The functions with external linkage that a source defines: in the first column, before a body.
fn defined(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let begins = (1..lines.len()).filter(|at| lines[*at] == "{");
    begins.filter_map(|body| head(&lines[..body])).collect()
}

/// The name of the function whose head is before its body.
fn head(before: &[&str]) -> Option<String> {
    let line = before.iter().rev().find(|line| line.starts_with(char::is_alphabetic))?;
    let (name, _) = line.split_once('(')?;
    let name = name.rsplit([' ', '*']).next()?;
    (!line.starts_with("static ")).then(|| name.to_owned())
}

#[test]
fn sources_import_headers_and_the_sources_whose_functions_they_name() {
    let file = |name: &str, text: &str| (PathBuf::from("m").join(name), text.to_owned());
    let read = read(&[
        file("s.h", "#include \"cpu.h\"\nint f(int a);\n"),
        file("a.c", "#include \"s.h\"\nstatic int own(void)\n{\n  return f(2);\n}\n"),
        file(
            "b.c",
            "/* own, g of a comment */\nint *f(int a,\n       int b)\n{\n  return own;\n}\n",
        ),
    ]);
    let imports = |name: &str| read.imports[name].keys().cloned().collect::<Vec<_>>();
    assert_eq!((imports("a.c"), imports("b.c")), (vec!["b.c".into(), "s.h".into()], vec![]));
    assert_eq!(imports("s.h"), [""; 0]);
}
