//! The members of documents for the help and the man pages of commands.

use serde_json::Value;

use super::format::{Format, unlinked};
use super::held;
use super::table::{kind, objects_in, properties};

/// Compares the members of a document with the text that a command's help has, or writes it. Objects inside of others
/// are listed to this depth.
pub(super) fn hold(package: &str, format: &Format, depth: usize) {
    let mut listed = Listed { text: String::new(), known: Vec::new() };
    for (path, object) in objects_in(&format.schema, String::new()) {
        listed.text += if listed.text.is_empty() { "JSON" } else { "\n\nor JSON" };
        listed.text += if path.is_empty() { ":" } else { ", a list of:" };
        listed.members(object, depth, 2);
    }
    listed.text += "\n\n  docs/output.md describes every member.";
    held::hold_file(&format!("../{package}/src/help/{}.txt", format.name), &listed.text);
}

/// Lines of members.
struct Listed<'s> {
    text: String,
    /// The objects whose members have lines.
    known: Vec<&'s Value>,
}

impl<'s> Listed<'s> {
    fn members(&mut self, object: &'s Value, depth: usize, indent: usize) {
        self.known.push(object);
        for (name, member) in properties(object) {
            self.line(indent, name, &meaning(member));
            for (_, inner) in objects_in(member, String::new()) {
                let is_known = |known: &&Value| properties(known) == properties(inner);
                if depth > 0 && !self.known.iter().any(is_known) {
                    self.members(inner, depth - 1, indent + 2);
                }
            }
        }
    }

    /// A name, and beside it a meaning in several lines.
    fn line(&mut self, indent: usize, name: &str, meaning: &str) {
        let mut head = format!("{:indent$}{name}", "");
        if head.len() + 2 > MARGIN {
            self.text += &format!("\n{head}");
            head.clear();
        }
        for line in wrapped(meaning, ' ', WIDTH - MARGIN) {
            self.text += &format!("\n{:MARGIN$}{line}", std::mem::take(&mut head));
        }
    }
}

/// The text in lines of this width, broken behind `at`.
pub(super) fn wrapped(text: &str, at: char, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in text.split_inclusive(at) {
        match lines.last_mut() {
            Some(line) if line.len() + part.trim_end().len() <= width => line.push_str(part),
            _ => lines.push(part.to_owned()),
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

/// The description without marks, and the words that a value may be.
fn meaning(member: &Value) -> String {
    let mut text = unlinked(member["description"].as_str().unwrap_or_default());
    let kind = kind(member);
    if kind.contains('`') {
        text = format!("{}: {kind}", text.trim_end_matches('.'));
    }
    text.replace('`', "")
}

/// The place of the meanings.
const MARGIN: usize = 24;
/// The columns of a line.
const WIDTH: usize = 100;
