//! Doxygen to Markdown.

#[path = "../build/comments.rs"]
mod comments;

#[test]
fn commands_become_markdown() {
    let comment = "\\brief Does it\n\nTakes \\p stream, see ::cuStreamQuery.\n\\param stream - Where\n\\return\n::CUDA_SUCCESS\n\\notefnerr\n\\sa\n::cuInit";
    let expected = "Does it\n\nTakes `stream`, see `cuStreamQuery`.\n* `stream` - Where\n\n**Returns** \n`CUDA_SUCCESS`\n\n\n**See also** \n`cuInit`\n";
    assert_eq!(comments::markdown(comment), expected);
}

#[test]
fn a_trailing_comment_loses_its_arrow() {
    assert_eq!(comments::markdown("< Valid for it"), "Valid for it\n");
}

#[test]
fn code_is_fenced_and_is_not_rust() {
    assert_eq!(comments::markdown("\\code\nint a[2];\n\\endcode"), "```c\nint a[2];\n```\n");
    assert_eq!(comments::markdown("\\code\nint a[2];"), "```c\nint a[2];\n```\n", "an unclosed block is closed");
    // Four blanks would make Markdown, and so a documentation test, of it.
    assert_eq!(comments::markdown("    indented"), "indented\n");
}

#[test]
fn markup_is_text() {
    assert_eq!(comments::markdown("a[i] <b> *p __x"), "a\\[i\\] \\<b\\> \\*p \\_\\_x\n");
}
