//! The flags after a compare-and-exchange. QEMU computes flags late. Without the lab's patch it takes those of an
//! earlier instruction. An interrupt saves and restores these wrong flags, and the kernel panics.

use std::arch::asm;

use pacman_core::Result;

#[repr(align(16))]
struct Pair([u64; 2]);

/// Prints the flags of a comparison, and those after a compare-and-exchange that succeeds and one that fails.
pub(crate) fn run() -> Result<()> {
    for (name, wide) in [("cmpxchg8b", false), ("cmpxchg16b", true)] {
        let compared = flags(None, [0, 0]);
        let succeeded = flags(Some(wide), [0, 0]);
        let failed = flags(Some(wide), [7, 7]);
        println!("flags {name} {compared:#x} {succeeded:#x} {failed:#x}");
    }
    Ok(())
}

/// The flags after 0 was compared with 16, and memory with 0 by an instruction of 8 or 16 (`wide`) bytes.
fn flags(wide: Option<bool>, memory: [u64; 2]) -> u64 {
    let mut memory = Pair(memory);
    let at = memory.0.as_mut_ptr();
    let flags: u64;
    macro_rules! after {
        ($($instruction:literal)?) => {
            // SAFETY: writes the aligned memory, the stack below it, and the registers that it names.
            unsafe {
                asm!(
                    // The flags are in one word from here on.
                    "pushfq", "popfq",
                    "xchg r11, rbx",
                    "cmp r8, r9",
                    $($instruction,)?
                    "pushfq", "pop r10",
                    "xchg r11, rbx",
                    // rbx is not free for operands.
                    inout("r11") 1u64 => _,
                    in("r8") 0u64,
                    in("r9") 16u64,
                    out("r10") flags,
                    in("rdi") at,
                    inout("rax") 0u64 => _,
                    inout("rdx") 0u64 => _,
                    in("rcx") 2u64,
                )
            }
        };
    }
    match wide {
        None => after!(),
        Some(false) => after!("lock cmpxchg8b [rdi]"),
        Some(true) => after!("lock cmpxchg16b [rdi]"),
    }
    flags
}
