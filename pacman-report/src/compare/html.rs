//! A comparison as a page that loads nothing.

use super::comparison::{Comparison, Pair};
use super::noise::Verdict;
use super::text::{about, causes, change, factor_rows, interval, notes, summary, title, unmatched};
use crate::run::{seconds, share};

/// The page.
pub(super) fn write(comparison: &Comparison, threshold: f64, least: f64) -> String {
    let mut main = format!("<h1>{}</h1>\n", escaped(&summary(comparison, threshold, least)));
    for (word, side) in [("before", &comparison.before), ("after", &comparison.after)] {
        main.push_str(&format!("<p><b>{word}</b> {}</p>\n", escaped(&about(side))));
    }
    let factors = factor_rows(comparison);
    if !factors.is_empty() {
        main.push_str(
            "<h2>Efficiency</h2>\n<table><thead><tr><th>factor<th>before<th>after</thead>\n",
        );
        for (name, before, after) in factors {
            let (before, after) = (share(before), share(after));
            main.push_str(&format!("<tr><th>{name}<td>{before}<td>{after}\n"));
        }
        main.push_str("</table>\n");
    }
    main.push_str(
        "<h2>Regions</h2>\n<div class=\"wide\"><table><thead><tr><th>region<th>before<th>after<th>change\
         <th>95 % interval<th>verdict<th>picture</thead>\n",
    );
    let most =
        comparison.regions.iter().map(|(_, pair)| pair.before.seconds.max(pair.after.seconds));
    let most = most.fold(f64::MIN_POSITIVE, f64::max);
    for (key, pair) in &comparison.regions {
        main.push_str(&format!(
            "<tr class=\"{}\"><th>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}\n",
            pair.verdict.word(),
            escaped(&title(key)),
            seconds(pair.before.seconds),
            seconds(pair.after.seconds),
            change(pair.ratio.map(|ratio| ratio.value)),
            interval(pair.ratio),
            mark(pair.verdict),
            bars(pair, most),
        ));
    }
    main.push_str("</table></div>\n");
    for (key, pair) in &comparison.regions {
        let rows = causes(pair);
        if rows.is_empty() {
            continue;
        }
        main.push_str(&format!(
            "<h2>{}</h2>\n<table><thead><tr><th>threads' time<th>before<th>after</thead>\n",
            escaped(&title(key))
        ));
        for (cause, before, after) in rows {
            let (before, after) = (seconds(before), seconds(after));
            main.push_str(&format!("<tr><th>{}<td>{before}<td>{after}\n", escaped(&cause)));
        }
        main.push_str("</table>\n");
    }
    for line in unmatched(comparison) {
        main.push_str(&format!("<p>{}</p>\n", escaped(&line)));
    }
    for note in notes(comparison) {
        main.push_str(&format!("<p class=\"note\">{}</p>\n", escaped(&note)));
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>Comparison of two runs</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{main}</main>\n</body>\n</html>\n"
    )
}

/// Text from symbol tables and command lines, made harmless for an element or an attribute in double quotes.
fn escaped(text: &str) -> String {
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

/// The verdict with a sign, so that it does not depend on colour.
fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "▲ slower",
        Verdict::Faster => "▼ faster",
        Verdict::Same => "= same",
        Verdict::Unclear => "? unclear",
    }
}

/// Two bars, before above after.
fn bars(pair: &Pair, most: f64) -> String {
    let bar = |seconds: f64, class: &str, y: u32| {
        let width = 100.0 * seconds / most;
        format!("<rect class=\"{class}\" x=\"0\" y=\"{y}\" width=\"{width:.2}\" height=\"4\"/>")
    };
    format!(
        "<svg viewBox=\"0 0 100 10\" role=\"img\" aria-label=\"before {}, after {}\">{}{}</svg>",
        seconds(pair.before.seconds),
        seconds(pair.after.seconds),
        bar(pair.before.seconds, "old", 0),
        bar(pair.after.seconds, "new", 5),
    )
}

const STYLE: &str = include_str!("page.css");

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
