//! A model as a file, with its method, its machine and the identity of its training data.

use std::io;
use std::path::Path;
use std::sync::Arc;

use pacman_events::shown::shown_path;
use serde::{Deserialize, Serialize};

use super::fingerprint::fingerprint;
use super::{Linear, Mixture, Predictor, Ridge, Target, without_counts};
use pacman_events::{Error, ErrorKind, Result};
use pacman_topology::input::{self, MOST_BYTES};

/// A trained predictor, with the facts that prevent its use on another machine.
///
/// Its text is JSON with `format`, `version`, `checksum`, `units` and `model`. The checksum is that
/// of the whole text with zeros in place of the checksum. `model` includes the fingerprint of
/// the training data and the result of cross-validation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The name of the machine on which the training data was measured.
    pub machine: String,
    /// The names of the programs in the training data.
    pub programs: Vec<String>,
    /// The fingerprint of the training data: 16 hexadecimal digits.
    pub fingerprint: String,
    /// The result of nested leave-one-out cross-validation. Training makes all its choices anew
    /// for each left-out program, so they do not bias the result.
    pub cross_validation: CrossValidation,
    /// The method of prediction.
    pub method: Method,
}

/// The expected quality of a model, from leave-one-out cross-validation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrossValidation {
    /// Mean over programs of 1 − |predicted − measured| / measured, of times.
    pub accuracy: f64,
    /// The accuracy for the worst program.
    pub worst_accuracy: f64,
    /// Mean over programs of the chosen configuration's time over the best one's, less 1.
    pub regret: f64,
    /// The regret for the worst program.
    pub worst_regret: f64,
    /// Mean number of executions before the decision.
    pub samples: f64,
    /// The part of the predicted times that lay in their 90 % intervals.
    pub coverage: f64,
}

/// The kinds of models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Method {
    /// A linear model on event rates (Curtis-Maury et al., ICS 2006).
    Linear(Linear),
    /// Programs as mixtures of known programs.
    Mixture(Mixture),
    /// A ridge regression on log ratios of sampled times.
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

/// The fields that are read first, so that a later version can have other fields.
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
    /// The predictor, if the model was trained on `machine`.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for another machine, because times do not carry over.
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

    /// The predictor for an [`Adapter`](crate::Adapter) on `machine`.
    ///
    /// An adapter measures times but no counts, so the model must not need counts.
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

    /// The events whose counts the model needs; empty if times are enough.
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

    /// The model as the text of a file, which ends in a newline.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if the text cannot be read back, such as for a figure that is not
    /// finite: JSON lacks such numbers.
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
        // JSON has null for numbers that are not finite, so reading the text back finds them.
        Model::from_text(&text).map_err(|error| {
            bad(format!("cannot write the model, which cannot be read back: {error}"))
        })?;
        Ok(text)
    }

    /// Reads the model in a file; errors name the file.
    ///
    /// # Errors
    /// [`ErrorKind::System`] if the file cannot be read; [`ErrorKind::InvalidInput`] if it is not
    /// UTF-8 or too long; otherwise as for [`from_text`](Self::from_text).
    pub fn from_file(path: &Path) -> Result<Model> {
        let named = |kind, why: String| Error::new(kind, format!("{}: {why}", shown_path(path)));
        let text = input::read_text(path, MOST_BYTES).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => {
                named(ErrorKind::InvalidInput, format!("it is not a model: {error}"))
            }
            _ => named(ErrorKind::System, format!("cannot read the model: {error}")),
        })?;
        Model::from_text(&text).map_err(|error| named(error.kind(), error.to_string()))
    }

    /// Reads a model from the text of a file.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if the text is not a model, is cut short or was edited;
    /// [`ErrorKind::Unsupported`] for another version of the format.
    pub fn from_text(text: &str) -> Result<Model> {
        let head: Head = serde_json::from_str(text).map_err(|error| unreadable(text, &error))?;
        if head.format != FORMAT {
            return Err(bad(format!(
                "it is not a model: its format is {:?}, not {FORMAT:?}",
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
            // Reading a mixture checks its parts already.
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
        "it is not a model: it is empty".into()
    } else if error.is_eof() {
        format!("it was cut short: it ends in line {}; train it again", error.line())
    } else {
        format!("it is not a model: {error}")
    })
}
