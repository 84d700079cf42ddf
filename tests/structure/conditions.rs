//! Whether an item is compiled outside of tests and loom models.

use syn::punctuated::Punctuated;
use syn::{Attribute, Item, Meta, Token};

/// The values that a condition can have, over all features and targets.
struct Values {
    possibly_true: bool,
    possibly_false: bool,
}

/// Whether some build that is neither a test nor a loom model compiles what has these attributes.
pub(crate) fn compiled(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .all(|attribute| attribute.parse_args().is_ok_and(|meta| values(&meta).possibly_true))
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

/// The attributes of an item of any kind.
pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
