//! Real drivers' libraries, loaded through cuda-sys's ordinary loader. A process has one driver, so each question is
//! asked by a child: this executable, started again with `ASK` set.

use std::env;
use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{fs, ptr};

use cuda_sys::{CUresult, driver};
use libtest_mimic::{Arguments, Failed, Trial};
use tests::{DRIVERS, Driver, STUB, check, stub, trial_with};

/// Names the question that the child answers on its standard output, a word a line.
const ASK: &str = "CUDA_TESTS_ASK";

fn main() -> ExitCode {
    if let Ok(question) = env::var(ASK) {
        answer(&question);
        return ExitCode::SUCCESS;
    }
    let mut trials: Vec<Trial> = DRIVERS.iter().flat_map(on_driver).collect();
    trials.extend([
        Trial::test("no driver: every call says so, and the loader says what it tried", no_driver),
        Trial::test("a library that is no driver is refused", not_a_driver),
        trial_with("where drivers are looked for, in order", nothing_installed(), |attempts| {
            let expected = ["libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "libcuda.so"];
            check(attempts == expected.map(PathBuf::from), || format!("tried {attempts:?}"))
        }),
        trial_with("the toolkit's stub is refused and named as such", stub(), |stub| {
            let library = stub.path().join(STUB);
            let text = ask("load", Some(&library))?.join("\n");
            check(text.contains("stub library") && text.contains(STUB), || text)?;
            expect(&ask("init", Some(&library))?, &["CUDA_ERROR_SHARED_OBJECT_INIT_FAILED"])
        }),
    ]);
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Whether a driver has a function, as an excerpt of what NVIDIA's release history says.
const HISTORY: [(&CStr, [bool; 3]); 5] = [
    (c"cuLaunchHostFunc", [true, true, true]),
    (c"cuLaunchKernelEx", [false, true, true]),
    (c"cuStreamGetCaptureInfo_v2", [true, true, true]),
    (c"cuStreamGetCaptureInfo_v3", [false, false, true]),
    (c"cuLaunchHostFunc_v2", [false, false, false]),
];

fn on_driver(&driver: &Driver) -> Vec<Trial> {
    let trial = |what: &str, run: fn(Driver, &Path) -> Result<(), Failed>| {
        let library = driver.library().ok_or("run `cargo xtask setup --drivers`");
        trial_with(&format!("driver {}: {what}", driver.major), library, move |library: PathBuf| run(driver, &library))
    };
    vec![
        trial("loaded by the override, its path is told", |_, library| {
            let answer = ask("path", Some(library))?;
            check(Path::new(&answer[0]) == library, || format!("loaded {answer:?} in place of {}", library.display()))
        }),
        trial("loaded by load_from, and then no other", |_, library| {
            expect(&ask("load_from", Some(library))?, &["ok", "ok", "refused"])
        }),
        trial("answers its version", |driver, library| {
            expect(&ask("version", Some(library))?, &[&driver.cuda.to_string()])
        }),
        trial("has no device", |_, library| expect(&ask("init", Some(library))?, &["CUDA_ERROR_NO_DEVICE"])),
        trial("has the functions of its age", |driver, library| {
            let answer = ask("history", Some(library))?;
            let column = DRIVERS.iter().position(|other| other.major == driver.major).unwrap_or_default();
            let expected = HISTORY.map(|(name, there)| format!("{}={}", name.to_string_lossy(), there[column]));
            expect(&answer, &expected.each_ref().map(String::as_str))
        }),
        trial("has of the names that are simulated those of its age", |driver, library| {
            let names = simulated_driver_client::names()?;
            let expected: Vec<_> =
                names.iter().filter(|(_, since)| *since <= driver.cuda).map(|(name, _)| &**name).collect();
            check(expected.len() > 100, || format!("only {} names", expected.len()))?;
            expect(&ask("simulated", Some(library))?, &expected)
        }),
        trial("a function answers itself, or with the documented code if it is absent", |driver, library| {
            let absent = driver.cuda < 11080;
            let code = if absent { "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND" } else { "CUDA_ERROR_INVALID_VALUE" };
            expect(&ask("call cuLaunchKernelEx", Some(library))?, &[code])
        }),
        trial("reports what it lacks of the header", |driver, library| {
            let missing = ask("missing", Some(library))?;
            report(driver, &missing)?;
            // The oldest header has functions newer than 470; a header is never older than all of its functions.
            check(missing.len() < driver::FUNCTIONS.len() / 2, || format!("{} are missing", missing.len()))
        }),
    ]
}

fn no_driver() -> Result<(), Failed> {
    let file = Path::new("/nonexistent/libcuda.so.1");
    expect(&ask("init", Some(file))?, &["CUDA_ERROR_SHARED_OBJECT_INIT_FAILED"])?;
    let text = ask("load", Some(file))?.join("\n");
    check(text.contains("/nonexistent/libcuda.so.1") && text.contains(driver::OVERRIDE), || text)
}

/// What the loader tried in vain, if it did.
fn nothing_installed() -> Result<Vec<PathBuf>, &'static str> {
    if env::var_os(driver::OVERRIDE).is_some() {
        return Err("CUDA_SYS_DRIVER names one");
    }
    let attempts = driver::load().err().ok_or("a driver is installed")?;
    Ok(attempts.attempts().iter().map(|attempt| attempt.library.clone()).collect())
}

fn not_a_driver() -> Result<(), Failed> {
    // A library that is there on every machine that could run this.
    let text = ask("load", Some(Path::new("libc.so.6")))?.join("\n");
    check(text.contains("not a CUDA driver"), || text)
}

/// The child's side. Every call is the ordinary one of a user.
fn answer(question: &str) {
    match question.split_once(' ').unwrap_or((question, "")) {
        ("path", _) => {
            driver::load().expect("loads");
            println!("{}", driver::path().expect("known").display());
        }
        ("load", _) => println!("{}", driver::load().expect_err("there is no driver")),
        ("load_from", _) => {
            let library = PathBuf::from(env::var_os(driver::OVERRIDE).expect("given"));
            // A bare name is looked for by the system's loader, here beside what was just entered.
            env::set_current_dir(library.parent().expect("a file")).expect("a folder");
            println!("{}", if driver::load_from("./libcuda.so.1").is_ok() { "ok" } else { "refused" });
            env::set_current_dir("/").expect("a folder");
            println!("{}", if driver::load_from(library).is_ok() { "ok" } else { "refused" });
            println!("{}", if driver::load_from("libc.so.6").is_ok() { "ok" } else { "refused" });
        }
        ("version", _) => {
            let mut version = 0;
            // SAFETY: the pointer is valid.
            let code = unsafe { cuda_sys::cuDriverGetVersion(&raw mut version) };
            assert_eq!(code, CUresult::CUDA_SUCCESS);
            println!("{version}");
        }
        // SAFETY: takes no pointer.
        ("init", _) => println!("{:?}", unsafe { cuda_sys::cuInit(0) }),
        ("history", _) => {
            for (name, _) in HISTORY {
                println!("{}={}", name.to_string_lossy(), driver::symbol(name).is_some());
            }
        }
        ("simulated", _) => {
            for (name, _) in simulated_driver_client::names().expect("the library is built beside its tests") {
                let symbol = CString::new(name).expect("a symbol's name");
                if driver::symbol(&symbol).is_some() {
                    println!("{}", symbol.to_string_lossy());
                }
            }
        }
        ("call", "cuLaunchKernelEx") => {
            // SAFETY: a driver that has the function refuses a configuration that is null.
            let code =
                unsafe { cuda_sys::cuLaunchKernelEx(ptr::null(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut()) };
            println!("{code:?}");
        }
        ("missing", _) => {
            let missing = driver::FUNCTIONS.iter().filter(|function| driver::symbol(function.symbol).is_none());
            missing.for_each(|function| println!("{}", function.symbol.to_string_lossy()));
        }
        _ => panic!("unknown question {question}"),
    }
}

fn ask(question: &str, driver: Option<&Path>) -> Result<Vec<String>, Failed> {
    let mut child = Command::new(env::current_exe()?);
    child.env(ASK, question).env_remove(driver::OVERRIDE);
    if let Some(library) = driver {
        child.env(driver::OVERRIDE, library);
    }
    let output = child.output()?;
    check(output.status.success(), || format!("{question}: {}", String::from_utf8_lossy(&output.stderr)))?;
    Ok(String::from_utf8(output.stdout)?.lines().map(str::to_owned).collect())
}

fn expect(answer: &[String], expected: &[&str]) -> Result<(), Failed> {
    check(answer == expected, || format!("answered {answer:?}, expected {expected:?}"))
}

/// One cell of the matrix header × driver, for `cargo xtask test` to print.
fn report(driver: Driver, missing: &[String]) -> Result<(), Failed> {
    let Some(folder) = env::var_os("CUDA_TESTS_REPORT").map(PathBuf::from) else { return Ok(()) };
    fs::create_dir_all(&folder)?;
    let version = cuda_sys::CUDA_VERSION;
    let header = format!("{}.{}", version / 1000, version % 1000 / 10);
    let text = format!("{}\n{}\n", driver::FUNCTIONS.len(), missing.join("\n"));
    Ok(fs::write(folder.join(format!("header {header}, driver {}", driver.major)), text)?)
}
