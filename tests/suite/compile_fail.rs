//! What must not compile, and what the user reads then.

use std::fs;

use cuda_hostfn::attribute::CATALOGUE;

#[test]
fn cases() {
    trybuild::TestCases::new().compile_fail("compile-fail/*.rs");
}

/// Every attribute that is not for all three places stands in the cases.
#[test]
fn every_row_has_its_case() {
    let cases = fs::read_dir("compile-fail").unwrap().map(|entry| entry.unwrap().path());
    let cases = cases.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let texts: Vec<String> = cases.map(|path| fs::read_to_string(path).unwrap()).collect();
    for row in CATALOGUE {
        let places = [row.set.streams, row.set.launches, row.set.nodes];
        let missing = places.iter().filter(|offered| !**offered).count();
        let word = |text: &String| {
            text.lines().any(|line| {
            line.contains("set_attribute") || line.contains(".attribute(")
        } && line.split(|c: char| !c.is_alphanumeric()).any(|word| word == row.type_name))
        };
        let found = texts.iter().filter(|text| word(text)).count();
        assert_eq!(found, missing, "{} stands in {found} cases, and is not offered in {missing} places", row.type_name);
    }
}
