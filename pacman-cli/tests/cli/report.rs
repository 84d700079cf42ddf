//! `pacman-pmu report`: the page of a report that was written before.

use std::fs;

use serde_json::Value;

use super::run_report::report;
use super::scratch::Scratch;
use super::{pacman_pmu, text};

#[test]
fn a_report_of_before_becomes_the_page_that_run_would_have_written() {
    let (Some((json, _)), Some((page, _))) = (report("json", &[]), report("html", &[])) else {
        return;
    };
    let scratch = Scratch::new();
    let old = scratch.file("old.json", &json);
    let answer = pacman_pmu(&["report"]).arg(&old).output().expect("it runs");
    assert_eq!((answer.status.code(), text(&answer.stderr)), (Some(0), ""));
    let made = fs::read_to_string(scratch.path("old.html")).expect("a page");
    let shell = |page: &str| -> (String, String) {
        let (before, rest) = page.split_once("data-form=\"json\">").expect("a document");
        (before.to_owned(), rest.split_once("</script>").expect("an end").1.to_owned())
    };
    assert_eq!(shell(&made), shell(&page), "style, script and the rest");
    let document = |page: &str| -> Value {
        let (_, rest) = page.split_once("data-form=\"json\">").expect("a document");
        serde_json::from_str(rest.split_once("</script>").expect("an end").0).expect("JSON")
    };
    assert_eq!(document(&made), serde_json::from_str::<Value>(&json).expect("JSON"));
    let named = scratch.named("named.htm");
    let answer = pacman_pmu(&["report", "-o", &named]).arg(&old).output().expect("it runs");
    assert_eq!(answer.status.code(), Some(0), "{}", text(&answer.stderr));
    assert_eq!(fs::read_to_string(named).expect("a page"), made);
}

#[test]
fn each_kind_of_error_is_one_line() {
    let scratch = Scratch::new();
    let file = |name: &str, content: &str| {
        scratch.file(name, content).to_str().expect("a path in UTF-8").to_owned()
    };
    let no_json = file("no.json", "x");
    let other = file("other.json", r#"{"format": "pacman-stat", "version": 1}"#);
    let later = file("later.json", r#"{"format": "pacman-run", "version": 99}"#);
    let own = file("own.html", "{}");
    let run = file("run.json", r#"{"format": "pacman-run", "version": 3, "processes": []}"#);
    for (arguments, status, why) in [
        (vec!["/no/such.json"], 2, "cannot read /no/such.json: No such file or directory"),
        (vec![&*no_json], 2, "it is not a JSON report; pacman-pmu run -o FILE.json writes one"),
        (vec![&other], 2, "it is a pacman-stat, not a report of pacman-pmu run"),
        (vec![&later], 2, "it has version 99 of the format, not 3: run the program again"),
        (vec![&run, "-o", "page.pdf"], 2, "name a file that ends in .html"),
        (vec![&own, "-o", &own], 2, "it is the report itself"),
        (
            vec![&run, "-o", "/no/such/page.html"],
            4,
            "cannot write the page to /no/such/page.html: ",
        ),
    ] {
        let answer = pacman_pmu(&["report"]).args(&arguments).output().expect("it runs");
        let said = text(&answer.stderr);
        assert_eq!(answer.status.code(), Some(status), "{arguments:?}: {said}");
        assert!(said.contains(why) && said.lines().count() == 1, "{arguments:?}: {said}");
        assert_eq!(text(&answer.stdout), "");
    }
}
