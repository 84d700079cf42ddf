//! Links and headings of a Markdown text, as GitHub and mdBook number them.

use std::collections::HashMap;

/// The lines outside fenced code blocks, with their numbers from 1.
pub(crate) fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fence && !fenced).then_some((at + 1, line))
    })
}

/// The targets of inline links, with the number of their line. Code spans have none.
pub(crate) fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for rest in plain.split("](").skip(1) {
            if let Some((target, _)) = rest.split_once(')') {
                found.push((number, target.to_owned()));
            }
        }
    }
    found
}

/// The anchors of a text's headings; a repeated heading gets a number.
pub(crate) fn anchors(text: &str) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let headings = prose(text)
        .filter(|(_, line)| line.trim_start_matches('#').starts_with(' ') && line.starts_with('#'));
    headings
        .map(|(_, line)| {
            let anchor = anchor(line.trim_start_matches('#').trim());
            let times = seen.entry(anchor.clone()).or_default();
            *times += 1;
            if *times == 1 { anchor } else { format!("{anchor}-{}", *times - 1) }
        })
        .collect()
}

fn anchor(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter(|sign| sign.is_alphanumeric() || matches!(sign, ' ' | '-' | '_'))
        .map(|sign| if sign == ' ' { '-' } else { sign })
        .collect()
}

#[test]
fn code_has_no_links_and_no_headings() {
    let text =
        "# A b: `c`?\n[x](y.md#z)\n```\n# no\n[no](no.md)\n```\n`[no](no)` [two](t)\n## A b c\n";
    assert_eq!(links(text), [(2, "y.md#z".to_owned()), (7, "t".to_owned())]);
    assert_eq!(anchors(text), ["a-b-c", "a-b-c-1"]);
}
