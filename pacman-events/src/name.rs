//! The grammar of event names: `NAME[:modifier…]`.
//!
//! NAME is a preset (`STALL_CYCLES`) or a native name with its unit masks
//! (`UOPS_ISSUED.STALL_CYCLES`, `instr_retired:NBOGUSNTAG`). It may also be a raw code
//! (`r01c3010e`), or an event in the style of perf (`cpu/event=0x3c,umask=0/`). Modifiers are `u`,
//! `k`, `e`, `i`, `c=N`, `any` and, on NetBurst, `thr=N` and `cmpl`, in any order. The single
//! letters may be joined, as in `:uk`.

use crate::encode::Modifiers;
use crate::resolve_error::ResolveError;

/// A name's text after its modifiers were removed from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spelling<'a> {
    pub(crate) base: &'a str,
    pub(crate) modifiers: Modifiers,
}

/// Removes one modifier from the end of `spelling`.
///
/// `None` if the last segment is not a modifier. Callers peel modifiers one by one because a
/// table may have a unit mask that is spelt like a modifier. The longest name in the
/// table wins.
pub(crate) fn peel<'a>(
    asked: &str,
    spelling: Spelling<'a>,
) -> Result<Option<Spelling<'a>>, ResolveError> {
    let Some((base, last)) = spelling.base.rsplit_once(':') else {
        return Ok(None);
    };
    let mut modifiers = spelling.modifiers;
    if set(asked, &mut modifiers, last)? {
        Ok(Some(Spelling { base, modifiers }))
    } else {
        Ok(None)
    }
}

/// Sets the modifier of `word`; false if it is not a modifier.
pub(crate) fn set(
    asked: &str,
    modifiers: &mut Modifiers,
    word: &str,
) -> Result<bool, ResolveError> {
    let twice = |name: &str| ResolveError::grammar(asked, format!("modifier {name} stands twice"));
    let flags = [
        ("u", &mut modifiers.user),
        ("k", &mut modifiers.kernel),
        ("e", &mut modifiers.edge),
        ("i", &mut modifiers.invert),
        ("any", &mut modifiers.any_thread),
        ("cmpl", &mut modifiers.complement),
    ];
    for (name, field) in flags {
        if name.eq_ignore_ascii_case(word) {
            return if std::mem::replace(field, true) { Err(twice(name)) } else { Ok(true) };
        }
    }
    let Some((name, value)) = word.split_once('=') else {
        // perf accepts levels and flags in one word, such as `uk`.
        let flags = word.bytes().all(|letter| b"ukeiUKEI".contains(&letter));
        if word.len() < 2 || !flags {
            return Ok(false);
        }
        return (0..word.len()).try_fold(true, |_, at| set(asked, modifiers, &word[at..=at]));
    };
    let (name, field, highest) = if name.eq_ignore_ascii_case("c") {
        ("c", &mut modifiers.cmask, 255)
    } else if name.eq_ignore_ascii_case("thr") {
        ("thr", &mut modifiers.threshold, 15)
    } else {
        return Ok(false);
    };
    let value = number(value).filter(|value| *value <= highest).ok_or_else(|| {
        ResolveError::grammar(
            asked,
            format!("{name} takes a number from 0 to {highest}, not {value}"),
        )
    })?;
    if field.replace(value as u8).is_some() {
        return Err(twice(name));
    }
    Ok(true)
}

/// Whether a segment is `c=N` or `thr=N`. The build keeps these out of the names in tables.
pub(crate) fn holds_number(base: &str) -> bool {
    base.contains('=')
        && base.split(':').skip(1).any(|segment| {
            let name = segment.split_once('=').map_or("", |(name, _)| name);
            name.eq_ignore_ascii_case("c") || name.eq_ignore_ascii_case("thr")
        })
}

/// `r01c3010e`: a raw code of up to 16 hexadecimal digits.
pub(crate) fn raw(base: &str) -> Option<u64> {
    let digits = base.strip_prefix(['r', 'R'])?;
    let all_hexadecimal = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
    if all_hexadecimal { u64::from_str_radix(digits, 16).ok() } else { None }
}

/// `pmu/term,term=N/modifiers`, split into its three parts.
pub(crate) fn perf_style(asked: &str) -> Result<Option<(&str, &str, &str)>, ResolveError> {
    let Some((pmu, rest)) = asked.split_once('/') else {
        return Ok(None);
    };
    let Some((terms, modifiers)) = rest.split_once('/') else {
        return Err(ResolveError::grammar(asked, "an event in perf's style ends in a second /"));
    };
    if pmu.is_empty() || terms.is_empty() {
        return Err(ResolveError::grammar(asked, "perf's style is PMU/TERM[=N],…/"));
    }
    Ok(Some((pmu, terms, modifiers)))
}

/// Decimal, or hexadecimal after `0x`.
pub(crate) fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16).ok(),
        None if !text.starts_with('+') => text.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peel_all(asked: &str) -> Result<Spelling<'_>, ResolveError> {
        let mut spelling = Spelling { base: asked, modifiers: Modifiers::default() };
        while let Some(rest) = peel(asked, spelling)? {
            spelling = rest;
        }
        Ok(spelling)
    }

    #[test]
    fn modifiers_come_in_any_order_and_case() {
        let one = peel_all("X.Y:u:C=2:i").unwrap();
        let other = peel_all("X.Y:I:c=0x2:U").unwrap();
        assert_eq!(one, other);
        assert_eq!((one.base, one.modifiers.cmask), ("X.Y", Some(2)));
    }

    #[test]
    fn letters_may_stand_together() {
        assert_eq!(peel_all("X:uk").unwrap(), peel_all("X:k:u").unwrap());
        assert_eq!(peel_all("X:Kie").unwrap(), peel_all("X:i:e:k").unwrap());
        assert_eq!(peel_all("X:uz").unwrap().base, "X:uz");
        assert!(peel_all("X:uku").unwrap_err().to_string().contains("modifier u stands twice"));
    }

    #[test]
    fn a_modifier_twice_or_out_of_range_is_refused_with_its_name() {
        let text = |asked| peel_all(asked).unwrap_err().to_string();
        assert!(text("X:u:u").contains("modifier u stands twice"));
        assert!(text("X:c=1:c=2").contains("modifier c stands twice"));
        assert!(text("X:c=256").contains("0 to 255"));
        assert!(text("X:thr=16").contains("0 to 15"));
        assert!(text("X:c=+1").contains("not +1"));
    }

    #[test]
    fn raw_codes_are_hexadecimal_to_the_end() {
        assert_eq!(raw("r01c3010e"), Some(0x01c3_010e));
        assert_eq!(raw("rate"), None);
        assert_eq!(raw("r"), None);
        assert_eq!(raw("r+1"), None);
        assert_eq!(raw("r11111111111111111"), None);
    }
}
