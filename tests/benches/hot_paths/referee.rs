//! Asks the contenders in turn, and prints one table.
//!
//! Machines have moods, and programs too: where a process's memory happens to lie can matter more than what is measured.
//! So all contenders are asked within a few milliseconds, in an order that changes; only times of one such round are
//! divided by each other; processes are started anew for each sitting; and the first contender stands twice in the table,
//! against itself. What that column shows is what no difference looks like on that machine.

use std::path::Path as File;
use std::time::{Duration, Instant};

use crate::Failure;
use crate::contender::Contender;
use crate::paths::{PATHS, Path};
use crate::pins::Pins;

/// How often the contenders are started.
const SITTINGS: usize = 5;

/// Of a path in a sitting, at least.
const ROUNDS: usize = 5;

/// Times of one path: by sitting, by round, by contender; `None` for those that do not have it.
type Times = Vec<Vec<Vec<Option<f64>>>>;

pub fn measure(
    commands: &[(&str, Vec<String>)],
    seconds: f64,
    only: &str,
    library: Option<&File>,
) -> Result<(), Failure> {
    let paths: Vec<&Path> = PATHS.iter().filter(|path| path.name.contains(only)).collect();
    let share = Duration::from_secs_f64(seconds / (SITTINGS * paths.len()) as f64);
    let pins = Pins::new()?;
    println!("{pins}");

    let again = format!("{} again", commands[0].0);
    let mut commands = commands.to_vec();
    commands.insert(1, (&again, commands[0].1.clone()));

    let mut times: Vec<Times> = vec![Vec::new(); paths.len()];
    let mut shuffle = Shuffle(1);
    for _ in 0..SITTINGS {
        let start = commands.iter().map(|(name, command)| Contender::start(name, command, library));
        let mut contenders = start.collect::<Result<Vec<_>, _>>()?;
        for (path, times) in paths.iter().zip(&mut times) {
            times.push(sit(&mut contenders, path, share, &pins, &mut shuffle)?);
        }
        contenders.into_iter().try_for_each(Contender::end)?;
    }

    let names: Vec<&str> = commands.iter().map(|(name, _)| *name).collect();
    print!("{:42}{:>16}", "ns a call: min, median", names[0]);
    print!("{:>18}", names.last().ok_or("nobody is measured")?);
    println!("  times {}: median of all rounds, lowest and highest sitting", names[0]);
    print!("{:76}", "");
    names[1..].iter().for_each(|name| print!("{name:>22}"));
    println!("   aim");
    for (path, times) in paths.iter().zip(&times) {
        println!("{}", row(path, times, names.len()));
    }
    Ok(())
}

/// The rounds of one path in one sitting.
fn sit(
    contenders: &mut [Contender<'_>],
    path: &Path,
    share: Duration,
    pins: &Pins,
    shuffle: &mut Shuffle,
) -> Result<Vec<Vec<Option<f64>>>, Failure> {
    let end = Instant::now() + share;
    for contender in contenders.iter_mut() {
        // By then, the driver has the threads that the path needs.
        contender.run(path.name, path.calls)?;
        pins.apply(contender.id(), path.is_spread)?;
    }
    let mut order: Vec<usize> = (0..contenders.len()).collect();
    let mut rounds = Vec::new();
    while rounds.len() < ROUNDS || Instant::now() < end {
        shuffle.shuffle(&mut order);
        let mut round = vec![None; contenders.len()];
        for &which in &order {
            // The processor and the device have been somebody else's.
            contenders[which].run(path.name, path.calls / 4)?;
            round[which] = contenders[which].run(path.name, path.calls)?;
        }
        rounds.push(round);
    }
    Ok(rounds)
}

fn row(path: &Path, times: &Times, contenders: usize) -> String {
    let of = |contender: usize| times.iter().flatten().filter_map(|round| round[contender]).collect::<Vec<_>>();
    let numbers = |contender| match summary(of(contender)) {
        Some((min, median)) => format!("{min:.1} {median:.1}"),
        None => "-".to_owned(),
    };
    let ours = contenders - 1;
    let mut row = format!("{:42}{:>16}{:>18}", path.name, numbers(0), numbers(ours));
    let ratios: Vec<_> = (1..contenders).map(|contender| ratio(times, contender)).collect();
    for ratio in &ratios {
        let text =
            ratio.map_or_else(|| "-".to_owned(), |r| format!("{:.3} {:.3}-{:.3}", r.median, r.lowest, r.highest));
        row += &format!("{text:>22}");
    }
    if let (Some(aim), [Some(again), .., Some(ours)]) = (path.aim, &ratios[..]) {
        let verdict = if ours.median <= aim {
            "met"
        } else if ours.median <= again.highest {
            "noise"
        } else {
            "missed"
        };
        row += &format!("  {aim:.2} {verdict}");
    }
    row
}

#[derive(Clone, Copy)]
struct Ratio {
    median: f64,
    lowest: f64,
    highest: f64,
}

/// Of a contender to the first one.
fn ratio(times: &Times, contender: usize) -> Option<Ratio> {
    let of = |rounds: &Vec<Vec<Option<f64>>>| -> Vec<f64> {
        rounds.iter().filter_map(|round| Some(round[contender]? / round[0]?)).collect()
    };
    let (_, median) = summary(times.iter().flat_map(of).collect())?;
    let sittings: Vec<f64> = times.iter().filter_map(|rounds| Some(summary(of(rounds))?.1)).collect();
    let (lowest, _) = summary(sittings.clone())?;
    Some(Ratio { median, lowest, highest: sittings.into_iter().fold(lowest, f64::max) })
}

/// Minimum and median.
fn summary(mut numbers: Vec<f64>) -> Option<(f64, f64)> {
    numbers.sort_by(f64::total_cmp);
    numbers.first().copied().zip(numbers.get(numbers.len() / 2).copied())
}

/// Orders that differ, the same in each run.
struct Shuffle(u64);

impl Shuffle {
    fn shuffle(&mut self, order: &mut [usize]) {
        for last in (1..order.len()).rev() {
            // Knuth's MMIX.
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            order.swap(last, (self.0 >> 33) as usize % (last + 1));
        }
    }
}
