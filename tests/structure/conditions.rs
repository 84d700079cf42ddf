//! Whether code is compiled outside of tests and loom models.

use proc_macro2::TokenStream;
use syn::punctuated::Punctuated;
use syn::{Meta, Token};

/// The values that a condition can have, over all features and targets.
struct Values {
    possibly_true: bool,
    possibly_false: bool,
}

/// Whether an attribute, the tokens between its brackets, is a condition of this name that only tests or loom models
/// meet: `cfg`, which excludes an item, or `cfg_attr`, which excludes its own attributes.
pub(crate) fn excludes(name: &str, attribute: &TokenStream) -> bool {
    syn::parse2(attribute.clone()).is_ok_and(|attribute| is_unmet(name, &attribute))
}

/// The same of an attribute that is parsed.
pub(crate) fn is_unmet(name: &str, attribute: &Meta) -> bool {
    let Meta::List(list) = attribute else { return false };
    let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    let condition = parts.ok().and_then(|parts| parts.into_iter().next());
    list.path.is_ident(name) && condition.is_none_or(|meta| !values(&meta).possibly_true)
}

fn values(meta: &Meta) -> Values {
    let Meta::List(list) = meta else {
        let excluded = meta.path().is_ident("test") || meta.path().is_ident("loom");
        return Values { possibly_true: !excluded, possibly_false: true };
    };
    let inner: Vec<Values> = list
        .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
        .unwrap_or_default()
        .iter()
        .map(values)
        .collect();
    if list.path.is_ident("not") {
        return Values {
            possibly_true: inner.iter().all(|value| value.possibly_false),
            possibly_false: inner.iter().all(|value| value.possibly_true),
        };
    }
    let any = list.path.is_ident("any");
    let over = |each: fn(&Values) -> bool, one: bool| {
        if one { inner.iter().any(each) } else { inner.iter().all(each) }
    };
    Values {
        possibly_true: over(|value| value.possibly_true, any),
        possibly_false: over(|value| value.possibly_false, !any),
    }
}
