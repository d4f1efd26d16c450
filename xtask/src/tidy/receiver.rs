//! What can the value before a `.method()` be? A guess from tokens, good enough to tell a box from a list.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::calls::{is_parenthesis, is_path_separator, is_punct, qualifier, word, words};

/// What is known about the value that a method is called on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Receiver {
    /// Nothing: a closure's argument, an element.
    Unknown,
    /// A literal or a list, which has no methods of ours.
    Foreign,
    /// A value of a type that these words spell.
    Typed(BTreeSet<String>),
    /// What a function of this name returns, with the type or module before `::`.
    Returned(String, Option<String>),
    /// A value drawn by an expression of these words.
    Drawn(BTreeSet<String>),
    /// What a field of this name holds.
    Field(String),
    /// An element of what a field of this name holds.
    Element(String),
}

/// Methods whose result has the methods of what they are called on, as far as tests go.
const TRANSPARENT: [&str; 7] = [
    "unwrap", "expect", "clone", "copied", "cloned", "as_ref", "as_mut",
];

/// Methods that return text, lists or numbers.
const FOREIGN: [&str; 5] = ["to_string", "collect", "to_vec", "count", "as_str"];

/// Types with many values, whose own methods are not ours.
const LISTS: [&str; 6] = [
    "Vec", "VecDeque", "BTreeMap", "BTreeSet", "HashMap", "HashSet",
];

/// Returns what the expression that ends before `end` may be, by its last step. A variable has one
/// entry for each place in `scope` that binds it.
pub(super) fn receivers(trees: &[TokenTree], end: usize, scope: &[TokenTree]) -> Vec<Receiver> {
    resolve(trees, end, scope, 4)
}

fn resolve(
    trees: &[TokenTree],
    mut end: usize,
    scope: &[TokenTree],
    depth: usize,
) -> Vec<Receiver> {
    while end > 0 && is_punct(trees, end - 1, '?') {
        end -= 1;
    }
    let Some(last) = end.checked_sub(1) else {
        return vec![Receiver::Unknown];
    };
    match &trees[last] {
        TokenTree::Literal(_) => vec![Receiver::Foreign],
        TokenTree::Group(group) => match group.delimiter() {
            Delimiter::Parenthesis if last >= 2 && is_punct(trees, last - 1, '!') => {
                let is_format = word(trees, last - 2).as_deref() == Some("format");
                vec![if is_format {
                    Receiver::Foreign
                } else {
                    Receiver::Unknown
                }]
            }
            Delimiter::Parenthesis => called(trees, last, scope, depth),
            Delimiter::Bracket if last == 0 || is_punct(trees, last - 1, '!') => {
                vec![Receiver::Foreign]
            }
            Delimiter::Bracket => vec![match field(trees, last - 1) {
                Some(name) => Receiver::Element(name),
                None => Receiver::Unknown,
            }],
            _ => vec![Receiver::Unknown],
        },
        TokenTree::Ident(name) => {
            let is_path = last >= 2 && is_path_separator(trees, last - 2);
            if is_path {
                // A constant, mostly of the type that holds it.
                let owner = qualifier(trees, last - 2);
                return vec![owner.map_or(Receiver::Unknown, |o| Receiver::Typed([o].into()))];
            }
            if let Some(name) = field(trees, last) {
                return vec![Receiver::Field(name)];
            }
            if depth == 0 {
                return vec![Receiver::Unknown];
            }
            let mut found = Vec::new();
            bindings(&name.to_string(), scope, scope, depth - 1, &mut found);
            if found.is_empty() {
                found.push(Receiver::Unknown);
            }
            found
        }
        TokenTree::Punct(_) => vec![Receiver::Unknown],
    }
}

/// Returns the name of the field that the expression at `last` ends with.
fn field(trees: &[TokenTree], last: usize) -> Option<String> {
    let is_field = last >= 1 && is_punct(trees, last - 1, '.');
    word(trees, last).filter(|_| is_field)
}

