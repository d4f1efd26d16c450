//! Every public function of the libraries is called by a test.
//!
//! Functions are matched by name, functions without `self` by type and name, and methods by name and
//! by what their value can be (`receiver.rs`), so that the `len` of a list does not stand in for that
//! of a box. Only tests of the same crate, or of one above it, count. `unreachable_pub` keeps `pub` honest,
//! so what is `pub` here is what users can call. Methods of foreign traits (operators, `Display`) are
//! called by syntax, not by name, and are not listed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Context as _, Result};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, ImplItem, Item, Meta, Signature, TraitItem, Type, Visibility};

use super::Source;
use super::calls::{Call, Calls, Form};
use crate::run::LIBRARIES;

/// A function that users of a library can call.
#[derive(Clone, Debug)]
pub(super) struct Function {
    owner: Option<Owner>,
    name: String,
    has_self: bool,
    path: String,
    line: usize,
}

#[derive(Clone, Debug)]
enum Owner {
    Type(String),
    Trait(String),
    /// A type that only the caller of a macro knows.
    Macro,
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} ", self.path, self.line)?;
        if let Some(Owner::Type(owner) | Owner::Trait(owner)) = &self.owner {
            write!(f, "{owner}::")?;
        }
        f.write_str(&self.name)
    }
}

/// Which functions have a test, and which have none.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    /// Each function and the place that calls it.
    pub(super) called: Vec<(Function, String)>,
    missing: Vec<Function>,
}

impl Coverage {
    pub(super) fn len(&self) -> usize {
        self.called.len() + self.missing.len()
    }

    pub(super) fn uncalled(&self) -> Vec<String> {
        let line = |function: &Function| format!("no test calls {function}");
        self.missing.iter().map(line).collect()
    }
}

/// Finds every public function of the libraries, and a test for each.
pub(super) fn coverage(sources: &[Source]) -> Result<Coverage> {
    let test_files = test_files(sources)?;
    let is_test = |source: &Source| test_files.contains(&source.path);
    let mut calls = Calls::default();
    // Tests come first, so that they are named before examples.
    for source in rust_of_libraries(sources) {
        if let Ok(file) = parse(source) {
            fields(&file.items, &source.path, &mut calls);
        }
        if is_test(source) || is_harness(source) {
            calls.add(&source.path, "outside any function", tokens(source)?);
        }
    }
    let library: Vec<&Source> = rust_of_libraries(sources)
        .filter(|s| is_library(s) && !is_test(s))
        .collect();
    let mut functions = Vec::new();
    let mut traits = Traits::new();
    for source in &library {
        for code in test_modules(tokens(source)?) {
            calls.add(&source.path, "unit tests", code);
        }
        let file = parse(source)?;
        public_functions(&file.items, &source.path, &mut functions);
        implementors(&file.items, &mut traits);
        calls.add_returns(&source.path, tokens(source)?);
    }
    for source in &library {
        calls.add_examples(source, false);
    }
    for source in sources.iter().filter(|s| is_tested_page(s)) {
        calls.add_examples(source, true);
    }
    let mut coverage = Coverage::default();
    for function in functions {
        match calls
            .of(&function.name)
            .iter()
            .find(|call| reaches(&calls, call, &function, &traits))
        {
            Some(call) => coverage.called.push((function, call.place.clone())),
            None => coverage.missing.push(function),
        }
    }
    Ok(coverage)
}

fn parse(source: &Source) -> Result<syn::File> {
    syn::parse_file(&source.text)
        .with_context(|| format!("{} is no Rust that syn knows", source.path))
}

/// Returns whether the file is part of a library's `testing` module, whose code runs in tests only.
fn is_harness(source: &Source) -> bool {
    let module = source.path.split('/').nth(2);
    is_library(source) && module.is_some_and(|m| m.trim_end_matches(".rs") == "testing")
}

/// Tells `calls` the fields of every struct.
fn fields(items: &[Item], path: &str, calls: &mut Calls) {
    for item in items {
        match item {
            Item::Struct(s) => {
                for field in &s.fields {
                    if let Some(name) = &field.ident {
                        calls.add_field(path, name.to_string(), field.ty.to_token_stream());
                    }
                }
            }
            Item::Mod(m) => {
                if let Some((_, items)) = &m.content {
                    fields(items, path, calls);
                }
            }
            _ => {}
        }
    }
}

