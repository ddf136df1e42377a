//! The program `petrov`.

use std::process::ExitCode;

fn main() -> ExitCode {
    petrov_cli::begin("petrov", petrov_cli::petrov)
}
