//! Watching workers: a sample that ends the process, breaks the context or never comes back costs its id in one
//! place, and a run has an end.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::message::{Answered, Call, Facts, Message, Refusal};
use super::plan::{self, Question};
use super::verdict::{self, SUCCESS};
use crate::observations::Controls;

/// Creating a context takes seconds on a large machine, an answer microseconds.
const SILENCE: Duration = Duration::from_secs(25);
/// Every restart costs another context.
const RESTARTS: usize = 20;

/// What came of asking a device.
#[derive(Debug)]
pub(super) struct Outcome {
    /// How many devices there are; 0 if that could not be learned.
    pub(super) devices: u32,
    pub(super) answers: Result<Answers, Refusal>,
}

/// All that was learned of a device.
#[derive(Debug)]
pub(super) struct Answers {
    pub(super) facts: Facts,
    pub(super) controls: Controls,
    /// By the number of the question.
    pub(super) answered: BTreeMap<usize, Vec<Answered>>,
    /// Questions that broke something, and what.
    pub(super) broken: BTreeMap<usize, String>,
    /// Why the questions after these were not asked.
    pub(super) stopped: Option<String>,
}

/// A worker that ended before its last question.
enum End {
    Done,
    CannotRun(Refusal),
    /// With what it did to the question in progress, if there is one.
    Broken(String),
    Hangs(String),
}

/// What is known while the run goes on.
#[derive(Default)]
struct Progress {
    devices: u32,
    facts: Option<Facts>,
    controls: Option<Controls>,
    answered: BTreeMap<usize, Vec<Answered>>,
    broken: BTreeMap<usize, String>,
    asking: Option<usize>,
}

impl Progress {
    /// Those of a later worker count only if they failed.
    fn controls(&mut self, controls: Controls) {
        if self.controls.is_none() || !verdict::hold(&controls) {
            self.controls = Some(controls);
        }
    }

    fn answered(&mut self, answers: Vec<Answered>) {
        if let Some(number) = self.asking {
            self.answered.insert(number, answers);
        }
    }

    /// What was taken, and then broke the context, was not taken.
    fn context_lost(&mut self, with: &str) {
        let answers = self.asking.and_then(|number| self.answered.get_mut(&number));
        for answer in answers.into_iter().flatten() {
            if let Call::Made { status, .. } = &mut answer.call
                && status == SUCCESS
            {
                with.clone_into(status);
            }
        }
    }
}

/// Asks a device all questions, which takes no longer than `timeout`.
pub(super) fn ask(ordinal: u32, timeout: Duration) -> Outcome {
    let mut progress = Progress::default();
    let stopped = ask_all(ordinal, Instant::now() + timeout, &mut progress);
    let Progress { devices, facts, controls, answered, broken, .. } = progress;
    let answers = stopped.and_then(|stopped| match (facts, controls) {
        (Some(facts), Some(controls)) => Ok(Answers { facts, controls, answered, broken, stopped }),
        _ => Err(Refusal::failed("the driver answered nothing".to_owned())),
    });
    Outcome { devices, answers }
}

/// Why it stopped before the last question, if it did.
fn ask_all(ordinal: u32, deadline: Instant, progress: &mut Progress) -> Result<Option<String>, Refusal> {
    let questions = plan::questions();
    let mut left: BTreeSet<usize> = (0..questions.len()).collect();
    for _ in 0..=RESTARTS {
        let end = Worker::start(ordinal, &left)
            .map_err(|error| Refusal::failed(format!("cannot start a process: {error}")))?
            .listen(progress, deadline);
        let (why, hangs) = match end {
            End::Done => return Ok(None),
            End::CannotRun(refusal) if progress.facts.is_none() => return Err(refusal),
            End::CannotRun(refusal) => return Ok(Some(refusal.why)),
            End::Broken(why) => (why, false),
            End::Hangs(why) => (why, true),
        };
        let Some(number) = progress.asking.take() else {
            return Err(Refusal::failed(format!("the driver failed before the first question: {why}")));
        };
        // The next value in the same place would most likely break it again.
        left = left.split_off(&(number + 1));
        left.retain(|next| !questions[*next].is_alike(&questions[number]));
        progress.broken.insert(number, why.clone());
        if hangs {
            return Ok(Some(why));
        }
    }
    Ok(Some(format!("the driver failed {} times", RESTARTS + 1)))
}

