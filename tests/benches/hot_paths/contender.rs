//! A program that is measured, as the referee sees it.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Failure;

pub struct Contender<'a> {
    name: &'a str,
    process: Child,
    ask: ChildStdin,
    answer: BufReader<ChildStdout>,
}

impl<'a> Contender<'a> {
    pub fn start(name: &'a str, command: &[String], library: Option<&Path>) -> Result<Self, Failure> {
        let (program, arguments) = command.split_first().ok_or("no program")?;
        let mut process = Command::new(program);
        process.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(library) = library {
            process.env(cuda_hostfn::sys::driver::OVERRIDE, library);
            // Where others look for it.
            process.env("LD_LIBRARY_PATH", library.parent().ok_or("the driver is in no folder")?);
        }
        let mut process = process.spawn().map_err(|error| format!("{name}: {program}: {error}"))?;
        let pipes = process.stdin.take().zip(process.stdout.take());
        let (ask, answer) = pipes.ok_or("both are piped")?;
        Ok(Self { name, process, ask, answer: BufReader::new(answer) })
    }

    /// Of the process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Nanoseconds a call; `None` if there is no such path.
    pub fn run(&mut self, path: &str, calls: u32) -> Result<Option<f64>, Failure> {
        writeln!(self.ask, "{calls} {path}")?;
        let mut line = String::new();
        self.answer.read_line(&mut line)?;
        match line.trim() {
            "-" => Ok(None),
            number => Ok(Some(number.parse().map_err(|_| format!("{}: {path}: no answer", self.name))?)),
        }
    }

    pub fn end(self) -> Result<(), Failure> {
        let Self { name, mut process, ask, answer } = self;
        drop((ask, answer));
        let status = process.wait()?;
        if status.success() { Ok(()) } else { Err(format!("{name}: {status}").into()) }
    }
}
