//! The layer.

use std::cell::RefCell;

use pacman_core::{ErrorKind, Phase, Result, Session};
use tracing_core::Subscriber;
use tracing_core::span::{Attributes, Id};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::Failures;

/// A layer that counts each span as a phase of its session. The crate's page has the rules.
#[derive(Debug)]
pub struct PhaseLayer {
    session: Session,
    failures: Failures,
}

/// The phases of a span: one for each layer.
struct SpanPhases(Vec<Phase>);

thread_local! {
    /// The open phases of this thread, of all layers, the innermost last.
    static OPEN: RefCell<Vec<Phase>> = const { RefCell::new(Vec::new()) };
}

impl PhaseLayer {
    /// A layer for `session`. Each thread attaches to the session at its first span and stays attached
    /// until it ends. If a thread is attached already, it must have called
    /// [`Session::attach_current_thread`].
    pub fn new(session: &Session) -> PhaseLayer {
        PhaseLayer { session: session.clone(), failures: Failures::default() }
    }

    /// The spans that are not counted, from now on and before.
    pub fn failures(&self) -> Failures {
        self.failures.clone()
    }

    fn begin(&self, phase: Phase) -> Result<()> {
        match self.session.begin(phase) {
            Err(error) if error.kind() == ErrorKind::NotAttached => {
                self.session.attach_current_thread()?;
                self.session.begin(phase)
            }
            begun => begun,
        }
    }

    /// Ends the phase at place `at` of the open phases. Phases nest, so the phases inside it end as well
    /// and begin again.
    fn end(&self, open: &mut Vec<Phase>, at: usize) -> Result<()> {
        let is_own = |phase: &&Phase| self.session.phase_from_bits(phase.to_bits()).is_some();
        let inside: Vec<Phase> = open[at + 1..].iter().filter(is_own).copied().collect();
        let phase = open.remove(at);
        inside.iter().rev().try_for_each(|inner| self.session.end(*inner))?;
        self.session.end(phase)?;
        inside.iter().try_for_each(|inner| self.session.begin(*inner))
    }

    /// Calls `act` with the phase of a span of this layer, and with the thread's open phases.
    fn with_open<S>(
        &self,
        id: &Id,
        context: &Context<'_, S>,
        act: impl FnOnce(Phase, &mut Vec<Phase>) -> Result<()>,
    ) where
        S: Subscriber + for<'l> LookupSpan<'l>,
    {
        let Some(span) = context.span(id) else { return };
        let phase = span.extensions().get::<SpanPhases>().and_then(|phases| {
            let own = |phase: &Phase| self.session.phase_from_bits(phase.to_bits());
            phases.0.iter().find_map(own)
        });
        let Some(phase) = phase else { return };
        // A thread whose thread-locals are gone keeps no attachment either.
        let done = OPEN.try_with(|open| act(phase, &mut open.borrow_mut()));
        if let Ok(Err(error)) = done {
            self.failures.add(span.name(), &error);
        }
    }
}

impl<S> Layer<S> for PhaseLayer
where
    S: Subscriber + for<'l> LookupSpan<'l>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let name = attributes.metadata().name();
        match self.session.phase(name) {
            Err(error) => self.failures.add(name, &error),
            Ok(phase) => {
                let mut extensions = span.extensions_mut();
                match extensions.get_mut::<SpanPhases>() {
                    Some(phases) => phases.0.push(phase),
                    None => extensions.insert(SpanPhases(vec![phase])),
                }
            }
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        self.with_open(id, &context, |phase, open| {
            self.begin(phase)?;
            open.push(phase);
            Ok(())
        });
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        self.with_open(id, &context, |phase, open| {
            // A phase that is not open did not begin, and `on_enter` has noted that.
            let at = open.iter().rposition(|one| *one == phase);
            at.map_or(Ok(()), |at| self.end(open, at))
        });
    }
}
