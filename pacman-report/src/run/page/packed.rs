//! A document as the text of a script element: JSON itself, or gzip in base64 where it is long.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

pub(super) struct Packed {
    /// The name of the form, for the script.
    pub(super) form: &'static str,
    pub(super) text: String,
}

impl Packed {
    pub(super) fn of(document: &[u8]) -> Packed {
        if document.len() <= PLAIN {
            return Packed { form: "json", text: harmless(&String::from_utf8_lossy(document)) };
        }
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(document).expect("memory takes everything");
        Packed { form: "gzip", text: base64(&packed.finish().expect("memory takes everything")) }
    }
}

/// JSON that no script element ends at, and no old JavaScript either: `</script>` and `<!--` mean something even
/// inside of a string, and so do two line separators.
fn harmless(json: &str) -> String {
    json.trim_end()
        .replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |place: usize| u32::from(three.get(place).copied().unwrap_or(0));
        let bits = (at(0) << 16) | (at(1) << 8) | at(2);
        for digit in 0..4 {
            let value = (bits >> (18 - 6 * digit)) & 63;
            text.push(if digit > three.len() { '=' } else { DIGITS[value as usize].into() });
        }
    }
    text
}

/// Shorter documents stay readable, and need no browser that can unpack.
const PLAIN: usize = 300_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_script_element() {
        let text = "</script><!--\u{2028}\u{2029}&\"'";
        let packed = Packed::of(&serde_json::to_vec(text).expect("JSON"));
        assert_eq!(packed.form, "json");
        assert!(!packed.text.contains(['<', '\u{2028}', '\u{2029}']), "{}", packed.text);
        assert_eq!(serde_json::from_str::<String>(&packed.text).expect("still JSON"), text);
        let long = Packed::of(&serde_json::to_vec(&text.repeat(PLAIN)).expect("JSON"));
        assert_eq!(long.form, "gzip");
        let is_digit = |letter: char| letter.is_ascii_alphanumeric() || "+/=".contains(letter);
        assert!(long.text.chars().all(is_digit));
    }

    #[test]
    fn digits_are_those_of_rfc_4648() {
        let pairs =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (plain, digits) in pairs {
            assert_eq!(base64(plain.as_bytes()), digits);
        }
    }
}
