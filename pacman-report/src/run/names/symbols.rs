//! The functions in a module's symbol tables, by address.

use object::{Object as _, ObjectSymbol, ObjectSymbolTable as _, SymbolIndex, SymbolKind};

use super::outlined;

pub(super) type Object<'a> = object::File<'a, &'a [u8]>;

/// The functions of a file. A library may have several hundred thousand, and few are asked for, so their names stay
/// in the file.
pub(super) struct Symbols {
    /// By address; those at one address in the order of the tables.
    all: Vec<Function>,
}

#[derive(Clone, Copy)]
struct Function {
    address: u64,
    size: u64,
    index: SymbolIndex,
    is_dynamic: bool,
}

impl Symbols {
    /// Reads the functions of the symbol table, and then those of the dynamic one.
    pub(super) fn of(file: &Object<'_>) -> Symbols {
        let tables = [(false, file.symbols()), (true, file.dynamic_symbols())];
        let functions = tables.into_iter().flat_map(|(is_dynamic, table)| {
            let functions =
                table.filter(|symbol| symbol.kind() == SymbolKind::Text && !symbol.is_undefined());
            functions.map(move |symbol| Function {
                address: symbol.address(),
                size: symbol.size(),
                index: symbol.index(),
                is_dynamic,
            })
        });
        let mut all: Vec<Function> = functions.collect();
        all.sort_by_key(|function| function.address);
        Symbols { all }
    }

    /// The function that begins at this address.
    pub(super) fn at<'a>(&self, file: &Object<'a>, address: u64) -> Option<&'a str> {
        let begin = self.all.partition_point(|function| function.address < address);
        let here = self.all[begin..].iter().take_while(|function| function.address == address);
        let mut names = here.filter_map(|function| function.name(file));
        // Functions that were folded into one have several names there.
        let first = names.next()?;
        Some(
            std::iter::once(first)
                .chain(names)
                .find(|name| outlined::is_region(name))
                .unwrap_or(first),
        )
    }

    /// The function that begins before this address and has it inside.
    pub(super) fn around<'a>(&self, file: &Object<'a>, address: u64) -> Option<&'a str> {
        let end = self.all.partition_point(|function| function.address < address);
        let nearest = self.all[..end].last()?;
        let begin = self.all[..end].partition_point(|other| other.address < nearest.address);
        let is_inside = self.all[begin..end].iter().any(|own| address - own.address < own.size);
        self.at(file, nearest.address).filter(|_| is_inside)
    }

    /// The addresses of the functions that compilers made of regions.
    pub(super) fn regions(&self, file: &Object<'_>) -> Vec<u64> {
        let is_region = |function: &&Function| function.name(file).is_some_and(outlined::is_region);
        self.all.iter().filter(is_region).map(|function| function.address).collect()
    }
}

impl Function {
    fn name<'a>(&self, file: &Object<'a>) -> Option<&'a str> {
        let symbol = match self.is_dynamic {
            false => file.symbol_by_index(self.index).ok()?,
            true => file.dynamic_symbol_table()?.symbol_by_index(self.index).ok()?,
        };
        symbol.name().ok().filter(|name| !name.is_empty())
    }
}
