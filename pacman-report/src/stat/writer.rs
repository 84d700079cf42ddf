//! The answer in the form that was asked for.

use std::time::Duration;

use super::answer::{Answer, By, Form, Interval, census};
use super::figures::{Figures, Row, by_core, seated};
use super::grouping::by_command;
use super::repeat::summaries;
use super::{csv, json, text};
use crate::document;
use crate::exit::Exit;

impl Answer {
    /// The counts of one interval; intervals have numbers from 0.
    pub fn part(&mut self, interval: Interval, mut rows: Vec<Row>) -> String {
        self.columns.leave_out(&mut rows);
        let total = Figures::sum(rows.iter().map(|row| &row.figures));
        self.columns.leave_out_unmoved(&total);
        let rows = self.arranged(rows);
        match self.form {
            Form::Text => text::part(self, interval, &rows),
            Form::Csv => self.csv(interval, &rows),
            Form::Json => self.json(interval, &rows, &[], None),
        }
    }

    /// The total counts.
    pub fn whole(&mut self, elapsed: Duration, mut rows: Vec<Row>, exit: Option<Exit>) -> String {
        self.columns.leave_out(&mut rows);
        let interval = self.doubt(elapsed, &rows);
        let rows = self.arranged(rows);
        match self.form {
            Form::Text => text::whole(self, interval, &rows, &[], exit),
            // Its lines add up to the whole.
            Form::Csv if self.interval.is_some() => String::new(),
            Form::Csv => self.csv(interval, &rows),
            Form::Json => self.json(interval, &rows, &[], exit),
        }
    }

    /// The rows of several runs and their summaries.
    pub fn runs(&mut self, elapsed: Duration, rows: Vec<Row>, exit: Option<Exit>) -> String {
        let interval = self.doubt(elapsed, &rows);
        let summaries = summaries(&self.columns, &rows);
        match self.form {
            Form::Text => text::whole(self, interval, &rows, &summaries, exit),
            Form::Csv => self.csv(interval, &[rows, summaries].concat()),
            Form::Json => self.json(interval, &rows, &summaries, exit),
        }
    }

    /// The whole time; takes events that never moved as absent, with a note on each.
    fn doubt(&mut self, elapsed: Duration, rows: &[Row]) -> Interval {
        let total = Figures::sum(rows.iter().map(|row| &row.figures));
        let doubts = self.columns.leave_out_unmoved(&total);
        self.notes.extend(doubts);
        Interval { number: None, begin: Duration::ZERO, end: elapsed }
    }

    fn csv(&self, interval: Interval, rows: &[Row]) -> String {
        let is_first = interval.number.is_none_or(|number| number == 0);
        let heading = if is_first { csv::heading(&self.columns) } else { String::new() };
        heading + &csv::rows(self, interval, rows)
    }

    fn json(
        &self,
        interval: Interval,
        rows: &[Row],
        summaries: &[Row],
        exit: Option<Exit>,
    ) -> String {
        let total = Figures::sum(rows.iter().map(|row| &row.figures));
        let document = json::document(self, interval, rows, summaries, &total, exit);
        // Programs read one interval a line.
        match self.interval {
            None => document::text(&document),
            Some(_) => document::line(&document),
        }
    }

    fn arranged(&mut self, rows: Vec<Row>) -> Vec<Row> {
        let rows = seated(rows);
        // Programs get each thread, and who asks for threads.
        let may_group = self.form == Form::Text && self.by == By::Thread && !self.each_thread;
        if may_group && census(&rows).1 > MANY {
            (self.by, self.is_grouped) = (By::Command, true);
        }
        match self.by {
            By::Core { .. } => by_core(&rows),
            By::Command => by_command(&rows),
            By::Thread | By::Context | By::Run => rows,
        }
    }
}

/// Processes that have a row for each thread in text.
const MANY: usize = 8;
