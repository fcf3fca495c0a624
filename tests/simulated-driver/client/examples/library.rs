//! Prints the library of a version, made if need be:
//!
//! ```text
//! CUDA_SYS_DRIVER=$(cargo run -qp simulated-driver-client --example library 12.2) cargo run …
//! ```

use std::error::Error;

use simulated_driver_client::{Version, library};

fn main() -> Result<(), Box<dyn Error>> {
    let version = std::env::args().nth(1).map_or_else(|| Ok(Version::default()), |version| version.parse())?;
    println!("{}", library(version)?.display());
    Ok(())
}
