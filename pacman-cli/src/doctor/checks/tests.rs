//! Every cause, from faults below the OS seam and facts that are injected.

mod fake;
mod hardware;
mod limits;
mod permission;
mod software;

use super::*;
use fake::Fake;
use pacman_core::arch::CLOCK_SOURCE;
use pacman_core::backend::perf::{PerfPermissions, UserReads};
use pacman_suite::Texts;

/// A desktop at rest: one user, a PMU, nothing in the way of user-mode counting.
fn permissions() -> PerfPermissions {
    // An empty tree: facts that a test does not name stay what "no file" means.
    let mut permissions = PerfPermissions::read_under(std::path::Path::new("/nonexistent"));
    permissions.paranoid = Some(2);
    permissions.pmus = vec!["cpu".into()];
    permissions.rdpmc = Some(1);
    permissions.user_reads = UserReads::ByPage;
    permissions.descriptors = 1024;
    permissions
}

fn surroundings() -> Limits {
    Limits {
        contexts: 8,
        open_files: 4,
        page_allowance_kb: Some(516),
        locked_memory: Some(8 << 20),
        clock_source: CLOCK_SOURCE.map(Into::into),
        ..Limits::default()
    }
}

fn diagnose(fake: &Fake, permissions: &PerfPermissions) -> Diagnosis {
    Diagnosis::examine_with(fake.clone(), permissions, &surroundings())
}

/// The findings as lines.
fn lines(diagnosis: &Diagnosis) -> String {
    diagnosis.findings.iter().map(line).collect()
}

/// `subject outcome cause: text`.
fn line(finding: &Finding) -> String {
    let one = pacman_report::document::value(finding);
    let word = |member: &str| one[member].as_str();
    let cause = word("cause").map(|cause| format!(" ({cause})")).unwrap_or_default();
    let (subject, outcome) = (word("subject").expect("a word"), word("outcome").expect("a word"));
    format!("{subject} {outcome}{cause}: {}\n", finding.text)
}

/// The words of a test's diagnoses, for its section of `doctor.txt`.
struct Told(Texts);

fn told(title: &'static str) -> Told {
    Told(Texts::new(env!("CARGO_MANIFEST_DIR"), "snapshots/doctor.txt", title))
}

impl Told {
    fn add(&mut self, text: String) {
        self.0.add(text);
    }

    /// Adds a finding and its remedies.
    fn found(&mut self, finding: &Finding) {
        self.0.add(line(finding));
        remedies(finding).iter().for_each(|remedy| self.0.add(format!("  {remedy}")));
    }
}

/// Check, outcome, cause and text of one finding, and its remedies.
fn finding(diagnosis: &Diagnosis, subject: Check) -> &Finding {
    diagnosis.finding(subject).unwrap_or_else(|| panic!("nothing about {subject}"))
}

fn remedies(finding: &Finding) -> Vec<&str> {
    finding.help.iter().map(|help| help.text()).collect()
}

#[test]
fn a_machine_that_counts() {
    let mut told = told("a machine that counts");
    let fake = Fake::counting();
    let diagnosis = diagnose(&fake, &permissions());
    assert_eq!(diagnosis.verdict, Verdict::Hardware);
    assert_eq!(diagnosis.reason(), None);
    told.add(lines(&diagnosis));
    assert_eq!(fake.left_open(), 0, "a diagnosis leaves nothing open");
}

#[test]
fn this_machine_answers_and_its_verdict_follows_from_its_findings() {
    let diagnosis = Diagnosis::examine();
    let works = |subject| finding(&diagnosis, subject).outcome == Outcome::Works;
    let expected = match (works(Check::HardwareEvents), works(Check::SoftwareEvents)) {
        (true, _) => Verdict::Hardware,
        (false, true) => Verdict::SoftwareOnly,
        (false, false) => Verdict::Nothing,
    };
    assert_eq!(diagnosis.verdict, expected);
    assert_eq!(diagnosis.reason().is_none(), expected == Verdict::Hardware);
    for finding in &diagnosis.findings {
        let failed = matches!(finding.outcome, Outcome::InTheWay | Outcome::Missing);
        assert!(!failed || finding.cause.is_some(), "{finding:?} has no cause");
        assert!(finding.text.is_ascii() && finding.tried.is_ascii(), "{finding:?}");
    }
}
