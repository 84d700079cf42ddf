//! Makes operations of a function's instructions.

use iced_x86::{
    ConditionCode, FlowControl, Instruction, InstructionInfoFactory, Mnemonic as M, OpAccess,
    OpKind, Register as Decoded, RflagsBits,
};

use super::graph::{Graph, NOWHERE};
use super::later;
use super::operation::{
    Access, FlagsWritten, Memory, Operand, Operation, Register, Step, Used, Uses,
};
use super::registers::{GENERAL, RAX, RSP};
use super::value::Division;

/// A function in the form in which it is executed.
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    /// The steps at places where paths meet or fork, by address.
    pub(super) places: Vec<u32>,
    pub(super) accesses: Vec<Access>,
    pub(super) registers: Vec<Used>,
    /// The events that may follow each step, as bits of [`later`].
    pub(super) later: Vec<u64>,
}

impl Program {
    pub(super) fn of(graph: &Graph) -> Program {
        let nodes = &graph.nodes;
        let mut divisions: Vec<u64> = nodes
            .iter()
            .map(|node| &node.instruction)
            .filter(|instruction| matches!(instruction.mnemonic(), M::Div | M::Idiv))
            .map(Instruction::ip)
            .collect();
        divisions.sort_unstable();
        let mut maker = Maker {
            facts: InstructionInfoFactory::new(),
            divisions,
            program: Program {
                steps: Vec::with_capacity(nodes.len()),
                places: Vec::new(),
                accesses: Vec::with_capacity(nodes.len()),
                registers: Vec::with_capacity(nodes.len() * 3),
                later: Vec::new(),
            },
        };
        for node in nodes {
            let operation = maker.operation(&node.instruction);
            maker.program.steps.push(Step {
                at: node.instruction.ip(),
                operation,
                callee: node.callee,
                handler: node.handler.and_then(|handler| graph.number(handler)),
                next: node.next,
                target: node.target,
                meets: node.meets,
                place: None,
            });
        }
        let mut program = maker.program;
        program.find_places();
        program.later = later::of(&program.steps);
        program
    }

    /// Whether a path leads from the first step to the second.
    pub(super) fn leads(&self, from: u32, to: u32) -> bool {
        let mut known = vec![false; self.steps.len()];
        let mut open = vec![from];
        while let Some(number) = open.pop() {
            let Some(step) = self.steps.get(number as usize) else { continue };
            if number == to {
                return true;
            }
            if !std::mem::replace(&mut known[number as usize], true) {
                open.extend([step.next, step.target, step.handler.unwrap_or(NOWHERE)]);
            }
        }
        false
    }

    /// Numbers the places where paths meet or fork.
    fn find_places(&mut self) {
        let forks = self.steps.iter().filter(|step| match step.operation {
            Operation::Set(..) | Operation::MoveIf { .. } => true,
            _ => step.handler.is_some(),
        });
        let mut places: Vec<u32> = forks.map(|step| step.next).collect();
        let meets = self.steps.iter().enumerate().filter(|(_, step)| step.meets);
        places.extend(meets.map(|(number, _)| number as u32));
        places.retain(|step| *step != NOWHERE);
        places.sort_unstable_by_key(|step| self.steps[*step as usize].at);
        places.dedup();
        for (number, step) in places.iter().enumerate() {
            self.steps[*step as usize].place = Some(number as u32);
        }
        self.places = places;
    }
}

struct Maker {
    facts: InstructionInfoFactory,
    /// The addresses of all divisions, in order.
    divisions: Vec<u64>,
    program: Program,
}

impl Maker {
    fn operation(&mut self, instruction: &Instruction) -> Operation {
        match instruction.flow_control() {
            FlowControl::UnconditionalBranch => Operation::Jump,
            FlowControl::Return => Operation::Return,
            FlowControl::Exception => Operation::Trap,
            FlowControl::ConditionalBranch if is_plain_branch(instruction) => {
                Operation::Branch(instruction.condition_code())
            }
            FlowControl::ConditionalBranch => Operation::UnknownBranch,
            FlowControl::Call => Operation::Call(None),
            FlowControl::IndirectCall => Operation::Call(Some(operand(instruction, 0))),
            FlowControl::IndirectBranch => Operation::TailCall,
            _ => self.without_jump(instruction),
        }
    }

