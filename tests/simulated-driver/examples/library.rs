//! Prints the library of a version, made if need be:
//!
//! ```text
//! CUDA_SYS_DRIVER=$(cargo run -qp simulated-driver --example library 12.2) cargo run …
//! ```

use std::error::Error;

use simulated_driver::{Version, client};

fn main() -> Result<(), Box<dyn Error>> {
    let version = std::env::args().nth(1).map_or_else(|| Ok(Version::default()), |version| version.parse())?;
    println!("{}", client::library(version)?.display());
    Ok(())
}
