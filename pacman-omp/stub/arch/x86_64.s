# The entries of x86-64: build.rs writes a call of each macro for each function.

# The code that finds the target of a slot, until that is known.
.macro unresolved at
.balign 16
movl $\at, %r11d
jmp pacman_omp_resolve
.endm

# A jump through a slot.
.macro entry name, at
.balign 8
.globl \name
.type \name, @function
\name: jmp *pacman_omp_slots + 8 * \at(%rip)
.size \name, . - \name
.endm

# The return address and nine words keep the stack aligned to sixteen bytes.
.text
.globl pacman_omp_resolve
.hidden pacman_omp_resolve
.type pacman_omp_resolve, @function
pacman_omp_resolve:
pushq %rdi
pushq %rsi
pushq %rdx
pushq %rcx
pushq %r8
pushq %r9
pushq %rax
pushq %r10
pushq %rbx
subq $128, %rsp
movups %xmm0, (%rsp)
movups %xmm1, 16(%rsp)
movups %xmm2, 32(%rsp)
movups %xmm3, 48(%rsp)
movups %xmm4, 64(%rsp)
movups %xmm5, 80(%rsp)
movups %xmm6, 96(%rsp)
movups %xmm7, 112(%rsp)
movl %r11d, %edi
movq 200(%rsp), %rsi
call pacman_omp_target
movq %rax, %r11
movups (%rsp), %xmm0
movups 16(%rsp), %xmm1
movups 32(%rsp), %xmm2
movups 48(%rsp), %xmm3
movups 64(%rsp), %xmm4
movups 80(%rsp), %xmm5
movups 96(%rsp), %xmm6
movups 112(%rsp), %xmm7
addq $128, %rsp
popq %rbx
popq %r10
popq %rax
popq %r9
popq %r8
popq %rcx
popq %rdx
popq %rsi
popq %rdi
jmp *%r11
.size pacman_omp_resolve, . - pacman_omp_resolve
