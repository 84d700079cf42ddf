//! Tasks of programs whose waits are timed: their bodies run within [`waits::task`].
//!
//! A task of libgomp is a function and data, which the runtime copies. The entries put a header with the
//! program's function before the data. A task of libomp is a block of the runtime's with the function at
//! its start, and the entry asks for room behind the program's part of it.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::MaybeUninit;
use std::ptr;

use pacman_regions::Cause;

use super::call::{Call, Onward, Registers};
use crate::arch::forwarded;
use crate::function::CallKind;
use crate::isolation::isolated_memory;
use crate::process;
use crate::waits::PartKey;
use crate::worker::Worker;
use crate::worker::records::{BlockOrigin, Ending, FEW, Record};
use crate::worker::waits;

forwarded!("pacman_omp_watched" GOMP_task);
forwarded!("pacman_omp_watched" GOMP_taskloop);
forwarded!("pacman_omp_watched" GOMP_taskloop_ull);
forwarded!("pacman_omp_waits" __kmpc_omp_task_alloc);

type Body = unsafe extern "C-unwind" fn(*mut c_void);
type Copy = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void);

/// Before the program's data.
#[repr(C)]
struct Header {
    /// The runtime writes the bounds of a part of a taskloop here, and reads its reductions.
    first: [usize; 3],
    /// Its address in the record of the call that creates the task.
    home: *const Header,
    body: Body,
    copy: Option<Copy>,
    /// The program's data, on the stack of the thread that creates the task.
    data: *mut c_void,
    /// From the header to the copy of the data.
    offset: usize,
    origin: PartKey,
    is_loop: bool,
}

/// Flags of GCC's tasks.
const DETACH: c_uint = 1 << 13;
const REDUCTION: c_uint = 1 << 12;
const NO_GROUP: c_uint = 1 << 11;

/// A task of the program.
struct Task {
    body: Body,
    data: *mut c_void,
    copy: Option<Copy>,
    size: usize,
    align: usize,
    is_loop: bool,
    has_reductions: bool,
}

impl Task {
    /// The task as the compiler passes it in registers, with its `flags`.
    ///
    /// # Safety
    /// The registers must be those of a call that creates a task.
    unsafe fn passed(
        &[body, data, copy, size, align, ..]: &Registers,
        flags: c_uint,
        is_loop: bool,
    ) -> Task {
        // SAFETY: as the caller guarantees. A copying function may be null.
        let (body, copy) = unsafe {
            (std::mem::transmute::<u64, Body>(body), std::mem::transmute::<u64, Option<Copy>>(copy))
        };
        let data = ptr::with_exposed_provenance_mut(data as usize);
        let (size, align) = (size as usize, align as usize);
        let has_reductions = is_loop && flags & REDUCTION != 0;
        Task { body, data, copy, size, align, is_loop, has_reductions }
    }

    /// Has the call create a task whose data are a header and the program's data. They are in `few` if that is
    /// enough. Answers a larger place for them, if there is one.
    ///
    /// # Safety
    /// As above. Both places must outlive the call.
    unsafe fn with_header(
        &self,
        origin: PartKey,
        registers: &mut Registers,
        few: &mut [MaybeUninit<u64>; FEW],
    ) -> Vec<MaybeUninit<u64>> {
        let align = self.align.max(align_of::<Header>());
        let offset = size_of::<Header>().next_multiple_of(align);
        let bytes = offset + self.size;
        let words = bytes.div_ceil(size_of::<u64>());
        let mut many: Vec<MaybeUninit<u64>> = match words > FEW {
            true => isolated_memory(|| vec![MaybeUninit::uninit(); words]),
            false => Vec::new(),
        };
        let block = if words > FEW { many.as_mut_ptr() } else { few.as_mut_ptr() };
        let header = block.cast::<Header>();
        let mut first = [0; 3];
        // SAFETY: there is room for the header and the data. Data with reductions has three words.
        unsafe {
            if self.has_reductions {
                first[2] = *self.data.cast::<usize>().add(2);
            }
            header.write(Header {
                first,
                home: header,
                body: self.body,
                copy: self.copy,
                data: self.data,
                offset,
                origin,
                is_loop: self.is_loop,
            });
            // The program's function makes its copies itself.
            if self.copy.is_none() && self.size > 0 {
                ptr::copy_nonoverlapping(
                    self.data.cast::<u8>(),
                    block.cast::<u8>().add(offset),
                    self.size,
                );
            }
        }
        registers[0] = run as Body as usize as u64;
        registers[1] = header.expose_provenance() as u64;
        registers[2] = self.copy.map_or(0, |_| copied as Copy as usize as u64);
        registers[3] = bytes as u64;
        registers[4] = align as u64;
        many
    }
}

/// Copies the header, and has the program's function copy its data.
unsafe extern "C-unwind" fn copied(to: *mut c_void, from: *mut c_void) {
    // SAFETY: the runtime passes a header of `with_header`, and room for it and the data.
    unsafe {
        let header = from.cast::<Header>();
        ptr::copy_nonoverlapping(header, to.cast::<Header>(), 1);
        if let Some(copy) = (*header).copy {
            copy(to.byte_add((*header).offset), (*header).data);
        }
    }
}

