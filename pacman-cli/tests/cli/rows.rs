//! The rows behind the columns of a report.

use serde_json::{Map, Value};

/// The rows of an object of columns, such as the threads of a region. A member without a value is null.
pub(crate) fn rows(columns: &Value) -> Vec<Value> {
    let Value::Object(columns) = columns else { panic!("no columns: {columns}") };
    let mut rows = vec![Value::Object(Map::new()); length(columns)];
    for (name, column) in columns {
        fill(&mut rows, name, column);
    }
    rows
}

/// The waits of a thread, each with its `site`.
pub(crate) fn waits(states: &Value) -> Vec<Value> {
    let waits = states["waits"].as_object().into_iter().flatten();
    let waits = waits.filter(|(_, wait)| !wait["count"].is_null());
    let with_site = |(site, wait): (&String, &Value)| {
        let mut wait = wait.clone();
        wait["site"] = site.parse::<u64>().expect("an index").into();
        wait
    };
    waits.map(with_site).collect()
}

fn length(columns: &Map<String, Value>) -> usize {
    let lengths = columns.values().map(|column| match column {
        Value::Array(values) => values.len(),
        Value::Object(inside) => length(inside),
        _ => 0,
    });
    lengths.max().unwrap_or(0)
}

fn fill(rows: &mut [Value], name: &str, column: &Value) {
    match column {
        Value::Array(values) => {
            assert_eq!(values.len(), rows.len(), "values of {name}");
            rows.iter_mut().zip(values).for_each(|(row, value)| row[name] = value.clone());
        }
        Value::Object(inside) => {
            let mut parts = vec![Value::Object(Map::new()); rows.len()];
            inside.iter().for_each(|(member, column)| fill(&mut parts, member, column));
            for (row, part) in rows.iter_mut().zip(parts) {
                row[name] = part;
            }
        }
        of_all => rows.iter_mut().for_each(|row| row[name] = of_all.clone()),
    }
}
