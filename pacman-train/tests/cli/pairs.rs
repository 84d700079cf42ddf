//! Every reader accepts what each writer writes: the table of docs/output.md, pair by pair.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pacman_core::{Session, Topology};
use pacman_suite::command::have;
use pacman_suite::skipped;

use super::scratch::Scratch;
use super::{pacman_pmu, text};

const PROGRAM: &str = "
int main(void) {
    static double a[1 << 16];
    for (int round = 0; round < 5; round++) {
        #pragma omp parallel for
        for (int i = 0; i < 1 << 16; i++) a[i] = a[i] * 0.5 + i;
        #pragma omp parallel for
        for (int i = 0; i < 1 << 16; i++) a[i] += 1.0;
        #pragma omp parallel for
        for (int i = 0; i < 1 << 15; i++) a[i] *= 0.25;
        #pragma omp parallel for
        for (int i = 0; i < 1 << 14; i++) a[i] -= 3.0;
    }
    return a[9] > 1e9;
}";

const EVENTS: &str = "task-clock,page-faults";

/// The pairs of the table: writer and reader.
fn table() -> Vec<(String, String)> {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/output.md"));
    let text = text.expect("the page on formats");
    let section = text.split_once("\n## Readers\n").expect("a section").1;
    let section = section.split("\n## ").next().expect("a section");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows = rows.filter_map(|row| row.split_once(" | ")).skip(1);
    let code = |cell: &str| -> Vec<String> {
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    rows.flat_map(|(writer, readers)| {
        let [writer] = &code(writer)[..] else { panic!("one writer in {writer:?}") };
        code(readers).into_iter().map(move |reader| (writer.clone(), reader)).collect::<Vec<_>>()
    })
    .collect()
}

/// Not a test: the program whose session leaves a report.
#[test]
#[ignore = "the other test runs it"]
fn session() {
    let session = Session::builder("pairs").events(EVENTS).start().unwrap();
    let work = session.phase("work").unwrap();
    let thread = session.attach().unwrap();
    for _ in 0..3 {
        thread.run(work, || std::hint::black_box(vec![1u8; 1 << 20])).unwrap();
    }
}

struct Place {
    scratch: Scratch,
    program: PathBuf,
}

fn done(output: std::io::Result<Output>) -> Output {
    let output = output.expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    output
}

impl Place {
    fn new() -> Option<Place> {
        super::everyday()?;
        let scratch = Scratch::new();
        let program = scratch.compile("cc", &["-g", "-O1", "-fopenmp"], PROGRAM)?;
        Some(Place { scratch, program })
    }

    fn named(&self, name: &str) -> String {
        self.scratch.named(name)
    }

    fn command(&self, arguments: &[&str]) -> Output {
        let mut command = pacman_pmu(arguments);
        command.env("OMP_NUM_THREADS", "2").env("OMP_WAIT_POLICY", "passive");
        done(command.output())
    }

    /// The file of a writer; `None` where this machine cannot write it.
    fn written(&self, writer: &str) -> Option<String> {
        let file = self.named(&format!("{}.out", writer.replace(['/', ' ', '.'], "-")));
        if Path::new(&file).exists() {
            return Some(file);
        }
        let program = self.program.to_str().expect("UTF-8");
        let with = |arguments: &[&str]| {
            self.command(&[arguments, &["--", program]].concat());
        };
        match writer {
            "stat --json" => with(&["stat", "--json", "-e", EVENTS, "-o", &file]),
            "run -o FILE.json" => {
                let report = self.named("run.json");
                with(&["run", "-e", EVENTS, "-o", &report]);
                fs::rename(report, &file).expect("a report");
            }
            "PACMAN_REPORT_DIR" => {
                let folder = self.scratch.path("sessions");
                fs::create_dir(&folder).expect("a folder");
                let mut command = Command::new(env::current_exe().expect("a test has a path"));
                command.args(["--ignored", "--exact", "pairs::session"]);
                done(command.env("PACMAN_REPORT_DIR", &folder).output());
                let report = fs::read_dir(&folder).expect("a folder").next().expect("a report");
                fs::rename(report.expect("an entry").path(), &file).expect("a report");
            }
            "PACMAN_OMP_DIR" => {
                fs::create_dir(&file).expect("a folder");
                let mut command = Command::new(&self.program);
                command.env("LD_PRELOAD", super::library()).env("PACMAN_OMP_DIR", &file);
                done(command.env("OMP_NUM_THREADS", "2").output());
            }
            "compare --json" => {
                let report = self.written("run -o FILE.json")?;
                let output = self.command(&["compare", "--json", &report, &report]);
                fs::write(&file, output.stdout).expect("a file");
            }
            _ if Topology::detect().map_or(0, |topology| topology.allowed().len()) < 2 => {
                skipped("one context: there is no training data of two configurations");
                return None;
            }
            "record" => {
                let test = env::current_exe().expect("a test has a path");
                let test = test.to_str().expect("UTF-8");
                for app in ["one", "two", "three", "four"] {
                    self.command(&[
                        "record",
                        "--append",
                        "--runs",
                        "1",
                        "--max-threads",
                        "2",
                        "--app",
                        app,
                        "-o",
                        &file,
                        "--",
                        test,
                        "--ignored",
                        "--exact",
                        "pairs::session",
                    ]);
                }
            }
            "record --regions" => {
                with(&["record", "--regions", "--runs", "1", "--max-threads", "2", "-o", &file]);
            }
            "run --record" => {
                for threads in ["1", "2"] {
                    let mut command = pacman_pmu(&["run", "--record", &file, "-o"]);
                    let command = command.arg(self.named("text.txt")).arg("--").arg(&self.program);
                    done(command.env("OMP_NUM_THREADS", threads).output());
                }
            }
            "train" => {
                let data = self.written("record --regions")?;
                self.command(&["train", &data, "--samples", "1", "--events", "none", "-o", &file]);
            }
            other => panic!("docs/output.md has a writer {other:?} that this test does not know"),
        }
        Some(file)
    }

    /// Has a reader read a file.
    fn read(&self, reader: &str, file: &str, of_run: bool) {
        let phase: &[&str] = if of_run { &["--phase", "main, line 5"] } else { &[] };
        match reader {
            "metrics" => {
                let metric =
                    "faults | 1 | \"page-faults\" / \"task-clock\" | faults a nanosecond\n";
                let own = self.scratch.file("own.metrics", metric);
                let own = own.to_str().expect("UTF-8");
                let arguments = ["metrics", "faults", "--json", "--file", own, "--counts", file];
                let output = self.command(&[&arguments, phase].concat());
                let values: serde_json::Value =
                    serde_json::from_slice(&output.stdout).expect("JSON");
                assert!(values[0]["value"].is_number(), "{values:#}");
            }
            "budget" => {
                // It knows the events of its processors, and counts come from other ones.
                let arguments = ["budget", "--cpu", "niagara1", "--clock", "1e9", file];
                let output = pacman_pmu(&[&arguments, phase].concat()).output().expect("it runs");
                let line = " is not an event with a cost on ";
                assert!(text(&output.stderr).contains(line), "{output:?}");
            }
            "compare" => {
                let output = self.command(&["compare", "--json", file, file]);
                let text = text(&output.stdout);
                assert!(text.contains("\"main, line 5\""), "{text}");
            }
            "pacman_pmu.read" => self.python(file),
            "run --read" => {
                let report = self.named("read.json");
                self.command(&["run", "--read", file, "-o", &report]);
                let text = fs::read_to_string(report).expect("a report");
                assert!(text.contains("\"main, line 5\""), "{text}");
            }
            "train" => {
                let model = self.named("model.json");
                let arguments = ["train", file, "--samples", "1", "--events", "none", "-o", &model];
                self.command(&arguments);
            }
            "report" => {
                let page = self.named("page.html");
                self.command(&["report", file, "-o", &page]);
                let text = fs::read_to_string(page).expect("a page");
                assert!(text.contains("main, line 5"), "{text}");
            }
            "evaluate" => drop(self.command(&["evaluate", "--json", file])),
            "predict" => {
                let sample = self.written("record --regions").expect("the model was made of it");
                let table = fs::read_to_string(sample).expect("data");
                let mut lines = table.lines();
                let heading = lines.next().expect("a heading");
                // One phase alone, at each configuration.
                let of_phase = |line: &&str| line.contains("main, line 5");
                let rows: Vec<&str> = lines.filter(of_phase).collect();
                let rows =
                    self.scratch.file("samples.csv", &format!("{heading}\n{}\n", rows.join("\n")));
                let rows = rows.to_str().expect("UTF-8");
                self.command(&["predict", "--json", "--model", file, rows]);
            }
            "run --adapt --model" => {
                let (report, program) = (self.named("adapted.json"), self.program.to_str());
                let arguments =
                    ["run", "--strict", "--adapt", "--model", file, "-o", &report, "--"];
                self.command(&[&arguments[..], &[program.expect("UTF-8")]].concat());
            }
            other => panic!("docs/output.md has a reader {other:?} that this test does not know"),
        }
    }

    fn python(&self, file: &str) {
        let python = "/usr/bin/python3";
        let knows = |module: &str| {
            let output = Command::new(python).args(["-c", &format!("import {module}")]).output();
            output.is_ok_and(|output| output.status.success())
        };
        if !have(python) || !knows("pandas") {
            return skipped("no pandas for Python's reader");
        }
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../python/src");
        let script = "import sys, pacman_pmu; print(len(pacman_pmu.read(sys.argv[1]).frames))";
        let mut command = Command::new(python);
        command.args(["-B", "-c", script, file]).env("PYTHONPATH", source);
        let output = done(command.output());
        assert!(text(&output.stdout).trim().parse::<u32>().is_ok_and(|frames| frames > 0));
    }
}

#[test]
fn every_reader_accepts_each_writer_of_the_table() {
    let Some(place) = Place::new() else { return };
    let pairs = table();
    let writers: BTreeSet<&str> = pairs.iter().map(|(writer, _)| writer.as_str()).collect();
    assert!(writers.len() > 8 && pairs.len() > 15, "{pairs:?}");
    for (writer, reader) in &pairs {
        let Some(file) = place.written(writer) else { continue };
        place.read(reader, &file, writer.starts_with("run"));
    }
}

#[test]
fn a_reader_says_in_a_line_that_a_document_is_another_one_s() {
    let Some(place) = Place::new() else { return };
    let stat = place.written("stat --json").expect("this machine counts");
    for arguments in
        [&["compare", &stat, &stat][..], &["predict", "--model", &stat, "--sample", "1=1"]]
    {
        let output = pacman_pmu(arguments).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert_eq!(text(&output.stderr).lines().count(), 1, "{output:?}");
    }
}
