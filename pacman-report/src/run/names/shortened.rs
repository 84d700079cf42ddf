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
    let mut depth = 0usize;
    let mut rest = name;
    while let Some(letter) = rest.chars().next() {
        // Operators have the same signs in their names.
        let operator = OPERATORS.iter().find(|operator| rest.starts_with(**operator));
        if let Some(operator) = operator {
            if depth == 0 {
                short.push_str(operator);
            }
            rest = &rest[operator.len()..];
            continue;
        }
        match letter {
            '<' | '(' => {
                if depth == 0 && has_brackets {
                    short.push(letter);
                    let is_empty = rest[1..].starts_with([')', '>']);
                    short.push_str(if is_empty { "" } else { "…" });
                }
                depth += 1;
            }
            '>' | ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && has_brackets {
                    short.push(letter);
                }
            }
            letter if depth == 0 => short.push(letter),
            _ => {}
        }
        rest = &rest[letter.len_utf8()..];
    }
    short
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
