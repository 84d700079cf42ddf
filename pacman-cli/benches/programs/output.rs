//! Whether a program prints the same when it is observed or adapted.

use crate::ways::Way;

/// The outputs of all runs of one program.
#[derive(Default)]
pub(crate) struct Outputs {
    alone: Vec<Vec<u8>>,
    others: Vec<(Way, Vec<u8>)>,
}

impl Outputs {
    pub(crate) fn add(&mut self, way: Way, text: Vec<u8>) {
        match way {
            Way::Alone | Way::Again => self.alone.push(text),
            // Its sums may differ in their last digits.
            Way::OneThread => {}
            _ => self.others.push((way, text)),
        }
    }

    /// The first line that every run alone printed and another run did not.
    pub(crate) fn difference(&self) -> Option<String> {
        let alone: Vec<Vec<&[u8]>> = self.alone.iter().map(|text| lines(text)).collect();
        let (first, rest) = alone.split_first()?;
        if let Some(other) = rest.iter().find(|other| other.len() != first.len()) {
            let (a, b) = (first.len(), other.len());
            return Some(format!("cannot compare: alone it prints {a} or {b} lines"));
        }
        // Times and rates vary from run to run.
        let stable: Vec<bool> =
            (0..first.len()).map(|at| rest.iter().all(|other| other[at] == first[at])).collect();
        self.others.iter().find_map(|(way, text)| {
            let text = lines(text);
            let name = way.name();
            if text.len() != first.len() {
                return Some(format!("{name}: {} lines instead of {}", text.len(), first.len()));
            }
            let at = (0..first.len()).find(|&at| stable[at] && text[at] != first[at])?;
            let [said, own] = [text[at], first[at]].map(String::from_utf8_lossy);
            Some(format!("{name}, line {}: {said:?} instead of {own:?}", at + 1))
        })
    }
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split(|&byte| byte == b'\n').collect()
}
