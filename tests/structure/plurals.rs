//! Sentences choose between singular and plural by `pacman_events::plural` alone.

/// The places of this source where a comparison with one chooses between two texts.
pub(crate) fn own_plurals(text: &str) -> Vec<String> {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut found = Vec::new();
    for condition in ["== 1 {", "!= 1 {", "> 1 {", "< 2 {"] {
        for (at, _) in flat.match_indices(condition) {
            let rest = flat[at + condition.len()..].trim_start();
            let texts = two_texts(rest);
            if let Some((one, other)) = texts.filter(|(one, other)| is_plural(one, other)) {
                found.push(format!("{condition} {one} }} else {{ {other} }}"));
            }
        }
    }
    found
}

/// `"one" } else { "other" }`, where each is a word, or the end of one.
fn two_texts(rest: &str) -> Option<(&str, &str)> {
    let (one, rest) = literal(rest)?;
    let rest = rest.trim_start().strip_prefix("} else {")?.trim_start();
    let (other, rest) = literal(rest)?;
    rest.trim_start().starts_with('}').then_some((one, other))
}

/// Whether one text is the plural of the other, word by word.
fn is_plural(one: &str, other: &str) -> bool {
    const VERBS: [(&str, &str); 3] = [("is", "are"), ("was", "were"), ("has", "have")];
    let of = |one: &str, many: &str| {
        many.strip_prefix(one).is_some_and(|end| ["s", "es"].contains(&end))
            || VERBS.contains(&(one, many))
    };
    let (one, other) = (one.trim_matches('"'), other.trim_matches('"'));
    let (one, other): (Vec<&str>, Vec<&str>) =
        (one.split(' ').collect(), other.split(' ').collect());
    let related = |(one, other): (&&str, &&str)| one == other || of(one, other) || of(other, one);
    one.len() == other.len() && one != other && one.iter().zip(&other).all(related)
}

fn literal(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('"')?;
    let end = inside.find('"')?;
    Some((&text[..end + 2], &inside[end + 1..]))
}

#[test]
fn a_plural_of_its_own_is_found() {
    let bad = "let s = if count == 1 { \"\" } else { \"s\" };\nif n\n    != 1 {\n \"are\"\n} else {\n\"is\" }";
    assert_eq!(
        own_plurals(bad),
        ["== 1 { \"\" } else { \"s\" }", "!= 1 { \"are\" } else { \"is\" }"]
    );
    assert_eq!(own_plurals("if n > 1 { \"threads were\" } else { \"thread was\" }").len(), 1);
    for other in ["if n == 1 { go() } else { \"s\" }", "if n > 1 { \"on\" } else { \"off\" }"] {
        assert!(own_plurals(other).is_empty(), "{other}");
    }
}
