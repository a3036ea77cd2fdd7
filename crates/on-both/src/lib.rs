//! `#[on_both]`: one test function, run on SQLite and on PostgreSQL.
//!
//! An attribute, so that rustfmt formats the body like any other function. It reads the tokens itself:
//! a name is all it needs, and a parser of Rust would take longer to build than the tests that use it.

use proc_macro::{TokenStream, TokenTree};

/// Turns `fn name(world: World) { … }` into the tests `name::sqlite` and `name::postgres`. The argument
/// is anything that `From<Backend>` makes: a `World`, or the `Backend` itself. Attributes of the function
/// (`#[should_panic]`) belong to both tests.
#[proc_macro_attribute]
pub fn on_both(_: TokenStream, function: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = function.into_iter().collect();
    let start = tokens.iter().position(is_fn);
    let name = start.and_then(|at| tokens.get(at + 1));
    let (Some(start), Some(TokenTree::Ident(name))) = (start, name) else {
        return error("#[on_both] belongs on a function");
    };
    let attributes: TokenStream = tokens[..start].iter().cloned().collect();
    let tests = format!(
        "mod {name} {{
            {attributes} #[test] fn sqlite() {{
                super::{name}(::understory_testkit::Backend::sqlite().into())
            }}
            {attributes} #[test] fn postgres() {{
                super::{name}(::understory_testkit::Backend::postgres().into())
            }}
        }}"
    );
    // The function's own tokens stay, so that errors and panics point at its lines.
    let mut expanded: TokenStream = tokens[start..].iter().cloned().collect();
    match tests.parse::<TokenStream>() {
        Ok(tests) => expanded.extend(tests),
        Err(_) => return error("#[on_both] could not read the attributes of this function"),
    }
    expanded
}

fn is_fn(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Ident(word) if word.to_string() == "fn")
}

fn error(problem: &str) -> TokenStream {
    format!("compile_error!({problem:?});")
        .parse()
        .unwrap_or_default()
}
