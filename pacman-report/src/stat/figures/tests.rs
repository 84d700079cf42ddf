//! Tests of `figures`.

use super::*;

fn columns(names: &[&str]) -> Columns {
    let column = |name: &&str| Column {
        name: name.to_string(),
        unit: "",
        hardware: true,
        doubt: None,
        table: None,
    };
    Columns::new(names.iter().map(column).collect())
}

fn exact(counts: &[u64]) -> Vec<Count> {
    counts.iter().map(|count| Count::exact(*count)).collect()
}

fn figures(counts: &[u64]) -> Figures {
    Figures { counts: Some(exact(counts)), ..Figures::default() }
}

fn row(core: u32, sibling: u32, counts: Option<&[u64]>) -> Row {
    let missing = usize::from(counts.is_none());
    Row {
        who: Who::Context,
        seat: Some(Seat { package: 0, core, sibling, cpu: 2 * core + sibling }),
        bound: true,
        moved: false,
        figures: Figures {
            counts: counts.map(exact),
            time: Duration::from_secs(1),
            missing,
            derived: None,
        },
        notes: Vec::new(),
        implausible: None,
    }
}

#[test]
fn ratios_need_both_parts_of_the_same_modes() {
    let all = columns(&["CYCLES", "INSTRUCTIONS", "STALL_CYCLES"]);
    let value = |columns: &Columns, name: &str, counts: &[u64]| {
        columns.derive(&figures(counts))[columns.metrics.place(name).expect(name)]
    };
    assert_eq!(value(&all, "ipc", &[1000, 1500, 250]), Some(1.5));
    assert_eq!(value(&all, "stall-share-issue", &[1000, 1500, 250]), Some(0.25));
    assert_eq!(all.derive(&figures(&[0, 1500, 250])), [None; 3], "no cycles");
    assert_eq!(value(&all, "stall-share-issue", &[1000, 1500, 1001]), None, "more than all");
    let mixed = columns(&["CYCLES", "INSTRUCTIONS:k", "task-clock"]);
    assert_eq!(mixed.metrics.list().count(), 0, "user cycles are not all cycles");
    let kernel = columns(&["CYCLES:k", "INSTRUCTIONS:k"]);
    assert_eq!(value(&kernel, "ipc", &[1000, 500]), Some(0.5));
    let whole = columns(&["CYCLES:uk", "task-clock"]);
    assert_eq!(value(&whole, "frequency-on-cpu", &[3_000, 1_000]), Some(3e9));
}

#[test]
fn a_count_that_never_moves_is_doubted() {
    let mut all = columns(&["CYCLES", "STALL_CYCLES"]);
    let doubts = all.leave_out_unmoved(&figures(&[5_000_000, 0]));
    assert_eq!(
        doubts,
        [
            "STALL_CYCLES stayed at 0 over 5000000 CYCLES: this machine may not count it, as hypervisors let only some events through"
        ]
    );
    assert_eq!(all.derive(&figures(&[5_000_000, 0])), [None], "a doubt is no share");
    assert!(all.leave_out_unmoved(&figures(&[5_000_000, 1])).is_empty());
    assert!(all.leave_out_unmoved(&figures(&[900, 0])).is_empty(), "too little to tell");
    assert_eq!(all.derive(&figures(&[900, 0])), [Some(0.0)]);
}

#[test]
fn impossible_counts_are_named_and_in_no_sum() {
    let all = columns(&["CYCLES", "INSTRUCTIONS"]);
    // The rows' time is a second.
    let mut rows = vec![
        row(0, 0, Some(&[3_000_000_000, 5_000_000_000])),
        row(0, 1, Some(&[1 << 40, 5_000_000_000])),
        row(1, 0, Some(&[7, 1_046_036u64.wrapping_neg()])),
    ];
    all.leave_out(&mut rows);
    let total = Figures::sum(rows.iter().map(|row| &row.figures));
    assert_eq!(total.counts, Some(exact(&[3_000_000_000, 5_000_000_000])));
    assert_eq!(total.missing, 2);
    assert_eq!(rows[0].implausible, None);
    let why = rows[1].implausible.as_deref().unwrap();
    assert!(why.starts_with("CYCLES came to 1099511627776, and its time allows "), "{why}");
    assert_eq!(rows[1].notes, [note(why)]);
    let why = rows[2].implausible.as_deref();
    assert_eq!(why, Some("INSTRUCTIONS went backwards by 1046036"));
}

#[test]
fn sums_say_what_they_lack() {
    let rows = [row(0, 0, Some(&[5, 7])), row(0, 1, None), row(1, 0, Some(&[1, 1]))];
    let total = Figures::sum(rows.iter().map(|row| &row.figures));
    assert_eq!((total.counts, total.missing), (Some(exact(&[6, 8])), 1));
    assert_eq!(total.time, Duration::from_secs(3));
    let by_core = by_core(&rows);
    assert_eq!(by_core.len(), 2);
    assert_eq!(by_core[0].who, Who::Core { rows: 2 });
    assert_eq!(
        (&by_core[0].figures.counts, by_core[0].figures.missing),
        (&Some(exact(&[5, 7])), 1)
    );
}

#[test]
fn siblings_stand_together() {
    let rows = seated(vec![row(1, 0, None), row(0, 1, None), row(1, 1, None), row(0, 0, None)]);
    let cpus: Vec<u32> = rows.iter().map(|row| row.seat.unwrap().cpu).collect();
    assert_eq!(cpus, [0, 1, 2, 3]);
    assert_eq!(cores(&rows).map(<[Row]>::len).collect::<Vec<_>>(), [2, 2]);
}
