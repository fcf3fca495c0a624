//! bindgen's Rust types, spelled as C.

use std::collections::HashMap;

use syn::{Expr, Fields, Lit, PointerMutability, Type};

/// A type as C has it; an anonymous struct by its fields, since bindgen's name for it means nothing to anybody.
pub fn spell(ty: &Type, structs: &HashMap<String, &Fields>) -> String {
    match ty {
        Type::Array(array) => format!("{}[{}]", spell(&array.elem, structs), length(&array.len)),
        Type::Ptr(pointer) => match pointer.mutability {
            PointerMutability::Const(_) => format!("const {} *", spell(&pointer.elem, structs)),
            PointerMutability::Mut(_) => format!("{} *", spell(&pointer.elem, structs)),
        },
        _ => {
            let name = last_name(ty).unwrap_or_else(|| "?".to_owned());
            match structs.get(&name) {
                Some(fields) if name.contains("__bindgen_ty_") => anonymous(fields, structs),
                _ => scalar(&name).map_or(name, str::to_owned),
            }
        }
    }
}

/// The last name of a path.
pub fn last_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        _ => None,
    }
}

fn anonymous(fields: &Fields, structs: &HashMap<String, &Fields>) -> String {
    let fields: Vec<_> = fields
        .iter()
        .filter_map(|field| Some(format!("{}: {}", field.ident.as_ref()?, spell(&field.ty, structs))))
        .collect();
    format!("struct {{ {} }}", fields.join(", "))
}

fn length(expr: &Expr) -> String {
    match expr {
        Expr::Lit(syn::ExprLit { lit: Lit::Int(number), .. }) => number.base10_digits().to_owned(),
        _ => "?".to_owned(),
    }
}

fn scalar(name: &str) -> Option<&'static str> {
    Some(match name {
        "c_char" => "char",
        "c_schar" => "signed char",
        "c_uchar" => "unsigned char",
        "c_short" => "short",
        "c_ushort" => "unsigned short",
        "c_int" => "int",
        "c_uint" => "unsigned int",
        "c_long" => "long",
        "c_ulong" => "unsigned long",
        "c_longlong" => "long long",
        "c_ulonglong" => "unsigned long long",
        "c_void" => "void",
        "f32" => "float",
        "f64" => "double",
        "usize" => "size_t",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_spelled_as_c() {
        let item: syn::ItemStruct =
            syn::parse_str("struct U__bindgen_ty_1 { x: ::std::os::raw::c_uint, e: CUevent }").unwrap();
        let structs = HashMap::from([("U__bindgen_ty_1".to_owned(), &item.fields)]);
        for (rust, c) in [
            ("::std::os::raw::c_int", "int"),
            ("[::std::os::raw::c_char; 64usize]", "char[64]"),
            ("*mut ::std::os::raw::c_void", "void *"),
            ("*const f32", "const float *"),
            ("CUsynchronizationPolicy", "CUsynchronizationPolicy"),
            ("U__bindgen_ty_1", "struct { x: unsigned int, e: CUevent }"),
        ] {
            assert_eq!(spell(&syn::parse_str(rust).unwrap(), &structs), c);
        }
    }
}
