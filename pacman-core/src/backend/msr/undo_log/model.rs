//! Models of every interleaving of owners and handlers, on registers that loom watches.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p pacman-core --lib undo_log::model`.

use loom::cell::UnsafeCell;
use loom::model::Builder;
use loom::sync::Arc;
use loom::thread;

use super::*;
use crate::primitive::{interleave, relax};

const PROGRAMMED: u64 = 0xffff;

/// Each register's number, and its value before it is programmed.
const BEFORE: [(u32, u64); 2] = [(7, 70), (8, 80)];

/// Registers that fail the model if two threads access one at the same time.
struct Machine {
    table: Table<1, 2>,
    registers: [UnsafeCell<Device>; 2],
}

struct Device {
    value: u64,
    restored: usize,
}

impl Machine {
    fn new() -> Arc<Machine> {
        let registers = BEFORE.map(|(_, value)| UnsafeCell::new(Device { value, restored: 0 }));
        Arc::new(Machine { table: Table::new(), registers })
    }

    fn register(&self, msr: u32) -> &UnsafeCell<Device> {
        let at = BEFORE.iter().position(|(known, _)| *known == msr).expect("a number as noted");
        &self.registers[at]
    }

    fn program(&self, msr: u32) {
        // SAFETY: loom fails the model if another thread accesses it.
        self.register(msr).with_mut(|device| unsafe { (*device).value = PROGRAMMED });
    }

    /// Restores a value. It must be the register's own, and the register must be programmed.
    fn restore(&self, before: Before) {
        assert!(BEFORE.contains(&(before.msr, before.value)), "torn: {before:?}");
        self.register(before.msr).with_mut(|device| {
            // SAFETY: as above.
            let device = unsafe { &mut *device };
            assert_eq!(device.value, PROGRAMMED, "restored twice: {before:?}");
            *device = Device { value: before.value, restored: device.restored + 1 };
        });
    }

    /// How often each register was restored. Fails the model if one is still programmed.
    fn restored(&self) -> [usize; 2] {
        BEFORE.map(|(msr, value)| {
            self.register(msr).with(|device| {
                // SAFETY: loom fails the model if another thread writes it.
                let device = unsafe { &*device };
                assert_eq!(device.value, value, "register {msr} is left programmed");
                device.restored
            })
        })
    }

    /// A session's life. It ends early if the gate is closed, and programs nothing then.
    fn own(&self) {
        let Some(inside) = self.table.enter(wait) else {
            self.restored();
            return;
        };
        let log = inside.take(3, [1, 2, 3]).expect("the only one");
        for (msr, value) in BEFORE {
            assert!(log.note(Before { msr, mask: u64::MAX, value }));
            self.program(msr);
        }
        drop(inside);
        let Some(inside) = self.table.enter(wait) else {
            self.restored();
            return;
        };
        if !log.is_undone() {
            BEFORE.iter().for_each(|(msr, value)| {
                self.restore(Before { msr: *msr, mask: u64::MAX, value: *value });
            });
        }
        inside.leave(log);
    }

    fn handle(&self, ends: bool) {
        let Some(inside) = self.table.enter(wait) else { return };
        inside.undo_all(|device, before| {
            assert_eq!(device, [1, 2, 3]);
            self.restore(before);
        });
        if ends {
            inside.close();
        }
    }
}

fn wait() -> bool {
    relax();
    true
}

#[test]
fn a_register_is_restored_once_by_its_owner_or_by_a_handler() {
    interleave(Builder::new(), || {
        let machine = Machine::new();
        let handler = {
            let machine = Arc::clone(&machine);
            thread::spawn(move || (0..2).for_each(|_| machine.handle(false)))
        };
        machine.own();
        handler.join().unwrap();
        assert_eq!(machine.restored(), [1; 2]);
    });
}

#[test]
fn a_log_that_is_used_again_has_nothing_of_its_last_owner() {
    interleave(Builder::new(), || {
        let machine = Machine::new();
        let handler = {
            let machine = Arc::clone(&machine);
            thread::spawn(move || machine.handle(false))
        };
        machine.own();
        machine.own();
        handler.join().unwrap();
        assert_eq!(machine.restored(), [2; 2]);
    });
}

#[test]
fn nothing_is_programmed_after_the_handler_that_ends_the_process() {
    interleave(Builder::new(), || {
        let machine = Machine::new();
        let handler = {
            let machine = Arc::clone(&machine);
            thread::spawn(move || {
                machine.handle(true);
                // The process ends here.
                machine.restored()
            })
        };
        machine.own();
        let restored = handler.join().unwrap();
        assert_eq!(machine.restored(), restored);
    });
}

/// A handler that no longer waits, beside an owner that programs. It may miss the latest entry, but
/// must not read half of one.
#[test]
fn a_handler_that_does_not_wait_sees_whole_entries() {
    let entries = [(7, 70), (8, 80), (9, 90)];
    interleave(Builder::new(), move || {
        let table = Arc::new(Table::<1, 3>::new());
        let owner = {
            let table = Arc::clone(&table);
            thread::spawn(move || {
                let inside = table.enter(wait).expect("nobody closes it");
                let log = inside.take(3, [1, 2, 3]).expect("the only one");
                for (msr, value) in entries {
                    log.note(Before { msr, mask: u64::MAX, value });
                }
            })
        };
        let inside = table.enter(|| false).expect("nobody closes it");
        let mut at = 0;
        inside.undo_all(|device, before| {
            assert_eq!((device, (before.msr, before.value)), ([1, 2, 3], entries[at]));
            assert_eq!(before.mask, u64::MAX);
            at += 1;
        });
        drop(inside);
        owner.join().unwrap();
    });
}
