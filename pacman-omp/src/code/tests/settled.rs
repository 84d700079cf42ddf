//! Machine code made by hand: a static loop of 1,000 iterations with any body.

use super::super::graph::Unproved;
use super::super::proof::{Proof, prove_in_steps};
use super::Code;

/// The address of the function, and those of the slots that its two calls go through.
const START: u64 = 0x1000;
const SLOTS: [u64; 2] = [START + 0x1007, START + 0x100f];

/// The function as GCC makes it. The number of the iteration is in `edx`, the end of the share in `eax`, the
/// thread's number times the share in `ecx`, and the size of the team in `ebx`.
fn code(body: &[u8]) -> Vec<u8> {
    let length = i32::try_from(body.len()).expect("a short body");
    let mut code = vec![
        0x53, // push rbx
        0xff, 0x15, 0x00, 0x10, 0x00, 0x00, // call omp_get_num_threads
        0x89, 0xc3, // mov ebx, eax
        0xff, 0x15, 0x00, 0x10, 0x00, 0x00, // call omp_get_thread_num
        0x89, 0xc1, // mov ecx, eax
        0xb8, 0xe8, 0x03, 0x00, 0x00, // mov eax, 1000
        0x99, 0xf7, 0xfb, // cdq; idiv ebx
        0x39, 0xd1, // cmp ecx, edx
    ];
    let jump = |code: &mut Vec<u8>, opcode: &[u8], by: i32| {
        code.extend(opcode);
        code.extend(by.to_le_bytes());
    };
    jump(&mut code, &[0x0f, 0x8c], 9 + 6 + length + 11 + 2); // jl
    code.extend([0x0f, 0xaf, 0xc8, 0x01, 0xca]); // imul ecx, eax; add edx, ecx
    code.extend([0x01, 0xd0, 0x39, 0xc2]); // add eax, edx; cmp edx, eax
    jump(&mut code, &[0x0f, 0x8d], length + 11); // jge
    code.extend(body);
    code.extend([0x83, 0xc2, 0x01, 0x39, 0xc2]); // add edx, 1; cmp edx, eax
    jump(&mut code, &[0x0f, 0x85], -(length + 11)); // jne
    code.extend([0x5b, 0xc3]); // pop rbx; ret
    code.extend([0x83, 0xc0, 0x01, 0x31, 0xd2]); // add eax, 1; xor edx, edx
    jump(&mut code, &[0xe9], -(10 + 2 + 11 + length + 6 + 9)); // jmp
    code
}

fn examined(body: &[u8]) -> (Result<Proof, Unproved>, usize) {
    let imports = vec![(SLOTS[0], c"omp_get_num_threads"), (SLOTS[1], c"omp_get_thread_num")];
    let code = Code { bytes: &code(body), start: START, imports, handlers: None };
    prove_in_steps(false, &code, START)
}

const NOP: &[u8] = &[0x90];
/// `mulsd xmm0, [rdi + rdx * 8]`
const MULTIPLY: &[u8] = &[0xf2, 0x0f, 0x59, 0x04, 0xd7];
/// `mov [rdi], edx`, the number of the iteration.
const STORE_ITERATION: &[u8] = &[0x89, 0x17];
/// `mov [rdi], ebx`, the size of the team.
const STORE_TEAM_SIZE: &[u8] = &[0x89, 0x1f];
/// `sub rsp, rdi`: memory of a size that is not known.
const ALLOCATE: &[u8] = &[0x48, 0x29, 0xfc];
/// `call omp_get_thread_num`, as the body's second instruction behind [`ALLOCATE`].
const ASK: &[u8] = &[0xff, 0x15, 0xd6, 0x0f, 0x00, 0x00];

#[test]
fn the_body_of_a_loop_is_not_followed() {
    let (short, steps) = examined(NOP);
    let short = short.expect("a static loop");
    assert!(short.only_shares && short.questions == SLOTS.map(|slot| slot - 0x1000), "{short:?}");
    assert!(steps <= 40, "{steps} steps for 25 instructions");
    let (long, steps_of_long) = examined(&MULTIPLY.repeat(1_500));
    assert_eq!((long, steps_of_long), (Ok(short), steps));
}

#[test]
fn a_path_is_followed_while_it_may_have_numbers() {
    let proof = examined(STORE_ITERATION).0.expect("the iteration is no number");
    assert!(proof.only_shares, "each iteration stores once");
    let (refused, steps) = examined(&[&MULTIPLY.repeat(100), STORE_TEAM_SIZE].concat());
    assert_eq!(refused.expect_err("it keeps data by the team").why, "a number is stored");
    assert!(steps > 100, "{steps}");
}

#[test]
fn a_path_is_followed_while_it_may_ask() {
    assert!(examined(ALLOCATE).0.is_ok(), "there is no number that the frame could have");
    let refused = examined(&[ALLOCATE, ASK].concat()).0.expect_err("it asks again");
    assert_eq!(refused.why, "the stack pointer is not known");
}
