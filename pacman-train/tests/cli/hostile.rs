//! Names of others in all that is printed: none of them reaches a terminal as more than text.

use std::ffi::OsStr;
use std::fs;
use std::process::Command;

use super::harmless::{Form, LINES, NAME, Place, harmless, shown_name};

use Form::{Csv, Json, Text};

#[test]
fn arguments_and_paths() {
    for arguments in [
        &["record", "-o", "/nonexistent/x", "--configurations", LINES, "--", "true"][..],
        &["record", "-o", "/nonexistent/x", "-e", LINES, "--", "true"],
        &["train", "/nonexistent", "-o", "x", "--at", LINES],
        &["predict", "--model", "/nonexistent", "--sample", LINES],
    ] {
        let words: Vec<&dyn AsRef<OsStr>> = arguments.iter().map(|word| word as _).collect();
        harmless(Text, 2, &words);
    }
    let place = Place::new();
    let (none, missing, shown) = (place.at("none"), place.at("none/none"), shown_name());
    for (status, arguments) in [
        (2, &[&"evaluate" as &dyn AsRef<OsStr>, &none][..]),
        (2, &[&"train", &none, &"-o", &"x"]),
        (2, &[&"predict", &"--model", &none, &"--sample", &"1=1", &"--measured-on", &"m"]),
        (4, &[&"record", &"-o", &missing, &"--", &"true"]),
    ] {
        let said = harmless(Text, status, arguments);
        assert!(said.contains(&shown), "no byte of the path is lost: {said}");
    }
}

/// Training data of five programs with hostile names, and all of its other words.
fn training_data() -> String {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(["machine", "app", "phase", "threads", "time_s", LINES, "word"]).unwrap();
    for program in 1..=5_u32 {
        for threads in [1_u32, 2, 4, 8] {
            let app = format!("{program}{LINES}");
            let seconds = f64::from(program) / f64::from(threads) + 0.01 * f64::from(program);
            table
                .write_record([
                    LINES,
                    &app,
                    LINES,
                    &threads.to_string(),
                    &seconds.to_string(),
                    &(threads * 7).to_string(),
                    LINES,
                ])
                .unwrap();
        }
    }
    String::from_utf8(table.into_inner().unwrap()).unwrap()
}

#[test]
fn training_data_and_models() {
    let place = Place::new();
    let data = place.file("data.csv", &training_data());
    let model = place.at("model.json");
    for method in ["ridge", "mixture"] {
        let train: [&dyn AsRef<OsStr>; 8] =
            [&"train", &data, &"-o", &model, &"--samples", &"2", &"--method", &method];
        harmless(Text, 0, &train);
        harmless(Text, 0, &[&"predict", &"--model", &model, &data]);
        harmless(Json, 0, &[&"predict", &"--model", &model, &data, &"--json"]);
        harmless(Csv, 0, &[&"predict", &"--model", &model, &data, &"--csv"]);
        let sample = [&"--sample" as &dyn AsRef<OsStr>, &"8=1"];
        harmless(
            Text,
            2,
            &[&"predict", &"--model", &model, sample[0], sample[1], &"--measured-on", &NAME],
        );
    }
    harmless(Json, 0, &[&"train", &data, &"-o", &model, &"--samples", &"1", &"--json"]);
    harmless(Text, 0, &[&"evaluate", &data, &"--samples", &"1"]);
    harmless(Text, 2, &[&"evaluate", &data, &"--without", &NAME]);
    harmless(Text, 2, &[&"evaluate", &data, &"--measured-on", &NAME]);
    harmless(Text, 2, &[&"train", &data, &"-o", &data]);
    // As many samples as configurations, which leave nothing to judge a model by.
    harmless(
        Text,
        2,
        &[&"train", &data, &"-o", &model, &"--samples", &"4", &"--method", &"mixture"],
    );
    for (find, replace) in [(",1,", ",\u{202e}x,"), ("threads", "\u{9b}m"), ("time_s", LINES)] {
        let bad = place.file("bad.csv", &training_data().replacen(find, replace, 1));
        harmless(Text, 2, &[&"evaluate", &bad]);
    }
    let text = fs::read_to_string(&model).unwrap();
    for (find, replace) in
        [("pacman-prediction-model", NAME), ("\"version\": 2", "\"\u{202e}\": 2")]
    {
        let edited = place.file("edited.json", &text.replacen(find, replace, 1));
        harmless(Text, 2, &[&"predict", &"--model", &edited, &data]);
    }
}

#[test]
fn programs_that_are_recorded() {
    let place = Place::new();
    let program = place.at(&format!("{}\n", &NAME[..8]));
    fs::write(&program, fs::read("/bin/true").expect("coreutils")).unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&program).status().unwrap().success());
    let data = place.at("data.csv");
    let app: [&dyn AsRef<OsStr>; 10] =
        [&"record", &"-o", &data, &"--app", &LINES, &"-q", &"--runs", &"1", &"--", &program];
    harmless(Text, 1, &app);
    harmless(
        Text,
        1,
        &[&"record", &"-o", &data, &"--regions", &"-q", &"--runs", &"1", &"--", &program],
    );
    drop(place.scratch);
}
