//! Tests of `training_csv`.

use super::*;
use crate::run::directory::Directory;

fn measured(app: &str, run: u64, counts: &[(&str, f64)]) -> Measurement {
    Measurement {
        machine: "a, b".into(),
        program: app.into(),
        phase: "p".into(),
        configuration: "2x1".parse().unwrap(),
        run,
        seconds: 0.25,
        executions: 4,
        counts: counts.iter().map(|(event, count)| ((*event).to_owned(), *count)).collect(),
    }
}

#[test]
fn new_events_get_columns_and_old_rows_blanks() {
    let place = Directory::new().unwrap();
    let path = place.path().join("data.csv");
    append(&path, &[measured("x", 1, &[("cycles", 7.0)])]).unwrap();
    append(&path, &[measured("x", 2, &[("branches", 1.5)]), measured("y", 9, &[])]).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(
        text,
        "machine,app,phase,threads,run,time_s,executions,cycles,branches\n\
         \"a, b\",x,p,2x1,1,0.25,4,7,\n\
         \"a, b\",x,p,2x1,2,0.25,4,,1.5\n\
         \"a, b\",y,p,2x1,9,0.25,4,,\n"
    );
    assert_eq!(runs(&path, "a, b", "x"), Ok(2));
    assert_eq!(runs(&path, "elsewhere", "x"), Ok(0));
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing unfinished stays");
}

#[test]
fn commands_that_end_together_lose_no_row() {
    let place = Directory::new().unwrap();
    let path = place.path().join("data.csv");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    append_run(&path, vec![measured("x", 0, &[])]).unwrap();
                }
            });
        }
    });
    let text = fs::read_to_string(&path).unwrap();
    let numbers: Vec<u64> =
        text.lines().skip(1).map(|line| line.split(',').nth(5).unwrap().parse().unwrap()).collect();
    assert_eq!(numbers, (1..=100).collect::<Vec<u64>>(), "{text}");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
}

#[test]
fn a_file_that_gets_no_row_is_not_made() {
    let place = Directory::new().unwrap();
    let path = place.path().join("data.csv");
    drop(Turn::wait(&path));
    assert!(!path.exists());
    fs::write(&path, "").unwrap();
    drop(Turn::wait(&path));
    assert!(path.exists(), "it was there");
}

#[test]
fn what_somebody_else_wrote_stays() {
    let place = Directory::new().unwrap();
    let path = place.path().join("data.csv");
    fs::write(&path, "\u{feff}# by hand\nthreads,time_s,app,compiler\n1,2.5,z,gcc\n").unwrap();
    append(&path, &[measured("x", 1, &[])]).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(
        text,
        "# by hand\nthreads,time_s,app,compiler,machine,phase,run,executions\n\
         1,2.5,z,gcc,,,,\n\
         2x1,0.25,x,,\"a, b\",p,1,4\n"
    );
    for (text, why) in [
        ("app,seconds\nz,1\n", "line 1: no column threads"),
        ("threads,time_s\n1\n", "found record with 1 fields"),
    ] {
        fs::write(&path, text).unwrap();
        let problem = append(&path, &[]).unwrap_err().to_string();
        assert!(problem.contains(why) && problem.contains("data.csv"), "{problem}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "left as it was");
    }
}

#[test]
fn a_file_that_cannot_be_made_is_no_bad_input() {
    let place = Directory::new().unwrap();
    let nowhere = place.path().join("none/data.csv");
    let refused = append(&nowhere, &[measured("x", 1, &[])]);
    assert!(matches!(refused, Err(CliError::Unwritable(_))), "{refused:?}");
}

#[test]
fn a_device_is_no_file_to_add_to() {
    let refused = runs(Path::new("/dev/null"), "a", "x").unwrap_err();
    assert_eq!(refused.to_string(), "cannot add to /dev/null: it is not a regular file");
}
