//! The program `petrov-cluster`.

use std::process::ExitCode;

fn main() -> ExitCode {
    petrov_cli::begin("petrov-cluster", petrov_cluster::petrov_cluster)
}
