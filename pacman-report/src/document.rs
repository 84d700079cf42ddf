//! JSON documents of the command: types that derive `Serialize`, each beside its command.

use std::fmt;
use std::io::{self, BufWriter, Write};

use pacman_core::Provenance;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::layout::Layout;

/// Writes a document, indented, with a line feed.
pub fn write(out: &mut dyn Write, document: &impl Serialize) -> io::Result<()> {
    write_as(Layout::default(), out, document)
}

/// The text of a document, indented, with a line feed.
pub fn text(document: &impl Serialize) -> String {
    text_as(Layout::default(), document)
}

/// Writes a document on one line, with a line feed.
pub fn write_line(out: &mut dyn Write, document: &impl Serialize) -> io::Result<()> {
    write_as(Layout::one_line(), out, document)
}

/// The text of a document on one line, with a line feed.
pub fn line(document: &impl Serialize) -> String {
    text_as(Layout::one_line(), document)
}

/// Writes a document. The one type that all are written to: a document's code for writing is compiled for each.
fn write_as(layout: Layout, out: &mut dyn Write, document: &impl Serialize) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    document.serialize(&mut serde_json::Serializer::with_formatter(&mut out, layout))?;
    out.write_all(b"\n")?;
    out.flush()
}

fn text_as(layout: Layout, document: &impl Serialize) -> String {
    // Reports have 20 to 200 kB.
    let mut text = Vec::with_capacity(1 << 15);
    write_as(layout, &mut text, document).expect("memory takes everything, and names are strings");
    String::from_utf8(text).expect("JSON is UTF-8")
}

/// The document as a tree.
pub fn value(document: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(document).expect("names are strings")
}

/// Looks at every value of these documents.
///
/// # Errors
/// For text that is no JSON, and for a number that no writer of JSON has, such as 1e400: a reader that skips members
/// would not see it.
pub fn check(text: &[u8]) -> serde_json::Result<()> {
    serde_json::Deserializer::from_slice(text).into_iter::<Any>().try_for_each(|one| one.map(drop))
}

/// Any value. To ignore a number is not to look at it, so this takes each as what it is.
struct Any;

impl<'de> Deserialize<'de> for Any {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Any, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

/// The visits of values that contain no others.
macro_rules! single {
    ($($visit:ident: $type:ty),+) => {$(
        fn $visit<E>(self, _: $type) -> Result<Any, E> {
            Ok(Any)
        }
    )+};
}

impl<'de> Visitor<'de> for Any {
    type Value = Any;

    single! { visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str }

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Any, E> {
        Ok(Any)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Any, A::Error> {
        while list.next_element::<Any>()?.is_some() {}
        Ok(Any)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Any, A::Error> {
        while members.next_entry::<Any, Any>()?.is_some() {}
        Ok(Any)
    }
}

/// Where, when and by which version a document was made.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProvenanceDocument<'a> {
    /// Version of the library or command.
    version: &'a str,
    /// Name of the host.
    host: &'a str,
    /// Name of the processor; null if it is not known.
    processor: Option<&'a str>,
    /// Kernel, its release, and architecture.
    system: &'a str,
    /// Begin in UTC by RFC 3339.
    #[cfg_attr(test, schemars(extend("pattern" = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")))]
    began: String,
}

impl ProvenanceDocument<'_> {
    /// The document of this provenance.
    pub fn of(provenance: &Provenance) -> ProvenanceDocument<'_> {
        ProvenanceDocument {
            version: &provenance.version,
            host: &provenance.host,
            processor: provenance.processor.as_deref(),
            system: &provenance.system,
            began: provenance.date(),
        }
    }
}

/// Seconds of clocks, which have nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(transparent)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Seconds(pub(crate) f64);

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        nanoseconds(&self.0, serializer)
    }
}

/// Writes seconds without digits beyond nanoseconds, which only sums and differences have.
pub fn nanoseconds<S: Serializer>(seconds: &f64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64((seconds * 1e9).round() / 1e9)
}

/// The same, of a time that may be absent.
pub fn optional_nanoseconds<S: Serializer>(
    seconds: &Option<f64>,
    to: S,
) -> Result<S::Ok, S::Error> {
    seconds.map(Seconds).serialize(to)
}

/// A quotient of counts or times, which has no more digits than these.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Quotient(pub(crate) f64);

impl Serialize for Quotient {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Powers of ten are not exact, and text is.
        let rounded = format!("{:.6e}", self.0).parse();
        serializer.serialize_f64(rounded.unwrap_or(self.0))
    }
}

/// A list whose items are made one at a time while it is written: a report may have 20,000 threads.
pub struct List<F>(pub(crate) F);

impl<F, I> Serialize for List<F>
where
    F: Fn() -> I,
    I: IntoIterator<Item: Serialize>,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// An object whose members have names of events or metrics.
pub struct ByName<F>(pub(crate) F);

impl<F, I, N, V> Serialize for ByName<F>
where
    F: Fn() -> I,
    I: IntoIterator<Item = (N, V)>,
    N: Serialize,
    V: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map((self.0)())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_looked_at() {
        for text in ["{}", "{\"a\": [1e308, -0, 18446744073709551616], \"b\": null}", "1 2"] {
            assert!(check(text.as_bytes()).is_ok(), "{text}");
        }
        for text in ["1e400", "{\"a\": [{\"b\": [[-1e999]]}]}", "1 2 [1e309]", "{\"a\": 1"] {
            assert!(check(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_have_the_digits_that_they_carry() {
        let seconds = [0.1 + 0.2, 0.0, 1e-9, 1_234.567_890_123, 4e-10, -0.25].map(Seconds);
        assert_eq!(line(&seconds), "[0.3,0.0,1e-9,1234.567890123,0.0,-0.25]\n");
        let quotients = [1.0 / 3.0, 2e9 / 3.0, 0.0, 1.5, f64::NAN, 1e300 / 3.0].map(Quotient);
        assert_eq!(line(&quotients), "[0.3333333,666666700.0,0.0,1.5,null,3.333333e+299]\n");
    }
}
