//! Rows as CSV text, quoted by RFC 4180, a line feed after each.

/// The text of these rows.
pub(crate) fn csv<R, F>(rows: R) -> String
where
    R: IntoIterator<Item = F>,
    F: IntoIterator,
    F::Item: AsRef<[u8]>,
{
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    for row in rows {
        // A write to a vector cannot fail.
        writer.write_record(row).expect("memory");
    }
    let text = writer.into_inner().expect("memory");
    String::from_utf8(text).expect("fields are text")
}
