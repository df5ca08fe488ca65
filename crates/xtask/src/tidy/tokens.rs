//! Rust source as tokens, so that comments, strings and documentation are not taken for code.

use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The tokens of a file; none when it is no Rust, which the compiler says better.
pub fn of(text: &str) -> TokenStream {
    TokenStream::from_str(text).unwrap_or_default()
}

/// Calls `visit` for every identifier with its line, inside groups and macros too.
pub fn each_word(stream: TokenStream, visit: &mut impl FnMut(&str, usize)) {
    for tree in stream {
        match tree {
            TokenTree::Group(group) => each_word(group.stream(), visit),
            TokenTree::Ident(word) => visit(&word.to_string(), word.span().start().line),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// The same tokens without the items marked `#[cfg(test)]`, at this level of nesting and below.
pub fn without_tests(stream: TokenStream) -> Vec<TokenTree> {
    let mut kept = Vec::new();
    let mut skipping = false;
    for tree in stream {
        if skipping {
            // The marked item ends with its block or its semicolon.
            skipping = match &tree {
                TokenTree::Group(group) => group.delimiter() != Delimiter::Brace,
                TokenTree::Punct(punct) => punct.as_char() != ';',
                _ => true,
            };
            continue;
        }
        if is_test_marker(&tree) {
            kept.pop();
            skipping = true;
            continue;
        }
        kept.push(tree);
    }
    kept
}

fn is_test_marker(tree: &TokenTree) -> bool {
    match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
            group.stream().to_string().replace(' ', "") == "cfg(test)"
        }
        _ => false,
    }
}
