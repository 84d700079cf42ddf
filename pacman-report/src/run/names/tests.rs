//! Tests of `names`.

use std::fs;
use std::os::unix::fs::MetadataExt;

use super::*;

#[test]
fn what_llvm_leaves_is_read_and_unknown_is_nothing() {
    let source = Source::parse(";two.c;main;10;40;;").expect("a source");
    assert_eq!(
        (source.file.as_deref(), source.function.as_deref(), source.line),
        (Some("two.c"), Some("main"), Some(10))
    );
    let nothing = Source { file: None, function: None, line: None };
    assert_eq!(Source::parse(";unknown;unknown;0;0;;"), Some(nothing));
    assert_eq!(Source::parse("0x1234"), None);
}

#[test]
fn a_module_that_is_gone_gives_offsets() {
    let mut names = Names::default();
    let site =
        Site { module: "/no/such/solver".into(), identity: None, address: 0x1260, source: None };
    let name = names.of(&site);
    assert_eq!((name.text.as_str(), name.file), ("solver+0x1260", None));
    names.of(&site);
    assert_eq!(names.notes.len(), 1, "{:?}", names.notes);
    assert!(names.notes[0].contains("/no/such/solver"), "{}", names.notes[0]);
}

#[test]
fn code_without_a_file_is_named_by_its_address() {
    let mut names = Names::default();
    let site = Site { module: PathBuf::new(), identity: None, address: 0x7f00_1260, source: None };
    let name = names.of(&site);
    assert_eq!(name.text, "generated code at 0x7f001260");
    let note = "regions of generated code are shown by address: no file has their names";
    assert_eq!(names.notes, [note]);
}

#[test]
fn another_file_at_the_path_of_a_module_gives_offsets() {
    let module = std::env::current_exe().expect("a test is a program");
    let about = fs::metadata(&module).expect("it is there");
    let modified = about.mtime() * 1_000_000_000 + about.mtime_nsec();
    let metadata = |inode: u64| {
        let (device, size) = (about.dev(), about.size());
        Some(FileIdentity::Metadata { device, inode, size, modified })
    };
    let mut names = Names::default();
    let mut notes = |identity: Option<FileIdentity>| {
        let site = Site { module: module.clone(), identity, address: 0x40, source: None };
        let name = names.of(&site);
        assert!(name.text.ends_with("+0x40"), "{name:?}");
        std::mem::take(&mut names.notes).concat()
    };
    assert_eq!(notes(metadata(about.ino())), "", "it is the same file");
    let said = notes(metadata(about.ino() + 1));
    assert!(said.ends_with("used another file there, or this one changed since"), "{said}");
    let said = notes(Some(FileIdentity::BuildId("0fa0".into())));
    assert!(said.ends_with("used another file there, with the build ID 0fa0"), "{said}");
    assert!(notes(None).ends_with("could not tell it from other files"));
}

#[test]
fn namesakes_are_told_apart_by_line_and_else_by_offset() {
    let name = |file: &str, line| Name {
        text: "work, region 0".into(),
        symbol: None,
        file: Some(file.into()),
        line: Some(line),
        apart: None,
        function: None,
    };
    let site = |address| Site { module: "/bin/x".into(), identity: None, address, source: None };
    let (mut one, mut two, mut three) = (name("/s/a.c", 3), name("/s/b.c", 3), name("/s/b.c", 3));
    let sites = [site(1), site(2), site(3)];
    tell_apart(&mut [(&mut one, &sites[0]), (&mut two, &sites[1]), (&mut three, &sites[2])]);
    assert_eq!(one.text, "work, region 0 (a.c:3)");
    assert_eq!(two.text, "work, region 0 (0x2)");
    assert_eq!(three.text, "work, region 0 (0x3)");
    let plugin = |module: &str, id: &str| {
        let identity = Some(FileIdentity::BuildId(id.into()));
        Site { module: module.into(), identity, ..site(7) }
    };
    let sites = [plugin("/a/x.so", "01"), plugin("/b/y.so", "02"), plugin("/a/x.so", "03")];
    let [mut first, mut second, mut third] = [(); 3].map(|()| name("/s/b.c", 3));
    let named = [(&mut first, &sites[0]), (&mut second, &sites[1]), (&mut third, &sites[2])];
    tell_apart(&mut Vec::from(named));
    assert_eq!(first.text, "work, region 0 (x.so+0x7, build ID 01)");
    assert_eq!(second.text, "work, region 0 (y.so+0x7)");
    assert_eq!(third.text, "work, region 0 (x.so+0x7, build ID 03)");
    two.text.insert_str(0, &"lab::Grid<std::vector<double>>::".repeat(2));
    assert_eq!(two.short(), "lab::Grid<…>::lab::Grid<…>::work, region 0 (0x2)");
}
