//! On the simulated driver, which answers from the record of a real machine, the probe gives that record again: what one
//! of them understands in its own way is a difference.

use serde_json::Value;
use simulated_driver_client::Version;

use crate::program::probe;

const RECORD: &str = include_str!("../../../docs/observations/h200-580.159.04.json");

/// What the record says of the machine and the day, and not of attributes.
const CIRCUMSTANCES: [&str; 5] = ["device", "kernel_driver", "recorded", "probe", "header"];

#[test]
fn the_record_of_the_real_machine_is_reproduced() {
    let library = simulated_driver_client::library(Version::default()).expect("it is built beside its tests");
    let output = probe(&[], library, "");
    let error = String::from_utf8_lossy(&output.stderr);
    let mut found: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{why}: {error}"));
    let mut expected: Value = serde_json::from_str(RECORD).expect("JSON");
    assert_eq!(found["device"], format!("Simulated {}", expected["device"].as_str().expect("a name")));
    for record in [&mut found, &mut expected] {
        for field in CIRCUMSTANCES {
            record.as_object_mut().expect("a record").remove(field);
        }
    }
    // One by one, so that a difference can be read.
    let [found_all, expected_all] = [&found, &expected].map(|record| record["observed"].as_array().expect("an array"));
    for (found, expected) in found_all.iter().zip(expected_all) {
        assert_eq!(found, expected);
    }
    assert_eq!(found, expected);
}
