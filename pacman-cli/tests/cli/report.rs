//! `pacman-pmu report`: the page of a report that was written before.

use std::fs;

use serde_json::{Value, json};

use super::run_page::open;
use super::run_report::{report, report_of};
use super::scratch::Scratch;
use super::{pacman_pmu, refused, text, told};

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
    let damaged = file("damaged.json", r#"{"format": "pacman-run", "version": 3, "processes": 7}"#);
    let number = r#"{"format": "pacman-run", "version": 3, "processes": [{"executions": 1e400}]}"#;
    let endless = file("endless.json", number);
    let own = file("own.html", "{}");
    let run = file("run.json", r#"{"format": "pacman-run", "version": 3, "processes": []}"#);
    let mut told = told("report: refusals");
    for (arguments, status) in [
        (vec!["/no/such.json"], 2),
        (vec![&*no_json], 2),
        (vec![&other], 2),
        (vec![&later], 2),
        (vec![&damaged], 2),
        (vec![&endless], 2),
        (vec![&run, "-o", "page.pdf"], 2),
        (vec![&own, "-o", &own], 2),
        (vec![&run, "-o", "/no/such/page.html"], 4),
    ] {
        let answer = pacman_pmu(&["report"]).args(&arguments).output().expect("it runs");
        refused(&mut told, &answer, status, &scratch);
    }
}

/// A run of four threads whose waits were timed and events counted.
fn document() -> Option<Value> {
    let recording = include_str!("page/siblings.json");
    let (report, _) = report_of(recording, "json", &["--machine", "zen4"])?;
    Some(serde_json::from_str(&report).expect("JSON"))
}

/// The page that the command makes of a document.
fn page_of(document: &Value) -> String {
    let scratch = Scratch::new();
    let old = scratch.file("old.json", &document.to_string());
    let answer = pacman_pmu(&["report"]).arg(&old).output().expect("it runs");
    assert_eq!((answer.status.code(), text(&answer.stderr)), (Some(0), ""));
    fs::read_to_string(scratch.path("old.html")).expect("a page")
}

const WIDTHS: [(u32, u32); 4] = [(390, 844), (800, 600), (1280, 800), (1920, 1080)];

/// The page shows each name of a report as text.
#[test]
fn all_text_of_a_report_may_be_hostile() {
    /// Puts `evil` in the place of each text that people or compilers choose.
    fn spoil(value: &mut Value, evil: &str) {
        const WORDS: [&str; 6] = ["format", "unit", "ending", "family", "began", "events"];
        match value {
            Value::String(text) => *text = evil.to_owned(),
            Value::Array(values) => values.iter_mut().for_each(|one| spoil(one, evil)),
            Value::Object(members) => {
                let own = members.iter_mut().filter(|(name, _)| !WORDS.contains(&&***name));
                own.for_each(|(_, member)| spoil(member, evil));
            }
            _ => {}
        }
    }
    let Some(mut document) = document() else { return };
    spoil(&mut document, "</script><img src=x onerror=\"window.errors.push('ran')\"><!--<script>");
    let page = page_of(&document);
    let probe = "
        seen.foreign = document.querySelectorAll('main script, img, iframe, object, link, base, [onerror]').length;
        seen.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
        seen.said = document.getElementById('main').innerText.split('<img src=x').length;";
    for size in WIDTHS {
        let Some(seen) = open(&page, size, probe) else { return };
        assert_eq!((&seen["foreign"], &seen["overflow"]), (&0.into(), &0.into()), "{size:?}");
        assert!(seen["said"].as_u64() > Some(10), "{size:?}: {seen}");
    }
}

/// Causes of waits and figures of regions may come later than the page.
#[test]
fn what_the_page_does_not_know_is_drawn_too() {
    let Some(mut document) = document() else { return };
    let figure = json!({"name": "moonlight_s", "unit": "s", "about": "Seconds of moonlight."});
    document["region_figures"].as_array_mut().expect("a list").push(figure);
    document["processes"][0]["regions"][0]["moonlight_s"] = 1.25.into();
    let mut colours = Vec::new();
    for (cause, class, word) in [
        ("barrier", "s-barrier", "barrier: "),
        ("chunks", "s-chunks", "chunks of loops: "),
        ("moonlight", "s-other", "moonlight: "),
        ("constructor", "s-other", "constructor: "),
    ] {
        document["processes"][0]["sites"][0]["cause"] = cause.into();
        let probe = format!(
            "const part = document.querySelector('.panel .part.{class}');
             seen.title = part.title;
             seen.colour = getComputedStyle(part).background;
             seen.facts = Array.from(document.querySelectorAll('.facts div'), fact => fact.textContent);"
        );
        let Some(seen) = open(&page_of(&document), (1280, 800), &probe) else { return };
        assert!(seen["title"].as_str().is_some_and(|title| title.starts_with(word)), "{seen}");
        let facts = seen["facts"].as_array().expect("a list");
        assert!(facts.contains(&"moonlight1.25 s".into()), "{facts:?}");
        colours.push(seen["colour"].clone());
    }
    assert!(colours[0] != colours[1] && colours[1] != colours[2], "{colours:?}");
    assert_eq!(colours[2], colours[3]);
}
