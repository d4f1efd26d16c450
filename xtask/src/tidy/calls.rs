//! Which names do tests call? Read from tokens, so that code inside macros counts too.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::Source;
use super::functions::can_see;
use super::receiver::{self, Receiver, Returns};

/// How a name is used in a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `name(..)`
    Plain,
    /// `.name(..)`
    Method,
    /// `Type::name`; `None` when the type is only known to the compiler, as in `Self::name`.
    Path(Option<String>),
    /// A name handed to a macro of ours, as in `check!(name)`.
    MacroWord,
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) form: Form,
    /// The file and the test, for people.
    pub(super) place: String,
    /// Where the value before the dot may come from; empty for other forms.
    pub(super) receivers: Vec<Receiver>,
    /// The file, from the top.
    pub(super) path: String,
    /// The function, for `Calls::at_hand`.
    scope: usize,
    /// The file, for `Calls::mentions`.
    file: usize,
}

/// Every name that tests use.
#[derive(Debug, Default)]
pub(super) struct Calls {
    by_name: BTreeMap<String, Vec<Call>>,
    mentions: Vec<BTreeSet<String>>,
    /// The words of each function, or of each macro called outside of one.
    scopes: Vec<BTreeSet<String>>,
    aliases: BTreeMap<String, BTreeSet<String>>,
    /// The functions of a name: the file, and the words of the type that is returned.
    returns: BTreeMap<String, Vec<(String, Returns)>>,
    /// The types of the fields of a name: the file, and the type as written.
    fields: BTreeMap<String, Vec<(String, Vec<TokenTree>)>>,
    /// The words of each macro that tests define.
    macros: BTreeMap<String, BTreeSet<String>>,
}

impl Calls {
    /// Returns the uses of a name, in the order in which the code was added.
    pub(super) fn of(&self, name: &str) -> &[Call] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns whether the file of a call names a type anywhere.
    pub(super) fn mentions(&self, call: &Call, name: &str) -> bool {
        self.mentions[call.file].contains(name)
    }

    /// Returns whether some test names `alias` as another word for `name`.
    pub(super) fn is_alias(&self, alias: &str, name: &str) -> bool {
        self.aliases
            .get(alias)
            .is_some_and(|names| names.contains(name))
    }

    /// Returns whether the function of a call has a value of one of these types: it names one, or calls
    /// something that returns one.
    pub(super) fn at_hand(&self, call: &Call, owners: &BTreeSet<String>) -> bool {
        let names = |word: &String| self.names(word, owners) || self.brings(call, word, owners);
        self.scopes[call.scope].iter().any(|word| {
            let called = self.macros.get(word);
            names(word) || called.is_some_and(|words| words.iter().any(names))
        })
    }

    /// Returns whether a value from here may be of one of these types, or `None` when nothing says.
    pub(super) fn is_of(
        &self,
        call: &Call,
        receiver: &Receiver,
        owners: &BTreeSet<String>,
    ) -> Option<bool> {
        match receiver {
            Receiver::Unknown => None,
            Receiver::Foreign => Some(false),
            Receiver::Typed(words) => Some(words.iter().any(|word| self.names(word, owners))),
            Receiver::Drawn(words) => words
                .iter()
                .any(|word| self.names(word, owners) || self.gives(call, word, owners))
                .then_some(true),
            Receiver::Field(name) => self.holds(call, name, owners, receiver::typed),
            // A list of these: any word of its type may be the element's.
            Receiver::Element(name) => {
                self.holds(call, name, owners, |ty| Receiver::Typed(words(ty)))
            }
            Receiver::Returned(name, None) => self
                .returns
                .contains_key(name)
                .then(|| self.gives(call, name, owners)),
            Receiver::Returned(name, Some(owner)) => {
                Some(self.names(owner, owners) || self.gives(call, name, owners))
            }
        }
    }

    fn names(&self, word: &str, owners: &BTreeSet<String>) -> bool {
        owners.contains(word)
            || self
                .aliases
                .get(word)
                .is_some_and(|real| !real.is_disjoint(owners))
    }

