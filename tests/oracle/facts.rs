//! What is compared, and what cannot be.

use std::collections::{BTreeMap, HashMap, HashSet};

use proc_macro2::TokenStream;
use quote::quote;
use syn::{FieldsNamed, Ident, Type};

use crate::bindings::{Bindings, is_opaque, path};

/// Macros that the header undefines at its end: the bindings have them, C code has not.
const UNDEFINED_AGAIN: [&str; 2] = ["RESOURCE_ABI_VERSION", "RESOURCE_ABI_BYTES"];

/// All questions, and what C has no expression for.
pub struct Facts {
    /// How many structures and unions the facts are about.
    pub records: usize,
    pub facts: Vec<Fact>,
    /// By reason.
    pub uncompared: BTreeMap<&'static str, Vec<String>>,
}

/// One question in both languages.
pub struct Fact {
    /// What it is, such as `offset of CUlaunchAttribute_st.value`.
    pub what: String,
    /// An expression of type `i64`, or a pointer.
    pub rust: TokenStream,
    pub is_address: bool,
    /// An integer or a pointer.
    pub c: String,
}

/// Everything that can be asked about the bindings.
pub fn of(bindings: &Bindings<'_>) -> Facts {
    let mut asking = Asking::new(bindings);
    asking.records();
    asking.enums();
    asking.aliases();
    asking.constants();
    asking.answer
}

struct Asking<'a> {
    bindings: &'a Bindings<'a>,
    typedefs: HashMap<&'a Ident, &'a Ident>,
    records: HashMap<&'a Ident, &'a FieldsNamed>,
    /// The records that were asked about.
    seen: HashSet<&'a Ident>,
    answer: Facts,
}

impl<'a> Asking<'a> {
    fn new(bindings: &'a Bindings<'a>) -> Self {
        Self {
            bindings,
            typedefs: bindings.typedefs(),
            records: bindings.records.iter().copied().collect(),
            seen: HashSet::new(),
            answer: Facts { records: 0, facts: Vec::new(), uncompared: BTreeMap::new() },
        }
    }

    fn ask(&mut self, what: String, rust: TokenStream, c: String) {
        self.answer.facts.push(Fact { what, rust, is_address: false, c });
    }

    fn leave_out(&mut self, why: &'static str, what: String) {
        self.answer.uncompared.entry(why).or_default().push(what);
    }

