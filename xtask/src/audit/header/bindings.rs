//! `cuda.h` through bindgen and syn: the enum, the union, the alias macros and the functions' comments.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::rc::Rc;

use bindgen::callbacks::{DeriveTrait, ImplementsTrait, ParseCallbacks, Token};
use bindgen::{BindgenError, EnumVariation, Formatter};
use syn::{Attribute, Expr, ForeignItem, ImplItem, Item, Lit, Meta, UseTree};

use super::{NODE_ALIAS, STREAM_ALIAS, c_type, is_attribute};
use crate::error::Error;
use crate::model::PREFIX;

/// The parts of a header that are about launch attributes.
#[derive(Debug)]
pub struct Bindings {
    pub attributes: Vec<Enumerator>,
    pub members: Vec<Member>,
    pub functions: Vec<Function>,
    /// Each alias macro and the name it stands for.
    pub aliases: BTreeMap<String, String>,
}

/// One value of `CUlaunchAttributeID`.
#[derive(Debug)]
pub struct Enumerator {
    pub name: String,
    pub value: u32,
    pub comment: String,
}

/// One member of `CUlaunchAttributeValue`.
#[derive(Debug)]
pub struct Member {
    pub name: String,
    /// As C has it.
    pub type_name: String,
    pub comment: String,
}

/// A function whose documentation names an attribute.
#[derive(Debug)]
pub struct Function {
    pub name: String,
    pub comment: String,
}

const ENUM: &str = "CUlaunchAttributeID";
const UNION: &str = "CUlaunchAttributeValue";

pub fn read(include: &Path, clang_args: &[String]) -> Result<Bindings, Error> {
    let header = include.join("cuda.h");
    let aliases = Rc::default();
    let builder = builder(&header, clang_args).parse_callbacks(Box::new(AliasReader(Rc::clone(&aliases))));
    // bindgen panics on declarations that it does not expect.
    let generated = panic::catch_unwind(AssertUnwindSafe(|| builder.generate()));
    let unexpected = |what: String| Error::Unexpected { header: header.clone(), what };
    let generated = match generated {
        Ok(Ok(generated)) => generated.to_string(),
        Ok(Err(BindgenError::ClangDiagnostic(text))) => {
            // clang repeats itself on a broken header; its first error tells.
            let first = text.lines().find(|line| line.contains("error:")).unwrap_or(&text);
            return Err(Error::Unparsable { header, what: first.to_owned() });
        }
        Ok(Err(error)) => return Err(unexpected(error.to_string())),
        Err(_) => return Err(unexpected("bindgen gave up on a declaration".to_owned())),
    };
    let file =
        syn::parse_file(&generated).map_err(|error| unexpected(format!("bindgen's output does not parse: {error}")))?;
    let items = Items(file.items);
    let bindings = Bindings {
        attributes: items.attributes(),
        members: items.members(),
        functions: items.functions(),
        aliases: aliases.take(),
    };
    for (empty, name) in [(bindings.attributes.is_empty(), ENUM), (bindings.members.is_empty(), UNION)] {
        if empty {
            return Err(unexpected(format!("it has no {name}")));
        }
    }
    Ok(bindings)
}

/// The enum, the union and all functions: nothing else is generated, which is what makes this quick.
fn builder(header: &Path, clang_args: &[String]) -> bindgen::Builder {
    bindgen::Builder::default()
        .header(header.to_string_lossy())
        .clang_args(clang_args)
        .clang_arg("-w")
        .allowlist_recursively(false)
        .allowlist_type(format!("{ENUM}.*"))
        .allowlist_type(format!("{UNION}.*"))
        .allowlist_function("cu[A-Z].*")
        .default_enum_style(EnumVariation::NewType { is_bitfield: false, is_global: false })
        .prepend_enum_name(false)
        .derive_debug(false)
        .layout_tests(false)
        .formatter(Formatter::None)
}

/// bindgen generates nothing for a macro that names an enumerator, but shows every macro's tokens.
#[derive(Debug)]
struct AliasReader(Rc<RefCell<BTreeMap<String, String>>>);

