//! The rules on small crates made up for it.

use std::path::Path;

use crate::circles::circles;
use crate::modules::Crate;

/// Reads a crate of these files; its root is `src/lib.rs`.
fn read(sources: &[(&str, &str)]) -> Crate {
    let reader = |path: &Path| {
        let found = sources.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| (*text).to_owned())
    };
    Crate::read(Path::new("src/lib.rs"), &reader).expect("a crate")
}

/// Its imports, as `from:line path to`, without `src/` and `.rs`.
fn imports(sources: &[(&str, &str)]) -> Vec<String> {
    let read = read(sources);
    let name = |file: usize| {
        let name = read.files[file].display().to_string();
        name.trim_start_matches("src/").trim_end_matches(".rs").to_owned()
    };
    let found = read.imports();
    assert_eq!(found.unresolved, [""; 0]);
    let line = |import: &crate::imports::Import| {
        format!("{}:{} {} {}", name(import.from), import.line, import.path, name(import.to))
    };
    found.imports.iter().map(line).collect()
}

/// The files of each circle.
fn found(sources: &[(&str, &str)]) -> Vec<Vec<String>> {
    let read = read(sources);
    let files: Vec<String> = read.files.iter().map(|file| file.display().to_string()).collect();
    let circles = circles(&files, &read.imports().imports);
    circles.into_iter().map(|circle| circle.files.into_iter().collect()).collect()
}

#[test]
fn a_circle_through_a_reexport_is_found() {
    let sources = [
        ("src/lib.rs", "mod a; mod b; pub use a::A;"),
        ("src/a.rs", "use crate::b::B;\npub struct A(B);"),
        ("src/b.rs", "use crate::A;\npub struct B(Box<A>);"),
    ];
    assert_eq!(imports(&sources)[1..], ["a:1 crate::b::B b", "b:1 crate::A a"]);
    assert_eq!(found(&sources), [["src/a.rs", "src/b.rs"]]);
}

#[test]
fn a_facade_is_in_no_circle() {
    let sources = [
        ("src/lib.rs", "mod shapes;"),
        ("src/shapes/mod.rs", "mod line; mod point; pub use line::Line; pub use point::Point;"),
        ("src/shapes/line.rs", "use super::Point;\npub struct Line(Point, Point);"),
        ("src/shapes/point.rs", "pub struct Point;"),
    ];
    assert_eq!(found(&sources), [[""; 0]; 0]);
}

#[test]
fn a_mod_rs_that_defines_and_uses_is_in_a_circle() {
    let sources = [
        ("src/lib.rs", "mod shapes;"),
        ("src/shapes/mod.rs", "mod line;\npub struct Point;\nfn f() { line::draw() }"),
        ("src/shapes/line.rs", "pub fn draw() { let _ = super::Point; }"),
    ];
    assert_eq!(found(&sources), [["src/shapes/line.rs", "src/shapes/mod.rs"]]);
}

#[test]
fn tests_and_loom_models_import_nothing() {
    let b = "pub struct B;
        #[cfg(test)] use crate::a::A;
        #[cfg(all(test, not(loom)))] mod tests { use crate::a::A; }
        #[cfg(loom)] fn model() { crate::a::f() }
        impl B { #[cfg(test)] fn new() { crate::a::f() } }";
    let a = "pub struct A; pub fn f() { let _ = crate::b::B; }";
    let sources = [("src/lib.rs", "mod a; mod b;"), ("src/a.rs", a), ("src/b.rs", b)];
    assert_eq!(imports(&sources), ["a:1 crate::b::B b"]);
    let b = b.replace("all(test, not(loom))", "any(test, not(loom))");
    let sources = [("src/lib.rs", "mod a; mod b;"), ("src/a.rs", a), ("src/b.rs", b.as_str())];
    assert_eq!(imports(&sources), ["a:1 crate::b::B b", "b:3 crate::a::A a"]);
}

#[test]
fn paths_count_in_expressions_types_macros_and_attributes() {
    let a = "mod inner { pub fn f() -> super::super::b::T { todo!() } }
        fn g(x: &crate::b::T) { assert!(vec![x.c, super::b::S].is_empty()); }
        macro_rules! m { ($t:ident) => { $crate::b::$t; use $crate::b::{T, S}; $t::b::T } }
        #[arg(parser = crate::b::f)] struct U;
        pub(in crate::b) fn h() { use crate::b; b::f() }";
    let b = "pub struct T; pub const S: u8 = 0; pub fn f() {}";
    let sources = [("src/lib.rs", "mod a; mod b;"), ("src/a.rs", a), ("src/b.rs", b)];
    let expected = [
        "a:1 super::super::b::T b",
        "a:2 crate::b::T b",
        "a:2 super::b::S b",
        "a:3 crate::b::S b",
        "a:3 crate::b::T b",
        "a:4 crate::b::f b",
        "a:5 b::f b",
    ];
    assert_eq!(imports(&sources), expected);
}

#[test]
fn glob_imports_count_for_the_files_whose_items_are_named() {
    let sources = [
        ("src/lib.rs", "mod a; mod b; mod c; mod d;"),
        ("src/a.rs", "use crate::b::*;\nfn f(_: D) { Own; }\nstruct Own;"),
        ("src/b.rs", "pub use crate::c::*; pub use crate::d::D;"),
        ("src/c.rs", "pub struct C; pub struct Own;"),
        ("src/d.rs", "pub struct D;"),
    ];
    assert_eq!(imports(&sources), ["a:2 D d", "b:1 crate::d::D d"]);
}

#[test]
fn macros_count_that_are_in_scope_by_the_order_of_the_text() {
    let sources = [
        ("src/lib.rs", "macro_rules! twice { () => {} }\nmod a;"),
        ("src/a.rs", "twice!();\nmacro_rules! own { () => {} }\nown!();"),
    ];
    assert_eq!(imports(&sources), ["a:1 twice! lib"]);
}

#[test]
fn names_that_a_macro_defines_are_its_callers() {
    let sources = [
        ("src/lib.rs", "mod a; mod b;"),
        ("src/a.rs", "words!(Colour, Shade);"),
        ("src/b.rs", "use crate::a::Colour;\nuse std::fmt::Debug as _;\nfn f() { libc::free() }"),
    ];
    assert_eq!(imports(&sources), ["b:1 crate::a::Colour a"]);
}

#[test]
fn a_path_to_nowhere_is_no_import_and_is_reported() {
    let found = read(&[("src/lib.rs", "mod a;"), ("src/a.rs", "use crate::gone::B;")]).imports();
    assert_eq!(found.unresolved, ["src/a.rs:1: crate::gone::B"]);
}

#[test]
fn a_circle_is_reported_with_its_imports() {
    let sources = [
        ("src/lib.rs", "mod a; mod b; mod c;"),
        ("src/a.rs", "pub struct A(crate::b::B);"),
        ("src/b.rs", "pub struct B(Box<crate::a::A>);"),
        ("src/c.rs", "pub struct C;"),
    ];
    let files = ["src/lib.rs", "src/a.rs", "src/b.rs", "src/c.rs"].map(str::to_owned);
    let found = circles(&files, &read(&sources).imports().imports);
    assert_eq!(found.len(), 1);
    let report = &found[0].report;
    assert!(report.contains("src/a.rs:1 names crate::b::B, defined in src/b.rs"), "{report}");
    assert!(!report.contains("src/c.rs"), "{report}");
}
