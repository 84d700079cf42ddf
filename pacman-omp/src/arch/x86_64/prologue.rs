//! The compiler's prologue of entries in assembly.

/// Assembly that undoes the compiler's prologue of an entry. `r10` has the address of the first
/// instruction after the prologue.
/// README.md in this folder lists the possible prologues.
macro_rules! prologue_undone {
    () => {
        "cmp dword ptr [r10 - 4], 0xe5894855
        jne 2f
        pop rbp
        2:
        cmp byte ptr [r10 - 1], 0x50
        jne 3f
        test r10b, 14
        jnz 3f
        lea rsp, [rsp + 8]
        3:"
    };
}
pub(crate) use prologue_undone;
