//! The rules on small crates made up for it.

use std::path::Path;

use crate::modules::Modules;

/// The crate of these files; its root is `src/lib.rs`.
fn read(sources: &[(&str, &str)]) -> Modules {
    let reader = |path: &Path| {
        let found = sources.iter().find(|(name, _)| Path::new("src").join(name) == path);
        found.map(|(_, text)| (*text).to_owned())
    };
    Modules::read(Path::new("src/lib.rs"), &reader).expect("a crate")
}

/// Its imports, a line for each module that has some.
fn imports(sources: &[(&str, &str)]) -> Vec<String> {
    let read = read(sources);
    let having = read.imports.into_iter().filter(|(_, to)| !to.is_empty());
    let names = |to: std::collections::BTreeMap<String, String>| to.into_keys().collect::<Vec<_>>();
    having.map(|(from, to)| format!("{from}: {}", names(to).join(" "))).collect()
}

#[test]
fn a_circle_is_named_with_its_whole_path_and_its_places() {
    let sources = [
        ("lib.rs", "mod a; mod b; mod c; mod d; pub use a::A;"),
        ("a.rs", "mod inner;"),
        ("a/inner.rs", "pub struct A(crate::b::B);"),
        ("b.rs", "use super::c;\npub struct B(Box<c::C>);"),
        ("c.rs", "pub struct C;\nfn f(_: crate::A) {}"),
        ("d.rs", "use crate::a;"),
    ];
    assert_eq!(imports(&sources), ["a: b", "b: c", "c: a", "d: a"]);
    let circle = "a -> b -> c -> a\n  a -> b: src/a/inner.rs:1 names crate::b::B\n  \
                  b -> c: src/b.rs:1 names super::c\n  c -> a: src/c.rs:2 names crate::A";
    assert_eq!(read(&sources).circles(), [circle]);
}

#[test]
fn a_module_may_name_its_own_parts_in_any_way() {
    let sources = [
        ("lib.rs", "mod a; mod b;"),
        (
            "a/mod.rs",
            "mod x; mod y; use self::x::X; use crate::a::y::Y; mod z { use super::super::b::B; }",
        ),
        ("a/x.rs", "use super::y::Y; pub struct X;"),
        ("a/y.rs", "use crate::a::x::X; pub struct Y;"),
        ("b.rs", "pub struct B;"),
    ];
    assert_eq!(imports(&sources), ["a: b"]);
    assert_eq!(read(&sources).circles(), [""; 0]);
}

#[test]
fn the_root_is_a_module_by_what_it_defines() {
    let sources = [
        ("lib.rs", "mod a; mod b; pub use b::B; use crate::a::run; pub fn main() { run() }"),
        ("a.rs", "pub fn run() { crate::main(); crate::B; }"),
        ("b.rs", "use super::main;\npub struct B;"),
    ];
    assert_eq!(imports(&sources), ["a: b lib", "b: lib", "lib: a"]);
    assert_eq!(read(&sources).circles().len(), 2, "a with lib, and b by way of both");
}

#[test]
fn tests_and_loom_models_import_nothing() {
    let b = "pub struct B { #[cfg(test)] a: crate::a::A, c: u8 }
        #[cfg(test)] use crate::a::A;
        #[cfg(all(test, not(loom)))] mod tests { use crate::a::A; }
        #[cfg(test)] mod absent;
        #[cfg_attr(test, derive(crate::a::D))] enum E {}
        #[cfg(loom)] fn model() -> [u8; 2] { crate::a::f() }
        impl B { #[cfg(test)] fn new() { crate::a::f() } fn d() { crate::d::D } }";
    let a = "pub struct A; pub fn f() { let _ = crate::b::B; }";
    let root = ("lib.rs", "mod a; mod b; mod d;");
    assert_eq!(imports(&[root, ("a.rs", a), ("b.rs", b), ("d.rs", "")]), ["a: b", "b: d"]);
    let b = b.replace("all(test, not(loom))", "any(test, not(loom))");
    assert_eq!(imports(&[root, ("a.rs", a), ("b.rs", &b), ("d.rs", "")]), ["a: b", "b: a d"]);
}

#[test]
fn paths_count_in_expressions_types_macros_attributes_and_trees() {
    for (names, to) in [
        ("fn g(x: &crate::b::T) {}", "b"),
        ("fn g() { assert!(vec![x.c, super::b::S].is_empty()); }", "b"),
        ("macro_rules! m { ($t:ident) => { $crate::b::$t; } }", "b"),
        ("#[arg(parser = crate::b::f)] struct U;", "b"),
        ("use crate::{b::{self, T as Own}, c};", "b c"),
        ("fn g() { Vec::<crate::c::C>::new(); use crate::b; b::f() }", "b c"),
        ("#[path = \"../d.rs\"] mod d;", "c"),
    ] {
        let sources = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", names),
            ("b.rs", ""),
            ("c.rs", ""),
            ("../d.rs", "use crate::c::C;"),
        ];
        assert_eq!(imports(&sources), [format!("a: {to}")], "{names}");
    }
}

#[test]
fn a_type_is_listed_once_and_only_where_public_names_lead_to_it() {
    let sources = [
        (
            "lib.rs",
            "mod a; pub mod b; #[doc(hidden)] pub mod c; mod d; #[cfg(test)] pub mod e; pub use a::inner::{A, Same as Twin}; \
             pub use d::*; #[doc(hidden)] pub use a::Hidden; pub use other::Foreign; pub(crate) struct Own;",
        ),
        ("a.rs", "pub mod inner; pub struct Unreached; pub struct Hidden; struct Private;"),
        ("a/inner.rs", "pub struct A; pub enum Same { One }"),
        (
            "b/mod.rs",
            "pub trait B {} pub use super::a::inner::Same; pub use super::d::D; pub mod f { pub union F { f: u8 } }",
        ),
        ("c.rs", "pub struct C;"),
        (
            "d.rs",
            "pub type D = u8; pub(crate) struct NotHere; pub use crate::a::inner::A as Again;",
        ),
    ];
    let reader = |path: &Path| {
        let found = sources.iter().find(|(name, _)| Path::new("src").join(name) == path);
        found.map(|(_, text)| (*text).to_owned())
    };
    let listed = crate::public_types::listed(Path::new("src/lib.rs"), &reader);
    let listed: Vec<&str> = listed.iter().map(String::as_str).collect();
    assert_eq!(listed, ["a::inner::A", "a::inner::Same", "b::B", "b::f::F", "d::D"]);
}