/// Resolves `name(..)`, `Type::name(..)` and `value.name(..)`, the arguments at `last`.
fn called(trees: &[TokenTree], last: usize, scope: &[TokenTree], depth: usize) -> Vec<Receiver> {
    let Some(at) = last.checked_sub(1) else {
        return vec![Receiver::Unknown];
    };
    let Some(name) = word(trees, at) else {
        return vec![Receiver::Unknown];
    };
    if at >= 1 && is_punct(trees, at - 1, '.') && TRANSPARENT.contains(&name.as_str()) {
        return resolve(trees, at - 1, scope, depth);
    }
    if FOREIGN.contains(&name.as_str()) {
        return vec![Receiver::Foreign];
    }
    if at >= 2 && is_path_separator(trees, at - 2) {
        let owner = qualifier(trees, at - 2);
        if owner.is_none() {
            return vec![Receiver::Unknown];
        }
        return vec![Receiver::Returned(name, owner)];
    }
    vec![Receiver::Returned(name, None)]
}

/// Collects what each `let`, parameter and drawn value of this name may be.
fn bindings(
    name: &str,
    trees: &[TokenTree],
    scope: &[TokenTree],
    depth: usize,
    out: &mut Vec<Receiver>,
) {
    for (i, tree) in trees.iter().enumerate() {
        if let TokenTree::Group(group) = tree {
            let inner: Vec<TokenTree> = group.stream().into_iter().collect();
            bindings(name, &inner, scope, depth, out);
        }
        if word(trees, i).as_deref() != Some(name) {
            continue;
        }
        let before = i.checked_sub(1).and_then(|b| word(trees, b));
        let is_let = matches!(before.as_deref(), Some("let" | "mut"));
        let rest = &trees[i + 1..];
        if is_punct(rest, 0, ':')
            && !is_path_separator(rest, 0)
            && !is_path_separator(trees, i.saturating_sub(2))
        {
            let end = end_of(rest, &[',', ';', '=', '|']);
            out.push(typed(&rest[1..end]));
        } else if is_let && is_punct(rest, 0, '=') {
            let end = end_of(rest, &[';']);
            let value = &rest[1..end];
            if is_plain(value) {
                out.extend(resolve(value, value.len(), scope, depth));
            } else {
                out.push(Receiver::Unknown);
            }
        } else if word(rest, 0).as_deref() == Some("in") && before.as_deref() != Some("for") {
            let end = end_of(rest, &[',']);
            out.push(Receiver::Drawn(words(&rest[1..end])));
        }
    }
}

/// Returns what a written type says. A generic one says nothing.
pub(super) fn typed(ty: &[TokenTree]) -> Receiver {
    let head = ty
        .iter()
        .position(|tree| !matches!(tree, TokenTree::Punct(_)));
    let Some(mut head) = head else {
        return Receiver::Unknown;
    };
    while matches!(word(ty, head).as_deref(), Some("mut" | "dyn" | "a" | "_")) {
        head += 1;
        while is_punct(ty, head, '&') {
            head += 1;
        }
    }
    match word(ty, head) {
        Some(name) if name == "impl" || name.len() == 1 || name == "Self" => Receiver::Unknown,
        Some(name) if LISTS.contains(&name.as_str()) => Receiver::Foreign,
        Some(_) => Receiver::Typed(words(ty)),
        None if matches!(&ty.get(head), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Bracket) => {
            Receiver::Foreign
        }
        None => Receiver::Unknown,
    }
}

/// Returns whether the value is one chain of calls, whose last step decides its type.
fn is_plain(value: &[TokenTree]) -> bool {
    let operators = value
        .iter()
        .skip(1)
        .any(|tree| matches!(tree, TokenTree::Punct(p) if "+-*/%|^=".contains(p.as_char())));
    let first = word(value, 0);
    !operators && !matches!(first.as_deref(), Some("if" | "match" | "loop" | "move"))
}

fn end_of(trees: &[TokenTree], stops: &[char]) -> usize {
    let mut open = 0_i32;
    for (i, tree) in trees.iter().enumerate() {
        if let TokenTree::Punct(p) = tree {
            match p.as_char() {
                '<' => open += 1,
                '>' => open -= 1,
                c if i > 0 && (open <= 0 || c == ';') && stops.contains(&c) => return i,
                _ => {}
            }
        }
    }
    trees.len()
}

