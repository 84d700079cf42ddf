//! Tasks of programs whose waits are timed: their bodies run within [`waits::task`].
//!
//! A task of libgomp is a function and data, which the runtime copies. The entries put a header with the
//! program's function before the data. A task of libomp is a block of the runtime's with the function at
//! its start, and the entry asks for room behind the program's part of it.

use std::ffi::{c_int, c_long, c_uint, c_void};
use std::mem::MaybeUninit;
use std::ptr;

use pacman_regions::Cause;

use super::caller::StackOf;
use super::watched;
use crate::function::{CallKind, Function};
use crate::interpose::real_for;
use crate::isolation::isolated_memory;
use crate::process;
use crate::waits::{self, PartKey};
use crate::worker::Worker;

type Body = unsafe extern "C-unwind" fn(*mut c_void);
type Copy = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void);

/// Before the program's data.
#[repr(C)]
struct Header {
    /// The runtime writes the bounds of a part of a taskloop here, and reads its reductions.
    first: [usize; 3],
    /// Its address on the stack of the thread that creates the task.
    home: *const Header,
    body: Body,
    copy: Option<Copy>,
    /// The program's data, on that stack as well.
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

/// Words of data for which the creating thread's stack has room.
const FEW: usize = 48;

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
    /// Calls `create` with the data, the function that copies it, its size and its alignment.
    ///
    /// # Safety
    /// The task must be one that the compiler passes to the runtime.
    #[inline(never)]
    unsafe fn with_header(
        &self,
        origin: PartKey,
        create: impl FnOnce(*mut c_void, Option<Copy>, c_long, c_long),
    ) {
        let align = self.align.max(align_of::<Header>());
        let offset = size_of::<Header>().next_multiple_of(align);
        let bytes = offset + self.size;
        let words = bytes.div_ceil(size_of::<u64>());
        let mut few = [MaybeUninit::<u64>::uninit(); FEW];
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
        let copy: Option<Copy> = self.copy.map(|_| copied as Copy);
        create(header.cast(), copy, bytes as c_long, align as c_long);
        if !many.is_empty() {
            isolated_memory(|| drop(many));
        }
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
fn origin() -> Option<PartKey> {
    if !process::has_waits() {
        return None;
    }
    let part = Worker::known()?.waits.part();
    (!part.is_none()).then_some(part)
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn GOMP_task(
    body: Body,
    data: *mut c_void,
    copy: Option<Copy>,
    size: c_long,
    align: c_long,
    is_deferred: usize,
    stack: StackOf<4>,
) {
    if process::is_observed() {
        watched::watch(CallKind::Task, 0, || stack.words[0]);
    }
    let Some(real) = real_for(stack.caller(), Function::GOMP_task) else { return };
    type Real = unsafe extern "C-unwind" fn(
        Body,
        *mut c_void,
        Option<Copy>,
        c_long,
        c_long,
        usize,
        u64,
        u64,
        u64,
        u64,
    );
    let [flags, depend, priority, detach] = stack.words;
    let create = |body: Body, data, copy, size, align| {
        // SAFETY: the runtime's function of that name. Older compilers pass fewer words, and older
        // runtimes read fewer.
        unsafe {
            let real: Real = std::mem::transmute(real);
            real(body, data, copy, size, align, is_deferred, flags, depend, priority, detach);
        }
    };
    let Some(origin) = origin() else { return create(body, data, copy, size, align) };
    // The runtime writes the event of such a task into the program's data.
    if flags as c_uint & DETACH != 0 {
        waits::unseen_task();
        return create(body, data, copy, size, align);
    }
    let (size, align) = (size as usize, align as usize);
    let task = Task { body, data, copy, size, align, is_loop: false, has_reductions: false };
    // SAFETY: the compiler's task.
    unsafe {
        task.with_header(origin, |data, copy, size, align| create(run, data, copy, size, align))
    }
}

macro_rules! taskloops {
    ($($name:ident)+) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(
            body: Body,
            data: *mut c_void,
            copy: Option<Copy>,
            size: c_long,
            align: c_long,
            flags: c_uint,
            stack: StackOf<5>,
        ) {
            if process::is_observed() {
                watched::watch(CallKind::SharesAsTasks, 0, || 0);
            }
            let caller = stack.caller();
            let Some(real) = real_for(caller, Function::$name) else { return };
            type Real = unsafe extern "C-unwind" fn(
                Body, *mut c_void, Option<Copy>, c_long, c_long, c_uint, u64, u64, u64, u64, u64,
            );
            let [tasks, priority, start, end, step] = stack.words;
            let create = |body: Body, data, copy, size, align| {
                // SAFETY: the runtime's function of that name.
                unsafe {
                    let real: Real = std::mem::transmute(real);
                    real(
                        body, data, copy, size, align, flags, tasks, priority, start, end, step,
                    );
                }
            };
            let Some(origin) = origin() else { return create(body, data, copy, size, align) };
            let (size, align) = (size as usize, align as usize);
            let has_reductions = flags & REDUCTION != 0;
            let task = Task { body, data, copy, size, align, is_loop: true, has_reductions };
            // SAFETY: the compiler's task.
            let create = || unsafe {
                task.with_header(origin, |data, copy, size, align| {
                    create(run, data, copy, size, align);
                });
            };
            // The construct ends in a taskgroup, whose end is inside of the call.
            match flags & NO_GROUP {
                0 => waits::wait(Cause::Taskgroup, caller, create),
                _ => create(),
            }
        }
    )+};
}

taskloops! { GOMP_taskloop GOMP_taskloop_ull }

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

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __kmpc_omp_task_alloc(
    place: usize,
    number: c_int,
    flags: c_int,
    size: usize,
    shareds: usize,
    body: KmpBody,
    stack: StackOf<3>,
) -> *mut c_void {
    let Some(real) = real_for(stack.caller(), Function::__kmpc_omp_task_alloc) else {
        return ptr::null_mut();
    };
    type Real =
        unsafe extern "C-unwind" fn(usize, c_int, c_int, usize, usize, KmpBody) -> *mut c_void;
    // SAFETY: the runtime's function of that name.
    let real: Real = unsafe { std::mem::transmute(real) };
    let Some(origin) = origin() else {
        // SAFETY: the program's own arguments.
        return unsafe { real(place, number, flags, size, shareds, body) };
    };
    let larger = size.next_multiple_of(8) + size_of::<Trailer>();
    // SAFETY: a task of the program with more room. The runtime places the shared variables right behind
    // the block, which is compared; the program uses them only if it asked for some.
    unsafe {
        let block = real(place, number, flags, larger, shareds.max(8), body);
        let start = block.cast::<Block>();
        let behind = (*start).shareds;
        if behind.addr() == block.addr() + larger {
            behind.cast::<Trailer>().sub(1).write(Trailer { origin, body });
            (*start).body = kmpc_run;
        } else {
            waits::unseen_task();
        }
        block
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
