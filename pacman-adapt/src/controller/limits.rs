//! The constants of the rule. A part is of the cost, and has no unit; counts are of executions.
//! `docs/research/adaptation.md` says which were tuned, and how much results depend on them.

/// The least part of the level by which a phase has changed: smaller changes are followed by the mean.
pub(super) const LEAST_CHANGE: f64 = 0.10;
/// The most that noise may explain: beyond that a mean of bursts and others would pass for the usual cost.
pub(super) const MOST_CHANGE: f64 = 0.6;
/// The standard deviations of noise that are no change: one in 16,000 of a normal distribution is beyond.
pub(super) const CLEAR: f64 = 4.0;
/// The least expected gain for which the default is left.
pub(super) const LEAST_GAIN: f64 = 0.01;
/// The same where only bursts at the default speak for another configuration.
pub(super) const LEAST_GAIN_OF_BURSTS: f64 = 0.2;
/// The mean excess of bursts, as a part of the default's level, above which they count for decisions.
pub(super) const MANY_BURSTS: f64 = 0.25;
/// The executions that a gain is expected to last, at least and at most. As many as have run so far is the
/// usual guess; a program that has just begun runs some more, and phases change.
pub(super) const HORIZON: (f64, f64) = (50.0, 512.0);
/// The part of the cost that looks at the default may take while another configuration is held. It is the
/// chance of a change in an execution, times the executions that the gain would last, times the gain:
/// 1 in 12,800, 256, and a quarter.
pub(super) const LOOKS: f64 = 0.005;
/// The same for looks at others while the default is held, over the executions there so far: the more there
/// were, the less likely it is that all of them were disturbed.
pub(super) const OTHER_LOOKS: f64 = 0.0025;
/// The same for each unit of the noise's variance (as a part of the squared cost): noise may have hidden a
/// gain. Tuned.
pub(super) const HIDDEN: f64 = 0.3;
/// The least executions between two looks without new evidence.
pub(super) const LEAST_LOOK: u64 = 16;
/// The executions after which a held configuration counts as verified.
pub(super) const VERIFIED: u32 = 3;
/// The executions at the default before it is left, if returns to it are costly.
pub(super) const KNOWN_WELL: u32 = 5;
/// The executions after a change in which no other counts as one; it doubles. A phase whose executions
/// differ by their input changes all the time.
pub(super) const REST: (u64, u64) = (20, 640);
/// Invalid executions in a row after which the phase is not adapted.
pub(super) const NONSENSE: u32 = 3;
/// Long executions in a row after which a phase that was too short is adapted.
pub(super) const LONG: u32 = 8;
/// The most that an execution may cost over a bound or a recalled cost, with what noise adds.
pub(super) const DISPROVES: f64 = 1.2;
/// The standard deviation of a recalled ratio, as a part of it.
pub(super) const RECALLED: f64 = 0.04;
/// The most executions between two evaluations of the rule.
pub(super) const LONGEST: u64 = 64;
/// The standard deviations from a prediction to the end of its interval of 90 %.
pub(super) const HALF_WIDTH: f64 = 1.65;
/// The part of their error that the predictions of a phase share. Tuned.
pub(super) const SHARED: f64 = 0.7;
/// The executions without a burst that are assumed before the first.
pub(super) const FREE: f64 = 16.0;
/// The executions that show a change.
pub(super) const SHOWN: u32 = 4;

/// Whether `value` can be a cost, a time in seconds or a ratio of two. No clock or meter gives anything beyond
/// 1e-30 and 1e30, and squares and sums of values within stay finite.
pub(super) fn is_measurable(value: f64) -> bool {
    (1e-30..=1e30).contains(&value)
}
