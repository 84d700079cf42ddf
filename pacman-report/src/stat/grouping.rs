//! Fewer rows for people: one for each command, or those with the most.

use std::cmp::Reverse;

use super::figures::{Figures, Row, Who};

/// Rows of threads as a row for each command, which is the name of a process's first thread. The
/// commands with the most come first.
pub(super) fn by_command(rows: &[Row]) -> Vec<Row> {
    let mut commands: Vec<(&str, Vec<i32>, Vec<&Row>)> = Vec::new();
    for row in rows {
        let Who::Thread { pid, .. } = &row.who else { continue };
        let name = command_of(rows, *pid);
        let place = commands.iter().position(|(known, ..)| *known == name);
        let place = place.unwrap_or_else(|| {
            commands.push((name, Vec::new(), Vec::new()));
            commands.len() - 1
        });
        let (_, processes, own) = &mut commands[place];
        if !processes.contains(pid) {
            processes.push(*pid);
        }
        own.push(row);
    }
    let row = |(name, processes, own): (&str, Vec<i32>, Vec<&Row>)| Row {
        who: Who::Command { name: name.into(), processes: processes.len(), threads: own.len() },
        seat: None,
        bound: false,
        moved: false,
        figures: Figures::sum(own.iter().map(|row| &row.figures)),
        notes: own.iter().flat_map(|row| row.told()).collect(),
        implausible: None,
    };
    let mut rows: Vec<Row> = commands.into_iter().map(row).collect();
    rows.sort_by_key(|row| Reverse(most(row)));
    rows
}

/// The `number` rows with the most.
pub(super) fn top(rows: &[Row], number: usize) -> Vec<&Row> {
    let mut rows: Vec<&Row> = rows.iter().collect();
    rows.sort_by_key(|row| Reverse(most(row)));
    rows.truncate(number);
    rows
}

/// The count of the first event, or the time of rows with equal counts or none.
fn most(row: &Row) -> (Option<u64>, std::time::Duration) {
    let first = row.figures.counts.as_ref().and_then(|counts| counts.first()?.value());
    (first, row.figures.time)
}

fn command_of(rows: &[Row], process: i32) -> &str {
    let of_process = |row: &Row, is_first: bool| match &row.who {
        Who::Thread { pid, tid, .. } => *pid == process && (!is_first || tid == pid),
        _ => false,
    };
    let found = |is_first| rows.iter().rev().find(|row| of_process(row, is_first));
    match found(true).or_else(|| found(false)).map(|row| &row.who) {
        Some(Who::Thread { name, .. }) => name,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::count::Count;
    use super::*;

    fn thread(pid: i32, tid: i32, name: &str, count: Option<u64>) -> Row {
        Row {
            who: Who::Thread { number: 0, pid, tid, name: name.into() },
            seat: None,
            bound: false,
            moved: false,
            figures: Figures {
                missing: usize::from(count.is_none()),
                counts: count.map(|count| vec![Count::exact(count)]),
                time: Duration::from_secs(1),
                derived: None,
            },
            notes: Vec::new(),
            implausible: None,
        }
    }

    #[test]
    fn processes_of_one_command_are_one_row_and_the_most_comes_first() {
        let rows = [
            thread(1, 1, "make", Some(1)),
            thread(2, 2, "cc1", Some(5)),
            thread(3, 3, "cc1", Some(7)),
            thread(3, 4, "worker", Some(10)),
            thread(5, 5, "ld", None),
        ];
        let commands = by_command(&rows);
        let who: Vec<&Who> = commands.iter().map(|row| &row.who).collect();
        let command =
            |name: &str, processes, threads| Who::Command { name: name.into(), processes, threads };
        assert_eq!(who, [&command("cc1", 2, 3), &command("make", 1, 1), &command("ld", 1, 1)]);
        let counts = |row: &Row| row.figures.counts.clone();
        assert_eq!(counts(&commands[0]), Some(vec![Count::exact(22)]));
        assert_eq!((counts(&commands[2]), commands[2].figures.missing), (None, 1));
        let most: Vec<_> = top(&rows, 2).into_iter().map(counts).collect();
        assert_eq!(most, [Some(vec![Count::exact(10)]), Some(vec![Count::exact(7)])]);
        assert_eq!(top(&rows, 9).len(), 5);
    }
}
