//! Asks the contenders in turn, and prints one table.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Failure;
use crate::paths::PATHS;

/// Rounds that do not count.
const WARM_UP: usize = 3;

struct Contender<'a> {
    name: &'a str,
    process: Child,
    ask: ChildStdin,
    answer: BufReader<ChildStdout>,
}

impl<'a> Contender<'a> {
    fn start(name: &'a str, command: &[String], library: Option<&Path>) -> Result<Self, Failure> {
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

    /// Nanoseconds a call; `None` if there is no such path.
    fn run(&mut self, path: &str, calls: u32) -> Result<Option<f64>, Failure> {
        writeln!(self.ask, "{calls} {path}")?;
        let mut line = String::new();
        self.answer.read_line(&mut line)?;
        match line.trim() {
            "-" => Ok(None),
            number => Ok(Some(number.parse().map_err(|_| format!("{}: {path}: no answer", self.name))?)),
        }
    }

    fn end(self) -> Result<(), Failure> {
        let Self { name, mut process, ask, answer } = self;
        drop((ask, answer));
        let status = process.wait()?;
        if status.success() { Ok(()) } else { Err(format!("{name}: {status}").into()) }
    }
}

pub fn measure(
    commands: &[(&str, Vec<String>)],
    rounds: usize,
    only: &str,
    library: Option<&Path>,
) -> Result<(), Failure> {
    let start = commands.iter().map(|(name, command)| Contender::start(name, command, library));
    let mut contenders = start.collect::<Result<Vec<_>, _>>()?;
    print!("{:38}", "ns a call: min, median");
    contenders.iter().for_each(|contender| print!("{:>22}", contender.name));
    println!("   times {}: min, median", contenders[0].name);
    for (path, calls) in PATHS.iter().filter(|(path, _)| path.contains(only)) {
        let mut times = vec![Vec::new(); contenders.len()];
        for round in 0..rounds + WARM_UP {
            for turn in 0..contenders.len() {
                let which = (round + turn) % contenders.len();
                let time = contenders[which].run(path, *calls)?;
                times[which].extend(time.filter(|_| round >= WARM_UP));
            }
        }
        print!("{}", row(path, &mut times));
    }
    contenders.into_iter().try_for_each(Contender::end)
}

fn row(path: &str, times: &mut [Vec<f64>]) -> String {
    let (mut numbers, mut ratios) = (String::new(), String::new());
    let mut first = None;
    for (contender, times) in times.iter_mut().enumerate() {
        times.sort_by(f64::total_cmp);
        let Some((&min, &median)) = times.first().zip(times.get(times.len() / 2)) else {
            numbers += &format!("{:>22}", "-");
            ratios += &format!("{:>15}", if contender > 0 { "-" } else { "" });
            continue;
        };
        numbers += &format!("{:>22}", format!("{min:.1} {median:.1}"));
        match first {
            None => first = Some((min, median)),
            Some((first_min, first_median)) => {
                ratios += &format!("{:>15}", format!("{:.3} {:.3}", min / first_min, median / first_median));
            }
        }
    }
    format!("{path:38}{numbers}{ratios}\n")
}
