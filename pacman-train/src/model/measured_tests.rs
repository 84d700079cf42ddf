//! Predictors on programs that others measured at two numbers of cores.

use std::path::Path;
use std::{env, fs};

use pacman_adapt::predict::training::{
    Contender, Dataset, LinearOptions, MixtureOptions, Plan, RidgeOptions, evaluate,
};

use super::table::{Defaults, Table};

/// The programs that ran alone, each once at each number of cores, as training data.
fn alone(text: &str) -> String {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split('\t').collect();
    let columns = [
        ("program", "app"),
        ("cores", "threads"),
        ("time_s", "time_s"),
        ("instructions", "instructions"),
        ("cycles", "cycles"),
        ("stall_cycles", "stall_cycles"),
        ("llc_misses", "llc_misses"),
        ("l2_misses", "l2_misses"),
    ];
    let mut data = format!("{}\n", columns.map(|(_, name)| name).join(","));
    for line in lines {
        let cells: Vec<&str> = line.split('\t').collect();
        let cell = |name: &str| cells[header.iter().position(|one| *one == name).expect(name)];
        // NPB_big repeats NPB, and dedup was counted in one interval.
        let is_repeated = cell("suite") == "NPB_big" || cell("program") == "dedup";
        if cell("with").is_empty() && !is_repeated {
            data += &format!("{}\n", columns.map(|(name, _)| cell(name)).join(","));
        }
    }
    data
}

/// The text of a data set, in the folder that `PACMAN_DATA` names.
fn measured(name: &str) -> Option<String> {
    let file = env::var_os("PACMAN_DATA").map(|folder| Path::new(&folder).join(name));
    let file = file.filter(|file| file.exists());
    if file.is_none() {
        pacman_suite::skipped("no data");
    }
    file.map(|file| fs::read_to_string(file).expect("it is a readable text"))
}

/// Leaves out each program in turn, and asserts the accuracy in percent of each contender.
fn assert_accuracies(text: &str, machine: &str, programs: usize, expected: &[(Contender, &str)]) {
    let table = Table::parse(text, &Defaults { machine: Some(machine), program: None }).unwrap();
    let data = Dataset::of(machine, &table.rows, None).unwrap();
    assert_eq!(data.programs().len(), programs, "{machine}");
    for (contender, accuracy) in expected {
        let found = evaluate(&data, contender, &mut || ()).unwrap().accuracy().unwrap();
        let name = contender.name();
        assert_eq!(format!("{:.1}", 100.0 * found), *accuracy, "{name} on {machine}");
    }
}

/// The figures of docs/measurements.md, which miss the bars: one sample does not show how a program scales.
#[test]
fn times_at_half_of_the_cores_are_predicted_from_all_as_the_page_says() {
    let Some(text) = measured("solo-corun.tsv") else { return };
    let ridge = RidgeOptions { plan: Plan::Count(1), ..RidgeOptions::default() };
    let expected = [
        (Contender::Ridge(ridge), "76.7"),
        (Contender::Mixture(MixtureOptions { samples: 1, wide: false }), "75.9"),
        (Contender::Linear(LinearOptions::default()), "69.5"),
    ];
    assert_accuracies(&alone(&text), "broadwell", 26, &expected);
}

#[test]
fn times_at_other_thread_counts_are_predicted_as_the_page_says() {
    let Some(text) = measured("thread-scaling.csv") else { return };
    let mixture = || Contender::Mixture(MixtureOptions::default());
    let linear = || Contender::Linear(LinearOptions::default());
    let ridge = Contender::Ridge(RidgeOptions::default());
    let keystone = [(ridge, "96.6"), (mixture(), "95.3"), (linear(), "83.1")];
    assert_accuracies(&text, "Keystone", 15, &keystone);
    assert_accuracies(&text, "Headgasket", 15, &[(mixture(), "95.6"), (linear(), "79.3")]);
}
