//! `fumehood`.

use std::process::ExitCode;

fn main() -> ExitCode {
    fumehood::main()
}
