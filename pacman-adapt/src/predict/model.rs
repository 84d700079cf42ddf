//! A model as a file: what it predicts with, for which machine, and from which data.

use std::io;
use std::path::Path;
use std::sync::Arc;

use pacman_events::shown::shown_path;
use serde::{Deserialize, Serialize};

use super::fingerprint::fingerprint;
use super::{Linear, Mixture, Predictor, Ridge, Target, without_counts};
use crate::error::{Error, ErrorKind, Result};
use pacman_topology::input::{self, MOST_BYTES};

/// A trained predictor, with what is needed to refuse its misuse.
///
/// Its text is JSON: `format`, `version`, `checksum` (of the whole text with zeros in place of
/// the checksum) and `model`, with units, the training data's fingerprint and the error that
/// cross-validation found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The machine that the training data is from.
    pub machine: String,
    /// The programs that it was trained on.
    pub programs: Vec<String>,
    /// Of the training data: 16 hexadecimal digits.
    pub fingerprint: String,
    /// The result of leaving out one program after the other; nested, so that no choice of the
    /// training flatters it.
    pub cross_validation: CrossValidation,
    /// The method of prediction.
    pub method: Method,
}

/// The expected quality of a model, by leaving one program out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrossValidation {
    /// Mean over programs of 1 − |predicted − measured| / measured.
    pub accuracy: f64,
    /// The same of the worst program.
    pub worst_accuracy: f64,
    /// Mean over programs of the time decided for over the best, less 1.
    pub regret: f64,
    /// The same of the worst program.
    pub worst_regret: f64,
    /// Mean executions to a decision.
    pub samples: f64,
    /// The part of predicted times that were in their 90 % intervals.
    pub coverage: f64,
}

/// The kinds of models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Method {
    /// The paper's, on events.
    Linear(Linear),
    /// On programs as mixtures of known ones.
    Mixture(Mixture),
    /// On samples' log ratios.
    Ridge(Ridge),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File<M> {
    format: String,
    version: u64,
    checksum: String,
    units: Units,
    model: M,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Units {
    time: String,
    target: String,
    logarithms: String,
}

/// Read before anything else, so that a later version can have other fields.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u64,
    checksum: String,
}

const FORMAT: &str = "pacman-prediction-model";
const VERSION: u64 = 2;
const BLANK: &str = "0000000000000000";

impl Model {
    /// The predictor, if `machine` is the one that it was trained on.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for another machine: times of one say nothing of another.
    pub fn on(&self, machine: &str) -> Result<&dyn Predictor> {
        if machine != self.machine {
            let why = format!(
                "the model is for machine {:?}, not for {machine:?}: train one on data from there",
                self.machine
            );
            return Err(Error::new(ErrorKind::Unsupported, why));
        }
        Ok(match &self.method {
            Method::Linear(linear) => linear,
            Method::Mixture(mixture) => mixture,
            Method::Ridge(ridge) => ridge,
        })
    }

    /// The predictor for an [`Adapter`](crate::Adapter) on `machine`, which measures
    /// times and counts nothing.
    ///
    /// ```no_run
    /// use pacman_adapt::Adapter;
    /// use pacman_adapt::predict::{Model, machine_name};
    /// use pacman_topology::Topology;
    ///
    /// let here = Topology::detect()?;
    /// let model = Model::from_file("model.json".as_ref())?;
    /// let predictor = model.adapting(&machine_name(&here))?;
    /// let adapter = Adapter::builder(here).predictor(predictor).build()?;
    /// # Ok::<(), pacman_adapt::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for another machine, and for a model that needs counts.
    pub fn adapting(self, machine: &str) -> Result<Arc<dyn Predictor>> {
        self.on(machine)?;
        without_counts(&self.counts())?;
        Ok(match self.method {
            Method::Linear(linear) => Arc::new(linear),
            Method::Mixture(mixture) => Arc::new(mixture),
            Method::Ridge(ridge) => Arc::new(ridge),
        })
    }

