//! Tests of `places`.

use super::*;

fn place(name: &str, file: Option<&str>) -> Place {
    let (function, at, number) = parts(name);
    Place { function: without_version(function), at, file: file.map(str::to_owned), number }
}

fn pairs(known: &[(&str, &str)], own: &[(&str, &str)]) -> Vec<(usize, usize)> {
    let places = |side: &[(&str, &str)]| -> Vec<Place> {
        let file = |file: &str| (!file.is_empty()).then(|| file.to_owned());
        side.iter().map(|(name, at)| place(name, file(at).as_deref())).collect()
    };
    let (known, own) = (places(known), places(own));
    let set = |side: &[Place]| side.iter().cloned().collect::<BTreeSet<_>>();
    let found = matched(&set(&known), &set(&own));
    let at = |side: &[Place], place: &Place| side.iter().position(|one| one == place);
    let mut pairs: Vec<_> = found
        .iter()
        .map(|(one, other)| (at(&known, other).expect("known"), at(&own, one).expect("own")))
        .collect();
    pairs.sort_unstable();
    pairs
}

#[test]
fn directories_and_lines_may_change() {
    let before = [("main, line 8", "/old/app.c"), ("main, line 20", "/old/app.c")];
    let after = [("main, line 12", "/new/src/app.c"), ("main, line 33", "/new/src/app.c")];
    assert_eq!(pairs(&before, &after), [(0, 0), (1, 1)]);
    assert_eq!(pairs(&before, &[("main, line 8", "/old/other.c")]), []);
    assert_eq!(pairs(&before, &[("start, line 8", "/old/app.c")]), []);
}

#[test]
fn a_region_more_moves_no_other_one_to_its_neighbour() {
    let before = [("f, line 10", "a.c"), ("f, line 20", "a.c")];
    let after = [("f, line 12", "b/a.c"), ("f, line 22", "b/a.c"), ("f, line 30", "b/a.c")];
    assert_eq!(pairs(&before, &after), [(0, 0), (1, 1)], "all moved by two lines");
    let unmoved = [("f, line 5", "a.c"), ("f, line 10", "a.c"), ("f, line 20", "a.c")];
    assert_eq!(pairs(&before, &unmoved), [(0, 1), (1, 2)]);
    let mixed = [("f, line 3", "a.c"), ("f, line 14", "a.c"), ("f, line 27", "a.c")];
    assert_eq!(pairs(&before, &mixed), [], "nobody can tell");
}

#[test]
fn files_of_one_name_are_told_apart_by_their_directories() {
    let before = [("init, line 3", "/old/x/util.c"), ("init, line 3", "/old/y/util.c")];
    let after = [("init, line 4", "/new/y/util.c"), ("init, line 4", "/new/x/util.c")];
    assert_eq!(pairs(&before, &after), [(0, 1), (1, 0)]);
    let moved = [("init, line 4", "/new/a/util.c"), ("init, line 4", "/new/b/util.c")];
    assert_eq!(pairs(&before, &moved), [], "nobody can tell");
}

#[test]
fn versions_of_libraries_and_additions_in_brackets_are_no_part_of_a_name() {
    for (one, other) in [
        ("libx.so.1.2, region 0", "libx.so.1.3, region 0"),
        ("libx-1.2.so+0x40", "libx-1.3.so+0x80"),
        ("f, line 3 (a.c:3)", "f, line 4"),
        ("f, region 1 (0x4010)", "f, region 1 (0x5010)"),
        ("common::ParallelFor in build, line 9", "common::ParallelFor in build, line 12"),
        ("a region of f", "a region of f"),
    ] {
        assert_eq!(pairs(&[(one, "")], &[(other, "")]), [(0, 0)], "{one}");
    }
    let doubles = ("fill, line 3 (double)", "a.cc");
    assert_eq!(pairs(&[doubles], &[("fill, line 3 (float)", "a.cc")]), []);
}