struct Worker {
    child: Child,
    lines: Receiver<io::Result<String>>,
}

impl Worker {
    fn start(ordinal: u32, questions: &BTreeSet<usize>) -> io::Result<Self> {
        let questions: Vec<String> = questions.iter().map(usize::to_string).collect();
        let mut child = Command::new(std::env::current_exe()?)
            .arg("--worker")
            .args([ordinal.to_string(), questions.join(",")])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || BufReader::new(stdout).lines().try_for_each(|line| sender.send(line)));
        Ok(Self { child, lines })
    }

    fn listen(mut self, progress: &mut Progress, deadline: Instant) -> End {
        loop {
            let silence = deadline.saturating_duration_since(Instant::now()).min(SILENCE);
            let line = match self.lines.recv_timeout(silence) {
                Ok(Ok(line)) => line,
                Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => return End::Broken(self.ended()),
                Err(RecvTimeoutError::Timeout) => return End::Hangs(self.hangs(deadline)),
            };
            // Anything else is what the driver prints.
            let Ok(message) = serde_json::from_str(&line) else {
                eprintln!("{line}");
                continue;
            };
            match message {
                Message::Devices(count) => progress.devices = count,
                Message::Device(facts) => _ = progress.facts.get_or_insert(facts),
                Message::Controls(controls) => progress.controls(controls),
                Message::Asking(number) => progress.asking = Some(number),
                Message::Answered(answers) => progress.answered(answers),
                Message::CannotRun(refusal) => return self.with_end(End::CannotRun(refusal)),
                Message::Broken(status) => {
                    progress.context_lost(&status);
                    return self.with_end(End::Broken(format!("the context was lost: {status}")));
                }
                Message::Done => return self.with_end(End::Done),
            }
        }
    }

    /// Gives the worker a moment to release what it has.
    fn with_end(mut self, end: End) -> End {
        if self.wait(Duration::from_secs(10)).is_none() {
            self.stop();
        }
        end
    }

    fn ended(&mut self) -> String {
        match self.wait(Duration::from_secs(10)) {
            Some(status) => format!("the process ended: {status}"),
            None => {
                self.stop();
                "the process closed its output".to_owned()
            }
        }
    }

    fn hangs(&mut self, deadline: Instant) -> String {
        self.stop();
        if Instant::now() < deadline {
            format!("no answer within {} s", SILENCE.as_secs())
        } else {
            "the time for the whole run is over".to_owned()
        }
    }

    /// A process that is stuck in the driver may outlive this, and must not be waited for.
    fn stop(&mut self) {
        let _ = self.child.kill();
        self.wait(Duration::from_secs(2));
    }

    fn wait(&mut self, patience: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + patience;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
                _ => return None,
            }
        }
    }
}

/// The questions that were not asked, or not to their end, with the reason.
pub(super) fn lost<'a>(
    answers: &'a Answers,
    questions: &'a [Question],
) -> impl Iterator<Item = (&'a Question, &'a str)> {
    questions.iter().enumerate().filter_map(|(number, question)| {
        let stopped = || answers.stopped.as_deref().filter(|_| !answers.answered.contains_key(&number));
        Some((question, answers.broken.get(&number).map(String::as_str).or_else(stopped)?))
    })
}

/// What a run did not learn, and when a device could not be kept usable, in sentences.
pub(super) fn complaints(answers: &Answers) -> Vec<String> {
    let questions = plan::questions();
    let broken = answers
        .broken
        .iter()
        .filter_map(|(number, why)| Some(format!("{}: {why}", questions.get(*number)?.words(&answers.facts.limits))));
    broken.chain(answers.stopped.iter().map(|why| format!("the rest was not asked: {why}"))).collect()
}
