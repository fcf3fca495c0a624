//! The questions as source.

use quote::quote;

use crate::facts::{Fact, Facts};

/// Two tables that rustc fills in, and the list of what is not compared.
pub fn rust(questions: &Facts) -> String {
    let table = |is_address| {
        let of_this_kind = questions.facts.iter().filter(move |fact| fact.is_address == is_address);
        of_this_kind.map(|Fact { what, rust, .. }| quote!((#what, #rust),))
    };
    let (numbers, addresses) = (table(false), table(true));
    let records = questions.records;
    let uncompared = questions.uncompared.iter().map(|(why, what)| (why, what.join(", ")));
    let uncompared = uncompared.map(|(why, what)| quote!((#why, #what)));
    quote! {
        pub static NUMBERS: &[(&str, i64)] = &[#(#numbers)*];
        pub const ADDRESSES: &[(&str, *const ())] = &[#(#addresses)*];
        pub const RECORDS: usize = #records;
        pub static UNCOMPARED: &[(&str, &str)] = &[#(#uncompared),*];
    }
    .to_string()
}

/// A program that prints a number and what it is, a line each.
pub fn c(questions: &Facts) -> String {
    let lines = questions.facts.iter().map(|Fact { what, c, .. }| format!("    fact(\"{what}\", (long long)({c}));\n"));
    format!(
        "#include <cuda.h>\n\
         #include <stddef.h>\n\
         #include <stdio.h>\n\
         \n\
         static void fact(const char *what, long long value) {{ printf(\"%lld %s\\n\", value, what); }}\n\
         \n\
         int main(void)\n\
         {{\n\
         {}\
         \x20   return 0;\n\
         }}\n",
        lines.collect::<String>()
    )
}
