//! Names of others in all that is printed: none of them reaches a terminal as more than text.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use pacman_events::shown::is_unsafe;
use serde_json::{Value, json};

use super::pacman_pmu;
use super::scratch::Scratch;

/// Clears the screen, sets its title, turns the line around, returns to its begin.
const NAME: &str = "a\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}31m\u{202e}\u{2066}\u{200f}\u{7f}\r\tb";

/// The same, and begins a line of its own.
const LINES: &str = "a\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}31m\u{202e}\u{2066}\u{200f}\u{7f}\r\tb\nFORGED";

/// The same as a name of a file, which need not be text.
fn file_name() -> OsString {
    let mut name = LINES.as_bytes().to_vec();
    name.extend(b"\xff\xc3'\\");
    OsStr::from_bytes(&name).to_owned()
}

/// A directory with a hostile name, and what is in it.
struct Place {
    scratch: Scratch,
    path: PathBuf,
}

impl Place {
    fn new() -> Place {
        let scratch = Scratch::new();
        let path = scratch.path("").join(file_name());
        fs::create_dir(&path).unwrap();
        Place { scratch, path }
    }

    fn file(&self, name: &str, content: &str) -> OsString {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path.into_os_string()
    }

    fn at(&self, name: &str) -> OsString {
        self.path.join(name).into_os_string()
    }
}

/// How the answer is written, and so what it may have in it.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Text,
    /// Control characters are escaped by the format, others are data.
    Json,
    /// Data as it is.
    Csv,
}

fn run(arguments: &[&OsStr]) -> Output {
    let mut command = pacman_pmu(&[]);
    command.args(arguments).env("COLUMNS", "200").env_remove("RUST_BACKTRACE");
    command.output().expect("the command was built")
}

/// Runs a command whose arguments or files have hostile names, and looks at all it says.
fn harmless(form: Form, status: i32, arguments: &[&dyn AsRef<OsStr>]) -> String {
    let arguments: Vec<&OsStr> = arguments.iter().map(|word| (*word).as_ref()).collect();
    let answer = run(&arguments);
    let about = || format!("{arguments:?}: {answer:?}");
    let text = |bytes: &[u8]| match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(error) => panic!("{error} in the answer of {}", about()),
    };
    let (mut out, mut err) = (text(&answer.stdout), text(&answer.stderr));
    // Its standard output is the program's.
    if arguments[0] == "stat" && form != Form::Text {
        std::mem::swap(&mut out, &mut err);
    }
    let unexpected = |text: &str, allowed: fn(char) -> bool| {
        text.chars().find(|letter| is_unsafe(*letter) && *letter != '\n' && !allowed(*letter))
    };
    assert_eq!(unexpected(&err, |_| false), None, "standard error of {}", about());
    let allowed: fn(char) -> bool = match form {
        Form::Text => |_| false,
        Form::Json => |letter| letter >= ' ',
        Form::Csv => |_| true,
    };
    assert_eq!(unexpected(&out, allowed), None, "standard output of {}", about());
    let forged = |text: &str| text.lines().any(|line| line.trim_start().starts_with("FORGED"));
    assert!(!forged(&err) && (form == Form::Csv || !forged(&out)), "{}", about());
    if form == Form::Json {
        out.parse::<Value>().unwrap_or_else(|error| panic!("{error}: {}", about()));
    }
    assert_eq!(answer.status.code(), Some(status), "{}", about());
    let said = out + &err;
    assert!(!said.is_empty() || status == 0, "nothing is said: {}", about());
    said
}

use Form::{Csv, Json, Text};

#[test]
fn arguments_and_the_environment() {
    for arguments in [
        &[LINES][..],
        &["doctor", LINES],
        &["--machine", LINES, "doctor"],
        &[&format!("--{NAME}")],
        &["encode", LINES],
        &["encode", "--cpu", "skl", LINES, "UOPS_ISSUED.ANY:\u{202e}"],
        &["encode", "--cpu", LINES, "CYCLES"],
        &["metrics", LINES],
        &["metrics", "--cpu", LINES],
        &["plan", "--cpu", "skl", "--thread", LINES],
        &["plan", "--cpu", LINES, "--thread", "CYCLES"],
        &["stat", "-e", LINES, "--", "true"],
        &["stat", "--bind", LINES, "--", "true"],
        &["topo", "--synthetic", LINES],
        &["validate", "-e", LINES],
        &["validate", "-e", &format!("CYCLES@{LINES}")],
        &["record", "-o", "/nonexistent/x", "--configurations", LINES, "--", "true"],
        &["record", "-o", "/nonexistent/x", "-e", LINES, "--", "true"],
        &["train", "/nonexistent", "-o", "x", "--at", LINES],
        &["predict", "--model", "/nonexistent", "--sample", LINES],
        &["budget", "--cpu", LINES, "--clock", "1e9", "-"],
        &["budget", "--cpu", "niagara1", "--clock", LINES, "-"],
        &["smt", "--duration", LINES],
    ] {
        let words: Vec<&dyn AsRef<OsStr>> = arguments.iter().map(|word| word as _).collect();
        harmless(Text, 2, &words);
    }
    let arguments: [&dyn AsRef<OsStr>; 4] = [&"list", &"--cpu", &"skl", &LINES];
    let found = run(&arguments.map(|word| word.as_ref()));
    assert!(!found.stderr.contains(&0x1b), "{found:?}");
    for (variable, command) in [("PACMAN_MACHINE", "doctor"), ("PACMAN_MACHINE", "topo")] {
        let answer = pacman_pmu(&[command]).env(variable, LINES).output().unwrap();
        let said = String::from_utf8(answer.stderr).unwrap();
        assert_eq!(said.lines().count(), 1, "{said:?}");
        assert!(!said.trim_end().contains(is_unsafe), "{said:?}");
    }
}

