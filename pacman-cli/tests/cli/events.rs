//! Events that there are not, and those of lists that the user installed.

use std::path::PathBuf;

use serde_json::Value;

use super::scratch::Scratch;
use super::{pacman_pmu, run, text};

#[test]
fn a_name_that_is_nowhere_is_refused_on_standard_error() {
    let mut lines = String::new();
    for arguments in [
        &["list", "--cpu", "p4", "zzz"][..],
        &["list", "--cpus", "zzz"],
        &["encode", "--cpu", "p4", "foo"],
        &["plan", "--cpu", "p4", "--thread", ""],
    ] {
        let answer = run(arguments);
        let is_refused = (answer.status.code(), text(&answer.stdout)) == (Some(2), "");
        assert!(is_refused, "{arguments:?}: {answer:?}");
        lines += text(&answer.stderr);
    }
    pacman_suite::snapshot(env!("CARGO_MANIFEST_DIR"), "snapshots/event-refusals.txt", &lines);
}

#[test]
fn an_empty_list_in_json_has_the_same_status_and_the_same_line() {
    for arguments in [&["list", "--cpu", "p4", "zzz"][..], &["list", "--cpus", "zzz"]] {
        let plain = run(arguments);
        let json = run(&[arguments, &["--json"]].concat());
        assert_eq!(json.status.code(), plain.status.code(), "{arguments:?}");
        assert_eq!(text(&json.stderr), text(&plain.stderr));
        assert_eq!(serde_json::from_slice::<Value>(&json.stdout).unwrap(), Value::Array(vec![]));
    }
}

#[test]
fn what_can_be_encoded_is_shown_beside_what_cannot() {
    let answer = run(&["encode", "--cpu", "p4", "foo", "CYCLES"]);
    assert_eq!(answer.status.code(), Some(2));
    assert!(text(&answer.stdout).starts_with("CYCLES on p4-prescott"), "{}", text(&answer.stdout));
    assert_eq!(text(&answer.stderr).lines().count(), 1);
}

#[test]
fn lists_have_limits_and_long_names_are_cut_short() {
    let list = vec!["INSTRUCTIONS"; 3_000].join(",");
    let answer = run(&["plan", "--cpu", "p4", "--thread", &list]);
    let said = text(&answer.stderr);
    assert_eq!((answer.status.code(), said.lines().count()), (Some(2), 1), "{said}");
    assert!(said.contains("256") && said.contains("3000"), "{said}");
    let answer = run(&["encode", "--cpu", "skl", &"A".repeat(100_000)]);
    assert_eq!(answer.status.code(), Some(2));
    let said = text(&answer.stderr);
    assert!(said.len() < 600 && said.contains("(100000 bytes)"), "{said}");
}

/// A list of one event that no shipped table has, and of one with another code than theirs.
const LIST: &str = r#"{"Header": {"Version": "60", "DatePublished": "01/01/2027"}, "Events": [
    {"EventName": "NEW.EVENT", "EventCode": "0x0e", "UMask": "0x01", "Counter": "0,1,2,3"},
    {"EventName": "UOPS_ISSUED.ANY", "EventCode": "0x0e", "UMask": "0x21", "Counter": "0,1,2,3"}]}"#;

/// A command of a user with this data directory.
fn with_data(scratch: &Scratch, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = pacman_pmu(arguments);
    let answer = command.env("XDG_DATA_HOME", scratch.path("data")).output().expect("it is built");
    let said = |bytes| text(bytes).to_owned();
    (answer.status.code(), said(&answer.stdout), said(&answer.stderr))
}

fn installed(scratch: &Scratch) -> PathBuf {
    scratch.path("data/pacman-pmu/events/skl.tsv")
}

