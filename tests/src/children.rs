//! What destroys a context is done by a child: the running executable, started again with `CUDA_TESTS_ASK` set.

use std::env;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};

use crate::{check, trial_with};

/// Names what the child is to do.
const ASK: &str = "CUDA_TESTS_ASK";

/// The child's side, first thing in `main`: answers the question that it was started with, if it was with one of these.
#[must_use]
pub fn answer<Q>(questions: &[(&str, Q)], run: impl FnOnce(&Q) -> Result<(), Failed>) -> Option<ExitCode> {
    let asked = env::var(ASK).ok()?;
    let (_, question) = questions.iter().find(|(name, _)| *name == asked)?;
    match run(question) {
        Ok(()) => Some(ExitCode::SUCCESS),
        Err(failed) => {
            eprintln!("{}", failed.message().unwrap_or("failed"));
            Some(ExitCode::FAILURE)
        }
    }
}

/// A trial for each question, which is a child's.
pub fn trials<Q>(area: &str, questions: &[(&'static str, Q)], needed: &Result<(), String>) -> Vec<Trial> {
    let trial = |&(question, _): &(&'static str, Q)| {
        let name = format!("{area}: {}", question.replace('_', " "));
        trial_with(&name, needed.clone(), move |()| ask(question))
    };
    questions.iter().map(trial).collect()
}

/// Runs a child, which has to succeed and end within 30 seconds.
///
/// # Errors
///
/// It failed or did not end; with what it said.
pub fn ask(question: &str) -> Result<(), Failed> {
    let mut command = Command::new(env::current_exe()?);
    let mut child = command.env(ASK, question).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let ended = wait(&mut child, Duration::from_secs(30))?;
    if !ended {
        child.kill()?;
    }
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    check(ended, || format!("{question} did not end in 30 s: {said}"))?;
    check(output.status.success(), || format!("{question}: {}: {said}", output.status))
}

fn wait(child: &mut Child, longest: Duration) -> Result<bool, Failed> {
    let deadline = Instant::now() + longest;
    while Instant::now() < deadline {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(false)
}
