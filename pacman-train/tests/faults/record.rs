//! `record`: the file has whole and true rows, and whatever is missing from it is said.

use std::collections::BTreeMap;

use crate::harness::{OUTPUT, Place, Seen, ended, everywhere};

/// How many executions each measurement is the mean of, by phase, configuration and run.
type Rows = BTreeMap<[String; 3], u64>;

#[test]
fn record_of_regions() {
    let place = Place::with("../../../pacman-cli/tests/faults/regions.c");
    let record = ["record", "--quiet", "--regions", "--configurations", "1x1", "--runs", "2"];
    everywhere(&place, &[&record[..], &["-o", OUTPUT]].concat(), |alone, seen| {
        ended(seen, || record_fault(alone, seen, |expected, found| found == expected))
    });
}

#[test]
fn record_of_phases() {
    let place = Place::with("phases.c");
    let record = ["record", "--quiet", "--configurations", "2", "--runs", "2"];
    everywhere(&place, &[&record[..], &["-o", OUTPUT]].concat(), |alone, seen| {
        // The program's thread ends its loop where `pacman_begin` or `pacman_end` fails. A row is the
        // mean of the executions of the thread that took longest, and that may be this one.
        let fewer = |expected, found| (1..=expected).contains(&found);
        ended(seen, || record_fault(alone, seen, fewer))
    });
}

/// All rows of the undisturbed run, or some of them and a line that says why.
fn record_fault(
    alone: &Seen,
    seen: &Seen,
    executions_fit: impl Fn(u64, u64) -> bool,
) -> Option<String> {
    let expected = rows(alone).expect("undisturbed");
    assert_eq!(expected.len(), 2, "{}", alone.complained);
    let found = match rows(seen) {
        Ok(found) => found,
        Err(wrong) => return Some(wrong),
    };
    let fits = |(key, executions): &(&[String; 3], &u64)| {
        expected.get(*key).is_some_and(|&expected| executions_fit(expected, **executions))
    };
    if let Some(wrong) = found.iter().find(|row| !fits(row)) {
        return Some(format!("{wrong:?} is not what happened"));
    }
    let said = seen.complained.lines().any(|line| line.starts_with("pacman-pmu: "));
    match seen.status {
        Some(0) if found.len() != expected.len() => {
            Some(format!("{} rows, and status 0", found.len()))
        }
        // The machine has another name, and that is said.
        Some(0) if summary(seen) != summary(alone) && !said => {
            Some(format!("printed {:?}", seen.printed))
        }
        Some(0) => None,
        Some(1 | 2 | 4) if said => None,
        status => Some(format!("status {status:?}, and nobody says why")),
    }
}

/// The first line. Those after it are about noise and a busy machine, which differ by run.
fn summary(seen: &Seen) -> Option<&str> {
    seen.printed.lines().next()
}

/// The rows of the data file; none where there is no file.
fn rows(seen: &Seen) -> Result<Rows, String> {
    let Some(written) = &seen.written else { return Ok(Rows::new()) };
    let mut reader = csv::Reader::from_reader(&written[..]);
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let column = |name: &str| {
        header.iter().position(|other| other == name).ok_or(format!("no column {name}: {header:?}"))
    };
    let [phase, threads, run, executions, seconds] =
        ["phase", "threads", "run", "executions", "time_s"].map(column);
    let keys = [phase?, threads?, run?];
    let (executions, seconds) = (executions?, seconds?);
    let mut rows = Rows::new();
    for row in reader.records() {
        // A torn row has another number of fields.
        let row = row.map_err(|error| error.to_string())?;
        if !row[seconds].parse::<f64>().is_ok_and(|time| time > 0.0) {
            return Err(format!("{:?} is not a time", &row[seconds]));
        }
        let number = row[executions].parse().map_err(|_| format!("{row:?}: no executions"))?;
        if rows.insert(keys.map(|at| row[at].to_owned()), number).is_some() {
            return Err(format!("{row:?} is there twice"));
        }
    }
    Ok(rows)
}