#[test]
fn an_installed_list_comes_before_the_built_in_table_until_it_is_removed() {
    let scratch = Scratch::new();
    scratch.file("new.json", LIST);
    let list = scratch.named("new.json");
    let pmu = |arguments: &[&str]| with_data(&scratch, arguments);
    let encoded = |name: &str| pmu(&["encode", "--cpu", "skl", name]);

    assert_eq!(encoded("NEW.EVENT").0, Some(2));
    let (status, out, err) = pmu(&["events", "update", "--cpu", "skl", &list]);
    assert_eq!((status, err.as_str()), (Some(0), ""));
    assert!(out.starts_with("installed 2 events of skl"), "{out}");

    let file = installed(&scratch);
    let provenance = |text: &str| {
        text.contains("installed: new.json, version 60 of 01/01/2027; installed 2")
            && text.contains(&format!("Z in {}\n", file.display()))
    };
    let (_, out, err) = encoded("UOPS_ISSUED.ANY:u");
    assert!(provenance(&out) && out.contains("0x0001210e"), "{out}{err}");
    // Events that the list lacks are still there, and a preset keeps its event.
    for name in ["UOPS_ISSUED.STALL_CYCLES", "UOPS_ISSUED"] {
        let (_, out, _) = encoded(name);
        assert!(!out.contains("installed") && out.contains("built-in: Intel perfmon SKL"), "{out}");
    }
    let (_, out, _) = pmu(&["list", "--cpu", "skl", "UOPS_ISSUED.ANY"]);
    assert!(
        provenance(&out) && out.contains("built-in: Intel perfmon SKL core events, version "),
        "{out}"
    );
    assert_eq!(out.matches("UOPS_ISSUED.ANY").count(), 1, "{out}");
    // A table of another model does not have them.
    assert_eq!(pmu(&["encode", "--cpu", "icl", "NEW.EVENT"]).0, Some(2));
    let counted = ["--machine", "skylake", "stat", "-e", "NEW.EVENT", "--", "true"];
    let (status, _, err) = pmu(&counted);
    assert!(status == Some(0) && err.contains("NEW.EVENT"), "{err}");
    let table = "skl, installed: new.json, version 60 of 01/01/2027";
    assert!(err.contains(&format!("NEW.EVENT has its code from the table {table}")), "{err}");
    let events = "UOPS_ISSUED.STALL_CYCLES,UOPS_ISSUED.ANY,INSTRUCTIONS,r0151,task-clock";
    let json = scratch.named("stat.json");
    let stat = ["--machine", "skylake", "stat", "--json", "-o", &json, "-e", events, "--", "true"];
    let (status, _, err) = pmu(&stat);
    assert_eq!(status, Some(0), "{err}");
    let document: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    let tables: Vec<&Value> =
        document["events"].as_array().unwrap().iter().map(|event| &event["table"]).collect();
    let null = &Value::Null;
    assert_eq!(tables, [null, &table.into(), null, null, null], "{document}");

    assert_eq!(pmu(&["events", "remove", "skl"]).0, Some(0));
    assert_eq!(encoded("NEW.EVENT").0, Some(2));
    assert_eq!(pmu(&counted).0, Some(2));
    assert_eq!(pmu(&["events", "list"]).1, "no list of events is installed\n");
}

#[test]
fn a_faulty_list_is_refused_with_its_event_and_changes_nothing() {
    let scratch = Scratch::new();
    scratch.file("new.json", LIST);
    scratch.file("bad.json", &LIST.replace("\"0x21\"", "\"0x321\""));
    scratch.file("other.json", &LIST.replace("\"0x0e\"", "\"0x0f\""));
    let (new, bad, other) =
        (scratch.named("new.json"), scratch.named("bad.json"), scratch.named("other.json"));
    let update = |files: &[&str]| {
        with_data(&scratch, &[&["events", "update", "--cpu", "skl"][..], files].concat())
    };
    assert_eq!(update(&[&new]).0, Some(0));
    let before = std::fs::read(installed(&scratch)).unwrap();
    for (files, file, event) in
        [(&[&*new, &*bad], &bad, "UOPS_ISSUED.ANY"), (&[&*new, &*other], &other, "NEW.EVENT")]
    {
        let (status, out, err) = update(files);
        assert_eq!((status, out.as_str(), err.lines().count()), (Some(2), "", 1), "{err}");
        assert!(err.contains(file.as_str()) && err.contains(event), "{err}");
        assert_eq!(std::fs::read(installed(&scratch)).unwrap(), before);
    }
}