    /// Returns whether a function of this name returns one of the types.
    fn gives(&self, call: &Call, function: &str, owners: &BTreeSet<String>) -> bool {
        let mut types = self.returned(call, function).flat_map(|r| &r.types);
        types.any(|ty| self.names(ty, owners))
    }

    /// The same, except for a method of that type: who calls it has a value already.
    fn brings(&self, call: &Call, function: &str, owners: &BTreeSet<String>) -> bool {
        self.returned(call, function).any(|returns| {
            let is_other = |ty: &&String| returns.own.as_ref() != Some(*ty);
            let mut types = returns.types.iter().filter(is_other);
            types.any(|ty| self.names(ty, owners))
        })
    }

    /// Returns the functions that a call can mean by a name: those of its file, or else all it can see.
    fn returned(&self, call: &Call, function: &str) -> impl Iterator<Item = &Returns> {
        let all = self.returns.get(function).map_or(&[][..], Vec::as_slice);
        let is_local = all.iter().any(|(path, _)| *path == call.path);
        all.iter()
            .filter(move |(path, _)| match is_local {
                true => *path == call.path,
                false => self.may_import(call, path),
            })
            .map(|(_, returns)| returns)
    }

    /// Returns whether the file of a call can see the functions of another: of a library always, of
    /// tests when it names the module.
    fn may_import(&self, call: &Call, path: &str) -> bool {
        let parts = path.trim_end_matches(".rs").split('/').skip(1);
        let mut modules = parts.filter(|part| !matches!(*part, "tests" | "src"));
        let is_library = path.contains("/src/") && can_see(&call.path, path);
        is_library || modules.any(|module| self.mentions(call, module))
    }

    /// Returns whether a field of this name holds one of the types; `None` when no struct in sight has
    /// such a field, or none of them says.
    fn holds(
        &self,
        call: &Call,
        field: &str,
        owners: &BTreeSet<String>,
        typed: fn(&[TokenTree]) -> Receiver,
    ) -> Option<bool> {
        let all = self.fields.get(field).map_or(&[][..], Vec::as_slice);
        let seen = all
            .iter()
            .filter(|(path, _)| *path == call.path || self.may_import(call, path));
        let answers: Vec<Option<bool>> = seen
            .map(|(_, ty)| match typed(ty) {
                Receiver::Typed(words) => Some(words.iter().any(|word| self.names(word, owners))),
                Receiver::Foreign => Some(false),
                _ => None,
            })
            .collect();
        match answers.contains(&Some(true)) {
            true => Some(true),
            false if answers.is_empty() || answers.contains(&None) => None,
            false => Some(false),
        }
    }

    /// Remembers the fields of a struct.
    pub(super) fn add_field(&mut self, path: &str, name: String, ty: TokenStream) {
        let fields = self.fields.entry(name).or_default();
        fields.push((path.to_owned(), ty.into_iter().collect()));
    }

    /// Remembers what the functions of this code return.
    pub(super) fn add_returns(&mut self, path: &str, code: TokenStream) {
        for (name, types) in receiver::returns(code) {
            let functions = self.returns.entry(name).or_default();
            functions.push((path.to_owned(), types));
        }
    }

    /// Adds test code. `fallback` names the place for code outside any function.
    pub(super) fn add(&mut self, path: &str, fallback: &str, code: TokenStream) {
        self.mentions.push(BTreeSet::new());
        self.add_returns(path, code.clone());
        let trees: Vec<TokenTree> = code.into_iter().collect();
        let place = Place {
            path,
            function: fallback,
            scope: self.open_scope(words(&trees)),
            trees: &trees,
            is_function: false,
        };
        self.walk(&trees, &place, false);
    }

    /// Adds the examples of a page or of documentation comments.
    pub(super) fn add_examples(&mut self, source: &Source, markdown: bool) {
        for (line, code) in examples(&source.text, markdown) {
            // An example that is no Rust is rustdoc's to report.
            if let Ok(tokens) = code.parse() {
                self.add(&source.path, &format!("example in line {line}"), tokens);
            }
        }
    }

