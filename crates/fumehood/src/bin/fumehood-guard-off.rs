//! `fumehood`, built for the controls of attack tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    fumehood::main()
}
