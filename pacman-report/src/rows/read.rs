//! From columns to rows.

use pacman_events::plural::number;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::Rows;

impl<'de, T: DeserializeOwned> Deserialize<'de> for Rows<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rows<T>, D::Error> {
        let columns = Map::deserialize(deserializer)?;
        let rows = rows(columns).map_err(D::Error::custom)?;
        let rows = rows.into_iter().map(|row| T::deserialize(Value::Object(row)));
        rows.collect::<Result<_, _>>().map(Rows).map_err(D::Error::custom)
    }
}

/// The rows without the members that are null.
fn rows(columns: Map<String, Value>) -> Result<Vec<Map<String, Value>>, String> {
    let rows = length(&columns);
    if rows == 0 && !columns.is_empty() {
        return Err("no column is a list".into());
    }
    rows_of(columns, rows)
}

fn rows_of(columns: Map<String, Value>, rows: usize) -> Result<Vec<Map<String, Value>>, String> {
    let mut rows = vec![Map::new(); rows];
    for (name, column) in columns {
        let values = match column {
            Value::Array(values) if values.len() == rows.len() => values,
            Value::Array(values) => {
                let (own, all) = (number(values.len(), "value"), rows.len());
                return Err(format!("column {name} has {own}, and another one {all}"));
            }
            Value::Object(inside) => rows_of(inside, rows.len())?
                .into_iter()
                .map(|row| if row.is_empty() { Value::Null } else { Value::Object(row) })
                .collect(),
            of_all => vec![of_all; rows.len()],
        };
        for (row, value) in rows.iter_mut().zip(values) {
            if !value.is_null() {
                row.insert(name.clone(), value);
            }
        }
    }
    Ok(rows)
}

/// The values of the longest column.
fn length(columns: &Map<String, Value>) -> usize {
    let lengths = columns.values().map(|column| match column {
        Value::Array(values) => values.len(),
        Value::Object(inside) => length(inside),
        _ => 0,
    });
    lengths.max().unwrap_or(0)
}