    fn open_scope(&mut self, words: BTreeSet<String>) -> usize {
        self.scopes.push(words);
        self.scopes.len() - 1
    }

    fn walk(&mut self, trees: &[TokenTree], place: &Place<'_>, words_count: bool) {
        let mut i = 0;
        while let Some(tree) = trees.get(i) {
            match tree {
                TokenTree::Ident(ident) if ident == "fn" && word(trees, i + 1).is_some() => {
                    i = self.walk_function(trees, i + 1, place, words_count);
                }
                TokenTree::Ident(ident) => {
                    let name = ident.to_string();
                    self.alias(&name, trees, i);
                    if let Some(form) = form(trees, i, words_count) {
                        self.record(&name, form, trees, i, place);
                    }
                    self.mention(name);
                }
                TokenTree::Group(group) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    self.walk_group(trees, i, &inner, place, words_count);
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            i += 1;
        }
    }

    /// Walks the function whose name is at `name`, and returns where it ends.
    fn walk_function(
        &mut self,
        trees: &[TokenTree],
        name: usize,
        outer: &Place<'_>,
        words_count: bool,
    ) -> usize {
        let Some(body) = receiver::signature(trees, name).0 else {
            return name;
        };
        let inside = &trees[name + 1..=body];
        let function = word(trees, name).unwrap_or_default();
        let place = Place {
            path: outer.path,
            function: &function,
            scope: self.open_scope(words(inside)),
            trees: inside,
            is_function: true,
        };
        self.walk(inside, &place, words_count);
        body
    }

    fn walk_group(
        &mut self,
        trees: &[TokenTree],
        i: usize,
        inner: &[TokenTree],
        place: &Place<'_>,
        words_count: bool,
    ) {
        if i >= 3
            && word(trees, i - 3).as_deref() == Some("macro_rules")
            && let Some(name) = word(trees, i - 1)
        {
            self.macros.entry(name).or_default().extend(words(inner));
        }
        let is_own = is_own_macro(trees, i);
        if is_own && !place.is_function {
            // A macro outside any function: what it is given, and what it is made of.
            let mut words = words(inner);
            words.extend(word(trees, i - 2));
            let scope = self.open_scope(words);
            let place = Place { scope, ..*place };
            self.walk(inner, &place, true);
        } else {
            self.walk(inner, place, words_count || is_own);
        }
    }

    fn mention(&mut self, name: String) {
        let file = self.mentions.last_mut().expect("add pushed one");
        file.insert(name);
    }

    fn record(&mut self, name: &str, form: Form, trees: &[TokenTree], i: usize, place: &Place<'_>) {
        let receivers = match form {
            Form::Method => receiver::receivers(trees, i - 1, place.trees),
            _ => Vec::new(),
        };
        let call = Call {
            form,
            place: format!("{}: {}", place.path, place.function),
            receivers,
            path: place.path.to_owned(),
            scope: place.scope,
            file: self.mentions.len() - 1,
        };
        self.by_name.entry(name.to_owned()).or_default().push(call);
    }

    /// Remembers `type Alias = Name` and `Name as Alias`.
    fn alias(&mut self, name: &str, trees: &[TokenTree], i: usize) {
        let pair = if word(trees, i.wrapping_sub(1)).as_deref() == Some("type") {
            let equals = (i..trees.len()).find(|&j| is_punct(trees, j, '='));
            let path = equals.map_or(&[][..], |j| &trees[j + 1..]);
            let end = path.iter().position(|tree| match tree {
                TokenTree::Punct(p) => p.as_char() == '<' || p.as_char() == ';',
                _ => false,
            });
            let last = end.and_then(|end| word(path, end.wrapping_sub(1)));
            last.map(|real| (name.to_owned(), real))
        } else if word(trees, i + 1).as_deref() == Some("as") {
            word(trees, i + 2).map(|alias| (alias, name.to_owned()))
        } else {
            None
        };
        if let Some((alias, real)) = pair {
            self.aliases.entry(alias).or_default().insert(real);
        }
    }
}

/// Where the walk is.
#[derive(Clone, Copy)]
struct Place<'a> {
    path: &'a str,
    function: &'a str,
    scope: usize,
    /// The code that binds the variables here.
    trees: &'a [TokenTree],
    is_function: bool,
}

