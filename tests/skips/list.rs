//! The list of all that the other test programs skipped, printed after them: cargo runs packages by
//! name, and the tests of one, too.
//!
//! It has no harness, which would keep what it prints to itself.

use pacman_events::plural::number;
use std::collections::BTreeMap;

use pacman_suite::{Skip, skips};

/// The remedy of a lack, by the words that tests use for it.
const REMEDIES: &[(&str, &str)] = &[
    ("no clang", "apt-get install clang libomp-dev"),
    ("no libomp", "apt-get install libomp-dev"),
    ("no gfortran", "apt-get install gfortran"),
    ("no g++", "apt-get install g++"),
    ("no c++", "apt-get install g++"),
    ("no valgrind", "apt-get install valgrind"),
    (
        "no python3 with",
        "apt-get install python3-pandas python3-matplotlib python3-pip python3-wheel",
    ),
    ("no nbclient", "apt-get install python3-nbclient python3-ipykernel"),
    ("no pkg-config", "apt-get install pkg-config"),
    ("no headless Chromium", "apt-get install chromium-headless-shell"),
    ("no OpenMP in GCC", "apt-get install gcc"),
    ("no data", "PACMAN_DATA names the folder of measured programs"),
    ("only root", "run as root"),
];

fn main() {
    // A lister of tests, as nextest, runs none.
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    print!("{}", listed(&skips()));
}

fn listed(skips: &[Skip]) -> String {
    let mut tests: Vec<(&str, &str)> = skips.iter().map(|it| (&*it.program, &*it.test)).collect();
    tests.sort_unstable();
    tests.dedup();
    let mut reasons: BTreeMap<&str, BTreeMap<(&str, &str), Vec<&str>>> = BTreeMap::new();
    for skip in skips {
        let by_test = reasons.entry(&skip.why).or_default();
        by_test.entry((&skip.program, &skip.test)).or_default().push(&skip.part);
    }
    if skips.is_empty() {
        return "\nskipped: nothing\n".to_owned();
    }
    let mut text = format!("\nskipped: {}\n", counted(skips.len(), tests.len()));
    for (why, tests) in reasons {
        let remedy = REMEDIES.iter().find(|(lack, _)| why.starts_with(lack));
        let remedy = remedy.map_or(String::new(), |(_, remedy)| format!(" ({remedy})"));
        text += &format!("  {why}{remedy}\n");
        for ((program, test), parts) in tests {
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let parts = match parts[..] {
                [] => String::new(),
                [one] => format!(": {one}"),
                [first, ..] => format!(": {first} and {} more", parts.len() - 1),
            };
            text += &format!("      {program} {test}{parts}\n");
        }
    }
    // Ends at an empty line.
    text + "\n"
}

fn counted(parts: usize, tests: usize) -> String {
    format!("{} of {}", number(parts, "part"), number(tests, "test"))
}
