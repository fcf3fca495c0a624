//! Asking a driver what it is, without bindings: six functions whose signatures have been the same in every driver.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::PathBuf;
use std::ptr::NonNull;

use super::open;
use super::os::Library;

/// A driver, and what it says.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) library: Option<PathBuf>,
    /// CUDA's number, such as 13000.
    pub(crate) cuda: c_int,
    /// One text for each device, or why there is none.
    pub(crate) devices: Result<Vec<String>, String>,
}

/// Loads the driver, and asks it. That may crash or hang where an installation is broken: ask in a process of its own.
///
/// # Errors
///
/// The text of cuda-sys: every library that was tried.
pub(crate) fn ask() -> Result<Answer, String> {
    let library = open::installed().map_err(|error| error.to_string())?;
    let driver = Driver(&library);
    let cuda = driver.number("cuDriverGetVersion", c"cuDriverGetVersion").unwrap_or_default();
    Ok(Answer { library: open::path_of(&library), cuda, devices: driver.devices() })
}

type Asked<T> = Result<T, String>;

struct Driver<'l>(&'l Library);

impl Driver<'_> {
    fn devices(&self) -> Asked<Vec<String>> {
        // SAFETY: the function's signature.
        let init = unsafe { self.function::<unsafe extern "C" fn(c_uint) -> c_uint>(c"cuInit") }?;
        // SAFETY: may be called at any time; the flags must be 0.
        self.check("cuInit", unsafe { init(0) })?;
        let count = self.number("cuDeviceGetCount", c"cuDeviceGetCount")?;
        Ok((0..count).map(|device| self.device(device).unwrap_or_else(|why| why)).collect())
    }

    fn device(&self, device: c_int) -> Asked<String> {
        // cuDeviceGet gives the ordinal, and has always done so.
        const MAJOR: c_int = 75;
        const MINOR: c_int = 76;
        let (name, major, minor) = (self.name(device)?, self.property(device, MAJOR)?, self.property(device, MINOR)?);
        Ok(format!("{device}: {name}, compute capability {major}.{minor}"))
    }

    fn name(&self, device: c_int) -> Asked<String> {
        type Name = unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_uint;
        // SAFETY: the function's signature.
        let ask = unsafe { self.function::<Name>(c"cuDeviceGetName") }?;
        let mut name = [0_u8; 256];
        // SAFETY: the buffer has that length.
        self.check("cuDeviceGetName", unsafe { ask(name.as_mut_ptr().cast(), 255, device) })?;
        let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
        Ok(name.to_string_lossy().into_owned())
    }

    fn property(&self, device: c_int, property: c_int) -> Asked<c_int> {
        type Property = unsafe extern "C" fn(*mut c_int, c_int, c_int) -> c_uint;
        // SAFETY: the function's signature.
        let ask = unsafe { self.function::<Property>(c"cuDeviceGetAttribute") }?;
        let mut value = 0;
        // SAFETY: the pointer is valid for a write.
        self.check("cuDeviceGetAttribute", unsafe { ask(&raw mut value, property, device) })?;
        Ok(value)
    }

    /// Of a function that takes the address of an `int`, and nothing else.
    fn number(&self, name: &str, function: &CStr) -> Asked<c_int> {
        // SAFETY: the signature of the functions that this is called for.
        let ask = unsafe { self.function::<unsafe extern "C" fn(*mut c_int) -> c_uint>(function) }?;
        let mut number = 0;
        // SAFETY: the pointer is valid for a write.
        self.check(name, unsafe { ask(&raw mut number) })?;
        Ok(number)
    }

    fn check(&self, function: &str, code: c_uint) -> Asked<()> {
        if code == 0 { Ok(()) } else { Err(format!("{function} gives {}", self.code(code))) }
    }

    /// The name that the driver has for a code.
    fn code(&self, code: c_uint) -> String {
        type Name = unsafe extern "C" fn(c_uint, *mut *const c_char) -> c_uint;
        let mut name = std::ptr::null();
        // SAFETY: the function's signature.
        if let Ok(ask) = unsafe { self.function::<Name>(c"cuGetErrorName") } {
            // SAFETY: the pointer is valid for a write.
            let _ = unsafe { ask(code, &raw mut name) };
        }
        if name.is_null() {
            return format!("error {code}");
        }
        // SAFETY: a string of the driver's own.
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    }

    /// # Safety
    ///
    /// `F` is the type of the function's address.
    unsafe fn function<F>(&self, name: &CStr) -> Asked<F> {
        const { assert!(size_of::<F>() == size_of::<NonNull<c_void>>()) };
        let address = self.0.symbol(name).ok_or_else(|| format!("it exports no {}", name.to_string_lossy()))?;
        // SAFETY: an address for an address, of that type, says the caller.
        Ok(unsafe { std::mem::transmute_copy(&address) })
    }
}
