//! Turns a table of system calls into a program for the kernel's filter machine.

use alloc::{vec, vec::Vec};

/// What happens to a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Allow,
    /// Fails with this error number.
    Fail(u16),
    /// Depends on an argument.
    Check(Check),
}

/// Tests of one argument. Only its low 32 bits count, as for the kernel itself: what a program
/// puts into the high half changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// Fails if any of these bits is set.
    NoBits { argument: u8, bits: u32, error: u16 },
    /// Fails if the argument is one of these.
    NoneOf { argument: u8, values: &'static [u32], error: u16 },
    /// Fails unless the argument is one of these.
    OneOf { argument: u8, values: &'static [u32], error: u16 },
}

/// All calls from `first` up to the next segment get the same action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) first: u32,
    pub(super) action: Action,
}

type Instruction = [u8; 8];

const LOAD: u16 = 0x20;
const JUMP: u16 = 0x05;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_AT_LEAST: u16 = 0x35;
const JUMP_IF_BITS: u16 = 0x45;
const RETURN: u16 = 0x06;

const NUMBER_OFFSET: u32 = 0;
const ARCHITECTURE_OFFSET: u32 = 4;
const ARGUMENTS_OFFSET: u32 = 16;

const RETURN_ALLOW: u32 = 0x7fff_0000;
const RETURN_ERRNO: u32 = 0x0005_0000;
const ENOSYS: u16 = 38;

fn instruction(code: u16, if_true: u8, if_false: u8, operand: u32) -> Instruction {
    let [code_low, code_high] = code.to_le_bytes();
    let [a, b, c, d] = operand.to_le_bytes();
    [code_low, code_high, if_true, if_false, a, b, c, d]
}

/// The filter for one architecture. Calls by another (i386, x32) do not exist.
pub(super) fn program(architecture: u32, segments: &[Segment]) -> Vec<Instruction> {
    let mut program = vec![
        instruction(LOAD, 0, 0, ARCHITECTURE_OFFSET),
        instruction(JUMP_IF_EQUAL, 1, 0, architecture),
        finish(Action::Fail(ENOSYS)),
        instruction(LOAD, 0, 0, NUMBER_OFFSET),
    ];
    program.extend(tree(segments));
    program
}

fn tree(segments: &[Segment]) -> Vec<Instruction> {
    let (low, high) = segments.split_at(segments.len() / 2);
    let Some(middle) = high.first().filter(|_| !low.is_empty()) else {
        return segments.first().map(|segment| leaf(segment.action)).unwrap_or_default();
    };
    let low = tree(low);
    let mut code = Vec::new();
    match u8::try_from(low.len()) {
        Ok(distance) => code.push(instruction(JUMP_IF_AT_LEAST, distance, 0, middle.first)),
        Err(_) => {
            code.push(instruction(JUMP_IF_AT_LEAST, 0, 1, middle.first));
            code.push(instruction(JUMP, 0, 0, low.len() as u32));
        }
    }
    code.extend(low);
    code.extend(tree(high));
    code
}

fn finish(action: Action) -> Instruction {
    let value = match action {
        Action::Fail(error) => RETURN_ERRNO | u32::from(error),
        Action::Allow | Action::Check(_) => RETURN_ALLOW,
    };
    instruction(RETURN, 0, 0, value)
}

fn leaf(action: Action) -> Vec<Instruction> {
    let Action::Check(check) = action else { return Vec::from([finish(action)]) };
    let (argument, tests, error, listed_is_good) = match check {
        Check::NoBits { argument, bits, error } => {
            let test = instruction(JUMP_IF_BITS, 1, 0, bits);
            (argument, Vec::from([test]), error, false)
        }
        Check::NoneOf { argument, values, error } => (argument, equal_tests(values), error, false),
        Check::OneOf { argument, values, error } => (argument, equal_tests(values), error, true),
    };
    let offset = ARGUMENTS_OFFSET + 8 * u32::from(argument);
    let mut code = Vec::from([instruction(LOAD, 0, 0, offset)]);
    code.extend(tests);
    let (good, bad) = (finish(Action::Allow), finish(Action::Fail(error)));
    code.extend(if listed_is_good { [bad, good] } else { [good, bad] });
    code
}

