//! The doctor on this machine as it is.

use serde_json::Value;

use super::{finding, pacman_pmu, run, text};

#[test]
fn the_exit_status_follows_from_the_verdict() {
    let answer = run(&["doctor", "--json"]);
    let diagnosis: Value = serde_json::from_slice(&answer.stdout).expect("JSON");
    let verdict = diagnosis["verdict"].as_str().unwrap();
    let status = match verdict {
        "hardware" => 0,
        "software-only" => 3,
        "nothing" => 1,
        other => panic!("verdict {other:?} is not documented"),
    };
    assert_eq!(answer.status.code(), Some(status));
    assert_eq!(diagnosis["exit_status"], status);
    assert_eq!(diagnosis["cause"].is_null(), verdict == "hardware");
    let hardware = finding(&diagnosis, "hardware-events");
    assert_eq!(hardware["outcome"] == "works", verdict == "hardware");
    assert_eq!(text(&answer.stderr), "");
}

#[test]
fn every_field_and_name_is_documented() {
    let answer = run(&["doctor", "--json"]);
    let diagnosis: Value = serde_json::from_slice(&answer.stdout).expect("JSON");
    let help = run(&["doctor", "--help"]);
    let help = text(&help.stdout);
    let documented = |name: &str| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        assert!(help.split(|c| !is_part(c)).any(|word| word == name), "{name:?} in:\n{help}");
    };
    diagnosis.as_object().unwrap().keys().for_each(|key| documented(key));
    for finding in diagnosis["findings"].as_array().unwrap() {
        finding.as_object().unwrap().keys().for_each(|key| documented(key));
        for value in ["subject", "outcome", "cause"].map(|key| &finding[key]) {
            value.as_str().into_iter().for_each(documented);
        }
    }
}

#[test]
fn text_and_json_say_the_same() {
    let json = run(&["doctor", "--json"]);
    let diagnosis: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    // A wide page, so that no sentence is broken.
    let plain = pacman_pmu(&["doctor"]).env("COLUMNS", "120").output().unwrap();
    assert_eq!(plain.status.code(), json.status.code());
    let said = text(&plain.stdout);
    assert!(said.is_ascii(), "a pipe is no terminal, so no marks and no colours:\n{said}");
    let verdict = diagnosis["text"].as_str().unwrap();
    assert!(said.ends_with(&format!("\n\n{verdict}\n")), "{said}");
    let unbroken = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let without_figures = |text: &str| text.replace(|one: char| one.is_ascii_digit(), "");
    for finding in diagnosis["findings"].as_array().unwrap() {
        let words = finding["text"].as_str().unwrap();
        // Each run counts its open files and measures the costs of a read anew.
        let told = match finding["subject"].as_str().unwrap() {
            "descriptors" | "virtual-machine" => {
                without_figures(&unbroken).contains(&without_figures(words))
            }
            _ => unbroken.contains(words),
        };
        assert!(told, "{words:?} in\n{said}");
    }
}
