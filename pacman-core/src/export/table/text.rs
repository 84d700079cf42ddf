//! Names in a terminal: allowed characters, width, line breaks.

use pacman_events::plural::noun;
use pacman_events::shown;

/// A name that cannot move the cursor or change colours: control characters are written as escapes.
pub(super) fn clean(name: &str) -> String {
    shown::line(name).into_owned()
}

/// The number of columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// A text cut to `most` columns, with a mark where it was cut.
pub(super) fn clip(text: &str, most: usize, unicode: bool) -> String {
    if width(text) <= most {
        return text.to_string();
    }
    let mark = if unicode { "…" } else { "..." };
    let mut left = most.saturating_sub(width(mark));
    let mut cut = String::new();
    for c in text.chars() {
        let Some(rest) = left.checked_sub(columns(c)) else { break };
        left = rest;
        cut.push(c);
    }
    cut.push_str(mark);
    cut
}

/// A paragraph in lines of at most `most` columns, broken between words; a word that is wider than a
/// line is broken too. All lines but the first begin with `indent`.
pub(super) fn wrap(paragraph: &str, most: usize, indent: &str) -> Vec<String> {
    let mut lines = Vec::new();
    // A line has room for a letter at least.
    let most = most.max(width(indent) + 2);
    let mut line = String::new();
    for (number, word) in paragraph.split(' ').enumerate() {
        if number > 0 && !line.trim().is_empty() && width(&line) + 1 + width(word) > most {
            lines.push(std::mem::replace(&mut line, indent.to_owned()));
        } else if number > 0 {
            line.push(' ');
        }
        for c in word.chars() {
            if width(&line) + columns(c) > most {
                // A name is easier to read in its parts.
                let part = line.rfind([':', '_', '.', ',', '/', '<']).map(|at| at + 1);
                let part = part.filter(|at| *at > line.len() / 2 && *at > indent.len());
                let rest = line.split_off(part.unwrap_or(line.len()));
                lines.push(std::mem::replace(&mut line, format!("{indent}{rest}")));
            }
            line.push(c);
        }
    }
    lines.push(line);
    lines
}

/// Numbers as a short list of ranges: `0-3, 7, 9-12 and 40 more`.
fn ranges(numbers: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let (shown, rest) = runs.split_at(runs.len().min(RANGES));
    let shown: Vec<String> = shown
        .iter()
        .map(
            |&(first, last)| {
                if first == last { first.to_string() } else { format!("{first}-{last}") }
            },
        )
        .collect();
    let more: usize = rest.iter().map(|(first, last)| last - first + 1).sum();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// Threads by their numbers: `thread 3`, `threads 0-3, 7`.
pub(super) fn threads(numbers: &[usize]) -> String {
    format!("{} {}", noun(numbers.len(), "thread"), ranges(numbers))
}

/// Columns of one character: none for marks that join the one before, two for wide scripts and
/// pictures. It knows the blocks of Unicode's East Asian Width that are likely in names.
fn columns(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36f | 0x200b..=0x200f | 0x20d0..=0x20ff | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

const RANGES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_drive_the_terminal() {
        assert_eq!(clean("a\u{1b}[2Jb\nc"), r"a\e[2Jb\nc");
        assert_eq!(clean("x\u{202e}y"), r"x\u202ey");
        assert_eq!(clean("größe 漢"), "größe 漢");
    }

    #[test]
    fn widths_are_those_of_a_terminal() {
        assert_eq!(width("größe"), 5);
        assert_eq!(width("漢字"), 4);
        assert_eq!(width("e\u{301}"), 1);
    }

    #[test]
    fn clipping_leaves_room_for_its_mark() {
        assert_eq!(clip("worker-17", 9, true), "worker-17");
        assert_eq!(clip("worker-17", 8, true), "worker-…");
        assert_eq!(clip("worker-17", 8, false), "worke...");
        assert_eq!(width(&clip("漢字漢字", 6, true)), 5, "no half of a wide character");
    }

    #[test]
    fn paragraphs_break_between_words() {
        assert_eq!(wrap("one two three", 8, "  "), ["one two", "  three"]);
        assert_eq!(wrap("a  b", 9, ""), ["a  b"]);
        assert_eq!(wrap("space::a_name", 10, ""), ["space::a_", "name"]);
        assert_eq!(wrap("unbreakable", 4, ""), ["unbr", "eaka", "ble"]);
    }

    #[test]
    fn many_numbers_become_few_ranges() {
        assert_eq!(ranges(&[3]), "3");
        assert_eq!(ranges(&[0, 1, 2, 3, 7, 9, 10]), "0-3, 7, 9-10");
        let even: Vec<usize> = (0..40).step_by(2).collect();
        assert_eq!(ranges(&even), "0, 2, 4, 6, 8, 10, 12, 14 and 12 more");
    }
}
