//! From rows to columns.

use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::Rows;

/// Rows that are made while they are written as columns.
///
/// An object inside of a row is an object of columns. A row that lacks a value has null in its column. A column
/// without any value is left out; an empty list is none. A value that all of several rows have stands once, instead of
/// a list; lists do not.
pub struct Columns<F>(pub(crate) F);

impl<F, I> Serialize for Columns<F>
where
    F: Fn() -> I,
    I: IntoIterator<Item: Serialize>,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (mut columns, mut rows) = (Map::new(), 0);
        for row in (self.0)() {
            match serde_json::to_value(row).map_err(S::Error::custom)? {
                Value::Object(row) => add(&mut columns, row, rows).map_err(S::Error::custom)?,
                other => return Err(S::Error::custom(format!("{other} is no row"))),
            }
            rows += 1;
        }
        finish(&mut columns, rows);
        // A list says how many rows there are.
        if columns.values().any(differs) {
            columns.values_mut().for_each(unite);
        }
        columns.serialize(serializer)
    }
}

impl<T: Serialize> Serialize for Rows<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Columns(|| &self.0).serialize(serializer)
    }
}

/// Adds a row behind `rows` others.
fn add(
    columns: &mut Map<String, Value>,
    row: Map<String, Value>,
    rows: usize,
) -> Result<(), String> {
    for (name, value) in row {
        let column = columns.entry(&name).or_insert(Value::Null);
        match (value, &mut *column) {
            (Value::Null, _) => {}
            (Value::Object(members), Value::Null) => {
                let mut inside = Map::new();
                add(&mut inside, members, rows)?;
                *column = Value::Object(inside);
            }
            (Value::Object(members), Value::Object(inside)) => add(inside, members, rows)?,
            (Value::Object(_), _) | (_, Value::Object(_)) => {
                return Err(format!("{name} is an object in some rows only"));
            }
            (value, Value::Array(values)) => {
                values.resize(rows, Value::Null);
                values.push(value);
            }
            (value, column) => {
                let mut values = vec![Value::Null; rows];
                values.push(value);
                *column = Value::Array(values);
            }
        }
    }
    Ok(())
}

/// Completes the columns, and drops those without a value.
fn finish(columns: &mut Map<String, Value>, rows: usize) {
    let is_value = |value: &Value| match value {
        Value::Null => false,
        Value::Array(members) => !members.is_empty(),
        _ => true,
    };
    columns.retain(|_, column| match column {
        Value::Object(inside) => {
            finish(inside, rows);
            !inside.is_empty()
        }
        Value::Array(values) => {
            values.resize(rows, Value::Null);
            values.iter().any(is_value)
        }
        _ => false,
    });
}

/// Whether rows have several values in the column, or in one of an object of columns.
fn differs(column: &Value) -> bool {
    match column {
        Value::Object(inside) => inside.values().any(differs),
        Value::Array(values) => is_several(values),
        _ => false,
    }
}

/// Replaces columns by the value that all rows have.
fn unite(column: &mut Value) {
    match column {
        Value::Object(inside) => inside.values_mut().for_each(unite),
        Value::Array(values) if !is_several(values) => {
            if let Some(first) = values.first_mut().map(Value::take) {
                *column = first;
            }
        }
        _ => {}
    }
}

/// Whether these are several values, or lists.
fn is_several(values: &[Value]) -> bool {
    values.iter().any(|value| value.is_array() || *value != values[0])
}