#[test]
fn paths_that_are_no_text() {
    let place = Place::new();
    let none = place.at("none");
    let shown = r"/a\e[2J\e]0;t\a\u009b31m\u202e\u2066\u200f\x7f\r\tb\nFORGED\xff\xc3\'\\";
    let shown = shown.replace("\\a", "\\x07");
    for arguments in [
        &[&"evaluate" as &dyn AsRef<OsStr>, &none][..],
        &[&"train", &none, &"-o", &"x"],
        &[&"predict", &"--model", &none, &"--sample", &"1=1", &"--measured-on", &"m"],
        &[&"metrics", &"--file", &none],
        &[&"metrics", &"--counts", &none],
        &[&"budget", &"--cpu", &"niagara1", &"--clock", &"1e9", &none],
        &[&"encode", &"--events", &none, &"CYCLES"],
        &[&"list", &"--events", &none],
        &[&"topo", &"--sysfs", &none],
        &[&"topo", &"--tiles", &"--sysfs", &none],
    ] {
        let said = harmless(Text, 2, arguments);
        assert!(said.contains(&shown), "no byte of the path is lost: {said}");
    }
    let missing = place.at("none/none");
    for (status, arguments) in [
        (4, &[&"record" as &dyn AsRef<OsStr>, &"-o", &missing, &"--", &"true"][..]),
        (4, &[&"stat", &"-o", &missing, &"--", &"true"]),
        (4, &[&"validate", &"-e", &"page-faults", &"-o", &missing]),
        (4, &[&"smt", &"--duration", &"0.1", &"-o", &missing]),
        (4, &[&"run", &"-o", &place.at("none/none.json"), &"--", &"true"]),
        (2, &[&"run", &"-o", &missing, &"--", &"true"]),
        (2, &[&"run", &"--model", &missing, &"--adapt", &"--", &"true"]),
        (127, &[&"run", &"--", &missing]),
        (127, &[&"stat", &"--", &missing]),
        (127, &[&"smt", &"--", &missing]),
    ] {
        let said = harmless(Text, status, arguments);
        assert!(said.contains(&shown), "no byte of the path is lost: {said}");
    }
}

