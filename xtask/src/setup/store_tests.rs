//! The whole way of an archive into `.cuda`, with a python3 of our own and synthetic wheels.

use super::*;
use crate::find::Version;
use crate::setup::scratch::{Folder, pin, zip};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

const FILE: &str = "synthetic-13.5.1-py3-none-any.whl";

/// A store whose pip is this shell script; `$DEST` is the folder that it has to fill.
fn store(folder: &Folder, pip: &str, pins: Vec<Pin>) -> Store {
    let script = format!(
        "#!/bin/sh\n[ $1 = ready ] && exit\ncd '{}'; echo run >> runs\n\
         while [ $# -gt 0 ]; do [ $1 = --dest ] && DEST=$2; shift; done\n{pip}\n",
        folder.path().display()
    );
    let python = folder.write("python3", script.as_bytes());
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    // A test that is just starting a program shares our open file for a moment, and so long it cannot be run.
    while Command::new(&python).arg("ready").status().is_err_and(|error| error.kind() == ErrorKind::ExecutableFileBusy)
    {
        thread::yield_now();
    }
    Store { folder: folder.path().join(".cuda"), pins: Pins(pins), python, apt_etc: folder.path().join("etc") }
}

fn runs(folder: &Folder) -> usize {
    fs::read_to_string(folder.path().join("runs")).unwrap_or_default().lines().count()
}

fn wheel() -> Vec<u8> {
    zip(&[("pkg/include/cuda.h", b"#define CUDA_VERSION 13050\n")])
}

fn provision(store: &Store) -> Result<()> {
    store.provision(&[&store.pins.0[0]])?.pop().unwrap()
}

fn copying(folder: &Folder, served: &[u8]) -> Store {
    folder.write("served", served);
    store(folder, &format!("cp served $DEST/{FILE}"), vec![pin(FILE, &wheel())])
}

#[test]
fn a_wheel_ends_in_place_and_is_not_fetched_again() {
    let folder = Folder::new();
    let store = copying(&folder, &wheel());
    provision(&store).unwrap();
    provision(&store).unwrap();
    assert_eq!(runs(&folder), 1);
    assert!(store.folder.join("headers/13.5/include/cuda.h").is_file());
    assert_eq!(store.state(&store.pins.0[0], Depth::Contents), State::Intact);
    assert!(!store.folder.join("tmp").exists());
}

#[test]
fn a_damaged_installation_is_replaced() {
    let folder = Folder::new();
    let store = copying(&folder, &wheel());
    provision(&store).unwrap();
    fs::write(store.folder.join("headers/13.5/include/cuda.h"), "").unwrap();
    provision(&store).unwrap();
    assert_eq!(store.state(&store.pins.0[0], Depth::Contents), State::Intact);
    assert_eq!(runs(&folder), 2);
}

#[test]
fn leftovers_of_a_killed_run_do_not_matter() {
    let folder = Folder::new();
    folder.write(".cuda/headers/13.5/include/cuda.h", b"half");
    folder.write(".cuda/tmp/headers-13.5/wheel/half.whl", b"half");
    folder.write(".cuda/tmp/headers-13.5/old/include/cuda.h", b"half");
    folder.write(".cuda/lock", b"1");
    let store = copying(&folder, &wheel());
    provision(&store).unwrap();
    assert_eq!(store.state(&store.pins.0[0], Depth::Contents), State::Intact);
}

#[test]
fn a_wrong_wheel_is_fetched_twice_and_then_named_with_both_checksums() {
    let folder = Folder::new();
    let store = copying(&folder, b"not the wheel");
    let error = format!("{:#}", provision(&store).unwrap_err());
    let actual = crate::setup::checksum::of(&folder.path().join("served")).unwrap();
    assert!(error.contains(&actual) && error.contains(&store.pins.0[0].sha256) && error.contains("twice"), "{error}");
    assert_eq!(runs(&folder), 2);
    assert!(!store.folder.join("headers").exists());
}

#[test]
fn a_wheel_that_was_damaged_once_is_mended_without_the_cache() {
    let folder = Folder::new();
    folder.write("served", &wheel());
    let pip = format!("if [ $(wc -l < runs) = 1 ]; then echo x > $DEST/{FILE}; else cp served $DEST/{FILE}; fi");
    let store = store(&folder, &pip, vec![pin(FILE, &wheel())]);
    provision(&store).unwrap();
    assert_eq!(runs(&folder), 2);
}

#[test]
fn a_placed_wheel_is_used_without_pip_and_a_wrong_one_is_not() {
    let folder = Folder::new();
    let store = copying(&folder, &wheel());
    folder.write(&format!(".cuda/downloads/{FILE}"), &wheel());
    provision(&store).unwrap();
    assert_eq!(runs(&folder), 0);
    fs::remove_dir_all(store.folder.join("headers")).unwrap();
    folder.write(&format!(".cuda/downloads/{FILE}"), b"wrong");
    provision(&store).unwrap();
    assert_eq!(runs(&folder), 1);
}

#[test]
fn what_pip_says_reaches_the_user_and_others_go_on() {
    let folder = Folder::new();
    folder.write("served", &wheel());
    let mut other = pin("other-12.0.1-py3-none-any.whl", &wheel());
    other.what = What::Headers(Version(12000));
    let pip = format!("case $DEST in *12.0*) echo 'ERROR: no such release' >&2; exit 1;; esac; cp served $DEST/{FILE}");
    let store = store(&folder, &pip, vec![other, pin(FILE, &wheel())]);
    let outcomes = store.provision(&store.pins.0.iter().collect::<Vec<_>>()).unwrap();
    assert!(format!("{:#}", outcomes[0].as_ref().unwrap_err()).contains("ERROR: no such release"));
    assert!(outcomes[1].is_ok());
}

#[test]
fn without_python_the_error_says_so() {
    let folder = Folder::new();
    let mut store = copying(&folder, &wheel());
    store.python = "no-such-python3".into();
    let error = format!("{:#}", provision(&store).unwrap_err());
    assert!(error.contains("no-such-python3 is not installed"), "{error}");
}

#[test]
fn two_at_once_fetch_once_and_both_succeed() {
    let folder = Folder::new();
    folder.write("served", &wheel());
    let store = store(&folder, &format!("sleep 0.3; cp served $DEST/{FILE}"), vec![pin(FILE, &wheel())]);
    thread::scope(|scope| {
        let both: Vec<_> = (0..2).map(|_| scope.spawn(|| provision(&store))).collect();
        both.into_iter().for_each(|one| one.join().unwrap().unwrap());
    });
    assert_eq!(runs(&folder), 1);
}

#[test]
fn a_store_that_cannot_be_written_is_named_with_what_is_lacking() {
    let folder = Folder::new();
    let store = copying(&folder, &wheel());
    folder.write(".cuda", b"a file where the folder should be");
    let error = format!("{:#}", provision(&store).unwrap_err());
    assert!(error.starts_with("CUDA 13.5 headers cannot be put into place: cannot create "), "{error}");
    assert_eq!(runs(&folder), 0);
}

#[test]
fn what_is_asked_for_twice_is_fetched_once() {
    let folder = Folder::new();
    let store = copying(&folder, &wheel());
    let pin = &store.pins.0[0];
    assert!(store.provision(&[pin, pin]).unwrap().iter().all(Result::is_ok));
    assert_eq!(runs(&folder), 1);
}
