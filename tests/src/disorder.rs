//! The simulated driver in disorder: `CUDA_TESTS_SEED`.

use std::env;
use std::panic::{self, AssertUnwindSafe};
use std::time::Duration;

use libtest_mimic::Failed;
use simulated_driver_client::Client;

/// A number: streams of the simulated driver take turns at random, and work starts late, as this seed has it.
const SEED: &str = "CUDA_TESTS_SEED";

/// How late at most.
const DELAY: Duration = Duration::from_micros(50);

/// The seed, if there is to be disorder. One that is no number ends the suite.
pub(crate) fn seed() -> Option<u64> {
    let text = env::var_os(SEED)?;
    let seed = text.to_str().and_then(|text| text.parse().ok());
    Some(seed.unwrap_or_else(|| panic!("{SEED} is {}, and no number", text.display())))
}

/// Begins the disorder of a seed anew.
pub(crate) fn begin(seed: u64) {
    if let Some(client) = Client::of_loaded_driver() {
        client.schedule(seed, DELAY);
    }
}

/// Runs in the disorder that was asked for, if any; what fails there says which.
pub(crate) fn run(trial: impl FnOnce() -> Result<(), Failed>) -> Result<(), Failed> {
    let Some(seed) = seed() else { return trial() };
    begin(seed);
    let why = match panic::catch_unwind(AssertUnwindSafe(trial)) {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(failed)) => failed.message().unwrap_or("failed").to_owned(),
        Err(payload) => format!("panicked: {}", panic_text(&*payload)),
    };
    Err(format!("{SEED}={seed}: {why}").into())
}

fn panic_text(payload: &(dyn std::any::Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no text")
}