/// Returns whether a call in a test can be a call of this function.
fn reaches(calls: &Calls, call: &Call, function: &Function, traits: &Traits) -> bool {
    if !can_see(&call.path, &function.path) {
        return false;
    }
    let Some(owner) = &function.owner else {
        return matches!(call.form, Form::Plain | Form::Path(_) | Form::MacroWord);
    };
    let owners = match owner {
        Owner::Type(name) => BTreeSet::from([name.clone()]),
        Owner::Trait(name) => {
            let mut owners = traits.get(name).cloned().unwrap_or_default();
            owners.insert(name.clone());
            owners
        }
        // The type is an argument of the macro, which the name alone does not tell.
        Owner::Macro => return call.form != Form::Plain,
    };
    match &call.form {
        Form::Plain => false,
        Form::MacroWord => calls.at_hand(call, &owners),
        Form::Method => {
            // Where nothing says what the value is, only the library's own tests are believed.
            let is_near = || crate_of(&call.path) == crate_of(&function.path);
            let is_ours = |receiver| {
                let guess = calls.is_of(call, receiver, &owners);
                guess.unwrap_or_else(|| is_near() && calls.at_hand(call, &owners))
            };
            function.has_self && call.receivers.iter().any(is_ours)
        }
        Form::Path(Some(name)) => {
            owners.contains(name) || owners.iter().any(|owner| calls.is_alias(name, owner))
        }
        Form::Path(None) => owners.iter().any(|owner| calls.mentions(call, owner)),
    }
}

/// The types that implement each trait of ours.
type Traits = BTreeMap<String, BTreeSet<String>>;

/// Returns whether code in `caller` can use the library of `function`: its own crate, or one above.
pub(super) fn can_see(caller: &str, function: &str) -> bool {
    let rank = |path| LIBRARIES.iter().position(|l| *l == crate_of(path));
    // Pages at the top see every library.
    rank(caller).is_none_or(|caller| Some(caller) >= rank(function))
}

fn crate_of(path: &str) -> &str {
    path.split('/').next().unwrap_or_default()
}

fn rust_of_libraries(sources: &[Source]) -> impl Iterator<Item = &Source> {
    sources
        .iter()
        .filter(|source| source.is_rust() && LIBRARIES.contains(&crate_of(&source.path)))
}

fn is_library(source: &Source) -> bool {
    source.path.split('/').nth(1) == Some("src")
}

/// Returns whether the examples of a page are run: those of the READMEs that readme.rs includes.
fn is_tested_page(source: &Source) -> bool {
    let folder = source.path.strip_suffix("README.md");
    folder.is_some_and(|f| f.is_empty() || LIBRARIES.contains(&f.trim_end_matches('/')))
}

/// Returns the files of `tests/`, and those that `#[cfg(test)] mod name;` brings in.
fn test_files(sources: &[Source]) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut folders = Vec::new();
    for source in rust_of_libraries(sources) {
        if source.path.split('/').nth(1) == Some("tests") {
            found.insert(source.path.clone());
        } else if is_library(source) {
            for item in test_items(tokens(source)?) {
                if let [.., TokenTree::Ident(name), TokenTree::Punct(_)] = &item[..] {
                    folders.push(format!("{}{name}", module_folder(&source.path)));
                }
            }
        }
    }
    for source in rust_of_libraries(sources) {
        let is_inside = |folder: &String| {
            let rest = source.path.strip_prefix(folder.as_str());
            rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        };
        if folders.iter().any(is_inside) {
            found.insert(source.path.clone());
        }
    }
    Ok(found)
}

/// Returns where the modules of a file live, with a slash at the end.
fn module_folder(path: &str) -> String {
    let root = ["lib.rs", "mod.rs", "main.rs"]
        .iter()
        .find_map(|name| path.strip_suffix(name));
    match root {
        Some(folder) => folder.to_owned(),
        None => format!("{}/", path.trim_end_matches(".rs")),
    }
}

fn tokens(source: &Source) -> Result<TokenStream> {
    let parsed = source.text.parse::<TokenStream>();
    parsed.map_err(|e| anyhow::anyhow!("{} is no Rust: {e}", source.path))
}

/// Returns the bodies of `#[cfg(test)]` items.
fn test_modules(code: TokenStream) -> Vec<TokenStream> {
    test_items(code)
        .into_iter()
        .map(|item| item.into_iter().collect())
        .collect()
}

/// Returns each item under `#[cfg(test)]`, without its attributes.
fn test_items(code: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut found = Vec::new();
    let mut trees = code.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let TokenTree::Group(group) = &tree else {
            continue;
        };
        if group.delimiter() == Delimiter::Brace {
            found.extend(test_items(group.stream()));
        }
        if group.delimiter() != Delimiter::Bracket || !is_test_attribute(&group.stream()) {
            continue;
        }
        let mut item = Vec::new();
        for tree in trees.by_ref() {
            let is_end = match &tree {
                TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                TokenTree::Punct(punct) => punct.as_char() == ';',
                _ => false,
            };
            item.push(tree);
            if is_end {
                break;
            }
        }
        found.push(item);
    }
    found
}

fn is_test_attribute(attribute: &TokenStream) -> bool {
    let text = attribute.to_string().replace(' ', "");
    text == "cfg(test)" || text.starts_with("cfg(all(test,")
}

