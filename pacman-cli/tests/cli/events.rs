//! Events that there are not.

use serde_json::Value;

use super::{run, text};

#[test]
fn a_name_that_is_nowhere_is_refused_on_standard_error() {
    for (arguments, line) in [
        (
            &["list", "--cpu", "p4", "zzz"][..],
            "pacman-pmu: no event of p4-prescott (Pentium 4, models 3 and 4) has \"zzz\" in its name; pacman-pmu list --cpu p4-prescott shows all\n",
        ),
        (
            &["list", "--cpus", "zzz"],
            "pacman-pmu: no table has \"zzz\" in its names or its title; pacman-pmu list --cpus shows all\n",
        ),
        (
            &["encode", "--cpu", "p4", "foo"],
            "pacman-pmu: cannot encode \"foo\": no event foo on p4-prescott; `pacman-pmu list --cpu p4-prescott` shows what there is\n",
        ),
        (
            &["plan", "--cpu", "p4", "--thread", ""],
            "pacman-pmu: cannot plan an empty list of events; name one, such as --thread CYCLES\n",
        ),
    ] {
        let answer = run(arguments);
        assert_eq!(answer.status.code(), Some(2), "{arguments:?}");
        assert_eq!((text(&answer.stdout), text(&answer.stderr)), ("", line));
    }
}

#[test]
fn an_empty_list_in_json_has_the_same_status_and_the_same_line() {
    for arguments in [&["list", "--cpu", "p4", "zzz"][..], &["list", "--cpus", "zzz"]] {
        let plain = run(arguments);
        let json = run(&[arguments, &["--json"]].concat());
        assert_eq!(json.status.code(), plain.status.code(), "{arguments:?}");
        assert_eq!(text(&json.stderr), text(&plain.stderr));
        assert_eq!(serde_json::from_slice::<Value>(&json.stdout).unwrap(), Value::Array(vec![]));
    }
}

#[test]
fn what_can_be_encoded_is_shown_beside_what_cannot() {
    let answer = run(&["encode", "--cpu", "p4", "foo", "CYCLES"]);
    assert_eq!(answer.status.code(), Some(2));
    assert!(text(&answer.stdout).starts_with("CYCLES on p4-prescott"), "{}", text(&answer.stdout));
    assert_eq!(text(&answer.stderr).lines().count(), 1);
}

#[test]
fn lists_have_limits_and_long_names_are_cut_short() {
    let list = vec!["INSTRUCTIONS"; 3_000].join(",");
    let answer = run(&["plan", "--cpu", "p4", "--thread", &list]);
    assert_eq!(answer.status.code(), Some(2));
    assert_eq!(
        text(&answer.stderr),
        "pacman-pmu: a list has at most 256 events, and one has 3000\n"
    );
    let answer = run(&["encode", "--cpu", "skl", &"A".repeat(100_000)]);
    assert_eq!(answer.status.code(), Some(2));
    let said = text(&answer.stderr);
    assert!(said.len() < 600 && said.contains("(100000 bytes)"), "{said}");
}
