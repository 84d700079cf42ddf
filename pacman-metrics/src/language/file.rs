//! Reads metrics from text, line by line.

use pacman_events::shown;

use super::metric::{Metric, Origin};
use super::parse;
use pacman_events::{Error, ErrorKind, Result};

impl Metric {
    /// Reads all metrics from the text of a file; `file` is its name in errors.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`], as `FILE:LINE: reason`, for the first malformed line, for a
    /// name that is defined twice, and for more than 4096 metrics.
    pub fn read_all(file: &str, text: &str) -> Result<Vec<Metric>> {
        let metrics = Metric::read_alternatives(file, text)?;
        for (number, metric) in metrics.iter().enumerate() {
            let mut before = metrics[..number].iter();
            if let Some(first) = before.find(|known| known.name == metric.name) {
                let reason =
                    format!("{} is defined in line {} too", metric.name, first.origin.line);
                return Err(at(&metric.origin, &reason));
            }
        }
        Ok(metrics)
    }

    /// Reads a file in which a name may have several definitions.
    pub(super) fn read_alternatives(file: &str, text: &str) -> Result<Vec<Metric>> {
        let mut metrics: Vec<Metric> = Vec::new();
        // Some editors put a byte order mark at the start of a file.
        for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let origin = Origin { file: file.to_owned(), line: index + 1 };
            let metric = read(line, &origin).map_err(|reason| at(&origin, &reason))?;
            if metrics.len() == MOST_METRICS {
                return Err(at(&origin, &format!("a file has at most {MOST_METRICS} metrics")));
            }
            metrics.push(metric);
        }
        Ok(metrics)
    }
}

fn read(line: &str, origin: &Origin) -> Result<Metric, String> {
    let fields: Vec<&str> = line.split('|').map(str::trim).collect();
    let (&[name, unit, expression, text], source) = match fields.as_slice() {
        [all @ .., source] if all.len() == 4 => (all.first_chunk().expect("four"), Some(*source)),
        all => match all.try_into() {
            Ok(four) => (four, None),
            Err(_) => {
                return Err(format!(
                    "a metric is NAME | UNIT | EXPRESSION | TEXT, with | SOURCE if there is one; \
                     this line has {} parts",
                    fields.len()
                ));
            }
        },
    };
    check_name(name)?;
    for (what, field) in [("unit", Some(unit)), ("text", Some(text)), ("source", source)] {
        if field.is_some_and(str::is_empty) {
            return Err(format!("the {what} of {name} is empty"));
        }
        if field.is_some_and(|field| field.contains(shown::is_unsafe)) {
            return Err(format!("the {what} of {name} has a control character in it"));
        }
    }
    let expression = parse::expression(expression).map_err(|reason| format!("{name}: {reason}"))?;
    if expression.names().is_empty() {
        return Err(format!("{name} counts nothing: its expression has numbers only"));
    }
    Ok(Metric {
        name: name.to_owned(),
        unit: unit.to_owned(),
        expression,
        text: text.to_owned(),
        source: source.map(str::to_owned),
        origin: origin.clone(),
    })
}

fn check_name(name: &str) -> Result<(), String> {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(letter) {
        return Ok(());
    }
    Err(format!(
        "{name:?} is not the name of a metric: names have lower-case letters, digits and hyphens, \
         and begin with a letter"
    ))
}

/// Limits the search for equal names, which compares each name with all before it.
const MOST_METRICS: usize = 4096;

#[cold]
fn at(origin: &Origin, reason: &str) -> Error {
    Error::new(ErrorKind::InvalidInput, format!("{origin}: {reason}"))
}