fn public_functions(items: &[Item], path: &str, out: &mut Vec<Function>) {
    for item in items {
        match item {
            Item::Fn(f) if is_public(&f.vis) && !is_for_tests(&f.attrs) => {
                out.push(function(None, &f.sig, path));
            }
            Item::Mod(m) if !is_for_tests(&m.attrs) => {
                if let Some((_, items)) = &m.content {
                    public_functions(items, path, out);
                }
            }
            Item::Impl(i) if i.trait_.is_none() && !is_for_tests(&i.attrs) => {
                let owner = type_name(&i.self_ty).map(Owner::Type);
                for item in &i.items {
                    if let ImplItem::Fn(f) = item
                        && is_public(&f.vis)
                        && !is_for_tests(&f.attrs)
                    {
                        out.push(function(owner.clone(), &f.sig, path));
                    }
                }
            }
            Item::Trait(t) if is_public(&t.vis) => {
                for item in &t.items {
                    if let TraitItem::Fn(f) = item {
                        let owner = Owner::Trait(t.ident.to_string());
                        out.push(function(Some(owner), &f.sig, path));
                    }
                }
            }
            Item::Macro(m) => functions_in_macro(m.mac.tokens.clone(), path, out),
            _ => {}
        }
    }
}

fn implementors(items: &[Item], out: &mut Traits) {
    for item in items {
        if let Item::Impl(i) = item
            && let Some((_, path, _)) = &i.trait_
            && let Some(name) = path.segments.last()
            && let Some(ty) = type_name(&i.self_ty)
        {
            out.entry(name.ident.to_string()).or_default().insert(ty);
        }
    }
}

fn function(owner: Option<Owner>, signature: &Signature, path: &str) -> Function {
    Function {
        owner,
        name: signature.ident.to_string(),
        has_self: signature.receiver().is_some(),
        path: path.to_owned(),
        line: signature.ident.span().start().line,
    }
}

/// Finds `pub fn name` in the tokens of a macro. Its type is unknown there, so the name decides.
fn functions_in_macro(code: TokenStream, path: &str, out: &mut Vec<Function>) {
    let trees: Vec<TokenTree> = code.into_iter().collect();
    let is = |i: usize, text: &str| matches!(trees.get(i), Some(TokenTree::Ident(w)) if w == text);
    for (i, tree) in trees.iter().enumerate() {
        if let TokenTree::Group(group) = tree {
            functions_in_macro(group.stream(), path, out);
        }
        let public =
            i >= 1 && (is(i - 1, "pub") || (i >= 2 && is(i - 1, "const") && is(i - 2, "pub")));
        if public
            && is(i, "fn")
            && let Some(TokenTree::Ident(name)) = trees.get(i + 1)
        {
            out.push(Function {
                owner: Some(Owner::Macro),
                name: name.to_string(),
                has_self: true,
                path: path.to_owned(),
                line: name.span().start().line,
            });
        }
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            let text = list.tokens.to_string().replace(' ', "");
            text == "test" || text.starts_with("all(test,")
        }
        _ => false,
    })
}

