//! Texts of others, made harmless before anything shows them.

/// The text on one line, at most so many characters of it. What a terminal would obey, what reorders its neighbours, and
/// what nobody can see stands there as its escape.
pub fn plain(text: &str, limit: usize) -> String {
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == limit {
            out.push('…');
            break;
        }
        let escaped = c.escape_debug();
        match c {
            '\'' | '"' | '\\' => out.push(c),
            _ if escaped.len() == 1 => out.push(c),
            _ => out.extend(escaped),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn ordinary_text_stays() {
        let text = "NVIDIA “H200” 2 × 1 × 1 – ±5 µs, C:\\x, it's, 日本, <b>|";
        assert_eq!(plain(text, 100), text);
    }

    #[test]
    fn nothing_is_obeyed() {
        assert_eq!(plain("a\u{1b}[2J\u{9b}1mb", 100), r"a\u{1b}[2J\u{9b}1mb");
        assert_eq!(plain("a\r\nb\t\0", 100), r"a\r\nb\t\0");
        assert_eq!(
            plain("x\u{202e}y\u{2066}\u{200b}\u{2028}\u{feff}", 100),
            r"x\u{202e}y\u{2066}\u{200b}\u{2028}\u{feff}"
        );
        assert_eq!(plain("e\u{301}", 100), r"e\u{301}");
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(plain(&"x".repeat(1 << 22), 3), "xxx…");
        assert_eq!(plain("xxx", 3), "xxx");
    }
}
