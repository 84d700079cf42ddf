//! Rows to columns and back.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::*;
use crate::document;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
struct Row {
    /// Its number.
    number: u64,
    /// A word.
    word: Option<Word>,
    /// Others.
    #[serde(default)]
    others: Vec<u32>,
    /// Parts.
    parts: Option<Parts>,
    /// By name.
    #[serde(default)]
    by_name: BTreeMap<String, Parts>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Word {
    Here,
    There,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
struct Parts {
    /// Seconds.
    time_s: f64,
    /// A reason.
    why: Option<String>,
}

fn columns(rows: &[Row]) -> Value {
    document::value(&Columns(|| rows))
}

fn parts(time_s: f64) -> Parts {
    Parts { time_s, why: None }
}

/// All kinds of rows: with and without each value.
fn all() -> Vec<Row> {
    let by_name = |names: &[&str]| {
        names.iter().map(|name| ((*name).to_owned(), parts(0.5))).collect::<BTreeMap<_, _>>()
    };
    let row = |number| Row { number, ..Row::default() };
    vec![
        row(u64::MAX),
        Row { word: Some(Word::There), parts: Some(parts(1.5)), ..row(1) },
        Row { others: vec![1, 2], by_name: by_name(&["b"]), ..row(2) },
        Row { parts: Some(Parts { time_s: 0.0, why: Some("x".into()) }), ..row(3) },
        Row { word: Some(Word::Here), by_name: by_name(&["a", "b"]), ..row(4) },
    ]
}

#[test]
fn a_column_has_a_value_of_each_row() {
    assert_eq!(
        columns(&all()),
        json!({
            "number": [u64::MAX, 1, 2, 3, 4],
            "word": [null, "there", null, null, "here"],
            "others": [[], [], [1, 2], [], []],
            "parts": {"time_s": [null, 1.5, null, 0.0, null], "why": [null, null, null, "x", null]},
            "by_name": {"b": {"time_s": [null, null, 0.5, null, 0.5]}, "a": {"time_s": [null, null, null, null, 0.5]}},
        })
    );
}

#[test]
fn a_column_without_a_value_is_left_out() {
    assert_eq!(columns(&all()[..1]), json!({"number": [u64::MAX]}));
    assert_eq!(columns(&[]), json!({}));
}

#[test]
fn a_value_of_all_rows_stands_once() {
    let row = |number| Row {
        word: Some(Word::Here),
        others: vec![1],
        parts: Some(parts(0.5)),
        ..number_of(number)
    };
    let of_all = json!({"word": "here", "others": [[1], [1]], "parts": {"time_s": 0.5}});
    let mut expected = of_all.as_object().expect("an object").clone();
    expected.insert("number".into(), json!([1, 2]));
    assert_eq!(columns(&[row(1), row(2)]), Value::Object(expected));
    // A list tells the number of rows.
    let all = columns(&vec![number_of(7); 3]);
    assert_eq!(all, json!({"number": [7, 7, 7]}));
}

fn number_of(number: u64) -> Row {
    Row { number, ..Row::default() }
}

#[test]
fn the_rows_come_back() {
    let alike = vec![Row { parts: Some(parts(0.5)), ..number_of(7) }; 3];
    let nearly = [alike.clone(), vec![Row { parts: Some(parts(0.5)), ..number_of(8) }]].concat();
    for rows in [all(), all()[..1].to_vec(), Vec::new(), alike, nearly] {
        let read: Rows<Row> = serde_json::from_value(columns(&rows)).expect("they are columns");
        assert_eq!(read.0, rows);
    }
}

#[test]
fn damaged_columns_are_refused() {
    for (columns, why) in [
        (json!({"number": [1, 2], "word": [null]}), "column word has 1 value, and another one 2"),
        (
            json!({"number": [1, 2], "parts": {"time_s": [1.0]}}),
            "column time_s has 1 value, and another one 2",
        ),
        (json!({"number": 1}), "no column is a list"),
        (json!({"number": [null, 1]}), "missing field `number`"),
        (json!([]), "invalid type: sequence"),
    ] {
        let error = serde_json::from_value::<Rows<Row>>(columns).expect_err("it is damaged");
        assert!(error.to_string().starts_with(why), "{error} and not {why}");
    }
}

/// A member that is an object in one row and a number in another one has no column.
#[test]
fn rows_of_other_shapes_are_no_columns() {
    let rows = [json!({"a": {"b": 1}}), json!({"a": 1})];
    for rows in [rows.clone(), [rows[1].clone(), rows[0].clone()], [json!(1), json!(2)]] {
        assert!(serde_json::to_value(Columns(|| &rows)).is_err(), "{rows:?}");
    }
}

#[test]
fn the_schema_of_columns_follows_from_that_of_a_row() {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let settings = settings.for_serialize().with(|it| it.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<Rows<Row>>().to_value();
    let kinds = |path: &str| schema.pointer(path).unwrap_or_else(|| panic!("{path}: {schema:#}"));
    assert_eq!(kinds("/properties/number/anyOf/0/items/type"), "integer");
    assert_eq!(kinds("/properties/number/anyOf/1/type"), "integer", "all rows may have it");
    assert_eq!(kinds("/properties/number/description"), "Its number.");
    assert_eq!(kinds("/properties/others/items/items/type"), "integer");
    assert_eq!(kinds("/properties/parts/description"), "Parts.");
    assert_eq!(
        kinds("/properties/parts/properties/time_s/anyOf/0/items/type"),
        &json!(["number", "null"])
    );
    let by_name = kinds("/properties/by_name/additionalProperties/properties");
    assert_eq!(by_name["why"]["anyOf"][0]["items"]["type"], json!(["string", "null"]));
    assert_eq!(schema.get("required"), None, "a column may be absent");
}
