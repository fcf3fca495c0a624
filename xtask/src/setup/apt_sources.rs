//! A machine's apt sources, rewritten: the same Debian archive and keys, another release and component.
//!
//! Pure text: both of apt's formats, one line for each source (`.list`) and paragraphs (`.sources`).

/// The format of a file of sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Lines,
    Paragraphs,
}

impl Format {
    /// By the file's name; apt ignores all others.
    pub(super) fn of(file: &str) -> Option<Self> {
        match file.rsplit_once('.')?.1 {
            "list" => Some(Self::Lines),
            "sources" => Some(Self::Paragraphs),
            _ => None,
        }
    }
}

/// The sources of a file that are Debian's main archive, turned to a component of other releases. Empty if it has none.
pub(super) fn rewrite(text: &str, format: Format, suites: &[&str], component: &str) -> String {
    let mut rewritten: Vec<String> = match format {
        Format::Lines => text
            .lines()
            .filter_map(source_line)
            .flat_map(|start| suites.iter().map(move |suite| format!("{start} {suite} {component}\n")))
            .collect(),
        Format::Paragraphs => {
            paragraphs(text).iter().filter_map(|fields| paragraph(fields, suites, component)).collect()
        }
    };
    let mut seen = std::collections::HashSet::new();
    rewritten.retain(|source| seen.insert(source.clone()));
    rewritten.concat()
}

/// `deb [options] URI` of a line for the main archive.
fn source_line(line: &str) -> Option<String> {
    let rest = line.split('#').next()?.trim().strip_prefix("deb")?.strip_prefix([' ', '\t'])?.trim_start();
    let (options, rest) = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map(|(options, rest)| (format!("[{}] ", options.trim()), rest))?,
        None => (String::new(), rest),
    };
    let mut words = rest.split_whitespace();
    let (uri, suite) = (words.next()?, words.next()?);
    (is_archive(uri) && is_release(suite) && words.any(|word| word == "main")).then(|| format!("deb {options}{uri}"))
}

/// A paragraph's fields in their order; a value keeps its continuation lines.
type Fields = Vec<(String, String)>;

fn paragraphs(text: &str) -> Vec<Fields> {
    let mut all = vec![Fields::new()];
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let fields = all.last_mut().expect("never empty");
        if line.trim().is_empty() {
            all.push(Fields::new());
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = fields.last_mut() {
                *value = format!("{value}\n{line}");
            }
        } else if let Some((name, value)) = line.split_once(':') {
            fields.push((name.trim().to_owned(), value.trim().to_owned()));
        }
    }
    all
}

fn paragraph(fields: &Fields, suites: &[&str], component: &str) -> Option<String> {
    let value = |wanted: &str| {
        fields.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.as_str())
    };
    let words = |wanted: &str| value(wanted).unwrap_or_default().split_whitespace();
    if matches!(value("Enabled"), Some("no" | "false" | "0"))
        || !words("Types").any(|word| word == "deb")
        || !words("Suites").any(is_release)
        || !words("Components").any(|word| word == "main")
    {
        return None;
    }
    let uris: Vec<_> = words("URIs").filter(|uri| is_archive(uri)).collect();
    if uris.is_empty() {
        return None;
    }
    let mut text =
        format!("Types: deb\nURIs: {}\nSuites: {}\nComponents: {component}\n", uris.join(" "), suites.join(" "));
    let replaced = ["Types", "URIs", "Suites", "Components", "Enabled"];
    for (name, value) in
        fields.iter().filter(|(name, _)| !replaced.iter().any(|known| known.eq_ignore_ascii_case(name)))
    {
        text += &format!("{name}: {value}\n");
    }
    Some(text + "\n")
}

/// Whether a URI is a Debian archive or a mirror of it: by its last component, as mirrors keep it.
fn is_archive(uri: &str) -> bool {
    let last = uri.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    last.starts_with("debian") && !["security", "backports", "debug", "ports"].iter().any(|other| last.contains(other))
}

/// Whether a suite is a release of Debian itself, and neither its updates nor another distributor's suite.
fn is_release(suite: &str) -> bool {
    const CLASSES: [&str; 6] = ["stable", "oldstable", "oldoldstable", "testing", "unstable", "sid"];
    const NAMES: [&str; 7] = ["buster", "bullseye", "bookworm", "trixie", "forky", "duke", "rc-buggy"];
    CLASSES.contains(&suite) || NAMES.contains(&suite)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITES: [&str; 2] = ["bullseye", "trixie"];

    #[test]
    fn paragraphs_of_the_main_archive_keep_mirror_and_key() {
        let text = "# of the image\nTypes: deb deb-src\nURIs: http://mirror.example/debian/\nSuites: bookworm bookworm-updates\n\
                    # a comment inside\nComponents: main contrib\nSigned-By: /keys/debian.gpg\n\n\
                    Types: deb\nURIs: http://mirror.example/debian-security\nSuites: bookworm-security\nComponents: main\n";
        assert_eq!(
            rewrite(text, Format::Paragraphs, &SUITES, "non-free"),
            "Types: deb\nURIs: http://mirror.example/debian/\nSuites: bullseye trixie\nComponents: non-free\n\
             Signed-By: /keys/debian.gpg\n\n"
        );
    }

    #[test]
    fn an_embedded_key_stays_whole() {
        let text = "Types: deb\nURIs: mirror+file:///etc/apt/mirrors/debian.list\nSuites: trixie\nComponents: main\n\
                    Signed-By:\n -----BEGIN-----\n .\n abc\n -----END-----\n";
        let rewritten = rewrite(text, Format::Paragraphs, &SUITES, "non-free");
        assert!(rewritten.ends_with("Signed-By: \n -----BEGIN-----\n .\n abc\n -----END-----\n\n"), "{rewritten}");
    }

    #[test]
    fn lines_keep_their_options_and_double_ones_go() {
        let text = "deb [ signed-by=/k.gpg arch=amd64 ] https://mirror.example/debian bookworm main # comment\n\
                    deb-src https://mirror.example/debian bookworm main\n\
                    deb https://mirror.example/debian bookworm-updates main\n\
                    deb [signed-by=/k.gpg arch=amd64] https://mirror.example/debian stable main contrib\n";
        assert_eq!(
            rewrite(text, Format::Lines, &SUITES, "non-free"),
            "deb [signed-by=/k.gpg arch=amd64] https://mirror.example/debian bullseye non-free\n\
             deb [signed-by=/k.gpg arch=amd64] https://mirror.example/debian trixie non-free\n"
        );
    }

    #[test]
    fn other_distributors_are_left_out() {
        let lines = "deb https://apt.example/postgres bookworm-pgdg main\n\
                     deb https://docker.example/linux/debian bookworm stable\n\
                     deb http://archive.example/ubuntu noble main\n\
                     deb https://php.example/php bookworm main\n\
                     #deb https://mirror.example/debian bookworm main\n\
                     deb [broken https://mirror.example/debian bookworm main\n";
        assert_eq!(rewrite(lines, Format::Lines, &SUITES, "non-free"), "");
        let disabled = "Enabled: no\nTypes: deb\nURIs: http://m.example/debian\nSuites: trixie\nComponents: main\n";
        assert_eq!(rewrite(disabled, Format::Paragraphs, &SUITES, "non-free"), "");
    }

    #[test]
    fn the_format_is_the_extension() {
        assert_eq!(Format::of("debian.sources"), Some(Format::Paragraphs));
        assert_eq!(Format::of("sources.list"), Some(Format::Lines));
        assert_eq!(Format::of("debian.sources.disabled"), None);
        assert_eq!(Format::of("README"), None);
    }
}
