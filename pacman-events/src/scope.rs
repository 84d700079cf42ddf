//! How far a count or a register reaches beyond one hardware context.

/// The effect on a sibling context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The hardware context's own; a sibling has its own copy or count.
    #[default]
    Thread,
    /// One per core: siblings share the register, or are counted together.
    Core,
    /// One per node or die (the northbridge events of AMD K8 to family 14h).
    Node,
}