#[test]
fn files_of_counts_metrics_and_events() {
    let place = Place::new();
    let counts = place.file("counts.csv", &format!("{NAME},5\nCYCLES,2\nINSTRUCTIONS,9\n"));
    harmless(Text, 2, &[&"budget", &"--cpu", &"niagara1", &"--clock", &"1e9", &counts]);
    harmless(Text, 0, &[&"metrics", &"--counts", &counts]);
    harmless(Text, 1, &[&"metrics", &"l2-mpki", &"--counts", &counts]);
    harmless(Json, 0, &[&"metrics", &"--counts", &counts, &"--json"]);
    for line in [
        format!("{NAME} | 1 | CYCLES | w"),
        format!("m | {NAME} | CYCLES | w"),
        format!("m | 1 | {NAME} | w"),
        format!("m | 1 | \"{NAME}\" | w"),
        "m | 1 | \"\u{202e}\" | w".into(),
        format!("m | 1 | CYCLES | {NAME}"),
        "m | 1 | CYCLES | w | \u{202e}".into(),
    ] {
        let metrics = place.file("own.metrics", &line);
        harmless(Text, 2, &[&"metrics", &"--cpu", &"skl", &"--file", &metrics]);
    }
    let metrics = place.file("own.metrics", "own | 1 | \"UOPS_ISSUED.ANY\" / CYCLES | w");
    harmless(Text, 0, &[&"metrics", &"--cpu", &"skl", &"--file", &metrics]);
    harmless(Text, 0, &[&"metrics", &"own", &"--cpu", &"skl", &"--file", &metrics]);

    let event = |name: &str, code: &str| {
        json!([{ "EventName": name, "EventCode": code, "UMask": "0x1", "Counter": "0,1",
                 "BriefDescription": LINES }])
    };
    let events = place.file("good.json", &event("GOOD", "0x42").to_string());
    harmless(Text, 0, &[&"list", &"--cpu", &"skl", &"--events", &events, &"GOOD"]);
    harmless(Text, 0, &[&"encode", &"--cpu", &"skl", &"--events", &events, &"GOOD"]);
    harmless(Json, 2, &[&"encode", &"--cpu", &"skl", &"--events", &events, &LINES, &"--json"]);
    // Blanks around a term are passed over; a line feed is no blank.
    harmless(Text, 2, &[&"encode", &"--cpu", &"skl", &"cpu/event=0x3c,\n umask=0/"]);
    let events = place.file("named.json", &event(LINES, "0x42").to_string());
    harmless(Text, 2, &[&"list", &"--cpu", &"skl", &"--events", &events]);
    let events = place.file("bad.json", &event(LINES, LINES).to_string());
    harmless(Text, 2, &[&"list", &"--cpu", &"skl", &"--events", &events]);
    let events = place.file("worse.json", NAME);
    harmless(Text, 2, &[&"list", &"--cpu", &"skl", &"--events", &events]);

    place.file("pmus/odd/type", "9");
    place.file(&format!("pmus/odd/events/{NAME}"), "event=1");
    place.file("pmus/odd/events/loop", "loop2");
    place.file("pmus/odd/events/loop2", &format!("loop,{NAME}"));
    place.file("pmus/odd/format/event", "config:0-7");
    let pmus = place.at("pmus");
    harmless(Text, 2, &[&"encode", &"--cpu", &"skl", &"--devices", &pmus, &"odd/loop/"]);
    harmless(
        Text,
        2,
        &[&"encode", &"--cpu", &"skl", &"--devices", &pmus, &format!("odd/{LINES}/x")],
    );
    harmless(Text, 2, &[&"list", &"--cpu", &"skl", &"--devices", &pmus, &LINES]);
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
fn copied_machines() {
    let place = Place::new();
    let processor = LINES.replace('\n', " ");
    place.file("tree/proc/cpuinfo", &format!("model name\t: {processor}\n"));
    place.file("tree/proc/self/cgroup", &format!("0::/{NAME}\n"));
    place.file(&format!("tree/sys/fs/cgroup/{NAME}/cpuset.cpus.effective"), "0");
    place.file(&format!("tree/sys/fs/cgroup/{NAME}/cpu.max"), "100 1000");
    place.file("tree/sys/devices/system/cpu/online", "0-3");
    let tree = place.at("tree");
    harmless(Text, 0, &[&"topo", &"--sysfs", &tree]);
    harmless(Json, 0, &[&"topo", &"--sysfs", &tree, &"--json"]);
    harmless(Text, 1, &[&"topo", &"--sysfs", &tree, &"--tiles"]);
    place.file("tree/sys/devices/system/cpu/cpu1/topology/die_id", LINES);
    harmless(Text, 2, &[&"topo", &"--sysfs", &tree]);
    place.file("tree/sys/devices/system/cpu/online", LINES);
    harmless(Text, 2, &[&"topo", &"--sysfs", &tree]);
}

#[test]
fn programs_and_their_arguments() {
    let place = Place::new();
    // The name is the thread's, too.
    let program = place.at(&format!("{}\n", &NAME[..8]));
    let truth = fs::read("/bin/true").expect("coreutils");
    fs::write(&program, truth).unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&program).status().unwrap().success());
    let stat: [&dyn AsRef<OsStr>; 6] = [&"stat", &"-e", &"task-clock", &"--", &program, &"0.0"];
    harmless(Text, 0, &stat);
    for (option, form) in [("--json", Json), ("--csv", Csv)] {
        harmless(form, 0, &[&"stat", &"-e", &"task-clock", &option, &"--", &program, &"0.0"]);
    }
    let report = place.at("report.json");
    harmless(Text, 0, &[&"run", &"--", &program]);
    harmless(Text, 0, &[&"run", &"-o", &report, &"--", &program]);
    let report: Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    let command = report["command"][0].as_str().unwrap();
    assert!(command.ends_with(r"FORGED\xff\xc3\'\\/a\e[2J\e]0\n'"), "no byte is lost: {command}");
    let bad = OsStr::from_bytes(b"\xff\x1b[2J\n");
    harmless(Text, 0, &[&"stat", &"-e", &"task-clock", &"-q", &"--", &"true", &bad]);
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
