//! Rows as CSV text, quoted by RFC 4180, a line feed after each.

/// The text of these rows.
pub fn csv<R, F>(rows: R) -> String
where
    R: IntoIterator<Item = F>,
    F: IntoIterator,
    F::Item: AsRef<[u8]>,
{
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    for row in rows {
        for field in row {
            // A write to a vector cannot fail.
            writer.write_field(unsigned(field.as_ref())).expect("memory");
        }
        writer.write_record(None::<&[u8]>).expect("memory");
    }
    let text = writer.into_inner().expect("memory");
    String::from_utf8(text).expect("fields are text")
}

/// The field; nothing has no sign, though an empty sum is -0.
pub fn unsigned(field: &[u8]) -> &[u8] {
    match field.strip_prefix(b"-0") {
        Some(rest) if rest.iter().all(|digit| b".0".contains(digit)) => &field[1..],
        _ => field,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_has_no_sign() {
        let empty: f64 = [0.0; 0].iter().sum();
        let rows = [[empty.to_string(), "-0.0000".into(), "-0.1".into(), "a-0, b".into()]];
        assert_eq!(csv(rows), "0,0.0000,-0.1,\"a-0, b\"\n");
        assert_eq!(csv([[""]]), "\"\"\n");
    }
}
