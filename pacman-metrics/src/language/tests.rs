//! Tests that expressions are read, written and computed, and that malformed lines are refused.

use proptest::prelude::*;

use super::expression::{Expression, Function, Node, Operator};
use super::{Metric, parse};
use pacman_events::ErrorKind;

fn metric(expression: &str) -> Metric {
    Metric::read_all("t", &format!("m | 1 | {expression} | words")).unwrap().remove(0)
}

/// Counts of a sample: `A` is 6, `B` is 4, `Z` is 0, `M` is the largest count.
fn count(name: &str) -> Option<u64> {
    match name {
        "A" => Some(6),
        "B" => Some(4),
        "Z" => Some(0),
        "M" => Some(u64::MAX),
        "UOPS_ISSUED.ANY:c=1" => Some(10),
        "cpu/event=0x3c,umask=0/u" => Some(20),
        _ => None,
    }
}

#[test]
fn operators_rank_and_go_from_left_to_right() {
    for (expression, value) in [
        ("A + B * 2", 14.0),
        ("(A + B) * 2", 20.0),
        ("A - B - 1", 1.0),
        ("A - (B - 1)", 3.0),
        ("24 / A / 2", 2.0),
        ("24 / (A / 2)", 8.0),
        ("A-B", 2.0),
        ("1e-1*A", 0.6000000000000001),
        (".5 * A", 3.0),
        ("min(A, B, 5)", 4.0),
        ("max (A, B * 2)", 8.0),
        ("max(B - A, 0)", 0.0),
        ("part(B, 8)", 0.5),
        ("part(B, B) - part(Z, A)", 1.0),
        ("UOPS_ISSUED.ANY:c=1 / A", 10.0 / 6.0),
        ("\"cpu/event=0x3c,umask=0/u\" - A", 14.0),
        ("Z / A", 0.0),
    ] {
        assert_eq!(metric(expression).value(count).unwrap(), value, "{expression}");
    }
}

#[test]
fn zero_has_no_sign() {
    assert!(metric("(B - A) * Z").value(count).unwrap().is_sign_positive());
}

#[test]
fn no_value_comes_with_its_reason() {
    for (expression, why) in [
        ("A / Z", "m is not computable because Z is 0"),
        ("A / (B - 4)", "because (B - 4) is 0"),
        ("Z / Z", "because Z is 0"),
        ("A / X.Y", "because X.Y was not counted"),
        ("B - A", "because B - A comes out as -2, below 0"),
        ("1e300 * M", "is beyond the largest number"),
        ("1e300 * 1e300 - M", "because (1000"),
        ("min(A, B / Z)", "because Z is 0"),
        ("part(A, B)", "because A (6) is more than B (4)"),
        ("part(Z, Z)", "because Z is 0"),
        ("part(X, A)", "because X was not counted"),
    ] {
        let error = metric(expression).value(count).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotComputable);
        assert!(error.to_string().contains(why), "{expression}: {error}");
    }
}

#[test]
fn lines_that_are_no_metric_are_refused_by_file_and_line() {
    let deep = format!("m | 1 | {}A | w", "(".repeat(600));
    let long = format!("m | 1 | A{} | w", " + A".repeat(300));
    for (text, why) in [
        ("# ok\n\nipc", "t:3: a metric is NAME | UNIT | EXPRESSION | TEXT"),
        ("a | 1 | A | w | s | x", "t:1: a metric is NAME"),
        ("IPC | 1 | A | w", "t:1: \"IPC\" is not the name of a metric"),
        ("m | | A | w", "the unit of m is empty"),
        ("m | 1 | A | w |", "the source of m is empty"),
        ("m | 1 | | w", "t:1: m: it ends where a number, an event or ( is expected"),
        ("m | 1 | 3 * 4 | w", "m counts nothing"),
        ("m | 1 | A +* B | w", "a number, an event or ( is expected where * stands"),
        ("m | 1 | -A | w", "is expected where - stands"),
        ("m | 1 | A B | w", "an operator is expected before B"),
        ("m | 1 | (A | w", "the ) of ( is missing"),
        ("m | 1 | A) | w", "a ) without its ("),
        ("m | 1 | (A, B) | w", "an operator or ) is expected before ,"),
        ("m | 1 | maxx(A) | w", "no function maxx, only min, max and part; nearest: max"),
        ("m | 1 | min() | w", "is expected where ) stands"),
        ("m | 1 | part(A) | w", "part takes two: the part and the whole"),
        ("m | 1 | part(A, B, A) | w", "part takes two"),
        ("m | 1 | 0x10 * A | w", "0x10 is not a number"),
        ("m | 1 | 1e999 * A | w", "1e999 is beyond the largest number"),
        ("m | 1 | A % B | w", "'%' means nothing here"),
        ("m | 1 | \"A | w", "a name in quotes has no second quote"),
        ("m | 1 | \" A\" | w", "has blanks at its ends"),
        ("m | 1 | A | w\nn | 1 | A | w\nm | 1 | B | w", "t:3: m is defined in line 1 too"),
        (&deep, "at most 500 words, and this has more"),
        (&long, "at most 500 words, and this has more"),
    ] {
        let error = Metric::read_all("t", text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains(why), "{text}: {error}");
    }
}