    fn without_jump(&mut self, instruction: &Instruction) -> Operation {
        let count = instruction.op_count();
        let condition = instruction.condition_code();
        match count {
            _ if condition == ConditionCode::None => {}
            1 => {
                let whole = (instruction.op0_kind() == OpKind::Register)
                    .then(|| register(instruction.op0_register().full_register()));
                return Operation::Set(condition, operand(instruction, 0), whole);
            }
            2 => {
                let (to, from) = (operand(instruction, 0), operand(instruction, 1));
                return Operation::MoveIf { condition, to, from };
            }
            _ => {}
        }
        let is_whole = |operand: u32| match instruction.op_kind(operand) {
            OpKind::Register => {
                instruction.op_register(operand).is_gpr() && size(instruction, operand) >= 4
            }
            _ => size(instruction, operand) >= 4,
        };
        let whole = count > 0 && (0..count).all(is_whole) && !instruction.has_lock_prefix();
        let on = |number| operand(instruction, number);
        match instruction.mnemonic() {
            // The upper halves of vector registers have nothing that their lower halves lack.
            M::Nop | M::Endbr64 | M::Pause | M::Vzeroupper => Operation::Nothing,
            M::Push if size(instruction, 0) == 8 => Operation::Push(on(0)),
            M::Pop if instruction.op0_kind() == OpKind::Register => {
                Operation::Pop(register(instruction.op0_register()))
            }
            M::Leave => Operation::Leave,
            M::Mov if whole => {
                let wide = size(instruction, 1) == 8;
                Operation::Move { to: on(0), from: on(1), wide }
            }
            M::Cdqe => {
                let whole = Register { index: RAX as u8, size: 8 };
                Operation::Extend { to: whole, from: Operand::Register(whole) }
            }
            M::Movsxd => {
                Operation::Extend { to: register(instruction.op0_register()), from: on(1) }
            }
            M::Movd | M::Movq | M::Vmovd | M::Vmovq if count == 2 && moves_whole(instruction) => {
                Operation::Copy { to: on(0), from: on(1) }
            }
            M::Lea if whole_lea(instruction) => address(instruction),
            M::Xor | M::Sub if is_same(instruction) && whole => Operation::Clear(on(0)),
            M::And if whole && aligns(instruction) => Operation::Align,
            M::Add if whole => Operation::Add(on(0), on(1)),
            M::Sub if whole => Operation::Subtract(on(0), on(1)),
            M::Inc if whole => Operation::Step(on(0), 1),
            M::Dec if whole => Operation::Step(on(0), -1),
            M::Neg if whole => Operation::Negate(on(0)),
            M::Shl if instruction.op1_kind() == OpKind::Immediate8 && is_whole(0) => {
                let count = instruction.immediate8();
                Operation::Shift(on(0), (count <= 30).then(|| 1 << count))
            }
            M::Imul if whole && count >= 2 => {
                Operation::Multiply { to: on(0), one: on(count - 2), another: on(count - 1) }
            }
            M::Cdq => Operation::Sign { wide: false },
            M::Cqo => Operation::Sign { wide: true },
            M::Div | M::Idiv if whole => {
                let number = self.divisions.partition_point(|at| *at < instruction.ip());
                let signed = instruction.mnemonic() == M::Idiv;
                Operation::Divide {
                    by: on(0),
                    wide: size(instruction, 0) == 8,
                    division: (number < Division::MOST)
                        .then_some(Division { number: number as u8, signed }),
                    uses: self.uses(instruction),
                }
            }
            M::Cmp if whole => Operation::Compare(on(0), on(1)),
            M::Test if whole && is_same(instruction) => {
                Operation::Compare(on(0), Operand::Constant(0))
            }
            _ => Operation::Other(self.uses(instruction)),
        }
    }

    /// The registers and the memory that an instruction reads and writes.
    fn uses(&mut self, instruction: &Instruction) -> Uses {
        let info = self.facts.info(instruction);
        let Program { accesses, registers, .. } = &mut self.program;
        let begin = (accesses.len() as u32, registers.len() as u32);
        let repeats = instruction.has_rep_prefix() || instruction.has_repne_prefix();
        let (mut in_addresses, mut stores) = (0, false);
        for used in info.used_memory() {
            let memory = Memory {
                base: register(used.base()),
                index: (used.index() != Decoded::None).then(|| register(used.index())),
                displacement: used.displacement() as i64,
                size: used.memory_size().size() as i64,
            };
            in_addresses |= memory.base.bit() | memory.index.map_or(0, Register::bit);
            let (reads, writes) = (reads(used.access()), writes(used.access()));
            stores |= writes;
            accesses.push(Access { memory, reads, writes, repeats });
        }
        let mut operands = 0;
        for operand in 0..instruction.op_count() {
            if instruction.op_kind(operand) == OpKind::Register {
                operands |= register(instruction.op_register(operand)).bit();
            }
        }
        let (mut read, mut written) = (in_addresses, 0);
        for used in info.used_registers() {
            let (reads, writes) = (reads(used.access()), writes(used.access()));
            let conditional = used.access() == OpAccess::CondWrite;
            let register = register(used.register());
            let bit = register.bit();
            let is_value = in_addresses & bit == 0 || operands & bit != 0;
            let keeps = conditional || !register.is_whole();
            if reads || writes && (keeps || register.place() == Some(RSP)) {
                read |= bit;
            }
            if writes {
                written |= bit;
            }
            registers.push(Used { register, reads, writes, is_value, conditional });
        }
        let flags = match instruction.rflags_modified() {
            0 => FlagsWritten::None,
            modified if modified & CONDITIONS == CONDITIONS => FlagsWritten::All,
            _ => FlagsWritten::Some,
        };
        Uses {
            read,
            written,
            stores,
            reads_flags: instruction.rflags_read() != 0,
            flags,
            accesses: (begin.0, accesses.len() as u32),
            registers: (begin.1, registers.len() as u32),
        }
    }
}

