//! The header's comments, read as a person reads them: which places a comment allows, and which attributes a
//! function's documentation names.

use crate::model::{PREFIX, Places, Within};
use crate::plain::plain;

/// So many characters of a sentence show what it is.
const EXCERPT: usize = 80;

/// What an attribute's comment says about places.
#[derive(Debug, PartialEq, Eq)]
pub enum Prose {
    /// There is no such sentence.
    Silent,
    Valid(Places),
    /// There is one, with a word that we do not know.
    Unreadable(String),
}

/// An attribute that a function's documentation names.
#[derive(Debug, PartialEq, Eq)]
pub struct Named<'a> {
    pub attribute: &'a str,
    pub within: Within,
    /// `X`, where it stands in a list that begins with "See ::X for".
    pub see: Option<&'a str>,
}

/// Finds the sentence that begins with "Valid for", and reads its list.
pub fn places(comment: &str) -> Prose {
    let comment = comment.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase().replace("<br>", ". ");
    let sentences = comment.split(". ").map(|sentence| sentence.trim().trim_end_matches('.'));
    let openings = ["valid for ", "valid only for ", "only valid for "];
    let Some(list) =
        sentences.into_iter().find_map(|sentence| openings.iter().find_map(|start| sentence.strip_prefix(start)))
    else {
        return Prose::Silent;
    };
    let mut places = Places::default();
    for item in list.replace(" and ", ",").replace(" or ", ",").replace(" & ", ",").split(',') {
        match item.trim().trim_start_matches("and ").trim_start_matches("or ") {
            "" => {}
            "stream" | "streams" => places.stream = true,
            "graph node" | "graph nodes" | "kernel node" | "kernel nodes" | "graph kernel node"
            | "graph kernel nodes" => {
                places.node = true;
            }
            "launch" | "launches" | "kernel launch" | "kernel launches" => places.launch = true,
            _ => return Prose::Unreadable(plain(list, EXCERPT)),
        }
    }
    Prose::Valid(places)
}

/// The attributes that a documentation comment names, in its order; those in `\code` blocks marked as such.
pub fn named(documentation: &str) -> Vec<Named<'_>> {
    let mut found = Vec::new();
    let mut within = Within::Text;
    let mut see = None;
    for line in documentation.lines().map(str::trim) {
        match line {
            "\\code" => within = Within::Code,
            "\\endcode" => within = Within::Text,
            _ => {}
        }
        if !line.starts_with('-') {
            see = line.strip_prefix("See ::").and_then(|rest| rest.strip_suffix(" for"));
        }
        let identifiers = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        for attribute in identifiers.filter(|word| word.starts_with(PREFIX)) {
            found.push(Named { attribute, within, see });
        }
    }
    found
}

/// The first member of the union that a comment names as `CUlaunchAttributeValue::member`.
pub fn member_named(comment: &str) -> Option<&str> {
    let (_, rest) = comment.split_once("CUlaunchAttributeValue::")?;
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
    Some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn valid(stream: bool, node: bool, launch: bool) -> Prose {
        Prose::Valid(Places { stream, node, launch })
    }

    #[test]
    fn the_list_is_read_in_every_spelling() {
        for (comment, expected) in [
            ("Valid for launches.", valid(false, false, true)),
            ("Valid for streams, graph nodes, launches. Sets a thing.", valid(true, true, true)),
            ("Valid for streams, graph nodes, and launches.", valid(true, true, true)),
            ("Valid for graph nodes and launches", valid(false, true, true)),
            ("Valid for graph kernel nodes, kernel launches.", valid(false, true, true)),
            ("Valid only for streams.", valid(true, false, false)),
            ("Only valid for streams<br>Sets a thing.", valid(true, false, false)),
            ("Sets a thing. Valid for streams. Takes 0 or 1.", valid(true, false, false)),
            ("valid for\n   graph\n   nodes,\n   launches.", valid(false, true, true)),
        ] {
            assert_eq!(places(comment), expected, "{comment}");
        }
    }

    #[test]
    fn other_sentences_say_nothing_about_places() {
        for comment in [
            "",
            "Ignored.",
            "Valid values for this are 0 and 1.",
            "Not valid for launches.",
            "The handle stays valid for streams of the context.",
        ] {
            assert_eq!(places(comment), Prose::Silent, "{comment}");
        }
    }

    #[test]
    fn an_unknown_place_is_not_passed_over() {
        assert_eq!(places("Valid for streams, tensors."), Prose::Unreadable("streams, tensors".into()));
    }

    #[test]
    fn what_cannot_be_read_is_shown_harmlessly() {
        let hostile = format!("Valid for \u{1b}[2Jtensors {}.", "and more ".repeat(1000));
        let Prose::Unreadable(excerpt) = places(&hostile) else { panic!("it was read") };
        assert!(excerpt.starts_with(r"\u{1b}[2jtensors") && excerpt.len() <= 100, "{excerpt}");
    }

    #[test]
    fn names_in_text_are_told_from_names_in_code() {
        let text = "Does a thing.\n\\code\n CU_LAUNCH_ATTRIBUTE_A = 0,\n\\endcode\n Set ::CU_LAUNCH_ATTRIBUTE_A_B.";
        let expected = [
            Named { attribute: "CU_LAUNCH_ATTRIBUTE_A", within: Within::Code, see: None },
            Named { attribute: "CU_LAUNCH_ATTRIBUTE_A_B", within: Within::Text, see: None },
        ];
        assert_eq!(named(text), expected);
    }

    #[test]
    fn a_list_remembers_where_it_sends_readers() {
        let text =
            "See ::cuThis for\n - ::CU_LAUNCH_ATTRIBUTE_A\n - ::CU_LAUNCH_ATTRIBUTE_B\n\n and CU_LAUNCH_ATTRIBUTE_C";
        let see: Vec<_> = named(text).into_iter().map(|named| named.see).collect();
        assert_eq!(see, [Some("cuThis"), Some("cuThis"), None]);
    }

    #[test]
    fn a_member_is_named_with_its_union() {
        assert_eq!(
            member_named("See ::CUlaunchAttributeValue::one::two, ::CUlaunchAttributeValue::three."),
            Some("one")
        );
        assert_eq!(member_named("See ::CUlaunchAttributeValue."), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever the text, it is read or shown harmlessly, and what is found in it stands in it.
        #[test]
        fn any_text_is_read(text in "(\\PC|[\n\r\t\u{1b}]|valid for |streams|, |\\. |<br>|See ::|CU_LAUNCH_ATTRIBUTE_|CUlaunchAttributeValue::|\\\\code\n|\n ?- ){0,40}") {
            if let Prose::Unreadable(excerpt) = places(&text) {
                prop_assert!(!excerpt.chars().any(char::is_control) && excerpt.chars().count() <= 2 * EXCERPT, "{}", excerpt);
            }
            for named in named(&text) {
                prop_assert!(named.attribute.starts_with(PREFIX) && text.contains(named.attribute));
                prop_assert!(named.see.is_none_or(|function| text.contains(function)));
            }
            prop_assert!(member_named(&text).is_none_or(|member| text.contains(&["CUlaunchAttributeValue::", member].concat())));
        }
    }
}
