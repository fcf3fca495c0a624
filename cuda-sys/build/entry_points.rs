//! The driver's functions, as one `functions!` table that `src/entry_points.rs` turns into loaded or linked ones.

use std::collections::{HashMap, HashSet};
use std::iter;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{ForeignItem, ForeignItemFn, Item};

use crate::macros::Macros;

/// Takes the functions out of bindgen's items. In their place: the lines of the table, and of the other names of its
/// rows.
pub fn split(items: Vec<Item>, macros: &Macros) -> (Vec<String>, Vec<Item>) {
    let mut functions = Vec::new();
    let mut others = Vec::new();
    for item in items {
        match item {
            Item::ForeignMod(block) => functions.extend(block.items.into_iter().filter_map(|item| match item {
                ForeignItem::Fn(function) => Some(function),
                _ => None,
            })),
            other => others.push(other),
        }
    }
    (table(&functions, &macros.names_of_functions()), others)
}

fn table(functions: &[ForeignItemFn], names: &HashMap<String, Vec<String>>) -> Vec<String> {
    let rows: Vec<Row<'_>> = functions.iter().map(|function| Row::new(function, names)).collect();
    let taken: HashSet<&String> = rows.iter().map(|row| &row.name).collect();
    let entries = rows.iter().map(|row| row.entry().to_string());
    let aliases = rows.iter().flat_map(|row| {
        row.aliases.iter().filter(|alias| !taken.contains(alias)).map(|alias| {
            let (name, alias) = (format_ident!("{}", row.name), format_ident!("{alias}"));
            quote!(#[doc(inline)] pub use self::#name as #alias;).to_string()
        })
    });
    let table = iter::once("functions! {".to_owned()).chain(entries).chain(iter::once("}".to_owned()));
    table.chain(aliases).collect()
}

struct Row<'a> {
    function: &'a ForeignItemFn,
    /// The name in the documentation.
    name: String,
    aliases: Vec<String>,
    /// The exported name, without and with `per-thread-default-stream`.
    symbol: String,
    per_thread_symbol: String,
}

impl<'a> Row<'a> {
    fn new(function: &'a ForeignItemFn, names: &HashMap<String, Vec<String>>) -> Self {
        let per_thread_symbol = function.sig.ident.to_string();
        let unsuffixed = per_thread_symbol.strip_suffix("_ptsz").or_else(|| per_thread_symbol.strip_suffix("_ptds"));
        let symbol = unsuffixed.unwrap_or(&per_thread_symbol).to_owned();
        let mut aliases = names.get(&per_thread_symbol).cloned().unwrap_or_default();
        aliases.push(symbol.clone());
        let name = aliases.remove(0);
        aliases.retain(|alias| *alias != name);
        aliases.dedup();
        Self { function, name, aliases, symbol, per_thread_symbol }
    }

    fn entry(&self) -> TokenStream {
        let Self { function, symbol, per_thread_symbol, .. } = self;
        let name = format_ident!("{}", self.name);
        let docs = function.attrs.iter().filter(|attribute| attribute.path().is_ident("doc"));
        let (arguments, result) = (&function.sig.inputs, &function.sig.output);
        quote!(#(#docs)* fn #name [#symbol, #per_thread_symbol] (#arguments) #result;)
    }
}
