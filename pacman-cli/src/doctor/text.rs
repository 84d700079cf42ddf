//! A diagnosis for a person: a mark, a subject, what came out, and what would help.

use crate::doctor::checks::{Cause, Diagnosis, Finding, Help, Outcome};

use super::style::Style;

/// Columns of the mark and of the subject beside it.
const MARGIN: usize = 2 + SUBJECT + 1;
const SUBJECT: usize = 16;

/// The whole answer, ending in a newline.
pub(super) fn diagnosis(diagnosis: &Diagnosis, style: &Style) -> String {
    let mut text = String::new();
    // Several findings often have the same cause, whose remedies are printed once.
    let mut said: Vec<&Help> = Vec::new();
    for finding in &diagnosis.findings {
        let mark = style.mark(finding.outcome);
        let subject = finding.subject.to_string();
        paragraph(&mut text, &format!("{mark} {subject:SUBJECT$} "), &told(finding), style.width);
        if finding.outcome != Outcome::Noted && finding.cause != Some(Cause::NotTried) {
            paragraph(&mut text, &indent("tried: "), &finding.tried, style.width);
        }
        for help in &finding.help {
            if !said.contains(&help) {
                let lead = format!("{}: ", help.when);
                // A command is never broken: it is there to be copied.
                text.push_str(&indent(&format!("help, {lead}{}\n", help.text())));
                said.push(help);
            }
        }
    }
    text.push('\n');
    paragraph(&mut text, "", &verdict(diagnosis), style.width);
    text
}

/// The verdict in words, with what keeps it from being better.
pub(super) fn verdict(diagnosis: &Diagnosis) -> String {
    match diagnosis.reason() {
        None => diagnosis.verdict.to_string(),
        Some(finding) => format!("{}: {}", diagnosis.verdict, finding.text),
    }
}

fn told(finding: &Finding) -> String {
    match finding.outcome {
        _ if finding.cause == Some(Cause::NotTried) => format!("not tried: {}", finding.text),
        Outcome::InTheWay | Outcome::Missing => format!("{}: {}", finding.outcome, finding.text),
        _ => finding.text.clone(),
    }
}

fn indent(text: &str) -> String {
    format!("{:MARGIN$}{text}", "")
}

/// `text` after `lead`, broken between words, its later lines under its first.
fn paragraph(out: &mut String, lead: &str, text: &str, width: usize) {
    out.push_str(lead);
    // Escape sequences take no columns, and leads are as wide as the margin or wider.
    let start = if lead.is_empty() { 0 } else { visible(lead) };
    let mut column = start;
    for word in text.split(' ') {
        let length = word.chars().count();
        if column > start {
            if column + 1 + length > width {
                out.push('\n');
                out.push_str(&" ".repeat(start));
                column = start;
            } else {
                out.push(' ');
                column += 1;
            }
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
}

/// The columns that `text` takes on a terminal.
fn visible(text: &str) -> usize {
    let mut columns = 0;
    let mut escape = false;
    for character in text.chars() {
        match (escape, character) {
            (false, '\x1b') => escape = true,
            (false, _) => columns += 1,
            (true, 'm') => escape = false,
            (true, _) => {}
        }
    }
    columns
}