/// A test per value: on equality jump over the remaining tests and the first return.
fn equal_tests(values: &[u32]) -> Vec<Instruction> {
    let last = values.len();
    (values.iter().enumerate())
        .map(|(index, value)| instruction(JUMP_IF_EQUAL, (last - index) as u8, 0, *value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a filter as the kernel would, on an architecture, a number and six arguments.
    fn run(program: &[Instruction], architecture: u32, number: u32, arguments: [u64; 6]) -> u32 {
        let mut data = std::vec::Vec::new();
        data.extend(number.to_le_bytes());
        data.extend(architecture.to_le_bytes());
        data.extend([0; 8]);
        data.extend(arguments.iter().flat_map(|argument| argument.to_le_bytes()));
        let (mut at, mut accumulator) = (0, 0u32);
        loop {
            let [code, _, yes, no, a, b, c, d] = program[at];
            let operand = u32::from_le_bytes([a, b, c, d]);
            at += 1;
            let mut jump = |taken: bool| at += usize::from(if taken { yes } else { no });
            match u16::from(code) {
                LOAD => {
                    let start = operand as usize;
                    let word: [u8; 4] = data[start..start + 4].try_into().unwrap();
                    accumulator = u32::from_le_bytes(word);
                }
                JUMP => at += operand as usize,
                JUMP_IF_EQUAL => jump(accumulator == operand),
                JUMP_IF_AT_LEAST => jump(accumulator >= operand),
                JUMP_IF_BITS => jump(accumulator & operand != 0),
                RETURN => return operand,
                other => panic!("unknown instruction {other}"),
            }
        }
    }

    const ARCH: u32 = 7;

    #[test]
    fn every_number_finds_its_segment() {
        let segments: std::vec::Vec<Segment> = (0..300)
            .map(|index| Segment { first: index * 3, action: Action::Fail(index as u16 + 1) })
            .collect();
        let program = program(ARCH, &segments);
        assert!(program.len() < 4096);
        for number in 0..1000 {
            let expected = RETURN_ERRNO | ((number / 3).min(299) + 1);
            assert_eq!(run(&program, ARCH, number, [0; 6]), expected);
        }
    }

    #[test]
    fn another_architecture_has_no_calls() {
        let program = program(ARCH, &[Segment { first: 0, action: Action::Allow }]);
        assert_eq!(run(&program, ARCH, 1, [0; 6]), RETURN_ALLOW);
        assert_eq!(run(&program, ARCH + 1, 1, [0; 6]), RETURN_ERRNO | u32::from(ENOSYS));
    }

    #[test]
    fn checks_look_at_the_low_half_only() {
        let one = |check| program(ARCH, &[Segment { first: 0, action: Action::Check(check) }]);
        let with = |program: &[Instruction], value: u64| {
            run(program, ARCH, 0, [0, value, 0, 0, 0, 0]) == RETURN_ALLOW
        };
        let high = 0xdead_beef_0000_0000;
        let no_bits = one(Check::NoBits { argument: 1, bits: 0b110, error: 1 });
        assert!(with(&no_bits, 1) && with(&no_bits, high | 1));
        assert!(!with(&no_bits, 2) && !with(&no_bits, high | 4));
        let none_of = one(Check::NoneOf { argument: 1, values: &[5, 6, 7], error: 1 });
        assert!(with(&none_of, 4) && with(&none_of, 8));
        for value in [5, 6, 7] {
            assert!(!with(&none_of, value) && !with(&none_of, high | value));
        }
        let one_of = one(Check::OneOf { argument: 1, values: &[5, 6, 7], error: 1 });
        for value in [5, 6, 7] {
            assert!(with(&one_of, value) && with(&one_of, high | value));
        }
        assert!(!with(&one_of, 4) && !with(&one_of, high | 8));
    }
}
