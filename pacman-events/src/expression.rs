//! Sums of events as the tables write them: `A + 2*B - C:c=1`.

/// The terms: coefficient, event, and the general event that may replace a fixed counter's (`A/B`).
pub(crate) fn terms(
    expression: &'static str,
) -> impl Iterator<Item = (i64, &'static str, Option<&'static str>)> {
    let mut sign = 1;
    expression.split(' ').filter_map(move |word| {
        match word {
            "" => return None,
            "+" => sign = 1,
            "-" => sign = -1,
            term => {
                let (factor, event) = match term.split_once('*') {
                    Some((factor, event)) => (factor.parse().unwrap_or(1), event),
                    None => (1, term),
                };
                let (event, general) = match event.split_once('/') {
                    Some((fixed, general)) => (fixed, Some(general)),
                    None => (event, None),
                };
                return Some((sign * factor, event, general));
            }
        }
        None
    })
}
