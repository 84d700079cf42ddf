//! Stacked bars: parts with a pattern each, and their share as a label where there is room.

use super::escape::escaped;
use crate::run::text::share;

/// A part of a bar.
pub(super) struct Part {
    /// The class with its colour and pattern.
    pub(super) class: &'static str,
    pub(super) word: &'static str,
    /// Its part of the whole bar, from 0 to 1.
    pub(super) share: f64,
    /// Its width in percent of the track.
    pub(super) width: f64,
    /// An amount beside its share; may be empty.
    pub(super) amount: String,
}

/// The bar of `who`.
pub(super) fn bar(who: &str, parts: &[Part]) -> String {
    let words: Vec<String> =
        parts.iter().map(|part| format!("{} {}", part.word, share(part.share))).collect();
    let part = |part: &Part| {
        let own = share(part.share);
        let label = match part.width {
            WITH_WORD.. => format!("<b>{} {own}</b>", part.word),
            WITH_SHARE.. => format!("<b>{own}</b>"),
            _ => String::new(),
        };
        let amount = match &*part.amount {
            "" => String::new(),
            amount => format!("{amount}, "),
        };
        format!(
            "<span class=\"part {}\" style=\"width:{:.2}%\" title=\"{}: {}{}\">{label}</span>",
            part.class,
            part.width,
            part.word,
            escaped(&amount),
            escaped(&own),
        )
    };
    format!(
        "<span class=\"states\" role=\"img\" aria-label=\"{}: {}\">{}</span>",
        escaped(who),
        escaped(&words.join(", ")),
        parts.iter().map(part).collect::<String>()
    )
}

/// The parts of several bars with their words; `share` is of all of them.
pub(super) fn legend(parts: impl Iterator<Item = (&'static str, &'static str, f64)>) -> String {
    let items = parts.filter(|(.., part)| *part >= WORTH).map(|(class, word, part)| {
        format!("<li><i class=\"key {class}\"></i>{word} {}</li>", escaped(&share(part)))
    });
    format!("<ul class=\"legend\">{}</ul>", items.collect::<String>())
}

/// The part from which on it is in the legend.
const WORTH: f64 = 0.0005;
/// Widths in percent from which on a part has room for its share, and for its name too.
const WITH_SHARE: f64 = 11.0;
const WITH_WORD: f64 = 26.0;