/// The body of every task.
unsafe extern "C-unwind" fn run(block: *mut c_void) {
    // SAFETY: the runtime passes the block of `with_header`, or its copy. Data of a taskloop begins with
    // two words that the runtime sets.
    unsafe {
        let header = &*block.cast::<Header>();
        // Tasks that are not deferred may use the program's data itself.
        let data = match ptr::eq(header.home, header) {
            true => header.data,
            false => block.byte_add(header.offset),
        };
        if header.is_loop {
            ptr::copy_nonoverlapping(header.first.as_ptr(), data.cast::<usize>(), 2);
        }
        let (origin, body) = (header.origin, header.body);
        waits::task(origin, || body(data));
    }
}

/// The part in which the calling thread creates a task, if waits are timed there.
fn origin() -> Option<(&'static Worker, PartKey)> {
    if !process::plan().times_waits() {
        return None;
    }
    let worker = Worker::known()?;
    let part = worker.waits.part();
    (!part.is_none()).then_some((worker, part))
}

/// Puts a header before the data of a task of libgomp, or of the tasks of a loop, if waits are timed.
///
/// # Safety
/// The call must be one of `GOMP_task` or `GOMP_taskloop`, with its registers.
pub(super) unsafe fn create(
    call: &Call,
    real: *mut c_void,
    registers: &mut Registers,
) -> Option<Onward> {
    let (worker, origin) = origin()?;
    let is_loop = call.function.kind() == CallKind::Taskloop;
    // SAFETY: the flags are the sixth argument of a loop, and the seventh of a task.
    let flags = unsafe { call.argument(if is_loop { 5 } else { 6 }, registers) } as c_uint;
    // The runtime writes the event of such a task into the program's data.
    if !is_loop && flags & DETACH != 0 {
        waits::unseen_task();
        return None;
    }
    // The construct of a loop ends in a taskgroup, whose end is inside of the call.
    let waits = is_loop && flags & NO_GROUP == 0;
    let wait = || waits::begin(worker, Cause::Taskgroup, call.caller, call.slot.addr());
    let onward = call.in_place(worker, real, Ending::Nothing);
    // SAFETY: the compiler's task, and the new record of this call, which ends with it.
    unsafe {
        let task = Task::passed(registers, flags, is_loop);
        let Record { ending, few, .. } = &mut *onward.record;
        let many = task.with_header(origin, registers, few);
        *ending = Ending::Task(waits.then(wait).flatten(), many);
    }
    Some(onward)
}

/// The start of libomp's `kmp_task_t`.
#[repr(C)]
struct Block {
    shareds: *mut c_void,
    body: KmpBody,
}

/// The function of a task of libomp.
type KmpBody = unsafe extern "C-unwind" fn(c_int, *mut c_void) -> c_int;

/// Right before the shared variables of a task.
#[repr(C)]
struct Trailer {
    origin: PartKey,
    body: KmpBody,
}

const _: () = assert!(size_of::<Trailer>() == 32);

/// Gets room for a trailer in a task of libomp, if waits are timed.
pub(super) fn allocate(
    call: &Call,
    real: *mut c_void,
    registers: &mut Registers,
) -> Option<Onward> {
    let (worker, part) = origin()?;
    let [_, _, _, size, shareds, body, ..] = registers;
    *size = size.next_multiple_of(8) + size_of::<Trailer>() as u64;
    // The runtime places the shared variables right behind the block, which is compared; the program uses
    // them only if it asked for some.
    *shareds = (*shareds).max(8);
    let (body, size) = (ptr::with_exposed_provenance(*body as usize), *size as usize);
    Some(call.in_place(worker, real, Ending::Block(BlockOrigin { part, body, size })))
}

/// Writes the trailer of a new task.
///
/// # Safety
/// `block` must be the runtime's answer to a call with the registers that [`allocate`] left.
pub(super) unsafe fn allocated(origin: &BlockOrigin, block: u64) {
    let start: *mut Block = ptr::with_exposed_provenance_mut(block as usize);
    // SAFETY: as the caller guarantees: there is room before the shared variables if they are at the end.
    unsafe {
        let behind = (*start).shareds;
        if behind.addr() == start.addr() + origin.size {
            let body = std::mem::transmute::<*const c_void, KmpBody>(origin.body);
            behind.cast::<Trailer>().sub(1).write(Trailer { origin: origin.part, body });
            (*start).body = kmpc_run;
        } else {
            waits::unseen_task();
        }
    }
}

/// The body of every task of libomp.
unsafe extern "C-unwind" fn kmpc_run(number: c_int, block: *mut c_void) -> c_int {
    // SAFETY: a block of `__kmpc_omp_task_alloc`, or the runtime's copy of it.
    let (origin, body) = unsafe {
        let trailer = &*(*block.cast::<Block>()).shareds.cast::<Trailer>().sub(1);
        (trailer.origin, trailer.body)
    };
    let mut answer = 0;
    // SAFETY: the program's body of this task.
    waits::task(origin, || answer = unsafe { body(number, block) });
    answer
}
