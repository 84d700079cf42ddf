//! Columns of threads as their distribution.

use serde_json::{Map, Value, json};

use crate::median;

/// Each column of numbers as least, its thread, median, most, its thread, and sum; the same for columns inside of
/// objects. Other columns are left out.
pub(super) fn of(columns: &Value) -> Value {
    let numbers: Vec<Option<u64>> = match columns.get("thread") {
        Some(Value::Array(threads)) => threads.iter().map(Value::as_u64).collect(),
        _ => Vec::new(),
    };
    json!({"count": numbers.len(), "columns": object(columns, &numbers)})
}

fn object(columns: &Value, threads: &[Option<u64>]) -> Value {
    let members = columns.as_object().into_iter().flatten();
    let spreads = members.filter_map(|(name, column)| {
        let spread = match column {
            Value::Object(_) => object(column, threads),
            Value::Array(values) => list(values, threads)?,
            Value::Number(same) => {
                let value = same.as_f64()?;
                json!([
                    same,
                    threads.first(),
                    same,
                    same,
                    threads.first(),
                    value * threads.len() as f64
                ])
            }
            _ => return None,
        };
        Some((name.clone(), spread))
    });
    Value::Object(spreads.filter(|(name, _)| name != "thread").collect::<Map<_, _>>())
}

fn list(values: &[Value], threads: &[Option<u64>]) -> Option<Value> {
    let numbers = values.iter().zip(threads);
    let mut sorted: Vec<(f64, Option<u64>)> =
        numbers.filter_map(|(value, thread)| Some((value.as_f64()?, *thread))).collect();
    sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (least, most) = (sorted.first()?, sorted.last()?);
    let (median, _) =
        median::of_sorted(&sorted, |one, other| (f64::midpoint(one.0, other.0), None))?;
    let sum: f64 = sorted.iter().map(|(value, _)| value).sum();
    Some(json!([least.0, least.1, median, most.0, most.1, sum]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_numbers_has_least_median_most_and_sum() {
        let columns = json!({
            "thread": [0, 1, 2, 4], "busy_s": [3.0, 1.0, null, 2.0], "moves": 2, "beside": [[1], [0], [], []],
            "why": [null, "x", null, null], "states": {"useful_s": [1.0, 2.0, 3.0, 4.0]},
        });
        assert_eq!(
            of(&columns),
            json!({"count": 4, "columns": {
                "busy_s": [1.0, 1, 2.0, 3.0, 0, 6.0], "moves": [2, 0, 2, 2, 0, 8.0],
                "states": {"useful_s": [1.0, 0, 2.5, 4.0, 4, 10.0]},
            }})
        );
    }
}
