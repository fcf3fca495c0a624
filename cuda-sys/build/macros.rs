//! The header's macros, which bindgen drops unless they are plain numbers: renamed functions, aliases, and the
//! constants that are a number cast to a handle.

use std::collections::{BTreeMap, HashMap};

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Item;

/// The macros by name; each body is a list of tokens.
#[derive(Debug, Default)]
pub struct Macros(BTreeMap<String, Vec<String>>);

/// A constant inside an enum's newtype: the type it belongs to.
pub type Enumerators = HashMap<String, String>;

impl Macros {
    pub fn add(&mut self, name: &str, body: Vec<String>) {
        self.0.insert(name.to_owned(), body);
    }

    /// The names that the header's macros give to each function, shortest first.
    pub fn names_of_functions(&self) -> HashMap<String, Vec<String>> {
        let mut names: HashMap<String, Vec<String>> = HashMap::new();
        for (name, body) in self.0.iter().filter(|(name, _)| name.starts_with("cu")) {
            let body: Vec<_> = body.iter().map(String::as_str).collect();
            let function = match body[..] {
                [target] => target.to_owned(),
                ["__CUDA_API_PTSZ", "(", target, ")"] => format!("{target}_ptsz"),
                ["__CUDA_API_PTDS", "(", target, ")"] => format!("{target}_ptds"),
                _ => continue,
            };
            names.entry(function).or_default().push(name.clone());
        }
        for names in names.values_mut() {
            names.sort_by_key(String::len);
        }
        names
    }

    /// bindgen computes macros as signed numbers, in which `~0u` is −1: makes them what they are in C.
    pub fn restore_unsigned(&self, items: &mut [Item]) {
        for item in items {
            if let Item::Const(constant) = item
                && *constant.ty == syn::parse_quote!(i32)
                && self
                    .0
                    .get(&constant.ident.to_string())
                    .is_some_and(|body| body.iter().any(|token| is_unsigned(token)))
            {
                let value = &constant.expr;
                *constant.expr = syn::parse_quote!((#value as i32).cast_unsigned());
                *constant.ty = syn::parse_quote!(u32);
            }
        }
    }

    /// `#define CU_STREAM_ATTRIBUTE_X CU_LAUNCH_ATTRIBUTE_X` and `#define CU_STREAM_LEGACY ((CUstream)0x1)` as constants.
    pub fn constants(&self, items: &[Item], enumerators: &Enumerators) -> Vec<TokenStream> {
        let types: Vec<String> = items.iter().filter_map(type_name).collect();
        let constant = |(name, body): (&String, &Vec<String>)| -> Option<TokenStream> {
            let name = format_ident!("{}", name);
            let body: Vec<_> = body.iter().map(String::as_str).collect();
            let (cast, value) = match body[..] {
                [target] => {
                    let target_type = format_ident!("{}", enumerators.get(target)?);
                    let target = format_ident!("{target}");
                    return Some(quote!(pub const #name: #target_type = #target_type::#target;));
                }
                ["(", "(", "void", "*", ")", value, ")"] => (quote!(*mut ::core::ffi::c_void), value.to_owned()),
                ["(", "(", cast, ")", ref value @ .., ")"] if types.iter().any(|name| name == cast) => {
                    let cast = format_ident!("{cast}");
                    (quote!(#cast), value.concat())
                }
                _ => return None,
            };
            let value: syn::Expr = syn::parse_str(&value).ok()?;
            Some(quote!(pub const #name: #cast = #value as #cast;))
        };
        self.0.iter().filter(|(name, _)| name.starts_with("CU")).filter_map(constant).collect()
    }
}

/// A C literal such as `0u`.
fn is_unsigned(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_digit()) && token.ends_with(['u', 'U'])
}

fn type_name(item: &Item) -> Option<String> {
    match item {
        Item::Type(item) => Some(item.ident.to_string()),
        _ => None,
    }
}