    fn ask_layout(&mut self, name: &Ident, c_type: &str) {
        self.ask(format!("size of {name}"), quote!(size_of::<#name>() as i64), format!("sizeof({c_type})"));
        self.ask(format!("alignment of {name}"), quote!(align_of::<#name>() as i64), format!("_Alignof({c_type})"));
    }

    /// Those that have a typedef first, and with them those that C code reaches as members only. What is left then
    /// has no other name than its own.
    fn records(&mut self) {
        let bindings = self.bindings;
        for &(name, fields) in &bindings.records {
            if is_opaque(fields) {
                self.leave_out("the header declares their names only", name.to_string());
            } else if let Some(typedef) = self.typedefs.get(name) {
                self.record(name, &typedef.to_string());
            }
        }
        for &(name, fields) in &bindings.records {
            if !is_opaque(fields) {
                self.record(name, &name.to_string());
            }
        }
    }

    fn record(&mut self, name: &'a Ident, c_type: &str) {
        if self.seen.insert(name) {
            self.answer.records += 1;
            self.ask_layout(name, c_type);
            self.fields(name, &Members { record: name, c_type, rust_path: TokenStream::new() });
        }
    }

    /// The fields of `of`: the record itself, or a member of it that has no name in C.
    fn fields(&mut self, of: &'a Ident, members: &Members<'_>) {
        let Members { record, c_type, rust_path } = members;
        for field in &self.records[of].named {
            let name = field.ident.as_ref().expect("a named field");
            let rust_name = name.to_string();
            let rust_path = quote!(#rust_path #name);
            let record_of_field = path(element(&field.ty)).filter(|ty| self.records.contains_key(ty));
            if let Some(inner) = record_of_field.filter(|_| rust_name.starts_with("__bindgen_anon_")) {
                self.seen.insert(inner);
                self.leave_out("neither they nor their members have names in C", inner.to_string());
                self.fields(inner, &Members { record, c_type, rust_path: quote!(#rust_path.) });
                continue;
            }
            if rust_name.starts_with("__bindgen") || rust_name.starts_with("_bitfield") {
                self.leave_out("they are bindgen's own padding or bits", format!("{of}.{name}"));
                continue;
            }
            let (c_name, ty) = (c_name(&rust_name), &field.ty);
            let member = format!("(({c_type} *)0)->{c_name}");
            self.ask(
                format!("offset of {of}.{c_name}"),
                quote!(offset_of!(#record, #rust_path) as i64),
                format!("offsetof({c_type}, {c_name})"),
            );
            self.ask(
                format!("member size of {of}.{c_name}"),
                quote!(size_of::<#ty>() as i64),
                format!("sizeof({member})"),
            );
            if let Some(inner) = record_of_field.filter(|inner| !self.typedefs.contains_key(inner)) {
                self.record(inner, &format!("__typeof__({member}{})", first(&field.ty)));
            }
        }
    }

    fn enums(&mut self) {
        let bindings = self.bindings;
        for &(name, integer) in &bindings.enums {
            let c_type = self.typedefs.get(name).map_or(name, |typedef| *typedef).to_string();
            self.ask_layout(name, &c_type);
            self.ask(format!("sign of {name}"), quote!((<#integer>::MIN != 0) as i64), format!("(({c_type})-1 < 0)"));
        }
        for &(newtype, name) in &bindings.enumerators {
            self.ask(format!("value of {name}"), quote!(#newtype::#name.0 as i64), name.to_string());
        }
    }

    fn aliases(&mut self) {
        let bindings = self.bindings;
        for &(name, target) in &bindings.aliases {
            let record = path(bindings.resolve(target)).and_then(|target| self.records.get(target));
            if !record.is_some_and(|fields| is_opaque(fields)) {
                self.ask_layout(name, &name.to_string());
            }
        }
        for &(name, target) in &bindings.renamed {
            if bindings.enums.iter().any(|(newtype, _)| *newtype == target) {
                self.ask_layout(name, &name.to_string());
            }
        }
    }

    fn constants(&mut self) {
        let bindings = self.bindings;
        for &(name, ty) in &bindings.constants {
            if UNDEFINED_AGAIN.iter().any(|macro_name| name == macro_name) {
                self.leave_out("the header undefines them again", name.to_string());
                continue;
            }
            let ty = bindings.resolve(ty);
            let is_address = matches!(ty, Type::Ptr(_));
            let is_enum = path(ty).is_some_and(|ty| bindings.enums.iter().any(|(newtype, _)| *newtype == ty));
            let rust = match (is_address, is_enum) {
                (true, _) => quote!(#name.cast()),
                (_, true) => quote!(#name.0 as i64),
                _ => quote!(#name as i64),
            };
            self.answer.facts.push(Fact { what: format!("value of {name}"), rust, is_address, c: name.to_string() });
        }
    }
}

/// How the fields of a record are reached: in C they are the record's own, in Rust they may lie in nameless members.
struct Members<'a> {
    record: &'a Ident,
    c_type: &'a str,
    rust_path: TokenStream,
}

fn element(ty: &Type) -> &Type {
    match ty {
        Type::Array(array) => element(&array.elem),
        other => other,
    }
}

/// The C index to an array's first element.
fn first(ty: &Type) -> String {
    match ty {
        Type::Array(array) => "[0]".to_owned() + &first(&array.elem),
        _ => String::new(),
    }
}

/// bindgen appends `_` to a name that is a word of Rust's.
fn c_name(rust: &str) -> &str {
    rust.strip_suffix('_').filter(|name| syn::parse_str::<Ident>(name).is_err()).unwrap_or(rust)
}
