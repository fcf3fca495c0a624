//! `LoadLibraryEx` and its kin.

use std::ffi::{CStr, OsStr, OsString, c_char, c_void};
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::ptr::{self, NonNull};

/// The driver installs it into the system folder.
pub(super) const CANDIDATES: [&str; 1] = ["nvcuda.dll"];

const FROM_ADDRESS: u32 = 0x4;
const UNCHANGED_REFCOUNT: u32 = 0x2;

#[link(name = "kernel32")]
unsafe extern "system" {
    fn LoadLibraryExW(name: *const u16, file: *mut c_void, flags: u32) -> *mut c_void;
    fn GetProcAddress(module: *mut c_void, name: *const c_char) -> *mut c_void;
    fn GetModuleHandleExW(flags: u32, name: *const c_void, module: *mut *mut c_void) -> i32;
    fn GetModuleHandleW(name: *const u16) -> *mut c_void;
    fn GetModuleFileNameW(module: *mut c_void, name: *mut u16, size: u32) -> u32;
}

/// An open library.
#[derive(Debug)]
pub(super) struct Library(*mut c_void);

// SAFETY: a module handle may be used from any thread.
unsafe impl Send for Library {}
// SAFETY: `GetProcAddress` may be called from several threads at once.
unsafe impl Sync for Library {}

impl Library {
    pub(super) fn open(file: &OsStr) -> Result<Self, String> {
        // SAFETY: the name ends in NUL. The library's entry point runs, as for every dependency of the program.
        let module = unsafe { LoadLibraryExW(wide(file).as_ptr(), ptr::null_mut(), 0) };
        if module.is_null() { Err(std::io::Error::last_os_error().to_string()) } else { Ok(Self(module)) }
    }

    /// What the program was linked with.
    pub(super) fn process() -> Self {
        // SAFETY: the name ends in NUL; a null handle makes every later lookup fail.
        Self(unsafe { GetModuleHandleW(wide(OsStr::new(CANDIDATES[0])).as_ptr()) })
    }

    pub(super) fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the module stays loaded, and the name is a C string.
        NonNull::new(unsafe { GetProcAddress(self.0, name.as_ptr()) })
    }
}

/// The file that holds a function.
pub(super) fn file_of(function: NonNull<c_void>) -> Option<PathBuf> {
    let mut module = ptr::null_mut();
    // SAFETY: any address may be asked for, and `module` has room for the answer.
    let found =
        unsafe { GetModuleHandleExW(FROM_ADDRESS | UNCHANGED_REFCOUNT, function.as_ptr(), &raw mut module) } != 0;
    let mut name = [0_u16; 1024];
    // SAFETY: the buffer is as long as the call is told.
    let length = if found { unsafe { GetModuleFileNameW(module, name.as_mut_ptr(), 1024) } } else { 0 } as usize;
    (1..name.len()).contains(&length).then(|| OsString::from_wide(&name[..length]).into())
}

fn wide(name: &OsStr) -> Vec<u16> {
    name.encode_wide().chain([0]).collect()
}
