//! Escapes foreign text for a terminal; no other module does so.
//!
//! Names come from data files, models, paths, programs and kernels. A control character in a name
//! moves the cursor, a line feed forges a line, and U+202E reverses the direction of text.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;

/// A name in printable form.
///
/// A harmless name is unchanged. Any other name has the shell's `$'…'` form, which keeps every
/// byte and can be pasted into a shell.
///
/// ```
/// use pacman_events::shown::{shown, shown_path};
/// use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
///
/// assert_eq!(shown("phase 1").to_string(), "phase 1");
/// assert_eq!(shown("a\x1b[2J\u{202e}").to_string(), r"$'a\e[2J\u202e'");
/// assert_eq!(shown_path(OsStr::from_bytes(b"bad\xff/app")).to_string(), r"$'bad\xff/app'");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a>(&'a [u8]);

/// Shows a name that is text.
pub fn shown<T: AsRef<str> + ?Sized>(name: &T) -> Shown<'_> {
    Shown(name.as_ref().as_bytes())
}

/// Shows a path, an argument or another name that may not be valid UTF-8.
pub fn shown_path<T: AsRef<OsStr> + ?Sized>(name: &T) -> Shown<'_> {
    Shown(name.as_ref().as_encoded_bytes())
}

/// A name as text for data formats such as JSON and CSV.
///
/// Valid UTF-8 is unchanged, control characters included. Any other name is escaped as by
/// [`shown_path`].
pub fn text_of<T: AsRef<OsStr> + ?Sized>(name: &T) -> String {
    match name.as_ref().to_str() {
        Some(text) => text.to_owned(),
        None => shown_path(name).to_string(),
    }
}

/// The words of a command as a line that a shell splits into these words again.
///
/// Words that [`text_of`] escaped stay as they are.
///
/// ```
/// use pacman_events::shown::command_line;
/// let words = ["./solver", "a b", "it's", "", "$'bad\\xff'"].map(String::from);
/// assert_eq!(command_line(&words), r"./solver 'a b' 'it'\''s' '' $'bad\xff'");
/// ```
pub fn command_line(words: &[String]) -> String {
    let words = words.iter().map(|word| match shown(word).to_string() {
        escaped if escaped.starts_with("$'") && escaped.ends_with('\'') => escaped,
        word if !word.is_empty() && word.chars().all(is_plain) => word,
        word => format!("'{}'", word.replace('\'', r"'\''")),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Whether a shell takes the character for itself, wherever it stands.
fn is_plain(letter: char) -> bool {
    letter.is_alphanumeric() || "_-./:=@%+,".contains(letter)
}

/// Escapes the unsafe characters of a whole line in place, without quotes.
///
/// Parts of the line that [`shown`] has escaped stay as they are.
///
/// ```
/// use pacman_events::shown::line;
/// assert_eq!(line("one\ntwo \u{9b}m"), r"one\ntwo \u009bm");
/// ```
pub fn line(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        escape(letter, &mut out);
    }
    Cow::Owned(out)
}

/// `text` in quotes with Rust's escapes, cut after 120 characters.
///
/// ```
/// use pacman_events::shown::excerpt;
/// assert_eq!(excerpt("a\tb"), r#""a\tb""#);
/// assert!(excerpt(&"0,".repeat(5_000)).ends_with("… (10000 bytes)"));
/// ```
pub fn excerpt(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}… ({} bytes)", &text[..end], text.len()),
    }
}

/// The most characters that an [`excerpt`] keeps.
const LONGEST: usize = 120;

/// Whether a character is unsafe to print.
///
/// Unsafe are control characters, and characters that change the direction of text, break lines
/// or are invisible.
pub fn is_unsafe(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match std::str::from_utf8(self.0) {
            Ok(text) if !text.contains(is_unsafe) => return f.pad(text),
            _ => {}
        }
        let mut out = String::from("$'");
        for chunk in self.0.utf8_chunks() {
            for letter in chunk.valid().chars() {
                if matches!(letter, '\\' | '\'') {
                    out.push('\\');
                }
                escape(letter, &mut out);
            }
            for byte in chunk.invalid() {
                out.push_str(&format!("\\x{byte:02x}"));
            }
        }
        out.push('\'');
        f.pad(&out)
    }
}

/// Appends `letter` in the escapes that bash reads between `$'` and `'`.
fn escape(letter: char, out: &mut String) {
    match letter {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{1b}' => out.push_str("\\e"),
        letter if !is_unsafe(letter) => out.push(letter),
        letter if letter.is_ascii() => out.push_str(&format!("\\x{:02x}", letter as u32)),
        letter if letter <= '\u{ffff}' => out.push_str(&format!("\\u{:04x}", letter as u32)),
        letter => out.push_str(&format!("\\U{:08x}", letter as u32)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn harmless_text_is_what_it_was() {
        for text in ["", "C:\\x", "it's", "größe 大 e\u{301} \u{200d}", "$'x'"] {
            assert_eq!(shown(text).to_string(), text);
            assert_eq!(line(text), text);
        }
        assert_eq!(format!("{:>4}|{:<4}|", shown("ab"), shown("ab")), "  ab|ab  |");
    }

    #[test]
    fn no_unsafe_character_passes_and_none_is_lost() {
        let mut seen = std::collections::HashSet::new();
        for letter in (0..=0x10_ffff).filter_map(char::from_u32).filter(|one| is_unsafe(*one)) {
            let text = format!("a{letter}b");
            for out in [shown(&text).to_string(), line(&text).into_owned()] {
                assert!(!out.contains(is_unsafe), "{out:?}");
                assert!(seen.insert(out), "two characters look the same");
            }
        }
        assert!(seen.len() > 2 * (32 + 33 + 9));
        for byte in 0x80..=0xff {
            let out = shown_path(OsStr::from_bytes(&[b'a', byte])).to_string();
            assert_eq!(out, format!("$'a\\x{byte:02x}'"));
        }
        assert_eq!(shown("it's \\ \n").to_string(), r"$'it\'s \\ \n'");
    }

    #[test]
    fn what_was_shown_once_is_shown_the_same_again() {
        for text in ["\u{1b}]0;x\u{7}", "a\nb", "\u{2066}", "plain"] {
            let once = shown(text).to_string();
            assert_eq!(shown(&once).to_string(), once);
            assert_eq!(line(&once), once);
        }
    }
}