fn reads(access: OpAccess) -> bool {
    use OpAccess::{CondRead, Read, ReadCondWrite, ReadWrite};
    matches!(access, Read | CondRead | ReadWrite | ReadCondWrite)
}

fn writes(access: OpAccess) -> bool {
    use OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
    matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite)
}

/// The flags that conditions depend on.
const CONDITIONS: u32 =
    RflagsBits::OF | RflagsBits::SF | RflagsBits::ZF | RflagsBits::CF | RflagsBits::PF;

fn register(decoded: Decoded) -> Register {
    let number = decoded.full_register().number() as u8;
    let index = match () {
        () if decoded.is_gpr() => number,
        () if decoded.is_vector_register() => GENERAL as u8 + number,
        () => Register::OTHER,
    };
    Register { index, size: decoded.size().min(u8::MAX.into()) as u8 }
}

/// The size in bytes of an operand in a general register, memory or the instruction.
fn size(instruction: &Instruction, operand: u32) -> i64 {
    match instruction.op_kind(operand) {
        OpKind::Register => instruction.op_register(operand).size() as i64,
        OpKind::Memory => instruction.memory_size().size() as i64,
        _ => match instruction.op0_kind() {
            OpKind::Register => instruction.op0_register().size() as i64,
            _ => instruction.memory_size().size() as i64,
        },
    }
}

fn operand(instruction: &Instruction, number: u32) -> Operand {
    match instruction.op_kind(number) {
        OpKind::Register => Operand::Register(register(instruction.op_register(number))),
        OpKind::Memory => {
            let index = instruction.memory_index();
            Operand::Memory(Memory {
                base: register(instruction.memory_base()),
                index: (index != Decoded::None).then(|| register(index)),
                displacement: instruction.memory_displacement64() as i64,
                size: size(instruction, number),
            })
        }
        _ => {
            let constant = instruction.immediate(number);
            Operand::Constant(match size(instruction, number) {
                4 => i64::from(constant as u32 as i32),
                _ => constant as i64,
            })
        }
    }
}

fn is_same(instruction: &Instruction) -> bool {
    instruction.op_count() == 2
        && instruction.op0_kind() == OpKind::Register
        && instruction.op1_kind() == OpKind::Register
        && instruction.op0_register() == instruction.op1_register()
}

/// Whether a move between general and vector registers or memory has all of a general register.
fn moves_whole(instruction: &Instruction) -> bool {
    let is_vector = |operand: u32| {
        instruction.op_kind(operand) == OpKind::Register
            && instruction.op_register(operand).is_xmm()
    };
    let is_other = |operand: u32| match instruction.op_kind(operand) {
        OpKind::Register => instruction.op_register(operand).is_gpr(),
        kind => kind == OpKind::Memory,
    };
    is_vector(0) && is_other(1) || is_other(0) && is_vector(1)
}

fn whole_lea(instruction: &Instruction) -> bool {
    size(instruction, 0) >= 4 && instruction.memory_base().size() != 4
}

fn address(instruction: &Instruction) -> Operation {
    let to = register(instruction.op0_register());
    let part = |decoded: Decoded| (decoded != Decoded::None).then(|| register(decoded));
    match instruction.memory_base() {
        Decoded::RIP => Operation::Unknown(to),
        base => Operation::Address {
            to,
            base: part(base),
            index: part(instruction.memory_index()),
            scale: i64::from(instruction.memory_index_scale()),
            displacement: instruction.memory_displacement64() as i64,
        },
    }
}

/// Whether the instruction aligns the stack pointer, as `and rsp, -64` does.
fn aligns(instruction: &Instruction) -> bool {
    instruction.op0_kind() == OpKind::Register
        && register(instruction.op0_register()).index == RSP as u8
        && instruction.op0_register() == Decoded::RSP
}

/// Whether a branch does not compare by itself, as `jrcxz` and `loop` do.
fn is_plain_branch(instruction: &Instruction) -> bool {
    instruction.is_jcc_short_or_near() && instruction.op0_kind() == OpKind::NearBranch64
}
