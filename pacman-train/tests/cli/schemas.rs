//! Real output of every command is as docs/schemas has it, and a document with another member is not.

use serde_json::Value;

use super::pacman_pmu;
use super::schema::Schema;
use super::scratch::Scratch;

fn holds(format: &str, arguments: &[&str]) {
    let output = pacman_pmu(arguments).output().expect("it runs");
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {output:?}"));
    Schema::of(format).holds(&arguments.join(" "), &document);
}

#[test]
fn models_and_their_quality() {
    let place = Scratch::new();
    let mut table = "machine,app,threads,time_s\n".to_owned();
    for app in 1..=8 {
        for threads in 1..=4 {
            let time = 0.1 * f64::from(app) + 4.0 / f64::from(threads);
            table += &format!("M,a{app},{threads},{time}\n");
        }
    }
    let data = place.file("data.csv", &table).display().to_string();
    let model = place.named("model.json");
    holds("train", &["train", &data, "--events", "none", "--json", "-o", &model]);
    holds("evaluate", &["evaluate", &data, "--json"]);
    let predict =
        ["predict", "--json", "--model", &model, "--measured-on", "M", "--sample", "4=1.5"];
    holds("predict", &predict);
}