    /// The counts without which it predicts nothing; empty if times are enough.
    pub fn counts(&self) -> Vec<String> {
        match &self.method {
            Method::Linear(linear) => linear.counts(),
            Method::Mixture(_) => Vec::new(),
            Method::Ridge(ridge) => ridge.counts(),
        }
    }

    /// The target of the prediction.
    pub fn target(&self) -> Target {
        match &self.method {
            Method::Linear(linear) => linear.target(),
            Method::Mixture(_) => Target::Time,
            Method::Ridge(ridge) => ridge.target(),
        }
    }

    /// The text of a file, ending in a newline.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if a figure is not finite, which JSON cannot say.
    pub fn to_text(&self) -> Result<String> {
        let file = File {
            format: FORMAT.into(),
            version: VERSION,
            checksum: BLANK.into(),
            units: Units {
                time: "s".into(),
                target: self.target().unit().into(),
                logarithms: "natural".into(),
            },
            model: self,
        };
        let text = serde_json::to_string_pretty(&file)
            .map_err(|error| bad(format!("cannot write the model: {error}")))?;
        let text = text + "\n";
        let checksum = fingerprint(text.as_bytes());
        // The first occurrence is the field: it stands before the model.
        let text = text.replacen(BLANK, &checksum, 1);
        // JSON writes what is not finite as null, which would be refused on reading.
        Model::from_text(&text)
            .map_err(|_| bad("cannot write the model: a figure of it is not finite".into()))?;
        Ok(text)
    }

    /// The model in a file; a refusal names it.
    ///
    /// # Errors
    /// [`ErrorKind::System`] if it cannot be read; else as [`from_text`](Self::from_text).
    pub fn from_file(path: &Path) -> Result<Model> {
        let named = |kind, why: String| Error::new(kind, format!("{}: {why}", shown_path(path)));
        let text = input::read_text(path, MOST_BYTES).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => {
                named(ErrorKind::InvalidInput, format!("it is no model: {error}"))
            }
            _ => named(ErrorKind::System, format!("cannot read the model: {error}")),
        })?;
        Model::from_text(&text).map_err(|error| named(error.kind(), error.to_string()))
    }

    /// The model that a file's text holds.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if it is no model, was cut short or was edited;
    /// [`ErrorKind::Unsupported`] for another version of the format.
    pub fn from_text(text: &str) -> Result<Model> {
        let head: Head = serde_json::from_str(text).map_err(|error| unreadable(text, &error))?;
        if head.format != FORMAT {
            return Err(bad(format!(
                "it is no model: its format is {:?}, not {FORMAT:?}",
                head.format
            )));
        }
        if head.version != VERSION {
            let why = format!(
                "its version is {}, and this library reads {VERSION}: train it again",
                head.version
            );
            return Err(Error::new(ErrorKind::Unsupported, why));
        }
        let blanked = text.replacen(&head.checksum, BLANK, 1);
        if head.checksum.len() != BLANK.len() || fingerprint(blanked.as_bytes()) != head.checksum {
            let why = "it was changed after training: its checksum does not fit; train it again";
            return Err(bad(why.into()));
        }
        let file: File<Model> =
            serde_json::from_str(text).map_err(|error| unreadable(text, &error))?;
        let sound = match &file.model.method {
            Method::Linear(linear) => linear.is_sound(),
            // Nothing else could be made of the file.
            Method::Mixture(_) => true,
            Method::Ridge(ridge) => ridge.is_sound(),
        };
        if sound { Ok(file.model) } else { Err(bad("its parts do not fit together".into())) }
    }
}

#[cold]
fn bad(why: String) -> Error {
    Error::new(ErrorKind::InvalidInput, why)
}

#[cold]
fn unreadable(text: &str, error: &serde_json::Error) -> Error {
    bad(if text.trim().is_empty() {
        "it is empty, and so no model".into()
    } else if error.is_eof() {
        format!("it was cut short: it ends in line {}; train it again", error.line())
    } else {
        format!("it is no model: {error}")
    })
}
