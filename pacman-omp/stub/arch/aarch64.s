// The entries of AArch64: build.rs writes a call of each macro for each function. `hint 34` is `bti c`: jumps
// through registers may arrive there. Jumps on go through x16, which may arrive at the begin of any function.

// The code that finds the target of a slot, until that is known.
.macro unresolved at
.balign 16
hint 34
mov w17, \at
b pacman_omp_resolve
.endm

// A jump through a slot. What the engine set up before it set the slot must be seen, so the load acquires.
.macro entry name, at
.balign 16
.globl \name
.type \name, %function
\name: hint 34
adrp x16, pacman_omp_slots + 8 * \at
add x16, x16, :lo12:pacman_omp_slots + 8 * \at
ldar x16, [x16]
br x16
.size \name, . - \name
.endm

// The file can be guarded by BTI: GNU_PROPERTY_AARCH64_FEATURE_1_AND has bit 0.
.section .note.gnu.property, "a", %note
.balign 8
.word 4, 16, 5
.asciz "GNU"
.word 0xc0000000, 4, 1, 0

.text
.globl pacman_omp_resolve
.hidden pacman_omp_resolve
.type pacman_omp_resolve, %function
pacman_omp_resolve:
stp x29, x30, [sp, -224]!
mov x29, sp
stp x0, x1, [sp, 16]
stp x2, x3, [sp, 32]
stp x4, x5, [sp, 48]
stp x6, x7, [sp, 64]
str x8, [sp, 80]
stp q0, q1, [sp, 96]
stp q2, q3, [sp, 128]
stp q4, q5, [sp, 160]
stp q6, q7, [sp, 192]
mov w0, w17
mov x1, x30
bl pacman_omp_target
mov x16, x0
ldp x0, x1, [sp, 16]
ldp x2, x3, [sp, 32]
ldp x4, x5, [sp, 48]
ldp x6, x7, [sp, 64]
ldr x8, [sp, 80]
ldp q0, q1, [sp, 96]
ldp q2, q3, [sp, 128]
ldp q4, q5, [sp, 160]
ldp q6, q7, [sp, 192]
ldp x29, x30, [sp], 224
br x16
.size pacman_omp_resolve, . - pacman_omp_resolve
