//! `dlopen` and its kin.

use std::ffi::{CStr, CString, OsStr, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr::NonNull;

/// The driver's own name first; WSL keeps it where the loader does not look; the bare name may be a toolkit's stub.
pub(super) const CANDIDATES: [&str; 3] = ["libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "libcuda.so"];

/// An open library.
#[derive(Debug)]
pub(super) struct Library(*mut c_void);

// SAFETY: a handle of `dlopen` may be used from any thread.
unsafe impl Send for Library {}
// SAFETY: `dlsym` may be called from several threads at once.
unsafe impl Sync for Library {}

impl Library {
    pub(super) fn open(file: &OsStr) -> Result<Self, String> {
        let name = CString::new(file.as_bytes()).map_err(|_| "the name has a NUL byte in it".to_owned())?;
        // SAFETY: the name is a C string. The library's constructors run, as for every dependency of the program.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if !handle.is_null() {
            return Ok(Self(handle));
        }
        // The loader says the name again, which whoever asked knows.
        let (error, name) = (last_error(), format!("{}: ", file.display()));
        Err(error.strip_prefix(&name).map_or(error.clone(), str::to_owned))
    }

    /// What the program was linked with.
    pub(super) fn process() -> Self {
        Self(libc::RTLD_DEFAULT)
    }

    pub(super) fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the handle is open for ever, and the name is a C string.
        NonNull::new(unsafe { libc::dlsym(self.0, name.as_ptr()) })
    }
}

/// The file that holds a function.
pub(super) fn file_of(function: NonNull<c_void>) -> Option<PathBuf> {
    let mut info = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: any address may be asked for, and `info` has room for the answer.
    let found = unsafe { libc::dladdr(function.as_ptr(), info.as_mut_ptr()) } != 0;
    if !found {
        return None;
    }
    // SAFETY: `dladdr` succeeded, so it filled `info`.
    let name = unsafe { info.assume_init() }.dli_fname;
    if name.is_null() {
        return None;
    }
    // SAFETY: `dli_fname` is a C string that lives as long as the library, which is never closed.
    let name = unsafe { CStr::from_ptr(name) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

fn last_error() -> String {
    // SAFETY: `dlerror` takes nothing, and keeps its text for this thread.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "dlopen failed without a reason".to_owned();
    }
    // SAFETY: the text is a C string, valid until the next call on this thread.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
