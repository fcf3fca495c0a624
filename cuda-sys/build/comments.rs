//! The header's Doxygen comments as Markdown that rustdoc takes without a warning.

/// Rewrites a comment, without its `/**` frame, line by line.
pub fn markdown(comment: &str) -> String {
    let mut out = String::new();
    let mut in_code = false;
    for line in comment.lines() {
        let line = line.trim();
        let line = line.strip_prefix('<').map_or(line, str::trim_start);
        match line {
            "\\code" | "\\endcode" => {
                in_code = !in_code;
                out.push_str(if in_code { "```c\n" } else { "```\n" });
            }
            _ if in_code => push(&mut out, line),
            _ => push(&mut out, &prose(line)),
        }
    }
    if in_code {
        out.push_str("```\n");
    }
    out
}

fn push(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

fn prose(line: &str) -> String {
    for (command, heading) in [("\\return", "**Returns**"), ("\\sa", "**See also**"), ("\\note", "**Note:**")] {
        if let Some(rest) = line.strip_prefix(command) {
            return format!("\n{heading} {}", words(rest.trim_start_matches('s')));
        }
    }
    if let Some(rest) = line.strip_prefix("\\param") {
        let rest = rest.trim_start_matches("[in]").trim_start_matches("[out]").trim();
        let (name, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        return format!("* `{name}` {}", words(text));
    }
    let hidden = ["\\brief", "\\ingroup", "\\defgroup", "\\addtogroup", "@{", "@}", "\\notefnerr", "\\note_"];
    match hidden.iter().find_map(|command| line.strip_prefix(command)) {
        Some(rest) if line.starts_with("\\brief") => words(rest.trim()),
        Some(_) => String::new(),
        None => words(line),
    }
}

/// Names as code, markup that Markdown would take for its own as text.
fn words(text: &str) -> String {
    let mut out = String::new();
    let mut as_code = false;
    for word in text.split(' ') {
        if !out.is_empty() {
            out.push(' ');
        }
        if matches!(word, "\\p" | "\\c" | "\\ref" | "\\b" | "\\e") {
            as_code = true;
            continue;
        }
        match word.strip_prefix("::").or(as_code.then_some(word)) {
            Some(name) => {
                let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(name.len());
                let (name, rest) = name.split_at(end);
                if !name.is_empty() {
                    out.push_str(&format!("`{name}`"));
                }
                out.push_str(&escape(rest));
            }
            None => out.push_str(&escape(word)),
        }
        as_code = false;
    }
    out
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '<' | '>' | '[' | ']' | '*' | '_' | '`') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
