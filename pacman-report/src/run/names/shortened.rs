//! Long C++ names, cut where they say least: template arguments and parameters.

/// Returns a short name unchanged. Shortens the insides of brackets in others to `<…>` and `(…)`.
pub(super) fn shortened(name: &str) -> String {
    if name.chars().count() <= LONG { name.to_owned() } else { with_brackets(name, true) }
}

/// The name without brackets.
pub(super) fn without_brackets(name: &str) -> String {
    with_brackets(name, false)
}

/// The name with empty brackets, or without.
fn with_brackets(name: &str, has_brackets: bool) -> String {
    let mut short = String::new();
    let letters = nested(name);
    for (number, own) in letters.iter().enumerate().filter(|(_, own)| own.depth == 0) {
        if own.bracket.is_none() || has_brackets {
            short.push(own.letter);
        }
        let is_empty = || letters.get(number + 1).is_some_and(Letter::closes);
        if own.opens() && has_brackets && !is_empty() {
            short.push('…');
        }
    }
    short
}

/// A letter of a C++ name.
pub(super) struct Letter {
    pub(super) at: usize,
    pub(super) letter: char,
    /// The brackets around it; a bracket is outside of itself.
    pub(super) depth: usize,
    bracket: Option<Bracket>,
}

#[derive(PartialEq)]
enum Bracket {
    Open,
    Close,
}

impl Letter {
    pub(super) fn opens(&self) -> bool {
        self.bracket == Some(Bracket::Open)
    }

    pub(super) fn closes(&self) -> bool {
        self.bracket == Some(Bracket::Close)
    }
}

/// The letters of a C++ name or of its begin. The signs of operators are no brackets.
pub(super) fn nested(name: &str) -> Vec<Letter> {
    let (mut letters, mut depth, mut operator_end) = (Vec::new(), 0usize, 0);
    for (at, letter) in name.char_indices() {
        let operator = OPERATORS.iter().find(|operator| name[at..].starts_with(**operator));
        operator_end = operator.map_or(operator_end, |operator| at + operator.len());
        let bracket = match letter {
            '<' | '(' if at >= operator_end => Some(Bracket::Open),
            '>' | ')' if at >= operator_end => Some(Bracket::Close),
            _ => None,
        };
        depth = depth.saturating_sub(usize::from(bracket == Some(Bracket::Close)));
        let own = Letter { at, letter, depth, bracket };
        depth += usize::from(own.opens());
        letters.push(own);
    }
    letters
}

/// Longest first, so that none is taken for the begin of another.
const OPERATORS: [&str; 12] = [
    "operator<<=",
    "operator>>=",
    "operator->*",
    "operator<=>",
    "operator<<",
    "operator>>",
    "operator->",
    "operator<=",
    "operator>=",
    "operator()",
    "operator<",
    "operator>",
];

/// Letters from which on a name is cut.
pub(super) const LONG: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inside_goes_and_what_names_the_function_stays() {
        let name = "lab::Grid<std::vector<std::pair<int, long>>, Blocked<64>>::smooth<lab::Kernel>\
                    (lab::Boundary const&, double) const, region 1";
        assert_eq!(shortened(name), "lab::Grid<…>::smooth<…>(…) const, region 1");
        let name = "std::ostream& lab::operator<< <std::vector<std::pair<int, long>>>(std::ostream&, T), \
                    region 0";
        assert_eq!(shortened(name), "std::ostream& lab::operator<< <…>(…), region 0");
        let name = "main::{lambda(int)#1}::operator()(int, std::vector<std::pair<int, long>>) const, \
                    region 12";
        assert_eq!(shortened(name), "main::{lambda(…)#1}::operator()(…) const, region 12");
        assert_eq!(shortened("a<b>(c), region 0"), "a<b>(c), region 0");
        assert_eq!(without_brackets("a<b>::operator()<c>"), "a::operator()");
    }
}
