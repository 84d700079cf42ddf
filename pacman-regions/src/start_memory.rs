//! The cost of whole runs of a program by the number of threads that they started with.
//!
//! A program's default team may be too wide for all of its regions. Which number is better is known when a run with
//! another one has ended, or when regions of a run were packed on fewer contexts. The next run starts with it.

use serde::{Deserialize, Serialize};

/// The most entries of a program: arguments and numbers of threads.
const MOST: usize = 64;
/// A number of threads that was tried must take at most so much of the default's time.
const TRIED: f64 = 0.95;
/// A number that was not tried may be expected to take so much more than the run in which regions were packed. Runs
/// with fewer threads need no turns of several threads on one context, so they take less than is expected.
const EXPECTED: f64 = 1.02;
/// The processors that other programs must use in addition before a run counts as one on a busier machine.
const BUSIER: f64 = 0.5;

/// The runs of a program with the same arguments and the same default number of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartMemory {
    /// A hash of the program's arguments.
    pub arguments: String,
    /// The threads of a team of which the program says nothing.
    pub threads: u32,
    /// Seconds of an execution of a region in the latest run: the mean over all regions.
    pub cost: f64,
    /// The least of the costs of all runs.
    pub least: f64,
    /// Other numbers of threads with the cost that the latest run expects of each, as a part of `cost`.
    pub expected: Vec<(u32, f64)>,
    /// The runs.
    pub runs: u64,
    /// The processors that other programs used during the latest run, on average; `None` if it is not known.
    #[serde(default)]
    pub others: Option<f64>,
    /// The same of the run with the least cost.
    #[serde(default)]
    pub others_at_least: Option<f64>,
}

/// A number of threads to start with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StartChoice {
    /// The number.
    pub threads: u32,
    /// Its cost over the default's.
    pub ratio: f64,
    /// A run had that number. Otherwise regions were packed on as many contexts.
    pub is_tried: bool,
}

/// Adds a run. It replaces the cost of earlier ones with the same arguments and threads, and what they expected.
pub(crate) fn add(starts: &mut Vec<StartMemory>, mut new: StartMemory) {
    let is_same =
        |old: &StartMemory| (&old.arguments, old.threads) == (&new.arguments, new.threads);
    if let Some(at) = starts.iter().position(is_same) {
        let old = starts.remove(at);
        new.runs = new.runs.saturating_add(old.runs);
        if old.least <= new.least {
            (new.least, new.others_at_least) = (old.least, old.others_at_least);
        }
    }
    if starts.len() >= MOST {
        starts.remove(0);
    }
    starts.push(new);
}

