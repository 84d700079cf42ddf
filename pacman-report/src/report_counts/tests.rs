//! Tests of `report_counts`.

use super::*;

const RUN: &str = r#"{"format": "pacman-run", "version": 3, "processes": [
        {"events": [{"name": "CYCLES", "doubt": null}], "regions": [
            {"name": "a", "figures": {"counts": {"CYCLES": 3}, "complete": true}},
            {"name": "b", "figures": {"counts": {"CYCLES": 5}, "complete": false}}]},
        {"events": [{"name": "CYCLES", "doubt": null}], "regions": [
            {"name": "a", "figures": {"counts": {"CYCLES": 4}, "complete": true}}]}]}"#;

#[test]
fn a_region_is_the_sum_over_all_processes() {
    assert_eq!(of_report(RUN, Some("a")).unwrap(), "\"CYCLES\",7\n");
    let one = RUN.replace(r#""name": "b""#, r#""name": "a""#).replace("false", "true");
    assert_eq!(of_report(&one, None).unwrap(), "\"CYCLES\",12\n");
}

#[test]
fn estimates_of_rotated_sets_are_told() {
    let stat = r#"{"format": "pacman-stat", "version": 1, "by": "thread",
            "events": [{"name": "A", "doubt": null}, {"name": "B", "doubt": null}],
            "total": {"counts": [7, 8], "counted_shares": [0.5, 1], "missing": 0}}"#;
    let note = estimates(stat, None).expect("a note");
    assert!(note.starts_with("the counts of A are estimates: "), "{note}");
    assert!(note.contains(" 50.0% "), "{note}");
    assert_eq!(estimates(&stat.replace("0.5", "1"), None), None);
    assert_eq!(estimates(&stat.replace("[0.5, 1]", "null"), None), None);
    assert_eq!(estimates(RUN, None), None);
    let shares = r#""counted_shares": {"CYCLES": 0.25}, "complete": true"#;
    let run = RUN.replacen(r#""complete": true"#, shares, 1);
    let note = estimates(&run, Some("a")).expect("a note");
    assert!(note.contains(" 25.0% of the executions "), "{note}");
    assert_eq!(estimates(&run, Some("b")), None);
}

#[test]
fn a_sum_that_is_not_known_is_refused() {
    let stat = r#"{"format": "pacman-stat", "version": 1, "by": "thread",
            "events": [{"name": "A", "doubt": null}], "total": {"counts": [7], "missing": 0}}"#;
    assert_eq!(of_report(stat, None).unwrap(), "\"A\",7\n");
    let report = r#"{"format": "pacman-report", "version": 1, "phases": ["p"],
            "events": [{"name": "A", "doubt": null}], "threads": [
            {"phases": [{"phase": 0, "implausible": null, "counts": [{"value": 7}]}]},
            {"phases": [{"phase": 0, "implausible": null, "counts": [{"value": 8}]}]}]}"#;
    assert_eq!(of_report(report, Some("p")).unwrap(), "\"A\",15\n");
    for (text, phase, why) in [
        (RUN.to_owned(), None, "choose a region with --phase: \"a\", \"b\""),
        (RUN.to_owned(), Some("c"), "there is no region \"c\", but \"a\", \"b\""),
        (RUN.to_owned(), Some("b"), "executions of region \"b\" lack counts"),
        (RUN.replace(": 4}", ": null}"), Some("a"), "CYCLES was not counted in every"),
        (RUN.replace(": 4}", ": 18446744073709551615}"), Some("a"), "CYCLES was not counted"),
        (RUN.replace("\"doubt\": null", "\"doubt\": \"old\""), Some("a"), "counts of CYCLES may"),
        (RUN.replace("n\": 3", "n\": 4"), None, "version 4 of pacman-run is not known"),
        (stat.replace("\"thread\"", "\"run\""), None, "its total is that of several runs"),
        (stat.replace("\"missing\": 0", "\"missing\": 2"), None, "2 of its rows have no counts"),
        (stat.replace("[7]", "null"), None, "the report has no counts"),
        (stat.to_owned(), Some("p"), "a report of stat has no phases"),
        (format!("{stat}\n{stat}"), None, "it has several documents"),
        (report.replace("{\"value\": 8}", "{\"value\": null}"), None, "A was not counted"),
        (report.replacen("\"implausible\": null", "\"implausible\": {}", 1), None, "executions of"),
        (
            report.replace("[\"p\"]", "[\"q\", \"r\", \"s\"]"),
            Some("s"),
            "no thread ran phase \"s\"",
        ),
        (r#"{"format": "pacman-compare", "version": 1}"#.into(), None, "a report of format"),
        ("{\"format\": ".into(), None, "EOF while parsing"),
        (stat.replace("\"by\"", "\"x\": 1e400, \"by\""), None, "number out of range at line 1"),
    ] {
        let refusal = of_report(&text, phase).unwrap_err();
        assert!(refusal.starts_with(why), "{refusal} and not {why}");
    }
}
