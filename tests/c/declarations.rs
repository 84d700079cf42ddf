//! The library exports all that the header declares, and the Fortran module declares the same.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use pacman_suite::skipped;

use super::toolchain::{libraries, root};
use pacman_suite::command::{finish, have};

fn header() -> String {
    std::fs::read_to_string(root().join("pacman-ffi/include/pacman.h")).expect("the header")
}

#[test]
fn only_what_the_header_declares_is_exported() {
    if !have("nm") {
        skipped("no nm");
        return;
    }
    let mut command = Command::new("nm");
    command.args(["-D", "--defined-only", "--format=posix"]).arg(&libraries().shared);
    let listing = String::from_utf8(finish(&mut command).stdout).expect("UTF-8");
    let exported: BTreeSet<&str> =
        listing.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let header = header();
    // A declaration begins in the first column with its type, a page with " * name:".
    let named = |line: &str, end: char| {
        let start = line.find("pacman_")?;
        Some(line[start..].split_once(end)?.0.to_string())
    };
    let declared: BTreeSet<String> = header
        .lines()
        .filter(|line| line.starts_with("int ") || line.starts_with("const char *"))
        .filter_map(|line| named(line, '('))
        .collect();
    let described: BTreeSet<String> = header
        .lines()
        .filter(|line| line.starts_with(" * pacman_"))
        .filter_map(|line| named(line, ':'))
        .collect();
    assert_eq!(exported, declared.iter().map(String::as_str).collect());
    assert_eq!(declared, described, "a page for each function");
}

#[test]
fn the_fortran_module_has_every_function_constant_and_field() {
    let header = header();
    let module = std::fs::read_to_string(root().join("pacman-ffi/fortran/pacman.f90")).expect("it");
    // Statements on one line each, without comments.
    let code: Vec<&str> = module.lines().map(|line| line.split('!').next().unwrap_or("")).collect();
    let code = code.join("\n").replace("&\n", " ");

    let entities = |line: &str| -> Vec<String> {
        let (_, list) = line.split_once(" :: ").unwrap_or_default();
        list.split(", ").map(|entity| entity.trim().to_string()).collect()
    };
    let bound: BTreeSet<String> = code
        .lines()
        .filter(|line| line.contains("bind(c") && !line.contains("type, "))
        .map(|line| match line.split_once("name=\"") {
            Some((_, name)) => name.split('"').next().unwrap_or_default().to_string(),
            None => {
                let (_, name) = line.split_once("function ").unwrap_or_default();
                name.split('(').next().unwrap_or_default().to_string()
            }
        })
        .collect();
    let declared: BTreeSet<String> = header
        .lines()
        .filter_map(|line| line.strip_prefix(" * ")?.split_once(": "))
        .filter(|(name, _)| name.starts_with("pacman_"))
        .map(|(name, _)| name.to_string())
        .collect();
    assert_eq!(bound, declared);

    let plain = |value: &str| value.trim_matches(['(', ')']).trim_end_matches(".0").to_string();
    let constants: BTreeMap<String, String> = header
        .lines()
        .filter_map(|line| line.strip_prefix("#define ")?.split_once(' '))
        // The values of the last two are expressions; initialisers are the types' default values.
        .filter(|(name, _)| !name.ends_with("_INIT") && !name.contains(['(']))
        .filter(|(name, _)| !["PACMAN_MUST_CHECK", "PACMAN_ABI"].contains(name))
        .map(|(name, value)| {
            let value = value.split("/*").next().unwrap_or_default().trim();
            // Fortran has one name for this constant and the function of the name.
            let name = if name == "PACMAN_VERSION" { "PACMAN_HEADER_VERSION" } else { name };
            (name.to_string(), plain(value.trim_end_matches('u')))
        })
        .collect();
    let parameters: BTreeMap<String, String> = code
        .lines()
        .filter(|line| line.contains(", parameter ::"))
        .flat_map(entities)
        .filter_map(|entity| entity.split_once(" = ").map(|(a, b)| (a.to_string(), plain(b))))
        .filter(|(name, _)| name != "PACMAN_ABI")
        .collect();
    assert!(constants.len() > 40, "{constants:?}");
    assert_eq!(parameters, constants);
    assert!(code.contains("PACMAN_ABI = ior(ishft(PACMAN_ABI_MAJOR, 16), PACMAN_ABI_MINOR)"));

    // The names of fields in their order: of C, "type name;", of Fortran, "type :: name = value, …".
    let c_fields = |body: &str| -> Vec<String> {
        // Lines of comments are indented more.
        let lines = body.lines().filter(|line| !line.starts_with("     ") && line.contains(';'));
        lines
            .map(|line| {
                let field = line.split(';').next().unwrap_or_default();
                field.rsplit([' ', '*']).next().unwrap_or_default().to_string()
            })
            .collect()
    };
    let fortran_fields = |body: &str| -> Vec<String> {
        let named = |entity: String| {
            let name = entity.split(" = ").next().unwrap_or_default();
            name.replace('(', "[").replace(')', "]")
        };
        body.lines().filter(|line| line.contains(" :: ")).flat_map(entities).map(named).collect()
    };
    let mut structs = 0;
    for part in header.split("typedef struct ").skip(1) {
        let Some((name, body)) = part.split_once(" {\n") else { continue };
        // An opaque type has no body.
        if name.contains(';') {
            continue;
        }
        let body = body.split("\n}").next().unwrap_or_default();
        let start = format!("type, bind(c) :: {name}\n");
        let (_, own) = code.split_once(&start).unwrap_or_else(|| panic!("no {name} in the module"));
        let own = own.split("end type").next().unwrap_or_default();
        assert_eq!(fortran_fields(own), c_fields(&format!("{body}\n")), "{name}");
        structs += 1;
    }
    assert_eq!(structs, 7);
}