/// The number of threads for a run with these arguments, where its default would be `default`. `None` if that is the
/// best one as far as is known.
///
/// The latest run with another number must beat the best run with the default. So a busy machine, or an input that has
/// become larger, restores the default after one run. If that best run was on a busier machine, it is no evidence for the
/// default on this one: the next run has the default again. The default has at most one run more than the other number.
/// So a machine that is busy whenever the default runs costs at most every second run.
pub(crate) fn choose(starts: &[StartMemory], arguments: &str, default: u32) -> Option<StartChoice> {
    let same = |start: &&StartMemory| start.arguments == arguments;
    let usual = starts.iter().filter(same).find(|start| start.threads == default)?;
    let tried = |threads: u32| {
        let start = starts.iter().filter(same).find(|start| start.threads == threads)?;
        Some(start.cost / usual.least)
    };
    let others = starts.iter().filter(same).map(|start| start.threads);
    let is_fair = |threads: u32| {
        let start = starts.iter().filter(same).find(|start| start.threads == threads);
        let is_quieter = start.is_some_and(|start| {
            start.others.zip(usual.others_at_least).is_some_and(|(now, then)| now + BUSIER < then)
        });
        !is_quieter || start.is_some_and(|start| start.runs < usual.runs)
    };
    let of_tried = others.filter_map(|threads| {
        let ratio = tried(threads).filter(|ratio| threads < default && *ratio <= TRIED)?;
        is_fair(threads).then_some(StartChoice { threads, ratio, is_tried: true })
    });
    let of_expected = usual.expected.iter().filter(|(threads, ratio)| {
        *threads < default && *ratio <= EXPECTED && tried(*threads).is_none()
    });
    let of_expected =
        of_expected.map(|&(threads, ratio)| StartChoice { threads, ratio, is_tried: false });
    of_tried.chain(of_expected).min_by(|one, other| one.ratio.total_cmp(&other.ratio))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(threads: u32, cost: f64, expected: &[(u32, f64)]) -> StartMemory {
        let arguments = "01234567".to_owned();
        let (least, expected) = (cost, expected.to_vec());
        StartMemory {
            arguments,
            threads,
            cost,
            least,
            expected,
            runs: 1,
            others: None,
            others_at_least: None,
        }
    }

    fn chosen(starts: &[StartMemory]) -> Option<(u32, bool)> {
        choose(starts, "01234567", 8).map(|choice| (choice.threads, choice.is_tried))
    }

    #[test]
    fn what_was_tried_is_chosen_if_it_took_less() {
        assert_eq!(chosen(&[]), None);
        let usual = start(8, 1.0, &[]);
        assert_eq!(chosen(std::slice::from_ref(&usual)), None);
        assert_eq!(chosen(&[usual.clone(), start(2, 0.5, &[])]), Some((2, true)));
        assert_eq!(chosen(&[usual.clone(), start(2, 0.99, &[])]), None);
        assert_eq!(chosen(&[start(2, 0.5, &[])]), None, "nothing to compare with");
        let more = [usual.clone(), start(16, 0.1, &[])];
        assert_eq!(chosen(&more), None, "never more than the default");
        let other = StartMemory { arguments: "other".into(), ..start(2, 0.1, &[]) };
        assert_eq!(chosen(&[usual, other]), None, "another input");
    }

    #[test]
    fn what_is_expected_is_tried_once() {
        let mut starts = vec![start(8, 1.0, &[(1, 1.5), (2, 1.01), (4, 0.97)])];
        assert_eq!(chosen(&starts), Some((4, false)));
        add(&mut starts, start(4, 1.2, &[]));
        assert_eq!(chosen(&starts), Some((2, false)), "4 were slower");
        add(&mut starts, start(2, 0.4, &[]));
        assert_eq!(chosen(&starts), Some((2, true)));
        assert_eq!(choose(&starts, "01234567", 2), None);
    }

    #[test]
    fn a_default_that_ran_on_a_busier_machine_has_its_turn_again() {
        let at = |others: f64, start: StartMemory| StartMemory {
            others: Some(others),
            others_at_least: Some(others),
            ..start
        };
        // The default's threads waited for those of other programs.
        let mut starts = vec![at(1.8, start(8, 5.0, &[])), at(1.6, start(1, 1.4, &[]))];
        assert_eq!(chosen(&starts), Some((1, true)), "both were on a busy machine");
        add(&mut starts, at(0.1, start(1, 1.4, &[])));
        assert_eq!(chosen(&starts), None, "now it is quiet");
        let mut quiet = starts.clone();
        add(&mut quiet, at(0.1, start(8, 0.7, &[])));
        assert_eq!(chosen(&quiet), None, "the default is quicker");
        // It was busy once more, and no less slow.
        add(&mut starts, at(1.8, start(8, 6.0, &[])));
        assert_eq!(chosen(&starts), None, "one turn for each");
        add(&mut starts, at(1.8, start(8, 6.0, &[])));
        assert_eq!(chosen(&starts), Some((1, true)), "it had more turns");
    }

    #[test]
    fn a_number_that_took_longer_once_is_left() {
        let mut starts = vec![start(8, 1.0, &[]), start(2, 0.5, &[])];
        // A busy machine makes the default no worse.
        add(&mut starts, start(8, 9.0, &[]));
        assert_eq!(choose(&starts, "01234567", 8).map(|choice| choice.ratio), Some(0.5));
        // The input is larger now.
        add(&mut starts, start(2, 5.0, &[]));
        assert_eq!(chosen(&starts), None);
        let two = starts.iter().find(|start| start.threads == 2).expect("it is there");
        assert_eq!((two.cost, two.least, two.runs), (5.0, 0.5, 2));
        (0..200).for_each(|threads| add(&mut starts, start(threads, 1.0, &[])));
        assert_eq!(starts.len(), MOST);
    }
}