/// Returns every word of the code, at any depth.
pub(super) fn words(trees: &[TokenTree]) -> BTreeSet<String> {
    fn collect(trees: &[TokenTree], out: &mut BTreeSet<String>) {
        for tree in trees {
            match tree {
                TokenTree::Ident(ident) => {
                    out.insert(ident.to_string());
                }
                TokenTree::Group(group) => {
                    collect(&group.stream().into_iter().collect::<Vec<_>>(), out);
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
    let mut out = BTreeSet::new();
    collect(trees, &mut out);
    out
}

/// Returns how the word at `i` is used, or `None` when it is no use of a function.
fn form(trees: &[TokenTree], i: usize, words_count: bool) -> Option<Form> {
    let called = is_parenthesis(trees, i + 1);
    let turbofish = is_path_separator(trees, i + 1) && is_punct(trees, i + 3, '<');
    if i >= 2 && is_path_separator(trees, i - 2) {
        return Some(Form::Path(qualifier(trees, i - 2)));
    }
    if i >= 1 && is_punct(trees, i - 1, '.') {
        return (called || turbofish).then_some(Form::Method);
    }
    if called || turbofish {
        return Some(Form::Plain);
    }
    words_count.then_some(Form::MacroWord)
}

/// Returns the type before the `::` at `separator`.
pub(super) fn qualifier(trees: &[TokenTree], separator: usize) -> Option<String> {
    let mut end = separator.checked_sub(1)?;
    if is_punct(trees, end, '>') {
        // `Type::<A, B>::name`: step back over the arguments.
        let mut depth = 0_usize;
        loop {
            depth += usize::from(is_punct(trees, end, '>'));
            depth -= usize::from(is_punct(trees, end, '<'));
            if depth == 0 {
                break;
            }
            end = end.checked_sub(1)?;
        }
        end = end.checked_sub(1)?;
        if end >= 1 && is_path_separator(trees, end - 1) {
            end = end.checked_sub(2)?;
        }
    }
    let name = word(trees, end)?;
    let is_macro_word = end >= 1 && is_punct(trees, end - 1, '$');
    let is_parameter = name.len() == 1 || name == "Self";
    (!is_macro_word && !is_parameter).then_some(name)
}

/// Returns whether the group at `i` holds the words of a macro that may call what it is given.
/// The arguments of assertions and formatting are values.
fn is_own_macro(trees: &[TokenTree], i: usize) -> bool {
    const VALUES: [&str; 8] = [
        "assert",
        "debug_assert",
        "prop_assert",
        "format",
        "panic",
        "print",
        "vec",
        "matches",
    ];
    if i < 2 || !is_punct(trees, i - 1, '!') {
        return false;
    }
    word(trees, i - 2).is_some_and(|name| {
        name != "proptest" && name != "macro_rules" && !VALUES.iter().any(|v| name.starts_with(v))
    })
}

pub(super) fn word(trees: &[TokenTree], i: usize) -> Option<String> {
    match trees.get(i) {
        Some(TokenTree::Ident(ident)) => Some(ident.to_string()),
        _ => None,
    }
}

pub(super) fn is_punct(trees: &[TokenTree], i: usize, c: char) -> bool {
    matches!(trees.get(i), Some(TokenTree::Punct(p)) if p.as_char() == c)
}

pub(super) fn is_path_separator(trees: &[TokenTree], i: usize) -> bool {
    is_punct(trees, i, ':') && is_punct(trees, i + 1, ':')
}

pub(super) fn is_parenthesis(trees: &[TokenTree], i: usize) -> bool {
    matches!(trees.get(i), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis)
}

/// Returns the code of each example that rustdoc runs, and the line on which it starts.
fn examples(text: &str, markdown: bool) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, bool, String)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        let doc = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"));
        let Some(line) = (if markdown { Some(line) } else { doc }) else {
            open = None;
            continue;
        };
        let line = line.trim();
        if let Some(language) = line.strip_prefix("```") {
            match open.take() {
                None => open = Some((number, is_run(language), String::new())),
                Some((start, true, code)) => found.push((start, code)),
                Some((_, false, _)) => {}
            }
        } else if let Some((_, _, code)) = &mut open {
            // A hidden line starts with `# `; a lone `#` hides nothing.
            code.push_str(
                line.strip_prefix("# ")
                    .unwrap_or(line)
                    .trim_start_matches("##"),
            );
            code.push('\n');
        }
    }
    found
}

fn is_run(language: &str) -> bool {
    const RUN: [&str; 4] = ["", "rust", "should_panic", "edition2024"];
    language.split(',').all(|word| RUN.contains(&word.trim()))
}

#[cfg(test)]
mod tests {
    use super::super::source;
    use super::*;

    fn calls(code: &str) -> Calls {
        let mut calls = Calls::default();
        calls.add("a.rs", "outside", code.parse().expect("Rust"));
        calls
    }

    #[track_caller]
    fn check(code: &str, name: &str, forms: &[Form]) {
        let calls = calls(code);
        let found: Vec<Form> = calls
            .of(name)
            .iter()
            .map(|call| call.form.clone())
            .collect();
        assert_eq!(found, forms, "{code}");
    }

    #[test]
    fn forms_of_a_call_are_told_apart() {
        check("f(1)", "f", &[Form::Plain]);
        check("a.f(1)", "f", &[Form::Method]);
        check("a.f::<u8>()", "f", &[Form::Method]);
        check("a.f + 1", "f", &[]);
        check("let f = 1;", "f", &[]);
        check("fn f() {}", "f", &[]);
        check("map(A::f)", "f", &[Form::Path(None)]);
        check("map(Ab::f)", "f", &[Form::Path(Some("Ab".to_owned()))]);
        check(
            "Ab::<u8, Vec<u8>>::f()",
            "f",
            &[Form::Path(Some("Ab".to_owned()))],
        );
        check("Self::f()", "f", &[Form::Path(None)]);
        check("$index::f()", "f", &[Form::Path(None)]);
        check("<$index>::f()", "f", &[Form::Path(None)]);
    }

    #[test]
    fn code_inside_macros_counts() {
        check("proptest! { fn t() { a.f(1); } }", "f", &[Form::Method]);
        check("assert_eq!(a.f(), 3)", "f", &[Form::Method]);
        check("assert_eq!(f, 3)", "f", &[]);
        check("family!(f, g)", "f", &[Form::MacroWord]);
    }

    #[test]
    fn places_name_the_test() {
        let calls = calls("#[test] fn first() { x.f(); } fn second() { x.g(); }");
        assert_eq!(calls.of("f")[0].place, "a.rs: first");
        assert_eq!(calls.of("g")[0].place, "a.rs: second");
    }

    #[test]
    fn a_macro_after_a_function_is_not_credited_to_it() {
        let calls = calls("fn first() { x.g(); } family!(f);");
        assert_eq!(calls.of("f")[0].place, "a.rs: outside");
    }

    #[test]
    fn aliases_are_known() {
        let calls = calls("type Index = nebula::Tree<u32>; use nebula::Grid as Cells;");
        assert!(calls.is_alias("Index", "Tree"));
        assert!(calls.is_alias("Cells", "Grid"));
        assert!(!calls.is_alias("Index", "Grid"));
    }

    #[test]
    fn only_examples_that_run_are_read() {
        let text =
            "/// ```\n/// # let a = 1;\n/// a.f();\n/// ```\n/// ```text\n/// a.g();\n/// ```\n";
        let mut calls = Calls::default();
        calls.add_examples(&source("src/a.rs", text), false);
        assert_eq!(calls.of("f")[0].place, "src/a.rs: example in line 1");
        assert!(calls.of("g").is_empty());
    }
}
