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
            // Indented like this, it does not close the block.
            _ if in_code && line.starts_with("```") => push(&mut out, &format!("    {line}")),
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
    let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match command {
        "\\brief" => words(rest),
        "\\return" | "\\returns" => format!("\n**Returns** {}", words(rest)),
        "\\sa" | "\\see" => format!("\n**See also** {}", words(rest)),
        "\\note" => format!("\n**Note:** {}", words(rest)),
        _ if command.starts_with("\\param") => {
            let (name, text) = rest.trim_start().split_once(char::is_whitespace).unwrap_or((rest, ""));
            format!("* `{}` {}", name.replace('`', ""), words(text))
        }
        // Groups, and notes that Doxygen would expand.
        "\\ingroup" | "\\defgroup" | "\\addtogroup" | "@{" | "@}" => String::new(),
        _ if command.starts_with("\\note") => String::new(),
        _ => words(line),
    }
}

/// Names as code, markup that Markdown would take for its own as text.
fn words(text: &str) -> String {
    let mut words = Vec::new();
    let mut as_code = false;
    for word in text.split_whitespace() {
        if matches!(word, "\\p" | "\\c" | "\\ref" | "\\b" | "\\e") {
            as_code = true;
            continue;
        }
        words.push(match word.strip_prefix("::").or(as_code.then_some(word)) {
            Some(name) => {
                let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
                let (name, rest) = name.split_at(name.find(|c| !is_name(c)).unwrap_or(name.len()));
                let name = if name.is_empty() { String::new() } else { format!("`{name}`") };
                name + &escape(rest)
            }
            None => escape(word),
        });
        as_code = false;
    }
    words.join(" ")
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '<' | '>' | '[' | ']' | '*' | '_' | '`') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
