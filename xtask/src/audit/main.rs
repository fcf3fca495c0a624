//! `cargo xtask audit`: what headers, types and drivers say about launch attributes, and where they contradict each other.
//!
//! The second stage of the xtask: it needs headers and libclang, which the first stage provisions.

mod args;
mod declared;
mod error;
mod finding;
mod findings;
mod format;
mod header;
mod known;
mod machine;
mod model;
mod output;
mod place;
mod plain;
mod prose;
mod quiet;
mod report;
mod sources;
mod value;
mod version;

#[cfg(test)]
mod fixture;

#[allow(dead_code, reason = "the build script of cuda-sys uses the rest")]
#[path = "../../../cuda-sys/build/clang.rs"]
mod clang;
#[allow(dead_code, reason = "the build script of cuda-sys uses the rest")]
#[path = "../../../cuda-sys/build/find.rs"]
mod find;
#[path = "../../../cuda-sys/build/libclang.rs"]
mod libclang;
#[path = "../observations.rs"]
mod observations;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use clap::Parser;

use args::Args;
use error::Error;
use format::Format;
use header::Include;
use known::Known;
use model::{Header, Report};
use quiet::Quiet;

const NEW_FINDINGS: u8 = 1;
const COULD_NOT_RUN: u8 = 2;

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(report) if report.findings.iter().all(|finding| finding.known) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(NEW_FINDINGS),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(COULD_NOT_RUN)
        }
    }
}

fn run(args: &Args) -> Result<Report, Error> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let provisioned = workspace.join(".cuda");
    let known_file = args.known.clone().unwrap_or_else(|| workspace.join("docs/known-findings.toml"));

    let observations = workspace.join("docs/observations");
    let reference = workspace.join("docs/attributes.md");

    let includes = sources::includes(args, &provisioned)?;
    let known = Known::read(&known_file)?;
    // SAFETY: no other thread exists yet.
    unsafe { libclang::load(&provisioned.join("libclang")) }.map_err(Error::Libclang)?;
    // Before the headers, which take longer.
    let machines = machine::select(args, &observations)?;
    let headers = read_all(&includes)?;
    if let Some(file) = &args.record {
        output::write(&machine::to_record(&machines.0), Some(file))?;
    }
    let report = report::build(headers, declared::catalogue(), machines, &known)
        .map_err(|what| Error::Known { file: known_file, what })?;

    let (format, file) = match &args.reference {
        Some(file) => (Format::Reference, Some(file.as_deref().unwrap_or(&reference))),
        None => (args.format, args.output.as_deref()),
    };
    output::write(&format::render(&report, format, output::screen(file.is_some()), args.all), file)?;
    Ok(report)
}

/// Reads the headers on as many threads as there are processors.
fn read_all(includes: &[Include]) -> Result<Vec<Header>, Error> {
    let quiet = Quiet::new();
    let clang_args = clang::builtin_headers(&sources::target());
    let next = AtomicUsize::new(0);
    let read = Mutex::new(Vec::new());
    let threads = thread::available_parallelism().map_or(1, usize::from).min(includes.len());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(include) = includes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let header = header::read(include, &clang_args);
                    read.lock().expect("no reader panics while it holds the lock").push(header);
                }
            });
        }
    });
    drop(quiet);
    let mut headers = read
        .into_inner()
        .expect("no reader panics while it holds the lock")
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    headers.sort_by_key(|header| header.cuda);
    Ok(headers)
}
