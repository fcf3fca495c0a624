//! Which member of the union is an attribute's value. Newer headers say so in one comment or the other; the oldest say
//! it nowhere.

use super::bindings::{Enumerator, Member};
use crate::model::{FoundBy, PREFIX, Value};
use crate::prose;

/// The member that holds the value of `attribute`.
pub fn of(attribute: &Enumerator, members: &[Member]) -> Option<Value> {
    let by_member = members
        .iter()
        .find(|member| prose::named(&member.comment).first().is_some_and(|named| named.attribute == attribute.name));
    let by_attribute = || {
        let named = prose::member_named(&attribute.comment)?;
        members.iter().find(|member| member.name == named)
    };
    let by_name = || {
        let similar = members.iter().filter_map(|member| Some((surplus(&attribute.name, &member.name)?, member)));
        similar.min_by_key(|(surplus, _)| *surplus).map(|(_, member)| member)
    };
    let (member, found_by) = by_member
        .map(|member| (member, FoundBy::MemberComment))
        .or_else(|| Some((by_attribute()?, FoundBy::AttributeComment)))
        .or_else(|| Some((by_name()?, FoundBy::Name)))?;
    Some(Value { member: member.name.clone(), type_name: member.type_name.clone(), found_by })
}

/// How many words `member` has beyond the attribute's name, if each of its other words is or abbreviates the one in
/// the same place: `syncPolicy` and `SYNCHRONIZATION_POLICY`.
fn surplus(attribute: &str, member: &str) -> Option<usize> {
    let attribute: Vec<_> = attribute.strip_prefix(PREFIX)?.split('_').collect();
    let member = words(member);
    let abbreviated = attribute.iter().zip(&member).all(|(word, short)| word.starts_with(short.as_str()));
    (abbreviated && member.len() >= attribute.len()).then(|| member.len() - attribute.len())
}

/// The words of a camelCase name, in capitals.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for letter in name.chars() {
        match words.last_mut() {
            Some(word) if !letter.is_uppercase() => word.push(letter.to_ascii_uppercase()),
            _ => words.push(letter.to_ascii_uppercase().to_string()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, comment: &str) -> Member {
        Member { name: name.into(), type_name: "int".into(), comment: comment.into() }
    }

    fn found(name: &str, comment: &str, members: &[Member]) -> Option<(String, FoundBy)> {
        let attribute = Enumerator { name: format!("{PREFIX}{name}"), value: 0, comment: comment.into() };
        of(&attribute, members).map(|value| (value.member, value.found_by))
    }

    #[test]
    fn names_that_agree_word_by_word_suffice() {
        let members =
            ["syncPolicy", "memSyncDomainMap", "memSyncDomain", "streamOrderAllowed"].map(|name| member(name, ""));
        for (attribute, expected) in [
            ("SYNCHRONIZATION_POLICY", Some("syncPolicy")),
            ("MEM_SYNC_DOMAIN", Some("memSyncDomain")),
            ("MEM_SYNC_DOMAIN_MAP", Some("memSyncDomainMap")),
            ("STREAM_ORDER", Some("streamOrderAllowed")),
            ("IGNORE", None),
        ] {
            let expected = expected.map(|name| (name.to_owned(), FoundBy::Name));
            assert_eq!(found(attribute, "", &members), expected, "{attribute}");
        }
    }

    #[test]
    fn a_comment_outweighs_the_name() {
        let members = [member("order", ""), member("other", "Holds ::CU_LAUNCH_ATTRIBUTE_ORDER."), member("third", "")];
        assert_eq!(found("ORDER", "", &members), Some(("other".into(), FoundBy::MemberComment)));
        let by_attribute = found("RANK", "See ::CUlaunchAttributeValue::third.", &members);
        assert_eq!(by_attribute, Some(("third".into(), FoundBy::AttributeComment)));
    }
}
