//! Headers of which nobody thought: what is in them is read back, and what is done to them is told.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use crate::record::{silent, write};
use crate::run::{Run, attribute, audit, folder};

/// A failing input is printed, and belongs into a test of its own rather than into a file. A case is a run of the program.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// What a header says of an attribute.
#[derive(Clone, Debug)]
struct Attribute {
    words: Vec<String>,
    /// As they are spelled, for streams, nodes and launches.
    places: [Option<&'static str>; 3],
    /// Before that sentence, and behind it.
    around: [&'static str; 2],
    stream_alias: bool,
    node_alias: bool,
    /// The C type of its member, and how that is declared.
    member: Option<(&'static str, &'static str)>,
    is_named_by_a_function: bool,
}

const TYPES: [(&str, &str); 6] = [
    ("int", "int @"),
    ("unsigned char", "unsigned char @"),
    ("char[8]", "char @[8]"),
    ("void *", "void *@"),
    ("const unsigned long long *", "const unsigned long long *@"),
    ("struct { x: float, y: unsigned short }", "struct { float x; unsigned short y; } @"),
];

fn attributes() -> impl Strategy<Value = Vec<(u32, Attribute)>> {
    let place = |names: &'static [&'static str]| prop::option::of(select(names));
    let places = [
        place(&["streams", "Streams", "stream"]),
        place(&["graph nodes", "kernel nodes", "graph\n   nodes"]),
        place(&["launches", "kernel launches"]),
    ];
    let around = [select(&["", "Sets a thing. ", "Takes 0 or 1.\n  "][..]), select(&["", ".", ". Or so."][..])];
    let attribute =
        (vec("[A-Z]{2,6}", 1..4), places, around, any::<(bool, bool, bool)>(), prop::option::of(select(&TYPES[..])));
    let attribute = attribute.prop_map(|(words, places, around, (stream_alias, node_alias, named), member)| {
        Attribute { words, places, around, stream_alias, node_alias, member, is_named_by_a_function: named }
    });
    btree_map(0..1000_u32, attribute, 1..8).prop_map(|attributes| attributes.into_iter().collect())
}

impl Attribute {
    /// Behind the prefix; with the number in it, no two are alike.
    fn name(&self, id: u32) -> String {
        format!("{}_{id}", self.words.join("_"))
    }

    fn comment(&self) -> String {
        let places: Vec<_> = self.places.iter().flatten().copied().collect();
        if places.is_empty() {
            "Sets it.".to_owned()
        } else {
            self.around.join(&format!("Valid for {}", places.join(", ")))
        }
    }