impl ParseCallbacks for AliasReader {
    fn modify_macro(&self, name: &str, tokens: &mut Vec<Token>) {
        if let [_, target] = &tokens[..]
            && (name.starts_with(STREAM_ALIAS) || name.starts_with(NODE_ALIAS))
        {
            self.0.borrow_mut().insert(name.to_owned(), String::from_utf8_lossy(&target.raw).into_owned());
        }
    }

    /// The types that are not generated are plain C; without this, bindgen would not make the union a union.
    fn blocklisted_type_implements_trait(&self, _name: &str, _derive: DeriveTrait) -> Option<ImplementsTrait> {
        Some(ImplementsTrait::Yes)
    }
}

/// bindgen's output.
struct Items(Vec<Item>);

impl Items {
    fn attributes(&self) -> Vec<Enumerator> {
        let tag = self.tag(ENUM);
        let impls = self.0.iter().filter_map(|item| match item {
            Item::Impl(item) if c_type::last_name(&item.self_ty).as_deref() == Some(&tag) => Some(&item.items),
            _ => None,
        });
        let constants = impls.flatten().filter_map(|item| match item {
            ImplItem::Const(constant) => Some(constant),
            _ => None,
        });
        constants
            .filter_map(|constant| {
                let name = constant.ident.to_string();
                let value = newtype_value(&constant.expr)?;
                is_attribute(&name).then(|| Enumerator { name, value, comment: comment(&constant.attrs) })
            })
            .collect()
    }

    fn members(&self) -> Vec<Member> {
        let tag = self.tag(UNION);
        let structs: HashMap<String, &syn::Fields> = self
            .0
            .iter()
            .filter_map(|item| match item {
                Item::Struct(item) => Some((item.ident.to_string(), &item.fields)),
                _ => None,
            })
            .collect();
        let union = self.0.iter().find_map(|item| match item {
            Item::Union(item) if item.ident == tag => Some(&item.fields.named),
            _ => None,
        });
        let fields = union.into_iter().flatten().filter_map(|field| Some((field.ident.as_ref()?.to_string(), field)));
        fields
            .filter(|(name, _)| name != "pad")
            .map(|(name, field)| Member {
                name,
                type_name: c_type::spell(&field.ty, &structs),
                comment: comment(&field.attrs),
            })
            .collect()
    }

    fn functions(&self) -> Vec<Function> {
        let blocks = self.0.iter().filter_map(|item| match item {
            Item::ForeignMod(block) => Some(&block.items),
            _ => None,
        });
        let functions = blocks.flatten().filter_map(|item| match item {
            ForeignItem::Fn(function) => Some(function),
            _ => None,
        });
        let functions = functions.map(|f| Function { name: f.sig.ident.to_string(), comment: comment(&f.attrs) });
        functions.filter(|function| function.comment.contains(PREFIX)).collect()
    }

    /// The name behind a typedef: C's tag.
    fn tag(&self, typedef: &str) -> String {
        let target = self.0.iter().find_map(|item| match item {
            Item::Type(item) if item.ident == typedef => c_type::last_name(&item.ty),
            Item::Use(item) => renamed(&item.tree, typedef),
            _ => None,
        });
        target.unwrap_or_else(|| typedef.to_owned())
    }
}

/// `X` of `use self::X as name`.
fn renamed(tree: &UseTree, name: &str) -> Option<String> {
    match tree {
        UseTree::Path(path) => renamed(&path.tree, name),
        UseTree::Rename(rename) if rename.rename == name => Some(rename.ident.to_string()),
        _ => None,
    }
}

/// 3 of `CUlaunchAttributeID_enum(3)`.
fn newtype_value(expr: &Expr) -> Option<u32> {
    let Expr::Call(call) = expr else { return None };
    match call.args.first()? {
        Expr::Lit(syn::ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse().ok(),
        _ => None,
    }
}

fn comment(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            // Of the frame `/**< … */` bindgen leaves the angle.
            Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. }) => {
                Some(text.value().trim_start_matches('<').to_owned())
            }
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}