#[test]
fn quoted_names_have_no_control_characters_and_refusals_one_line() {
    for text in
        ["\"\" \nx\"", "\" \nx\"", "\"a\nb\"", "\"\u{1b}[2J\"", "\"\u{202e}\"", "\"\u{9b}m\""]
    {
        let error = text.parse::<Expression>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{text:?}");
        assert!(!error.to_string().contains(pacman_events::shown::is_unsafe), "{error:?}");
        let error = Metric::read_all("t\n.metrics", &format!("m | 1 | {text} | w")).unwrap_err();
        assert!(!error.to_string().contains(pacman_events::shown::is_unsafe), "{error:?}");
    }
    let many: String = (0..=4096).map(|one| format!("m{one} | 1 | A | w\n")).collect();
    let error = Metric::read_all("t", &many).unwrap_err();
    assert_eq!(error.to_string(), "t:4097: a file has at most 4096 metrics");
}

fn name() -> impl Strategy<Value = Node> {
    prop_oneof![
        "[A-Za-z_][A-Za-z0-9_.:=]{0,12}",
        "[!#-~äß]([ !#-{}~äß]{0,12}[!#-{}~äß])?".prop_filter("no bars", |name| !name.contains('|')),
        Just("min".to_owned()),
    ]
    .prop_map(Node::Name)
}

fn number() -> impl Strategy<Value = Node> {
    prop_oneof![0.0..1e6, (0u32..10_000).prop_map(f64::from), Just(1e300), Just(5e-324)]
        .prop_map(Node::Number)
}

fn node() -> impl Strategy<Value = Node> {
    let operators = [Operator::Add, Operator::Subtract, Operator::Multiply, Operator::Divide];
    prop_oneof![name(), number()].prop_recursive(5, 48, 4, move |inner| {
        let operator = prop::sample::select(operators.to_vec());
        let function = prop::sample::select(vec![Function::Min, Function::Max]);
        prop_oneof![
            3 => (inner.clone(), operator, inner.clone())
                .prop_map(|(l, o, r)| Node::Binary(Box::new(l), o, Box::new(r))),
            1 => (inner.clone(), inner.clone())
                .prop_map(|(part, whole)| Node::Call(Function::Part, vec![part, whole])),
            1 => (function, prop::collection::vec(inner, 1..4)).prop_map(|(f, a)| Node::Call(f, a)),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_as_the_same_tree(node in node()) {
        let text = Expression(node.clone()).to_string();
        prop_assert_eq!(parse::expression(&text), Ok(Expression(node)), "{}", text);
    }

    #[test]
    fn a_metric_is_read_from_its_own_line(
        node in node(),
        source in prop::option::of("[a-z][a-z ,]{0,20}[a-z]"),
    ) {
        let node = Node::Binary(Box::new(Node::Name("A".into())), Operator::Add, Box::new(node));
        let source = source.map_or(String::new(), |source| format!("| {source}"));
        let line = format!("m-1 | a per b | {} | some words {source}", Expression(node));
        let read = Metric::read_all("t", &line).unwrap();
        prop_assert_eq!(Metric::read_all("u", &read[0].to_string()).unwrap(), read);
    }

    #[test]
    fn any_text_is_read_or_refused_in_one_line(text in "\\PC{0,40}") {
        match parse::expression(&text) {
            Ok(expression) => {
                prop_assert_eq!(parse::expression(&expression.to_string()), Ok(expression));
            }
            Err(reason) => prop_assert!(!reason.contains('\n') && !reason.is_empty()),
        }
    }

    #[test]
    fn a_value_is_finite_and_not_below_zero(node in node(), counts in any::<[u64; 4]>()) {
        let metric = Metric { expression: Expression(node), ..metric("A") };
        let count = |name: &str| Some(counts[name.len() % 4]);
        match metric.value(count) {
            Ok(value) => prop_assert!(value.is_finite() && value >= 0.0),
            Err(error) => prop_assert_eq!(error.kind(), ErrorKind::NotComputable),
        }
    }
}