#[test]
fn a_damaged_or_foreign_installed_list_is_one_line_and_the_built_in_table() {
    let scratch = Scratch::new();
    scratch.file("new.json", LIST);
    let list = scratch.named("new.json");
    assert_eq!(with_data(&scratch, &["events", "update", "--cpu", "skl", &list]).0, Some(0));
    let file = installed(&scratch);
    let whole = std::fs::read_to_string(&file).unwrap();
    for (content, why) in [
        (whole.replace("210e", "220e"), "damaged"),
        (whole[..whole.len() - 20].to_owned(), "damaged"),
        (String::new(), "no rows"),
        (whole.replace("\tskl\t", "\tzen4\t"), "it is a table of"),
        (LIST.to_owned(), "not a table"),
    ] {
        std::fs::write(&file, content).unwrap();
        let lines = |said: &str| {
            let fit = |line: &&str| line.contains("cannot use the events of") && line.contains(why);
            said.lines().filter(fit).count()
        };
        let (status, out, err) =
            with_data(&scratch, &["encode", "--cpu", "skl", "UOPS_ISSUED.ANY"]);
        assert_eq!((status, lines(&err), err.lines().count()), (Some(0), 1, 1), "{err}");
        assert!(out.contains("0x0000010e") && !out.contains("installed"), "{out}");
        let stat =
            ["--machine", "skylake", "stat", "-e", "UOPS_ISSUED.ANY,INSTRUCTIONS", "--", "true"];
        let (status, _, err) = with_data(&scratch, &stat);
        assert_eq!((status, lines(&err)), (Some(0), 1), "{err}");
        let (status, out, err) = with_data(&scratch, &["events", "list"]);
        assert_eq!((status, out.as_str(), lines(&err)), (Some(1), "", 1), "{err}");
    }
}

/// The table of the only name that `encode --json` is asked for.
fn table_of(scratch: &Scratch, arguments: &[&str]) -> Value {
    let (status, out, err) = with_data(scratch, &[&["encode", "--json"][..], arguments].concat());
    assert_eq!((status, err.as_str()), (Some(0), ""));
    let document: Value = serde_json::from_str(&out).expect("JSON");
    document[0]["table"].clone()
}

#[test]
fn json_names_the_table_that_an_event_came_from() {
    let scratch = Scratch::new();
    scratch.file("new.json", LIST);
    let list = scratch.named("new.json");
    let own = table_of(&scratch, &["--cpu", "skl", "UOPS_ISSUED.ANY"]);
    assert_eq!((&own["origin"], &own["file"]), (&"built-in".into(), &Value::Null));
    assert_eq!(own["lists"][0]["name"], "Intel perfmon SKL core events");
    assert!(own["lists"][0]["version"].is_string() && own["lists"][0]["date"].is_string(), "{own}");

    let file = table_of(&scratch, &["--cpu", "skl", "--events", &list, "UOPS_ISSUED.ANY"]);
    assert_eq!((&file["origin"], &file["file"]), (&"file".into(), &list.as_str().into()));
    let expected = serde_json::json!({"name": "new.json", "version": "60", "date": "01/01/2027"});
    assert_eq!(file["lists"][0], expected);

    assert_eq!(with_data(&scratch, &["events", "update", "--cpu", "skl", &list]).0, Some(0));
    let now = table_of(&scratch, &["--cpu", "skl", "UOPS_ISSUED.ANY:u"]);
    assert_eq!((&now["origin"], &now["lists"][0]), (&"installed".into(), &expected));
    assert_eq!(now["file"], installed(&scratch).display().to_string());
    assert!(now["installed"].as_str().is_some_and(|date| date.ends_with('Z')), "{now}");
    // A preset keeps its own event, and nobody lists a code.
    assert_eq!(table_of(&scratch, &["--cpu", "skl", "UOPS_ISSUED"])["origin"], "built-in");
    assert_eq!(table_of(&scratch, &["--cpu", "skl", "r10e"]), Value::Null);
    assert_eq!(
        table_of(&scratch, &["--cpu", "p4", "instr_retired:NBOGUSNTAG"])["origin"],
        "built-in"
    );
}

#[test]
fn a_list_that_cannot_be_kept_is_refused_and_the_earlier_one_stays() {
    let scratch = Scratch::new();
    scratch.file("new.json", LIST);
    scratch.file("cut.json", &LIST[..LIST.len() - 5]);
    let update = |file: &str| {
        with_data(&scratch, &["events", "update", "--cpu", "skl", &scratch.named(file)])
    };
    assert_eq!(update("new.json").0, Some(0));
    let before = std::fs::read(installed(&scratch)).unwrap();
    // Events of another processor, by the words of its own table.
    let of_icelake = pacman_events::CpuModel::named("icl").expect("a table").events();
    let names =
        of_icelake.filter(|event| event.fixed().is_none()).map(|event| event.name().to_string());
    let events: Vec<Value> = names
        .filter_map(|name| {
            let resolved =
                pacman_events::resolve(pacman_events::CpuModel::named("icl")?, &name).ok()?;
            let event = resolved.encoding()?;
            let select = event.evtsel;
            let is_general = !event.counters_smt_off.is_empty();
            let plain =
                is_general && event.extra.is_none() && select >> 16 == 0 && select & 0xff != 0;
            plain.then(|| {
                serde_json::json!({
                    "EventName": name, "EventCode": (select & 0xff).to_string(),
                    "UMask": (select >> 8 & 0xff).to_string(), "Counter": "0,1,2,3",
                })
            })
        })
        .collect();
    assert!(events.len() > 50, "{}", events.len());
    scratch.file("icelake.json", &Value::from(events).to_string());
    for (file, why) in [("icelake.json", "its events are those of "), ("cut.json", "event file: ")]
    {
        let (status, out, err) = update(file);
        assert_eq!((status, out.as_str(), err.lines().count()), (Some(2), "", 1), "{err}");
        assert!(err.contains(file) && err.contains(why), "{err}");
        assert_eq!(std::fs::read(installed(&scratch)).unwrap(), before);
    }
    let left = std::fs::read_dir(installed(&scratch).parent().unwrap()).unwrap().count();
    assert_eq!(left, 1, "no draft stays");
}

