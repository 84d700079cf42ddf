//! Sums over threads that ended are the same whether each has a row of its own or they share one.

use std::collections::BTreeMap;

use pacman_core::{Session, export};
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use crate::program::{EVENTS, Program};

/// The sums of one phase over all threads: executions, INSTRUCTIONS, BRANCHES, and the least and
/// the most BRANCHES of one execution.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Totals {
    executions: u64,
    instructions: u64,
    branches: u64,
    least: u64,
    most: u64,
}

impl Totals {
    const NONE: Totals =
        Totals { executions: 0, instructions: 0, branches: 0, least: u64::MAX, most: 0 };

    fn add(&mut self, other: Totals) {
        self.executions += other.executions;
        self.instructions += other.instructions;
        self.branches += other.branches;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
    }
}

type ByPhase = BTreeMap<String, Totals>;

fn by_json(report: &Value) -> ByPhase {
    let mut sums = ByPhase::new();
    for row in report["threads"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|thread| thread["phases"].as_array().unwrap())
    {
        let phase = row["phase"].as_u64().unwrap() as usize;
        let raw = |event: usize, field: &str| {
            row["counts"][event]["raw"][field].as_u64().unwrap_or_else(|| panic!("{row:#}"))
        };
        let name = report["phases"][phase].as_str().unwrap().to_owned();
        sums.entry(name).or_insert(Totals::NONE).add(Totals {
            executions: row["executions"].as_u64().unwrap(),
            instructions: raw(1, "sum"),
            branches: raw(2, "sum"),
            least: raw(2, "min"),
            most: raw(2, "max"),
        });
    }
    sums
}

/// No field of this table has a comma in it.
fn by_csv(table: &str) -> ByPhase {
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heading = lines.next().unwrap();
    let mut sums = ByPhase::new();
    for line in lines {
        assert_eq!(line.len(), heading.len());
        let field = |name: &str| line[heading.iter().position(|one| *one == name).unwrap()];
        let number = |name: &str| field(name).parse().unwrap_or_else(|_| panic!("{name}"));
        sums.entry(field("phase").to_owned()).or_insert(Totals::NONE).add(Totals {
            executions: number("executions"),
            instructions: number("INSTRUCTIONS [instructions]"),
            branches: number("BRANCHES [branches]"),
            least: number("BRANCHES min [branches]"),
            most: number("BRANCHES max [branches]"),
        });
    }
    sums
}

/// Threads that have ended and keep rows of their own.
const KEPT: usize = 1024;

#[test]
fn ended_threads_are_in_every_sum_with_and_without_rows_of_their_own() {
    let program = Program::on("haswell");
    let mut runner = TestRunner::new(Config { cases: 3, ..Config::default() });
    // Lives beyond those that keep their rows, and what the first of a short cycle of lives counts.
    let cases = (0..200usize, proptest::collection::vec((0..3usize, 1..9_000u64, 0..900u64), 1..9));
    let checked = runner.run(&cases, |(beyond, lives)| {
        for threads in [lives.len(), KEPT + beyond] {
            let session = Session::builder("folding");
            let session = session.on(&program.machine).events(EVENTS).start().unwrap();
            let names = ["one", "two", "three"];
            let phases = names.map(|name| session.phase(name).unwrap());
            let mut expected = ByPhase::new();
            for life in 0..threads {
                let (phase, instructions, branches) = lives[life % lives.len()];
                let thread = session.attach().unwrap();
                thread.run(phases[phase], || program.work(instructions, branches)).unwrap();
                thread.detach();
                let own = Totals {
                    executions: 1,
                    instructions,
                    branches,
                    least: branches,
                    most: branches,
                };
                expected.entry(names[phase].into()).or_insert(Totals::NONE).add(own);
            }
            let report = session.report();
            let shared = report.threads.iter().filter(|row| row.threads > 1).count();
            assert_eq!(shared, usize::from(threads > KEPT + 1), "{threads} lives");
            let (mut json, mut csv) = (Vec::new(), Vec::new());
            export::json(&report, &mut json).unwrap();
            export::csv(&report, &mut csv).unwrap();
            assert_eq!(by_json(&serde_json::from_slice(&json).unwrap()), expected);
            assert_eq!(by_csv(&String::from_utf8(csv).unwrap()), expected);
        }
        Ok(())
    });
    checked.unwrap();
}
