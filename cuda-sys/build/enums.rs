//! Every C enum is a newtype over its integer: an unknown value is data. Here it learns to print its name.

use std::collections::HashSet;

use quote::quote;
use syn::{ImplItem, Item};

use crate::macros::Enumerators;

/// Gives each enum's newtype a `Debug` that prints the enumerator's name, or the number, and lists all enumerators.
pub fn name_in_debug(items: &mut Vec<Item>) -> Enumerators {
    let mut enumerators = Enumerators::new();
    let mut impls = Vec::new();
    for item in items.iter() {
        let Item::Impl(block) = item else { continue };
        if block.trait_.is_some() {
            continue;
        }
        let newtype = &block.self_ty;
        let mut values = HashSet::new();
        let mut arms = Vec::new();
        for constant in &block.items {
            let ImplItem::Const(constant) = constant else { continue };
            let (name, value) = (&constant.ident, &constant.expr);
            // Two enumerators of one value: the first is the one that prints.
            if values.insert(quote!(#value).to_string()) {
                arms.push(quote!(Self::#name => stringify!(#name),));
            }
            enumerators.insert(name.to_string(), quote!(#newtype).to_string());
        }
        if arms.is_empty() {
            continue;
        }
        impls.push(syn::parse_quote! {
            impl ::core::fmt::Debug for #newtype {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.write_str(match *self {
                        #(#arms)*
                        Self(number) => return ::core::fmt::Debug::fmt(&number, f),
                    })
                }
            }
        });
    }
    let newtypes: HashSet<&String> = enumerators.values().collect();
    for item in items.iter_mut() {
        if let Item::Struct(item) = item
            && newtypes.contains(&item.ident.to_string())
        {
            drop_derive(&mut item.attrs, "Debug");
        }
    }
    items.append(&mut impls);
    enumerators
}

fn drop_derive(attributes: &mut [syn::Attribute], dropped: &str) {
    for attribute in attributes.iter_mut().filter(|attribute| attribute.path().is_ident("derive")) {
        let mut kept = Vec::new();
        // A derive that does not parse would be bindgen's bug, and rustc's to report.
        let _ = attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident(dropped) {
                kept.push(meta.path);
            }
            Ok(())
        });
        *attribute = syn::parse_quote!(#[derive(#(#kept),*)]);
    }
}
