//! Lines of samples.

use std::fmt::Display;

/// Labels of a sample, escaped, without the braces.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels(String);

impl Labels {
    /// These labels and one more.
    pub(super) fn with(&self, name: &str, value: &str) -> Labels {
        let comma = if self.0.is_empty() { "" } else { "," };
        Labels(format!("{}{comma}{name}=\"{}\"", self.0, escaped(value)))
    }

    /// These labels and one more, if it is known. An empty label is the same as none.
    pub(super) fn and(&self, name: &str, value: Option<impl Display>) -> Labels {
        value.map_or_else(|| self.clone(), |value| self.with(name, &value.to_string()))
    }

    /// The line of a sample.
    pub(super) fn line(&self, name: &str, value: impl Display) -> String {
        format!("{name}{{{}}} {value}\n", self.0)
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