#[test]
fn without_a_directory_to_write_to_nothing_is_installed_and_nothing_else_fails() {
    let scratch = Scratch::new();
    scratch.file("new.json", LIST);
    scratch.file("data", "");
    let list = scratch.named("new.json");
    let update = ["events", "update", "--cpu", "skl", &list];
    let one_line = |(status, out, err): (Option<i32>, String, String), why: &str| {
        assert_eq!((status, out.as_str(), err.lines().count()), (Some(1), "", 1), "{err}");
        assert!(err.contains(why), "{err}");
    };
    // A file where the directory should be.
    one_line(with_data(&scratch, &update), "set XDG_DATA_HOME");
    let homeless = |arguments: &[&str]| {
        let mut command = pacman_pmu(arguments);
        command.env_remove("XDG_DATA_HOME").env_remove("HOME");
        let answer = command.output().expect("it is built");
        (answer.status.code(), text(&answer.stdout).to_owned(), text(&answer.stderr).to_owned())
    };
    one_line(homeless(&update), "neither XDG_DATA_HOME nor HOME");
    one_line(homeless(&["events", "remove", "skl"]), "neither XDG_DATA_HOME nor HOME");
    for (status, _, err) in [
        homeless(&["encode", "--cpu", "skl", "UOPS_ISSUED.ANY"]),
        with_data(&scratch, &["encode", "--cpu", "skl", "UOPS_ISSUED.ANY"]),
    ] {
        assert_eq!((status, err.as_str()), (Some(0), ""));
    }
    // Nothing is there to be removed.
    let scratch = Scratch::new();
    let (status, out, err) = with_data(&scratch, &["events", "remove", "skl"]);
    assert_eq!((status, out.as_str(), err.lines().count()), (Some(2), "", 1), "{err}");
    assert!(err.contains("no list of events is installed for skl"), "{err}");
}

#[test]
fn a_reader_finds_one_of_two_lists_while_commands_replace_them() {
    let scratch = Scratch::new();
    scratch.file("one.json", LIST);
    scratch.file("two.json", &LIST.replace("0x21", "0x22"));
    let lists = [scratch.named("one.json"), scratch.named("two.json")];
    let update = |list: &str| with_data(&scratch, &["events", "update", "--cpu", "skl", list]);
    assert_eq!(update(&lists[0]).0, Some(0));
    std::thread::scope(|scope| {
        let update = &update;
        let writers: Vec<_> = lists
            .iter()
            .map(|list| scope.spawn(move || (0..5).all(|_| update(list).0 == Some(0))))
            .collect();
        while !writers.iter().all(|writer| writer.is_finished()) {
            let (status, out, err) =
                with_data(&scratch, &["encode", "--cpu", "skl", "UOPS_ISSUED.ANY"]);
            assert_eq!((status, err.as_str()), (Some(0), ""));
            assert!(out.contains("0x0000210e") || out.contains("0x0000220e"), "{out}");
        }
        for writer in writers {
            assert!(writer.join().expect("no panic"));
        }
    });
}

#[test]
fn the_command_says_once_that_an_installed_list_is_damaged_and_the_program_does_not() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(installed(&scratch).parent().unwrap()).unwrap();
    std::fs::write(installed(&scratch), "damaged\n").unwrap();
    let arguments = ["--machine", "skylake", "run", "-e", "UOPS_ISSUED.ANY", "--", "true"];
    let (status, _, err) = with_data(&scratch, &arguments);
    let lines = err.lines().filter(|line| line.contains("cannot use the events of")).count();
    assert_eq!((status, lines), (Some(0), 1), "{err}");
}