fn type_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|s| s.ident.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::source;
    use super::*;

    #[track_caller]
    fn missing(library: &str, test: &str) -> Vec<String> {
        let sources = [
            source("nebula-math/src/lib.rs", library),
            source("nebula-math/tests/a.rs", test),
        ];
        let coverage = coverage(&sources).expect("Rust");
        coverage.missing.iter().map(|f| f.name.clone()).collect()
    }

    #[test]
    fn a_public_function_without_a_test_is_reported() {
        let library = "pub fn f() {} pub(crate) fn g() {} fn h() {}";
        assert_eq!(missing(library, ""), ["f"]);
        assert_eq!(missing(library, "#[test] fn t() { f(); }"), [""; 0]);
        let report = coverage(&[source("nebula-math/src/lib.rs", library)]).expect("Rust");
        assert_eq!(
            report.uncalled(),
            ["no test calls nebula-math/src/lib.rs:1 f"]
        );
    }

    #[test]
    fn methods_need_a_receiver_or_a_path() {
        let library = "impl Tree { pub fn len(&self) -> usize { 0 } }";
        assert_eq!(missing(library, "fn t() { len(); }"), ["len"]);
        let called = "fn t() { let tree = Tree::new(); tree.len(); }";
        assert_eq!(missing(library, called), [""; 0]);
        assert_eq!(missing(library, "fn t() { each(Tree::len); }"), [""; 0]);
    }

    #[test]
    fn a_method_of_another_type_does_not_stand_in() {
        #[track_caller]
        fn check(test: &str, expected: &[&str]) {
            let library = "impl Tree { pub fn len(&self) -> usize { 0 } } \
                           impl Grid { pub fn tree(&self) -> Tree { Tree } }";
            let test = format!("{test} fn g() {{ let grid = Grid::new(); grid.tree(); }}");
            assert_eq!(missing(library, &test), expected, "{test}");
        }
        check("fn t() { list.len(); }", &["len"]);
        check("fn t() { Tree::new(); \"text\".len(); }", &["len"]);
        check(
            "fn t() { Tree::new(); let v = vec![1]; v.len(); }",
            &["len"],
        );
        check("fn t(v: Tree) { v.to_string().len(); }", &["len"]);
        check("fn t(v: &[Tree]) { v.len(); }", &["len"]);
        check("fn t(v: &Grid) { Tree::new(); v.len(); }", &["len"]);
        check("fn t(tree: &Tree) { tree.len(); }", &[]);
        check("fn t() { let a = b.tree(); a.len(); }", &[]);
        check("fn t() { each(|tree: &Tree| tree.len()); }", &[]);
        check("fn t() { for tree in [Tree::new()] { tree.len(); } }", &[]);
        check(
            "proptest! { fn t(tree in any::<Tree>()) { tree.len(); } }",
            &[],
        );
        check("fn make() -> Tree { Tree } fn t() { make().len(); }", &[]);
        check(
            "struct Pair { it: Tree } fn t(p: &Pair) { p.it.len(); }",
            &[],
        );
        check(
            "struct Pair { it: Vec<Tree> } fn t(p: &Pair) { p.it.len(); }",
            &["len"],
        );
        check(
            "struct Pair { it: Vec<Tree> } fn t(p: &Pair) { p.it[0].len(); }",
            &[],
        );
        check(
            "struct Pair { it: Grid } fn t(p: &Pair) { Tree::new(); p.it.len(); }",
            &["len"],
        );
        check("all!(len, Tree);", &[]);
        check("all!(len, Grid); fn t(tree: Tree) {}", &["len"]);
    }

    #[test]
    fn a_library_is_not_tested_from_below() {
        let sources = [
            source("nebula-math/tests/a.rs", "fn t() { f(); }"),
            source("nebula-coords/src/lib.rs", "pub fn f() {}"),
        ];
        assert_eq!(coverage(&sources).expect("Rust").missing.len(), 1);
        assert!(can_see(
            "nebula-coords/tests/a.rs",
            "nebula-math/src/lib.rs"
        ));
        assert!(can_see("README.md", "nebula-coords/src/lib.rs"));
    }

    #[test]
    fn one_new_does_not_stand_in_for_another() {
        let library = "impl Tree { pub fn new() -> Self { Self } }";
        assert_eq!(missing(library, "fn t() { Grid::new(); }"), ["new"]);
        assert_eq!(missing(library, "fn t() { Tree::new(); }"), [""; 0]);
        assert_eq!(missing(library, "fn t() { Tree::<u32>::new(); }"), [""; 0]);
        assert_eq!(
            missing(library, "type T = Tree<u8>; fn t() { T::new(); }"),
            [""; 0]
        );
        assert_eq!(
            missing(library, "all!(Tree); fn t() { <$t>::new(); }"),
            [""; 0]
        );
        assert_eq!(missing(library, "fn t() { <$t>::new(); }"), ["new"]);
    }

    #[test]
    fn trait_methods_are_listed_and_foreign_traits_are_not() {
        let library = "pub trait Ask { fn ask(&self); } impl Add for A { fn add(self) {} }";
        assert_eq!(missing(library, ""), ["ask"]);
    }

    #[test]
    fn functions_written_by_macros_are_found() {
        let library = "macro_rules! m { () => { pub const fn made(self) {} } }";
        assert_eq!(missing(library, ""), ["made"]);
        assert_eq!(missing(library, "fn t() { a.made(); }"), [""; 0]);
    }

    #[test]
    fn unit_tests_and_examples_count_but_library_code_does_not() {
        let used = "pub fn f() {} fn other() { f(); }";
        assert_eq!(missing(used, ""), ["f"]);
        let tested = "pub fn f() {} #[cfg(test)] mod tests { fn t() { f(); } }";
        assert_eq!(missing(tested, ""), [""; 0]);
        let shown = "/// Text.\n/// ```\n/// f();\n/// ```\npub fn f() {}";
        assert_eq!(missing(shown, ""), [""; 0]);
    }

    #[test]
    fn a_test_module_in_its_own_file_counts() {
        let sources = [
            source(
                "nebula-math/src/a.rs",
                "pub fn f() {} #[cfg(test)] mod tests;",
            ),
            source("nebula-math/src/a/tests.rs", "pub fn helper() { f(); }"),
        ];
        let coverage = coverage(&sources).expect("Rust");
        assert_eq!(coverage.len(), 1, "{coverage:?}");
        assert_eq!(coverage.called[0].1, "nebula-math/src/a/tests.rs: helper");
    }
}
