//! Trials, and what fails them.

use std::fmt::{Debug, Display};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use std::{process, thread};

use libtest_mimic::{Failed, Trial};

use crate::disorder;

/// A trial that runs if `needed` is there. If not, it is listed as ignored, and its name says why.
pub fn trial_with<T: Send + 'static>(
    name: &str,
    needed: Result<T, impl Display>,
    run: impl FnOnce(T) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    match needed {
        Ok(needed) => {
            let watched = name.to_owned();
            Trial::test(name, move || watch(watched, || run(needed)))
        }
        Err(why) => Trial::test(format!("{name} (did not run: {why})"), || Ok(())).with_ignored_flag(true),
    }
}

/// Far longer than any trial takes, also on a busy machine.
const LONGEST: Duration = Duration::from_secs(300);

/// A trial that hangs ends the process, and is named.
fn watch<R>(name: String, run: impl FnOnce() -> R) -> R {
    let (done, is_done) = channel::<()>();
    let watchdog = thread::spawn(move || {
        if is_done.recv_timeout(LONGEST) == Err(RecvTimeoutError::Timeout) {
            eprintln!("\nhangs: {name}");
            process::exit(101);
        }
    });
    let result = run();
    drop(done);
    // Nothing of it is left for the next trial to find.
    let _ = watchdog.join();
    result
}

/// A trial on a machine's device, in the disorder that was asked for by `CUDA_TESTS_SEED`.
pub fn trial_on<T: Send + 'static>(
    name: &str,
    machine: Result<T, impl Display>,
    run: impl FnOnce(&T) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    trial_with(name, machine, move |machine| disorder::run(|| run(&machine)))
}

/// Fails the trial with a text unless the condition holds.
///
/// # Errors
///
/// The text, if the condition does not hold.
pub fn check(condition: bool, text: impl FnOnce() -> String) -> Result<(), Failed> {
    if condition { Ok(()) } else { Err(text().into()) }
}

/// Fails the trial unless the two are equal.
///
/// # Errors
///
/// Both of them.
pub fn equal<T: PartialEq + Debug>(what: &str, found: &T, expected: &T) -> Result<(), Failed> {
    check(found == expected, || format!("{what}: {found:?}, expected {expected:?}"))
}
