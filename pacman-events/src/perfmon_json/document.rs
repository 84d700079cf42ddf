//! The text of an event file: its events as lists of fields, and fields as numbers and flags.
//!
//! Vendors and converters write numbers as text, as numbers or as lists, and flags as text or as booleans.
//! A field that reads as neither is refused, because a guess would count another event.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::name::number;
use crate::shown;

/// A file: an array of events, or an object with the array `Events`.
pub(super) struct Document {
    pub(super) events: Vec<Event>,
    /// The fields of the object `Header`.
    header: serde_json::Map<String, Value>,
}

/// One event: its fields in the order of the file.
pub(super) struct Event(Vec<(String, Value)>);

impl Document {
    /// Reads a file with or without a byte-order mark.
    pub(super) fn parse(text: &str) -> Result<Document, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        serde_json::from_str(text).map_err(|error| error.to_string().replace('\n', " "))
    }

    /// A field of the header as one line of text; `None` if it is absent, blank or of another type.
    pub(super) fn header(&self, key: &str) -> Option<String> {
        let text = match self.header.get(key)? {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        let line = shown::line(&text).replace('\t', " ");
        (!line.is_empty()).then_some(line)
    }
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(DocumentVisitor)
    }
}

struct DocumentVisitor;

impl<'de> Visitor<'de> for DocumentVisitor {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of events or an object with the array Events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Document, A::Error> {
        let mut events = Vec::new();
        while let Some(event) = list.next_element()? {
            events.push(event);
        }
        Ok(Document { events, header: serde_json::Map::new() })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Document, A::Error> {
        let mut found = None;
        let mut header = serde_json::Map::new();
        while let Some(key) = object.next_key::<String>()? {
            if key == "Header" {
                if let Value::Object(fields) = object.next_value()? {
                    header = fields;
                }
            } else if key != "Events" {
                object.next_value::<IgnoredAny>()?;
            } else if found.replace(object.next_value::<Vec<Event>>()?).is_some() {
                return Err(de::Error::custom("Events stands twice"));
            }
        }
        found.map(|events| Document { events, header }).ok_or_else(|| {
            de::Error::custom("neither an array of events nor an object with the array Events")
        })
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_map(EventVisitor)
    }
}

struct EventVisitor;

impl<'de> Visitor<'de> for EventVisitor {
    type Value = Event;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the fields of an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Event, A::Error> {
        let mut fields: Vec<(String, Value)> = Vec::new();
        while let Some((key, value)) = object.next_entry::<String, Value>()? {
            match fields.iter().find(|(known, _)| *known == key) {
                // Readers differ in which of two values they take.
                Some((_, known)) if *known != value => {
                    let text = format!("an event has {key} twice, as {known} and as {value}");
                    return Err(de::Error::custom(text));
                }
                Some(_) => {}
                None => fields.push((key, value)),
            }
        }
        Ok(Event(fields))
    }
}

impl Event {
    /// The words of a field, from a list or from comma-separated text; none if it is absent or blank.
    pub(super) fn words(&self, key: &str) -> Result<Vec<String>, String> {
        let Some((_, value)) = self.0.iter().find(|(known, _)| known == key) else {
            return Ok(Vec::new());
        };
        let strange = || format!("{key} is {value}");
        let parts = match value {
            Value::Array(parts) => parts.as_slice(),
            one => std::slice::from_ref(one),
        };
        let mut words = Vec::new();
        for part in parts {
            match part {
                Value::Null => {}
                Value::String(text) if text.trim().is_empty() => {}
                Value::String(text) => {
                    words.extend(text.split(',').map(|word| word.trim().to_owned()));
                }
                Value::Number(number) => words.push(number.to_string()),
                Value::Bool(flag) => words.push(flag.to_string()),
                Value::Array(_) | Value::Object(_) => return Err(strange()),
            }
        }
        Ok(words)
    }

    /// The text of a field; empty if it is absent.
    pub(super) fn text(&self, key: &str) -> &str {
        let value = self.0.iter().find(|(known, _)| known == key);
        value.and_then(|(_, value)| value.as_str()).unwrap_or("").trim()
    }

    /// The numbers of a field, each at most `most`; none if it is absent.
    pub(super) fn numbers(&self, key: &str, most: u64) -> Result<Vec<u64>, String> {
        let words = self.words(key)?.into_iter();
        words
            .map(|word| match number(&word) {
                Some(value) if value <= most => Ok(value),
                Some(_) => Err(format!("{key} is {word}, and at most {most:#x} fits")),
                None => Err(format!("{key} is {word:?}, not a number")),
            })
            .collect()
    }

    /// The number of a field; 0 if it is absent.
    pub(super) fn number(&self, key: &str, most: u64) -> Result<u64, String> {
        match self.numbers(key, most)?.as_slice() {
            [] => Ok(0),
            [one] => Ok(*one),
            several => Err(format!("{key} has {} numbers where one is due", several.len())),
        }
    }

    /// Whether a flag is set; false if it is absent.
    pub(super) fn flag(&self, key: &str) -> Result<bool, String> {
        match self.words(key)?.as_slice() {
            [] => Ok(false),
            [word] if matches!(word.as_str(), "true" | "True") => Ok(true),
            [word] if matches!(word.as_str(), "false" | "False") => Ok(false),
            [word] => match number(word) {
                Some(0) => Ok(false),
                Some(1) => Ok(true),
                _ => Err(format!("{key} is {word:?}, not a flag")),
            },
            several => Err(format!("{key} has {} flags where one is due", several.len())),
        }
    }
}
