//! Text in the language of man pages.

use std::fmt::Write;

/// The first lines of a page. Names are not hyphenated: a reader copies them.
pub(crate) fn title(name: &str, section: u8) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(".TH {} {section} \"\" \"PACMAN {version}\" \"PACMAN\"\n.nh\n", escape(name))
}

/// A section's heading.
pub(crate) fn heading(page: &mut String, title: &str) {
    let _ = writeln!(page, ".SH \"{}\"", escape(&title.replace('"', "'")));
}

/// Text to fill lines with; an empty line ends a paragraph.
pub(crate) fn paragraphs(page: &mut String, text: &str) {
    for line in text.lines() {
        let _ = match line.trim() {
            "" => writeln!(page, ".PP"),
            line => writeln!(page, "{}", escape(line)),
        };
    }
}

/// Lines as they are.
pub(crate) fn verbatim(page: &mut String, text: &str) {
    let _ = writeln!(page, ".PP\n.nf");
    for line in text.trim_end().lines() {
        let _ = writeln!(page, "{}", escape(line));
    }
    let _ = writeln!(page, ".fi");
}

/// A line that means itself: minus signs stay what they are, and no line is a request.
fn escape(line: &str) -> String {
    let mut escaped = String::new();
    if line.starts_with(['.', '\'']) {
        escaped.push_str("\\&");
    }
    for letter in line.chars() {
        match letter {
            '\\' => escaped.push_str("\\e"),
            '-' => escaped.push_str("\\-"),
            letter => escaped.push(letter),
        }
    }
    ascii(&escaped)
}

/// A page's text in ASCII, which every reader of pages takes.
pub(crate) fn ascii(text: &str) -> String {
    let mut plain = String::new();
    for letter in text.chars() {
        if letter.is_ascii() {
            plain.push(letter);
        } else {
            let _ = write!(plain, "\\[u{:04X}]", letter as u32);
        }
    }
    plain
}

/// Paragraphs, with indented lines as they are.
pub(crate) fn mixed(page: &mut String, text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    while at < lines.len() {
        let indented = |line: &&str| line.starts_with(' ');
        let is_block = indented(&lines[at]);
        // An empty line belongs to what stands before it.
        let more =
            lines[at..].iter().take_while(|line| line.is_empty() || indented(line) == is_block);
        let end = at + more.count().max(1);
        let part = lines[at..end].join("\n");
        if is_block {
            verbatim(page, &part);
            page.push_str(".PP\n");
        } else {
            paragraphs(page, &part);
        }
        at = end;
    }
}
