//! Tagging: some events count only micro-operations that something else has tagged.
//!
//! SDM Vol. 3, "Tagging mechanism for front_end_event", "... for execution_event" and
//! "... for replay_event".

use super::super::activity::Ring;
use super::super::signal::{NetBurstSignal, Upstream};
use super::{ENABLE, ESCR, ESCR_END, NetBurst, wiring};

/// The fields of an ESCR.
#[derive(Clone, Copy)]
pub(super) struct Escr {
    pub(super) msr: u32,
    value: u64,
}

impl Escr {
    pub(super) fn event(self) -> u8 {
        (self.value >> 25 & 0x3f) as u8
    }

    pub(super) fn mask(self) -> u16 {
        (self.value >> 9) as u16
    }

    pub(super) fn unit(self) -> u32 {
        self.msr & !1
    }

    /// The tags that it gives; none unless tagging is enabled.
    fn tags(self) -> u16 {
        if self.value & TAG_ENABLE == 0 { 0 } else { (self.value >> 5 & 0xf) as u16 }
    }

    /// Whether it looks at the work of a logical processor in a ring. For events that do not know
    /// threads, a ring's bit of either logical processor stands for both.
    pub(super) fn qualifies(self, context: usize, ring: Ring) -> bool {
        let [t1, t0] = [self.value & 3, self.value >> 2 & 3];
        let bits = if wiring::is_independent(self.unit(), self.event()) {
            t0 | t1
        } else if context == 0 {
            t0
        } else {
            t1
        };
        match ring {
            Ring::Kernel => bits & 2 != 0,
            Ring::User => bits & 1 != 0,
        }
    }
}

impl NetBurst {
    pub(super) fn escr(&self, msr: u32) -> Escr {
        Escr { msr, value: self.escr[(msr - ESCR) as usize] }
    }

    /// Whether the selection that the counting ESCR needs is programmed: the tag of the
    /// occurrence, or a partner.
    pub(super) fn is_fed(
        &self,
        counting: Escr,
        signal: &NetBurstSignal,
        context: usize,
        ring: Ring,
    ) -> bool {
        let Some(upstream) = &signal.upstream else { return self.replays(signal) };
        let execution = (signal.unit, signal.event) == EXECUTION_EVENT;
        self.replays(signal)
            && self.upstreams(upstream).any(|escr| {
                escr.qualifies(context, ring)
                    && (!execution || escr.tags() & tags_read(counting, signal) != 0)
            })
    }

    /// The ESCRs that select the upstream event and work: a tagging ESCR works only while
    /// some counter wired to it is enabled.
    fn upstreams<'a>(&'a self, upstream: &'a Upstream) -> impl Iterator<Item = Escr> + 'a {
        let escrs = [upstream.unit, upstream.unit | 1].into_iter().filter(|msr| *msr < ESCR_END);
        escrs.map(|msr| self.escr(msr)).filter(|escr| {
            let awake = |counter: &usize| self.cccr[*counter] & ENABLE != 0;
            escr.event() == upstream.event
                && escr.mask() & upstream.mask != 0
                // At retirement, port replays are known to the second ESCR only.
                && (upstream_event(upstream) != LOAD_PORT_REPLAY || escr.msr & 1 == 1)
                && wiring::counters(escr.msr).iter().any(awake)
        })
    }

    /// Whether the replay tag that the occurrence needs is given.
    fn replays(&self, signal: &NetBurstSignal) -> bool {
        let Some((enable, matrix)) = signal.replay else { return true };
        let kinds = u64::from(enable) & !UOP_TAG;
        self.pebs_enable & UOP_TAG != 0
            && self.pebs_enable & kinds != 0
            && self.pebs_matrix & u64::from(matrix) != 0
    }
}

/// The tags through which a counting ESCR reads the occurrence's uops. Mask bits 3:0 name the tags
/// of non-bogus uops, and bits 7:4 those of bogus uops.
fn tags_read(counting: Escr, signal: &NetBurstSignal) -> u16 {
    let plain = if signal.mask & 0x0f != 0 { counting.mask() } else { 0 };
    let bogus = if signal.mask & 0xf0 != 0 { counting.mask() >> 4 } else { 0 };
    (plain | bogus) & 0xf
}

fn upstream_event(upstream: &Upstream) -> (u32, u8) {
    (upstream.unit, upstream.event)
}

pub(super) const EXECUTION_EVENT: (u32, u8) = (0x3cc, 0x0c);
const LOAD_PORT_REPLAY: (u32, u8) = (0x3ae, 0x04);
const TAG_ENABLE: u64 = 1 << 4;
/// `MSR_PEBS_ENABLE`, bit 24.
const UOP_TAG: u64 = 1 << 24;
