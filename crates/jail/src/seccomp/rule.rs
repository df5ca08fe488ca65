//! What a rule about a call's arguments is made of.

/// What the filter answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The kernel does the call.
    Allow,
    /// The call fails with this `errno`; nothing is done.
    Errno(i32),
}

/// A rule about the arguments of one call: the first clause whose tests all hold decides.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name; `seccomp-` and this is the guard's name in a `guard-off` build.
    pub name: &'static str,
    /// Tried in order.
    pub clauses: &'static [Clause],
    /// Where no clause holds.
    pub otherwise: Answer,
}

/// One case of a rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Clause {
    /// The case and why, in words, for the reference page.
    pub says: &'static str,
    /// All must hold.
    pub tests: &'static [Test],
    /// What is answered then.
    pub answer: Answer,
}

/// A test of one argument (numbered from 0).
///
/// The first two look at the low 32 bits only. They are for parameters the kernel takes as `int`, `unsigned int` or
/// `umode_t`: it drops the high half of the register, so a filter that compared it could be passed by setting a high
/// bit (CVE-2019-10063). The other two are for parameters the kernel takes as a whole 64-bit word.
#[derive(Debug, PartialEq, Eq)]
pub enum Test {
    /// `argument & mask` (32 bits) is one of `values`.
    In {
        /// Which argument.
        argument: u8,
        /// Bits looked at.
        mask: u32,
        /// What they may be.
        values: &'static [u32],
    },
    /// Some bit of `mask` is set in the low 32 bits.
    AnyBit {
        /// Which argument.
        argument: u8,
        /// Bits looked at.
        mask: u32,
    },
    /// No bit but those of `mask` is set in all 64 bits.
    OnlyBits {
        /// Which argument.
        argument: u8,
        /// Bits that may be set.
        mask: u64,
    },
    /// The 64-bit argument is not 0 (a pointer that is given).
    Given {
        /// Which argument.
        argument: u8,
    },
}

/// The low 32 bits of `argument` are one of `values`.
pub(super) const fn is(argument: u8, values: &'static [u32]) -> Test {
    Test::In { argument, mask: u32::MAX, values }
}

/// The low 32 bits of `argument`, under `mask`, are one of `values`.
pub(super) const fn field(argument: u8, mask: u32, values: &'static [u32]) -> Test {
    Test::In { argument, mask, values }
}

/// Some bit of `mask` is set in `argument`.
pub(super) const fn any(argument: u8, mask: u32) -> Test {
    Test::AnyBit { argument, mask }
}