/// Returns the words of the type that the function at `name` returns, and where its body is.
pub(super) fn signature(trees: &[TokenTree], name: usize) -> (Option<usize>, &[TokenTree]) {
    let mut arrow = None;
    for i in name + 1..trees.len() {
        match &trees[i] {
            TokenTree::Punct(p) if p.as_char() == '>' && is_punct(trees, i - 1, '-') => {
                arrow = arrow.or(Some(i + 1));
            }
            TokenTree::Punct(p) if p.as_char() == ';' => {
                return (None, arrow.map_or(&[], |a| &trees[a..i]));
            }
            TokenTree::Group(g) if g.delimiter() == Delimiter::Brace => {
                return (Some(i), arrow.map_or(&[], |a| &trees[a..i]));
            }
            _ => {}
        }
    }
    (None, &[])
}

/// What a function returns.
#[derive(Debug)]
pub(super) struct Returns {
    /// The words of the type.
    pub(super) types: BTreeSet<String>,
    /// The type that the function belongs to.
    pub(super) own: Option<String>,
}

/// Returns each function's name with the words of its return type. A function without `self` does not
/// count as returning its own type: whoever calls it names the type.
pub(super) fn returns(code: TokenStream) -> Vec<(String, Returns)> {
    let mut out = Vec::new();
    collect_returns(&code.into_iter().collect::<Vec<_>>(), None, &mut out);
    out
}

fn collect_returns(trees: &[TokenTree], owner: Option<&str>, out: &mut Vec<(String, Returns)>) {
    let mut header: Option<usize> = None;
    for (i, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Ident(w) if w == "impl" && owner.is_none() => header = Some(i),
            TokenTree::Ident(w) if w == "trait" => header = Some(i),
            TokenTree::Ident(w) if w == "fn" => {
                header = None;
                let Some(name) = word(trees, i + 1) else {
                    continue;
                };
                let (_, ty) = signature(trees, i + 1);
                let mut types = words(ty);
                if let Some(owner) = owner {
                    let has_own = types.remove("Self") || types.remove(owner);
                    if has_own && takes_self(trees, i + 2) {
                        types.insert(owner.to_owned());
                    }
                }
                out.push((
                    name,
                    Returns {
                        types,
                        own: owner.map(str::to_owned),
                    },
                ));
            }
            TokenTree::Group(g) => {
                let inner: Vec<TokenTree> = g.stream().into_iter().collect();
                if g.delimiter() == Delimiter::Brace
                    && let Some(start) = header.take()
                {
                    let name = owner_of(&trees[start + 1..i]);
                    collect_returns(&inner, name.as_deref(), out);
                } else {
                    collect_returns(&inner, owner, out);
                }
            }
            _ => {}
        }
    }
}

fn takes_self(trees: &[TokenTree], from: usize) -> bool {
    let arguments = (from..trees.len()).find(|&i| is_parenthesis(trees, i));
    match arguments.and_then(|i| trees.get(i)) {
        Some(TokenTree::Group(g)) => g
            .stream()
            .into_iter()
            .take(5)
            .any(|tree| matches!(tree, TokenTree::Ident(w) if w == "self")),
        _ => false,
    }
}

/// Returns the type of `impl<..> Trait for Type<..> where ..`, or the name of a trait.
pub(super) fn owner_of(header: &[TokenTree]) -> Option<String> {
    let start = header
        .iter()
        .position(|tree| matches!(tree, TokenTree::Ident(w) if w == "for"))
        .map_or(0, |i| i + 1);
    let mut depth = 0_i32;
    let mut name = None;
    for tree in &header[start..] {
        match tree {
            TokenTree::Punct(p) if p.as_char() == '<' => depth += 1,
            TokenTree::Punct(p) if p.as_char() == '>' => depth -= 1,
            TokenTree::Punct(p) if p.as_char() == ':' && depth == 0 && start == 0 => {}
            TokenTree::Ident(w) if w == "where" => break,
            TokenTree::Ident(w) if depth == 0 => name = Some(w.to_string()),
            _ => {}
        }
    }
    name
}
