//! Verdicts on 50 repeats of 67 kernels: what is equal is not called slower or faster, and what differs is.

use super::noise::{Ratio, Spread, Verdict};

/// The default of `--threshold`.
const THRESHOLD: f64 = 0.05;

/// Ten runs of a kernel of one build.
struct Runs {
    build: String,
    kernel: &'static str,
    seconds: Vec<f64>,
}

fn table() -> Vec<Runs> {
    let mut lines = include_str!("repeats.tsv").lines().filter(|line| !line.starts_with('#'));
    assert_eq!(lines.next(), Some("compiler\topt\tkernel\tseconds"));
    let runs = |line: &'static str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let seconds: Vec<f64> =
            cells[3].split(' ').map(|time| time.parse().expect("a time")).collect();
        assert_eq!(seconds.len(), 10, "{line}");
        Runs { build: format!("{} {}", cells[0], cells[1]), kernel: cells[2], seconds }
    };
    lines.map(runs).collect()
}

fn of_build<'a>(table: &'a [Runs], build: &'a str) -> impl Iterator<Item = &'a Runs> {
    table.iter().filter(move |runs| runs.build == build)
}

/// The ratio of a region that ran once in each report.
fn ratio(before: &[f64], after: &[f64]) -> Ratio {
    let [before, after] = [before, after].map(|side| {
        let once =
            |&seconds: &f64| Spread { seconds, executions: 1, shortest: seconds, longest: seconds };
        side.iter().map(once).collect::<Vec<_>>()
    });
    Ratio::of(&before, &after).expect("times")
}

/// How many of the ratios are called slower or faster.
fn differing(ratios: &[Ratio], threshold: f64) -> usize {
    let differs =
        |ratio: &&Ratio| matches!(ratio.verdict(threshold), Verdict::Slower | Verdict::Faster);
    ratios.iter().filter(differs).count()
}

/// Asserts the counts of `found` of `ratios`, without a threshold and with the default.
fn assert_differing(ratios: &[Ratio], of: usize, without: usize, with: usize) {
    let found = (ratios.len(), differing(ratios, 0.0), differing(ratios, THRESHOLD));
    assert_eq!(found, (of, without, with), "compared, differ at all, differ beyond 5 %");
}

/// Every other run of a build against the rest, of the first `runs` on each side.
fn alternate(table: &[Runs], runs: usize) -> Vec<Ratio> {
    let side = |all: &Runs, first: usize| -> Vec<f64> {
        all.seconds.iter().skip(first).step_by(2).take(runs).copied().collect()
    };
    table.iter().map(|all| ratio(&side(all, 0), &side(all, 1))).collect()
}

/// At most 5 % false alarms, 16 of 335, also where no threshold hides them, and for few reports.
#[test]
fn runs_of_one_build_do_not_differ() {
    let table = table();
    for (runs, without) in [(2, 1), (3, 14), (4, 15), (5, 7)] {
        assert_differing(&alternate(&table, runs), 335, without, 0);
        assert!(without * 20 <= 335);
    }
    let halves: Vec<Ratio> =
        table.iter().map(|runs| ratio(&runs.seconds[..5], &runs.seconds[5..])).collect();
    assert_differing(&halves, 335, 5, 0);
}

/// Equal builds ran on four nodes. Two kernels differ by 8 to 10 % between two of them and the other two; the
/// rest differs by less than the threshold.
#[test]
fn equal_builds_differ_in_two_kernels_only() {
    let table = table();
    let builds = ["gcc O0", "gcc O1", "gcc O2", "gcc O3"];
    let (mut ratios, mut kernels) = (Vec::new(), Vec::new());
    for (index, before) in builds.iter().enumerate() {
        for after in &builds[index + 1..] {
            for (one, other) in of_build(&table, before).zip(of_build(&table, after)) {
                assert_eq!(one.kernel, other.kernel);
                let ratio = ratio(&one.seconds, &other.seconds);
                if differing(&[ratio], THRESHOLD) > 0 {
                    kernels.push(one.kernel);
                }
                ratios.push(ratio);
            }
        }
    }
    kernels.sort_unstable();
    kernels.dedup();
    assert_eq!(kernels, ["Lcals_DIFF_PREDICT", "Polybench_JACOBI_1D"]);
    assert_differing(&ratios, 402, 58, 5);
}

/// 14 kernels take 20 % more or less time when another compiler made them. Two reports a side miss one.
#[test]
fn another_compiler_is_found() {
    let table = table();
    let pairs: Vec<(&Runs, &Runs)> =
        of_build(&table, "gcc O3").zip(of_build(&table, "clang O3")).collect();
    assert_eq!(pairs.len(), 67);
    for (runs, found) in [(10, 14), (5, 14), (3, 14), (2, 13)] {
        let ratios = |(gcc, clang): &(&Runs, &Runs)| {
            assert_eq!(gcc.kernel, clang.kernel);
            let whole = ratio(&gcc.seconds, &clang.seconds).value;
            let large = !(1.0 / 1.2..=1.2).contains(&whole);
            large.then(|| ratio(&gcc.seconds[..runs], &clang.seconds[..runs]))
        };
        let large: Vec<Ratio> = pairs.iter().filter_map(ratios).collect();
        assert_differing(&large, 14, found, found);
    }
}
