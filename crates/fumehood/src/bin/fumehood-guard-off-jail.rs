//! `fumehood-jail`, built for the controls of attack tests.

fn main() {
    std::process::exit(jail::main());
}
