//! What each command would use, as things are.

use super::building::Building;
use super::driver::Driver;
use super::page::Page;
use crate::find::PROVISIONED;
use crate::setup;

pub(super) fn tell(page: &mut Page, building: &Building, driver: Driver) {
    let with = match (&building.headers, &building.libclang) {
        (Some(headers), Some(_)) => format!("headers of CUDA {}, and the libclang above", headers.version),
        _ if std::env::var_os("CUDA_SYS_BINDINGS").is_some() => "the bindings that cuda-sys carries".to_owned(),
        _ => "fails as things are, see below".to_owned(),
    };
    page.row("cargo build", with);
    if building.is_misled {
        return page.row("xtask", "every task that builds refuses, until the variable is corrected or unset");
    }
    let first = if building.headers.is_some() && building.libclang.is_some() {
        String::new()
    } else {
        format!("provisions what is missing, as `{PROVISIONED}` does; then ")
    };
    let asked = match driver {
        Driver::HasDevice => "this machine's driver",
        Driver::HasNone => "the records in docs/observations, since the driver has no device",
        Driver::Missing => "the records in docs/observations, since there is no driver",
    };
    page.row("xtask audit", format!("{first}{asked}"));
    let device = match driver {
        Driver::HasDevice => "the first device",
        Driver::HasNone => "nothing: a driver without a device is not replaced by the simulated one",
        Driver::Missing => "the simulated driver",
    };
    page.row("xtask test", format!("{first}device suites on {device}\n{}", old_drivers(building)));
}

fn old_drivers(building: &Building) -> String {
    match setup::drivers_in_place() {
        Ok((0, 0)) => "old drivers: there are no packages for this architecture; those tests do not run".to_owned(),
        Ok((there, all)) if there == all => format!("old drivers: all {all} in place"),
        Ok((there, all)) if building.debian => format!("old drivers: {there} of {all} in place, the rest is fetched"),
        Ok((there, all)) => format!(
            "old drivers: {there} of {all} in place; fetching needs apt-get and dpkg-deb, without which those tests do not run"
        ),
        Err(error) => format!("old drivers: {error:#}"),
    }
}
