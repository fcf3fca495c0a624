//! cuda-sys's types and constants, read from the bindings' source.

use std::collections::HashMap;

use syn::{Fields, FieldsNamed, Ident, ImplItem, Item, Type, UseTree};

/// The public surface that has a layout or a value.
pub struct Bindings<'a> {
    /// Structures and unions, in the header's order.
    pub records: Vec<(&'a Ident, &'a FieldsNamed)>,
    /// Enums, each with the integer inside its newtype.
    pub enums: Vec<(&'a Ident, &'a Type)>,
    /// Each enumerator with its enum.
    pub enumerators: Vec<(&'a Type, &'a Ident)>,
    /// Constants outside of enums.
    pub constants: Vec<(&'a Ident, &'a Type)>,
    /// `pub type` items.
    pub aliases: Vec<(&'a Ident, &'a Type)>,
    /// `pub use self::… as …`: another name, and the item it is for. Functions are among them.
    pub renamed: Vec<(&'a Ident, &'a Ident)>,
}

impl<'a> Bindings<'a> {
    pub fn new(items: &'a [Item]) -> Self {
        let mut all = Self {
            records: Vec::new(),
            enums: Vec::new(),
            enumerators: Vec::new(),
            constants: Vec::new(),
            aliases: Vec::new(),
            renamed: Vec::new(),
        };
        for item in items {
            match item {
                Item::Struct(item) => match &item.fields {
                    Fields::Named(fields) => all.records.push((&item.ident, fields)),
                    Fields::Unnamed(fields) => all.enums.push((&item.ident, &fields.unnamed[0].ty)),
                    Fields::Unit => panic!("{}: bindgen makes no unit structures", item.ident),
                },
                Item::Union(item) => all.records.push((&item.ident, &item.fields)),
                Item::Type(item) => all.aliases.push((&item.ident, &item.ty)),
                Item::Impl(item) if item.trait_.is_none() => {
                    all.enumerators.extend(item.items.iter().filter_map(|inner| match inner {
                        ImplItem::Const(constant) => Some((&*item.self_ty, &constant.ident)),
                        _ => None,
                    }));
                }
                Item::Enum(item) => {
                    panic!("{}: every C enum is a newtype, since a Rust enum has no room for newer values", item.ident)
                }
                // `const _` holds bindgen's own assertions.
                Item::Const(item) if item.ident != "_" => all.constants.push((&item.ident, &item.ty)),
                Item::Use(item) => all.renamed.extend(renamed(&item.tree)),
                _ => {}
            }
        }
        all
    }

    /// The names that C code uses for a type, the first one of each: the header names most by a typedef.
    pub fn typedefs(&self) -> HashMap<&'a Ident, &'a Ident> {
        let aliases = self.aliases.iter().filter_map(|&(name, target)| Some((path(target)?, name)));
        let renamed = self.renamed.iter().map(|&(name, target)| (target, name));
        let mut typedefs = HashMap::new();
        for (target, name) in aliases.chain(renamed) {
            typedefs.entry(target).or_insert(name);
        }
        typedefs
    }

    /// The type at the end of a chain of aliases.
    pub fn resolve(&self, of: &'a Type) -> &'a Type {
        let next = path(of).and_then(|name| self.aliases.iter().find(|(alias, _)| *alias == name));
        next.map_or(of, |(_, target)| self.resolve(target))
    }
}

/// A type that is one identifier: an item of the bindings.
pub fn path(of: &Type) -> Option<&Ident> {
    match of {
        Type::Path(path) => path.path.get_ident(),
        _ => None,
    }
}

/// Whether C code has only the type's name: a handle's target.
pub fn is_opaque(fields: &FieldsNamed) -> bool {
    fields.named.iter().all(|field| field.ident.as_ref().is_some_and(|name| name == "_unused"))
}

fn renamed(tree: &UseTree) -> Option<(&Ident, &Ident)> {
    match tree {
        UseTree::Path(path) => renamed(&path.tree),
        UseTree::Rename(rename) => Some((&rename.rename, &rename.ident)),
        _ => None,
    }
}