    /// What the report says of it.
    fn expected(&self, id: u32) -> Value {
        let name = self.name(id);
        let aliases = [(self.node_alias, "CU_KERNEL_NODE_ATTRIBUTE_"), (self.stream_alias, "CU_STREAM_ATTRIBUTE_")];
        let aliases: Vec<_> =
            aliases.iter().filter(|(is_there, _)| *is_there).map(|(_, prefix)| format!("{prefix}{name}")).collect();
        let [stream, node, launch] = self.places.map(|place| place.is_some());
        let documented = json!({ "stream": stream, "node": node, "launch": launch });
        let member =
            |(type_name, _)| json!({ "member": format!("m{id}x"), "type": type_name, "found_by": "member-comment" });
        let mention = json!({ "function": format!("cuFunction{id}"), "in": "text" });
        json!({
            "id": id,
            "name": format!("CU_LAUNCH_ATTRIBUTE_{name}"),
            "documented": if stream || node || launch { documented } else { Value::Null },
            "aliased": { "stream": self.stream_alias, "node": self.node_alias },
            "aliases": aliases,
            "value": self.member.map(member),
            "named_by": if self.is_named_by_a_function { vec![mention] } else { Vec::new() },
        })
    }
}

fn header(attributes: &[(u32, Attribute)]) -> String {
    let (mut enumerators, mut members, mut rest) = (String::new(), String::new(), String::new());
    for (id, attribute) in attributes {
        let name = attribute.name(*id);
        enumerators += &format!("    CU_LAUNCH_ATTRIBUTE_{name} = {id}, /**< {} */\n", attribute.comment());
        if let Some((_, declaration)) = attribute.member {
            let declaration = declaration.replace('@', &format!("m{id}x"));
            members += &format!("    {declaration}; /**< Value of ::CU_LAUNCH_ATTRIBUTE_{name}. */\n");
        }
        for (is_there, place) in [(attribute.stream_alias, "STREAM"), (attribute.node_alias, "KERNEL_NODE")] {
            if is_there {
                rest += &format!("#define CU_{place}_ATTRIBUTE_{name} CU_LAUNCH_ATTRIBUTE_{name}\n");
            }
        }
        if attribute.is_named_by_a_function {
            rest += &format!("/** Sets ::CU_LAUNCH_ATTRIBUTE_{name}. */\nint cuFunction{id}(void);\n");
        }
    }
    format!(
        "#define CUDA_VERSION 14010\ntypedef enum CUlaunchAttributeID_enum {{\n{enumerators}}} CUlaunchAttributeID;\n\
         typedef union CUlaunchAttributeValue_union {{\n    char pad[64];\n    int nobodys;\n{members}}} CUlaunchAttributeValue;\n{rest}"
    )
}

fn run(header: &str) -> Run {
    let folder = folder(header);
    let observed = write(folder.path(), "record.json", &silent());
    let known = folder.path().join("known.toml");
    std::fs::write(&known, "").unwrap();
    audit([
        "--format".as_ref(),
        "json".as_ref(),
        "--headers".as_ref(),
        folder.path().as_os_str(),
        "--known".as_ref(),
        known.as_os_str(),
        "--observed".as_ref(),
        observed.as_os_str(),
    ])
}

/// What means something to a reader of headers, of C or of terminals.
const TOKENS: &[&str] = &[
    "*/",
    "/**<",
    "{",
    "}",
    ";",
    "\\",
    "\\\n",
    "\"",
    "'",
    "#",
    "\n#if 0\n",
    "\n#define CUDA_VERSION 1\n",
    "\n#include \"cuda.h\"\n",
    "typedef ",
    "union ",
    "= -1,",
    "= 99999999999,",
    "\u{1b}[2J",
    "\u{202e}",
    "\r",
    "é",
    "Valid for ",
    "CU_LAUNCH_ATTRIBUTE_",
    "_MAX",
    "??/",
    "__attribute__((packed)) ",
    "[0]",
    "*",
    "&",
    "::",
];

/// A place in a text, how much of it is taken out there, and what is put in instead.
type Edit = (Index, usize, String);

fn edit() -> impl Strategy<Value = Edit> {
    let put = prop_oneof![Just(String::new()), select(TOKENS).prop_map(str::to_owned), ".{0,8}"];
    (any::<Index>(), prop_oneof![Just(0_usize), 1..4_usize, 0..200_usize], put)
}

fn edited(mut text: String, edits: &[Edit]) -> String {
    for (place, taken, put) in edits {
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        if starts.is_empty() {
            break;
        }
        let first = place.index(starts.len());
        let end = starts.get(first + taken).copied().unwrap_or(text.len());
        text.replace_range(starts[first]..end, put);
    }
    text
}

proptest! {
    #![proptest_config(config(24))]

    #[test]
    fn what_a_header_says_is_read_back(attributes in attributes()) {
        let text = header(&attributes);
        let run = run(&text);
        prop_assert!(matches!(run.status, Some(0 | 1)), "{:#?}\n{}", run, text);
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        let header = &report["headers"][0];
        prop_assert_eq!(header["attributes"].as_array().unwrap().len(), attributes.len());
        for (id, expected) in &attributes {
            let found = attribute(header, u64::from(*id));
            let expected = expected.expected(*id);
            for (field, value) in expected.as_object().unwrap() {
                prop_assert_eq!(&found[field], value, "{} of {} in\n{}", field, id, text);
            }
        }
    }
}

proptest! {
    #![proptest_config(config(64))]

    /// It may still be a header; if not, that is said in words.
    #[test]
    fn a_mangled_header_is_read_or_refused(attributes in attributes(), edits in vec(edit(), 1..5)) {
        let text = edited(header(&attributes), &edits);
        let run = run(&text);
        match run.status {
            Some(0 | 1) => prop_assert!(serde_json::from_str::<Value>(&run.stdout).is_ok() && run.stderr.is_empty(), "{:#?}\n{}", run, text),
            _ => prop_assert!(!run.error().contains('\u{1b}'), "{:#?}\n{}", run, text),
        }
    }
}
