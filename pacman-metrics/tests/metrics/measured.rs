//! Metrics of counts that others measured, beside the figures that they made of them.

use pacman_metrics::language::{Metric, builtin};
use pacman_metrics::slots::SlotShares;

/// A row of a table by the names of its columns; `None` for `-`.
struct Row(Vec<(&'static str, &'static str)>);

impl Row {
    fn text(&self, column: &str) -> &'static str {
        let cell = self.0.iter().find(|(name, _)| *name == column);
        cell.unwrap_or_else(|| panic!("no column {column}")).1
    }

    fn number(&self, column: &str) -> Option<f64> {
        let text = self.text(column);
        (text != "-").then(|| text.parse().unwrap_or_else(|_| panic!("{column}: {text}")))
    }

    fn count(&self, column: &str) -> Option<u64> {
        self.number(column).map(|count| count as u64)
    }
}

fn rows(table: &'static str) -> Vec<Row> {
    let mut lines = table.lines().filter(|line| !line.starts_with('#'));
    let header: Vec<_> = lines.next().expect("a header").split('\t').collect();
    let row = |line: &'static str| {
        let cells: Vec<_> = line.split('\t').collect();
        assert_eq!(cells.len(), header.len(), "{line}");
        Row(header.iter().copied().zip(cells).collect())
    };
    lines.map(row).collect()
}

fn named(name: &str) -> &'static Metric {
    builtin().iter().find(|metric| metric.name() == name).expect("it is built in")
}

/// The figures that perf and Linux's test robot have, as a user would write them.
const LIKE_PERF: &str = "\
cpi | cycles | CYCLES / INSTRUCTIONS | cycles for an instruction
branch-miss-rate | % | 100 * BRANCH_MISSES / BRANCHES | mispredicted branches
cache-miss-rate | % | 100 * LLC_MISSES / LLC_REFERENCES | misses of the last level
cycles-between-misses | cycles | CYCLES / LLC_MISSES | from miss to miss
";

#[test]
fn ratios_are_those_of_perf_on_five_machines() {
    let like_perf = Metric::read_all("like-perf.metrics", LIKE_PERF).unwrap();
    let metrics = [
        (named("ipc"), "ipc"),
        (named("llc-mpki"), "mpki"),
        (&like_perf[0], "cpi"),
        (&like_perf[1], "branch_miss_rate"),
        (&like_perf[2], "cache_miss_rate"),
        (&like_perf[3], "cycles_between_misses"),
    ];
    let mut compared = 0;
    for row in rows(include_str!("../data/perf_overall.tsv")) {
        let count = |event: &str| {
            row.count(match event {
                "INSTRUCTIONS" => "instructions",
                "CYCLES" => "cycles",
                "BRANCHES" => "branches",
                "BRANCH_MISSES" => "branch_misses",
                "LLC_REFERENCES" => "cache_references",
                "LLC_MISSES" => "cache_misses",
                other => panic!("{other} is not in the table"),
            })
        };
        let near = |ours: f64, column: &str| {
            let theirs = row.number(column).expect("it is in the table");
            let decimals = row.text(column).split_once('.').map_or(0, |(_, part)| part.len());
            // Half of the last digit, and the four digits of two counts.
            let rounding = 0.5 / 10f64.powi(decimals as i32) + 1e-3 * theirs;
            let machine = row.text("processor");
            assert!((ours - theirs).abs() <= rounding, "{column}, {machine}: {ours}, {theirs}");
        };
        for (metric, column) in metrics {
            if row.number(column).is_some() {
                near(metric.value(count).unwrap(), column);
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 44);
}

#[test]
fn programs_on_a_broadwell_have_the_ipc_and_the_busy_cores_of_their_source() {
    let rows = rows(include_str!("../data/solo.tsv"));
    for row in &rows {
        let number = |column| row.number(column).expect("no cell is empty");
        let [instructions, cycles, stalled] =
            ["instructions", "cycles", "stall_cycles"].map(|column| row.count(column).unwrap());
        let base_hz = 2_100_000_000;
        let count = |event: &str| match event {
            "INSTRUCTIONS" => Some(instructions),
            "CYCLES" | "CYCLES:uk" => Some(cycles),
            "STALL_CYCLES" => Some(stalled),
            "TSC" => Some((number("covered_s") * base_hz as f64) as u64),
            "BASE_HZ" => Some(base_hz),
            _ => None,
        };
        let value = |name| named(name).value(count).unwrap();
        let program = row.text("program");
        let found = value("ipc");
        assert!((found - number("ipc")).abs() <= 0.000_05 + 1e-9, "{program}: {found}");
        // Cycles of all cores over those of one core at its base frequency.
        let busy = value("frequency-net") / base_hz as f64;
        // The time has a tenth of a second, the figure two decimals.
        let rounding = 0.005 + 0.051 / number("covered_s") * busy;
        assert!((busy - number("busy")).abs() <= rounding, "{program}: {busy}");
        // The source has no share of stalls. A Broadwell does four operations a cycle at most in the other cycles.
        let share = value("stall-share-issue");
        assert!(found <= 4.0 * (1.0 - share), "{program}: IPC {found}, {share} stalled");
    }
    assert_eq!(rows.len(), 26);
}

/// The source has fractions. Counts with these fractions are in the same ratios as the processor's: operations that
/// were issued are the slots that neither end of the pipeline left empty. Bad speculation is then what the formula makes of it.
#[test]
fn slots_of_a_broadwell_have_the_categories_of_their_source() {
    const CYCLES: u64 = 1_000_000;
    let rows = rows(include_str!("../data/topdown.tsv"));
    let mut sums = Vec::new();
    for row in &rows {
        let slots = |part: f64| (part * 4.0 * CYCLES as f64).round() as u64;
        let [retiring, frontend, backend, bad] =
            ["retiring", "frontend", "backend", "bad_speculation"]
                .map(|column| row.number(column).unwrap());
        let shares = SlotShares::of(|event| match event {
            "CONTEXTS" => Some(1),
            "CPU_CLK_UNHALTED.THREAD_ANY" => Some(CYCLES),
            "UOPS_RETIRED.RETIRE_SLOTS" => Some(slots(retiring)),
            "IDQ_UOPS_NOT_DELIVERED.CORE" => Some(slots(frontend)),
            // A tenth of what was issued and did not retire is the time of recoveries.
            "INT_MISC.RECOVERY_CYCLES_ANY" => Some(slots(bad / 10.0) / 4),
            "UOPS_ISSUED.ANY" => Some(slots(1.0 - frontend - backend) - slots(bad / 10.0) / 4 * 4),
            _ => None,
        })
        .unwrap();
        let found =
            [shares.retiring, shares.frontend_bound, shares.backend_bound, shares.bad_speculation];
        for (ours, theirs) in found.iter().zip([retiring, frontend, backend, bad]) {
            let kernel = row.text("kernel");
            // The fractions have four decimals.
            assert!((ours - theirs).abs() <= 0.000_2, "{kernel}: {ours}, {theirs}");
        }
        sums.push(shares.sum());
    }
    assert_eq!(rows.len(), 134);
    // Where more retired than was issued, bad speculation is 0 and the sum above 1.
    assert!(sums.iter().all(|sum| (0.999..=1.02).contains(sum)), "{sums:?}");
}
