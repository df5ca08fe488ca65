//! The attack program; see `testkit::attack`.

fn main() {
    std::process::exit(testkit::attack::main());
}
