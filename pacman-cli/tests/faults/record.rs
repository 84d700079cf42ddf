//! `record`: the file has whole and true rows, and whatever is missing from it is said.

use std::collections::BTreeSet;

use super::{OUTPUT, Place, Seen, ended, everywhere};

/// A measurement without its time: phase, configuration, run and executions.
type Key = [String; 4];

#[test]
fn record_of_regions() {
    let place = Place::with("regions.c");
    let record = ["record", "--quiet", "--regions", "--configurations", "1x1", "--runs", "2"];
    everywhere(&place, &[&record[..], &["-o", OUTPUT]].concat(), |alone, seen| {
        ended(seen, || record_fault(alone, seen))
    });
}

#[test]
fn record_of_phases() {
    let place = Place::with("phases.c");
    let record = ["record", "--quiet", "--configurations", "2", "--runs", "2"];
    everywhere(&place, &[&record[..], &["-o", OUTPUT]].concat(), |alone, seen| {
        ended(seen, || record_fault(alone, seen))
    });
}

/// All rows of the undisturbed run, or some of them and a line that says why.
fn record_fault(alone: &Seen, seen: &Seen) -> Option<String> {
    let expected = rows(alone).expect("undisturbed");
    assert_eq!(expected.len(), 2, "{}", alone.complained);
    let found = match rows(seen) {
        Ok(found) => found,
        Err(wrong) => return Some(wrong),
    };
    if let Some(wrong) = found.difference(&expected).next() {
        return Some(format!("{wrong:?} is not what happened"));
    }
    let said = seen.complained.lines().any(|line| line.starts_with("pacman-pmu: "));
    match seen.status {
        Some(0) if found != expected => Some(format!("{} rows, and status 0", found.len())),
        // The machine has another name, and that is said.
        Some(0) if seen.printed != alone.printed && !said => {
            Some(format!("printed {:?}", seen.printed))
        }
        Some(0) => None,
        Some(1 | 2 | 4) if said => None,
        status => Some(format!("status {status:?}, and nobody says why")),
    }
}

/// The rows of the data file; none where there is no file.
fn rows(seen: &Seen) -> Result<BTreeSet<Key>, String> {
    let Some(written) = &seen.written else { return Ok(BTreeSet::new()) };
    let mut reader = csv::Reader::from_reader(&written[..]);
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let column = |name: &str| {
        header.iter().position(|other| other == name).ok_or(format!("no column {name}: {header:?}"))
    };
    let [phase, threads, run, executions, seconds] =
        ["phase", "threads", "run", "executions", "time_s"].map(column);
    let keys = [phase?, threads?, run?, executions?];
    let seconds = seconds?;
    let mut rows = BTreeSet::new();
    for row in reader.records() {
        // A torn row has another number of fields.
        let row = row.map_err(|error| error.to_string())?;
        if !row[seconds].parse::<f64>().is_ok_and(|time| time > 0.0) {
            return Err(format!("{:?} is not a time", &row[seconds]));
        }
        if !rows.insert(keys.map(|at| row[at].to_owned())) {
            return Err(format!("{row:?} is there twice"));
        }
    }
    Ok(rows)
}
