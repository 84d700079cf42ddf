//! The commands as they are typed, on data that is made here; and on measured data where it is.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use clap::Parser;
use pacman_adapt::predict::training::{
    Contender, Dataset, Evaluation, MixtureOptions, RidgeOptions, evaluate,
};
use serde_json::Value;

use super::table::{Defaults, Table};
use crate::command::Command;
use pacman_cli::error::{CliError, CliResult};

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// Runs `pacman-pmu` with these arguments and returns its output.
fn run(arguments: &[&str]) -> CliResult<String> {
    let cli = Cli::try_parse_from(std::iter::once(&"pacman-pmu").chain(arguments))
        .map_err(CliError::bad_input)?;
    let mut out = Vec::new();
    let status = cli.command.run(&mut out)?;
    assert_eq!(status, 0, "{arguments:?}");
    Ok(String::from_utf8(out).expect("text"))
}

fn refused(arguments: &[&str]) -> String {
    let error = run(arguments).expect_err("refused");
    assert_eq!(error.status(), 2, "{error}");
    let words = error.to_string();
    assert!(!words.contains('\n'), "{words}");
    words
}

/// A directory of this test's own, gone when dropped.
struct Place(PathBuf);

impl Place {
    fn new(test: &str) -> Place {
        let place = env::temp_dir().join(format!("pacman-model-{test}-{}", process::id()));
        fs::create_dir_all(&place).unwrap();
        Place(place)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.0.join(name), text).unwrap();
        self.path(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Six programs with serial parts from 0 to 0.25 on one machine with 8 contexts.
fn table() -> String {
    let mut text = "machine,app,threads,time_s,package_j,compiler\n".to_owned();
    for program in 0..6 {
        for threads in 1..=8 {
            text += &format!("here,p{program},{threads},{},9,gcc\n", time(program, threads));
        }
    }
    text
}

fn time(program: u32, threads: u32) -> f64 {
    let serial = 0.05 * f64::from(program);
    serial + (1.0 - serial) / f64::from(threads)
}

#[test]
fn train_predict_and_the_next_step() {
    let place = Place::new("train");
    let (data, model) = (place.write("data.csv", &table()), place.path("model.json"));
    let said = run(&["train", &data, "-o", &model, "--at", "8,4,1"]).unwrap();
    assert!(
        said.starts_with("ridge of time for here: 6 programs, 8 configurations, data "),
        "{said}"
    );

    let ask =
        ["predict", "--model", &model, "--measured-on", "here", "--json", "--sample", "8=0.2125"];
    let answer: Value = serde_json::from_str(&run(&ask).unwrap()).unwrap();
    let program = &answer["programs"][0];
    assert_eq!(program["next"]["step"], "sample");
    assert_eq!(program["forecasts"].as_array().unwrap().len(), 8);

    // A program with a serial part of 0.1, by table and without machine and app.
    let samples: String =
        [8, 4, 1].map(|threads| format!("{threads},{}\n", time(2, threads))).concat();
    let samples = place.write("samples.csv", &format!("threads,time_s\n{samples}"));
    let said =
        run(&["predict", "--model", &model, "--measured-on", "here", "--csv", &samples]).unwrap();
    let mut reader = csv::Reader::from_reader(said.as_bytes());
    let records: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    assert_eq!(records.len(), 8);
    for (threads, record) in (1..).zip(&records) {
        assert_eq!(&record[2], threads.to_string());
        let predicted: f64 = record[3].parse().unwrap();
        assert!((predicted / time(2, threads) - 1.0).abs() < 0.02, "{record:?}");
    }
    assert_eq!((&records[7][6], &records[7][7]), ("measured", "decide"));

    let said = run(&["predict", "--model", &model, "--measured-on", "here", &samples]).unwrap();
    assert!(said.starts_with("phase on here\nthreads  "), "{said}");
    assert!(said.contains("next: decide 8 (best of 3 measured; no other promises 1 %)"), "{said}");
}

/// Two contexts of each of four cores, and a cache that holds the data of one.
#[test]
fn the_quickest_smt_level_follows_from_the_counts_of_the_default() {
    let place = Place::new("smt-level");
    let mut text = "machine,app,threads,time_s,instructions,llc_misses\n".to_owned();
    let line = |contexts: u32, misses: f64| {
        // One context takes 1 s, and a sibling adds 30 % of a core less what it evicts.
        let time = if contexts == 1 { 1.0 } else { (1.0 + misses) / 1.3 };
        format!("4x{contexts},{time},1e9,{}", 1e6 + 1e8 * misses * f64::from(contexts - 1))
    };
    for program in 0..12 {
        for contexts in [1, 2] {
            text += &format!("here,p{program},{}\n", line(contexts, 0.05 * f64::from(program)));
        }
    }
    let (data, model) = (place.write("data.csv", &text), place.path("model.json"));
    run(&["train", &data, "-o", &model, "--at", "4x2", "--products"]).unwrap();
    for (misses, expected) in [(0.1, 2), (0.51, 1)] {
        let header = "threads,time_s,instructions,llc_misses";
        let samples = place.write("samples.csv", &format!("{header}\n{}\n", line(2, misses)));
        let ask = ["predict", "--model", &model, "--measured-on", "here", &samples];
        let answer: Value =
            serde_json::from_str(&run(&[&ask[..], &["--json"]].concat()).unwrap()).unwrap();
        let level = &answer["programs"][0]["smt_level"];
        assert_eq!((&level["contexts_per_core"], &level["of"]), (&expected.into(), &2.into()));
        assert_eq!(level["measured"], expected == 2);
        let ratio = level["time_ratio"].as_f64().unwrap();
        let truth = if expected == 2 { 1.0 } else { 1.3 / (1.0 + misses) };
        assert!((ratio / truth - 1.0).abs() < 0.02, "{ratio} instead of {truth}");
        let said = run(&ask).unwrap();
        assert!(said.contains(&format!("\nSMT: {expected} of 2 contexts of each core")), "{said}");
    }
}

#[test]
fn a_mixture_asks_for_each_sample_after_the_one_before() {
    let place = Place::new("mixture");
    let (data, model) = (place.write("data.csv", &table()), place.path("model.json"));
    let said = run(&["train", &data, "-o", &model, "--method", "mixture"]).unwrap();
    assert!(said.starts_with("mixture of time for here: 6 programs, 8 configurations"), "{said}");
    assert!(said.contains("\nsamples   8; one of its choice; one of its choice\n"), "{said}");

    // A prediction starts from all contexts.
    let mut samples = vec![format!("8={}", time(2, 8))];
    let decided = loop {
        let mut ask = vec!["predict", "--model", &model, "--measured-on", "here", "--json"];
        ask.extend(samples.iter().flat_map(|sample| ["--sample", sample]));
        let answer: Value = serde_json::from_str(&run(&ask).unwrap()).unwrap();
        let next = &answer["programs"][0]["next"];
        let on = next["configuration"].as_str().unwrap().to_owned();
        if next["step"] == "decide" {
            break on;
        }
        assert!(samples.len() < 4, "{samples:?}");
        samples.push(format!("{on}={}", time(2, on.parse().unwrap())));
    };
    assert_eq!((decided.as_str(), samples.len()), ("8", 3), "{samples:?}");
}

#[test]
fn evaluation_in_three_forms_says_the_same() {
    let place = Place::new("evaluate");
    let data = place.write("data.csv", &table());
    let json: Value = serde_json::from_str(&run(&["evaluate", &data, "--json"]).unwrap()).unwrap();
    let results = json["machines"][0]["results"].as_array().unwrap();
    let names: Vec<&str> = results.iter().map(|one| one["predictor"].as_str().unwrap()).collect();
    assert_eq!(names, ["ridge", "mixture", "linear", "search", "none"]);
    assert!(results[2]["problem"].as_str().unwrap().contains("needs the count of instructions"));

    let text = run(&["evaluate", &data]).unwrap();
    let accuracy = results[0]["accuracy"].as_f64().unwrap();
    assert!(text.contains(&format!("{:.1} %", 100.0 * accuracy)), "{text}");
    assert!(text.contains("linear: not possible: here: a linear model needs"), "{text}");

    let long = run(&["evaluate", &data, "--csv"]).unwrap();
    let mut reader = csv::Reader::from_reader(long.as_bytes());
    let records: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    // Four predictors, six programs, eight configurations.
    assert_eq!(records.len(), 4 * 6 * 8);
    let mut errors = Vec::new();
    for program in 0..6 {
        let name = format!("p{program}");
        let mine = records.iter().filter(|one| &one[1] == "ridge" && one[2] == name);
        let all: Vec<f64> = mine.filter_map(|one| one[9].parse().ok()).collect();
        assert_eq!(all.len(), 5, "three of eight were sampled");
        errors.push(all.iter().sum::<f64>() / 5.0);
    }
    assert!((1.0 - errors.iter().sum::<f64>() / 6.0 - accuracy).abs() < 1e-9);
}

#[test]
fn wrong_input_is_refused_in_one_line() {
    let place = Place::new("refused");
    let (data, model) = (place.write("data.csv", &table()), place.path("model.json"));
    run(&["train", &data, "-o", &model]).unwrap();
    let whole = fs::read_to_string(&model).unwrap();
    let cut = place.write("cut.json", &whole[..whole.len() / 2]);
    let edited = place.write("edited.json", &whole.replacen("here", "elsewhere", 1));
    let two = place.write("two.csv", &format!("{}there,p0,1,2,3,gcc\n", table()));
    let one = place.write("one.csv", &table().lines().take(9).collect::<Vec<_>>().join("\n"));
    let predict =
        |model: &str, rest: &[&str]| refused(&[&["predict", "--model", model], rest].concat());
    for (words, why) in [
        (
            predict(&cut, &["--measured-on", "here", "--sample", "8=1"]),
            "cut.json: it was cut short",
        ),
        (predict(&edited, &["--measured-on", "here", "--sample", "8=1"]), "checksum does not fit"),
        (
            predict(&data, &["--measured-on", "here", "--sample", "8=1"]),
            "data.csv: it is not a model",
        ),
        (
            predict("/no/model", &["--measured-on", "here", "--sample", "8=1"]),
            "cannot read /no/model",
        ),
        (
            predict(&model, &["--measured-on", "there", "--sample", "8=1"]),
            "for machine \"here\", not",
        ),
        (
            predict(&model, &["--measured-on", "here", "--sample", "9=1"]),
            "--sample: the model's machine has no configuration 9; it has 1, 2",
        ),
        (
            predict(&model, &["--measured-on", "here", "--sample", "2=1"]),
            "--sample: a prediction needs a sample at 8 first",
        ),
        (predict(&model, &["--measured-on", "here"]), "no samples: give a table"),
        (predict(&model, &["--sample", "8=1"]), "--sample needs --measured-on"),
        (
            refused(&["train", &two, "-o", &model]),
            "has machines here, there: --measured-on says which",
        ),
        (refused(&["train", &one, "-o", &model]), "1 complete program to learn from"),
        (refused(&["train", &data, "-o", &model, "--at", "4,1"]), "must include 8, all contexts"),
        (refused(&["train", &data, "-o", &model, "--samples", "4"]), "1 to 3 can be taken"),
        (
            refused(&["train", &data, "-o", &model, "--target", "ipc"]),
            "needs the count of instructions",
        ),
        (
            refused(&["train", &data, "-o", &model, "--method", "mixture", "--products"]),
            "--products is for ridge, and the other methods have terms of their own",
        ),
        (
            refused(&["train", &data, "-o", &model, "--method", "linear", "--wide"]),
            "--wide is for ridge and mixture, and a linear model has no choice of samples",
        ),
        (
            refused(&["train", &data, "-o", &model, "--method", "mixture", "--at", "8,1"]),
            "--at is for ridge, and a mixture chooses each sample by the times of those before it",
        ),
        (
            refused(&["train", &data, "-o", &model, "--method", "mixture", "--target", "ipc"]),
            "--target ipc is for ridge and linear, and a mixture is one of times",
        ),
        (
            refused(&["train", &data, "-o", &model, "--method", "mixture", "--events", "x"]),
            "--events is for ridge and linear, and a mixture is one of times",
        ),
        (
            refused(&["train", &data, "-o", &model, "--method", "mixture", "--samples", "17"]),
            "a mixture model of 17 samples: 1 to 16 are possible",
        ),
        (
            refused(&["train", &data, "-o", &model, "--target", "ipc", "--samples", "2"]),
            "--samples is for ridge",
        ),
        (refused(&["train", &data, "-o", &data]), "the model would replace it"),
        (refused(&["evaluate", &data, "--without", "p9"]), "has no such program"),
        (refused(&["evaluate", &data, "--configs", "1,2,16"]), "no program was measured at 16"),
        (refused(&["evaluate", &data, "--events", "x"]), "no count of \"x\" with all contexts"),
    ] {
        assert!(words.contains(why), "{words}");
    }
}

/// The same table with one mistake: its line number, and the text of the error.
#[test]
fn training_data_with_holes_and_nonsense_is_refused_with_its_line() {
    let place = Place::new("nonsense");
    let model = place.path("model.json");
    let whole = table();
    let edited = |line: usize, from: &str, to: &str| -> String {
        let lines = whole.lines().enumerate();
        let lines = lines.map(|(index, text)| match index + 1 == line {
            true => text.replacen(from, to, 1),
            false => text.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    let seconds = time(0, 4).to_string();
    for (name, text, why) in [
        ("no-time", edited(1, "time_s", "seconds"), "line 1: no column time_s; there is machine,"),
        ("no-app", edited(1, "app", "name"), "line 1: no column app;"),
        (
            "zero",
            edited(5, &seconds, "0"),
            "line 5: time_s: execution time must be positive, got 0 s",
        ),
        ("nan", edited(5, &seconds, "NaN"), "line 5: time_s is \"NaN\", which is not a number"),
        ("inf", edited(5, &seconds, "inf"), "line 5: time_s is \"inf\", which is not a number"),
        (
            "less",
            edited(5, &seconds, "-1"),
            "line 5: time_s: execution time must be positive, got -1 s",
        ),
        ("short", edited(9, ",gcc", ""), "line 9: 5 fields, and the header has 6"),
        ("none", edited(5, "p0,4", "p0,0"), "line 5: threads: \"0\" is not a configuration"),
        ("slip", edited(5, "p0,4", "p0,40"), "line 5: 40 is a configuration that 5 of 6 programs"),
        ("again", edited(5, "p0,4", "p0,3"), "line 5: p0 on here at 3 stands in line 4 already"),
        ("header", whole.lines().take(1).collect(), "no line follows the header"),
        ("empty", String::new(), "it is empty: no header, no lines"),
    ] {
        let data = place.write(&format!("{name}.csv"), &text);
        for command in [&["train", &data, "-o", &model][..], &["evaluate", &data]] {
            let words = refused(command);
            assert!(words.contains(why) && words.contains(&data), "{words}");
        }
        assert!(!Path::new(&model).exists(), "{name}: nothing is written");
    }
    // A configuration that the model's machine does not have, in a table of samples.
    run(&["train", &place.write("whole.csv", &whole), "-o", &model]).unwrap();
    let samples = place.write("samples.csv", "threads,time_s\n8,1\n12,0.7\n");
    let words = refused(&["predict", "--model", &model, "--measured-on", "here", &samples]);
    assert!(
        words.contains("samples.csv: line 3: the model's machine has no configuration 12; it has"),
        "{words}"
    );
}

#[test]
fn numbered_runs_count_by_their_median_and_phases_by_themselves() {
    let place = Place::new("runs");
    let mut text = "machine,app,phase,threads,run,time_s,executions\n".to_owned();
    for program in 0..6 {
        for threads in [1, 2, 4, 8] {
            // One run of three was disturbed.
            for (run, factor) in [(1, 1.0), (2, 40.0), (3, 1.0)] {
                let seconds = factor * time(program, threads);
                text += &format!("here,app{},sweep,{threads},{run},{seconds},5\n", program);
            }
        }
    }
    let (data, model) = (place.write("data.csv", &text), place.path("model.json"));
    let said = run(&["train", &data, "-o", &model, "--samples", "2"]).unwrap();
    assert!(said.contains("6 programs, 4 configurations"), "{said}");
    let kept = fs::read_to_string(&model).unwrap();
    assert!(kept.contains("\"app3/sweep\""), "{kept}");
    let long = run(&["evaluate", &data, "--csv"]).unwrap();
    assert!(long.contains(&time(2, 4).to_string()), "{long}");
    let disturbed = format!(",4,{},", 40.0 * time(2, 4));
    assert!(!long.contains(&disturbed), "{long}");
    // The same run twice is a slip, with or without a number.
    let twice = place.write("twice.csv", &format!("{text}here,app0,sweep,1,3,1,5\n"));
    let words = refused(&["train", &twice, "-o", &model]);
    assert!(words.contains("line 74: app0/sweep on here at 1 stands in line 4 already"), "{words}");
    let words =
        refused(&["train", &place.write("x.csv", &text.replacen(",1,", ",x,", 1)), "-o", &model]);
    assert!(words.contains("line 2:"), "{words}");
}

/// The measured programs, in the folder that `PACMAN_DATA` names.
fn measured() -> Option<PathBuf> {
    let file =
        env::var_os("PACMAN_DATA").map(|folder| Path::new(&folder).join("thread-scaling.csv"));
    let found = file.filter(|file| file.exists());
    if found.is_none() {
        pacman_suite::skipped("no data");
    }
    found
}

/// The result of leaving out each program of the measured machine.
fn evaluated(machine: &str, contender: &Contender) -> Option<Evaluation> {
    let file = measured()?;
    let table = Table::read(&file, &Defaults { machine: None, program: None }).unwrap();
    let data = Dataset::of(machine, &table.rows, None).unwrap();
    Some(evaluate(&data, contender, &mut || ()).unwrap())
}

/// The bars of `docs/research/prediction.md` that the models reach. That page names the others.
#[test]
fn measured_machines_meet_the_bars_that_the_protocol_found_met() {
    let mixture = Contender::Mixture(MixtureOptions::default());
    for machine in ["Keystone", "Headgasket"] {
        let Some(found) = evaluated(machine, &mixture) else { return };
        assert!(found.accuracy().unwrap() >= 0.95, "{machine}: {:?}", found.accuracy());
        assert!(found.samples() <= 3.5, "{machine}: {}", found.samples());
        assert!(machine != "Keystone" || found.regret() <= 0.01, "{}", found.regret());
    }
    let ridge = Contender::Ridge(RidgeOptions::default());
    let Some(found) = evaluated("Keystone", &ridge) else { return };
    assert!(found.accuracy().unwrap() >= 0.95);
    assert!(found.regret() <= 0.01);
    assert!(found.worst_regret() <= 0.10);
    assert!(found.samples() <= 3.5);
}

/// It chooses among 276 plans for each program left out.
#[test]
#[ignore = "takes a minute where nothing is optimised"]
fn ridge_meets_the_same_bars_on_the_larger_machine() {
    let ridge = Contender::Ridge(RidgeOptions::default());
    let Some(found) = evaluated("Headgasket", &ridge) else { return };
    assert!(found.worst_regret() <= 0.10);
    assert!(found.samples() <= 3.5);
}
