//! Text from symbol tables and command lines, made harmless.

/// Text for an element or an attribute in double quotes.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // Nothing but blanks may be a control character in a page.
            control if control.is_control() && !control.is_whitespace() => safe.push('\u{fffd}'),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_place() {
        assert_eq!(
            escaped("operator<<\"x\"'&\u{1b}[31m"),
            "operator&lt;&lt;&quot;x&quot;&#39;&amp;\u{fffd}[31m"
        );
    }
}
