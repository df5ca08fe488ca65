//! The jail as a program of its own: small, so that starting a cell loads little and PID 1 of a cell holds little.

fn main() {
    std::process::exit(jail::main());
}
