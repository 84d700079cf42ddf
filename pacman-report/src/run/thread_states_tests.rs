//! Each cause of waits is in each form of a report.

use std::path::Path;

use pacman_regions::Cause;
use serde_json::Value;

use crate::run::form::Form;
use crate::run::report::{ThreadState, words};
use crate::run::tests::made::{self, ThreadSpec, timed};
use crate::run::text::Extent;

fn form(of: &str) -> Form {
    Form::of(Path::new(of)).expect("a form")
}

#[test]
fn every_cause_is_in_every_form() {
    for &cause in Cause::ALL {
        let state = ThreadState::of(cause);
        let thread = |waits: f64, cpu: u32| ThreadSpec { busy: 7.5, start: 0.25, waits, cpu };
        let report = made::report(&[timed(&[thread(3.0, 0), thread(1.0, 2)], cause.word())]);
        let written = |of: &str| {
            let bytes = form(of).bytes(&report, Extent::default(), usize::MAX);
            String::from_utf8(bytes).expect("text")
        };
        let document: Value = serde_json::from_str(&written("a.json")).expect("JSON");
        let site = &document["processes"][0]["sites"][0];
        assert_eq!(site["cause"], cause.word());
        let place = format!("{}, ", words(cause));
        assert!(site["at"].as_str().is_some_and(|at| at.starts_with(&place)), "{site}");
        let table = document["thread_states"].as_array().expect("the table");
        let own = table.iter().find(|row| row["name"] == state.name).expect("its row");
        assert!(own["causes"].as_array().expect("causes").contains(&cause.word().into()), "{own}");
        for of in ["a.txt", "a.trace.json"] {
            let text = written(of);
            assert!(text.contains(words(cause)), "{of} has no {}: {text}", words(cause));
        }
        let text = written("a.csv");
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let name = format!("{}_s", state.name);
        let heading = reader.headers().expect("a heading").clone();
        let column = heading.iter().position(|own| own == name).expect("a column");
        let cells: Vec<String> =
            reader.records().map(|row| row.expect("fields")[column].to_owned()).collect();
        assert_eq!(cells, ["3", "1"], "{name}");
        let page = written("a.html");
        for part in
            [format!("--s-{}: {};", state.name, state.colours[0]), format!(".s-{} ", state.name)]
        {
            assert!(page.contains(&part), "the page has no {part}");
        }
    }
}
