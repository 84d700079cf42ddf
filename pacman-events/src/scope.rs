//! The reach of a count or a register beyond one hardware context.

/// The effect on a sibling context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scope {
    /// One per hardware context: a sibling has a count or register of its own.
    #[default]
    Thread,
    /// One per core: siblings share the register, or one count covers them all.
    Core,
    /// One per node or die (the northbridge events of AMD K8 to family 14h).
    Node,
}
