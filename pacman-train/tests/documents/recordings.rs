//! The recordings of installations in `docs/recordings`, which `packaging/clock` makes: each is a terminal's whole
//! session up to the report, and docs/install.md quotes what is in them.

use std::fs;

use serde_json::Value;

use crate::{source, tree};

/// The users of docs/install.md whose sessions are there.
fn users() -> Vec<String> {
    let folder = fs::read_dir(source("docs/recordings")).expect("the folder");
    let names = folder.map(|entry| entry.expect("an entry").file_name().into_string());
    let users = names.map(|name| {
        let name = name.expect("UTF-8");
        name.strip_suffix(".cast").expect("recordings alone").to_owned()
    });
    let users: Vec<String> = users.collect();
    assert!(users.iter().any(|user| user == "sources"), "{users:?}");
    users
}

/// The output of a recording in asciinema's second format, as lines.
fn output(user: &str) -> String {
    let path = source(&format!("docs/recordings/{user}.cast"));
    let file = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    assert!(file.len() < 50_000, "{user}: {} bytes", file.len());
    let mut lines = file.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let head = lines.next().expect("a head");
    assert_eq!(head["version"], 2, "{user}");
    assert!(head["width"].is_u64() && head["height"].is_u64(), "{user}: {head}");
    let (mut now, mut output) = (0.0, String::new());
    for event in lines {
        let (time, text) = (event[0].as_f64().expect("seconds"), event[2].as_str());
        assert!(time >= now && event[1] == "o", "{user}: {event}");
        now = time;
        output += text.expect("a text");
    }
    output.replace("\r\n", "\n")
}

#[test]
fn each_ends_with_the_report_of_an_unmodified_program() {
    for user in users() {
        let output = output(&user);
        let (before, report) = output.rsplit_once("\n$ ").expect("a last command");
        let first = report.lines().next().expect("the command");
        assert!(first.ends_with("pacman-pmu run --waits -- ./histogram"), "{user}: {first}");
        assert!(before.contains("$ "), "{user}: an installation comes before");
        for part in ["draw, line 11", "count, line 20"] {
            assert!(report.contains(part), "{user}: no {part} in\n{report}");
        }
    }
}

#[test]
fn none_names_a_place_or_a_host() {
    for user in users() {
        let output = output(&user);
        let here = tree::root().to_str().expect("UTF-8");
        for word in ["://", "/home", "/tmp", "/var", here] {
            assert!(!output.contains(word), "{user}: {word}");
        }
    }
}

#[test]
fn the_page_quotes_what_is_in_them() {
    let page = fs::read_to_string(source("docs/install.md")).expect("the page");
    let parts: Vec<&str> = page.split("<!-- not run: of recordings/").skip(1).collect();
    assert!(!parts.is_empty(), "no part of a recording");
    for part in parts {
        let (user, rest) = part.split_once(".cast -->\n```text\n").expect("a recording's block");
        let (quoted, _) = rest.split_once("```").expect("an end of the block");
        let output = output(user);
        // Three dots stand for lines between.
        let mut from = 0;
        for line in quoted.lines().filter(|line| *line != "…") {
            let at = output[from..].find(line);
            from += at.unwrap_or_else(|| panic!("{user}: no {line:?} behind byte {from}"));
        }
    }
}
