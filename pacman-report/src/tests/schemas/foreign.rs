//! Schemas of types of other packages.
//!
//! Those packages are part of the preloaded library, and derive no schemas: cargo would build them twice,
//! with schemars for tests and without it for the rest. Tests compare these with the real ones.

#![expect(dead_code, reason = "nothing but their schemas is used")]

use schemars::JsonSchema;

/// Of [`pacman_regions::RuntimeFamily`].
#[derive(JsonSchema)]
#[schemars(extend("enum" = ["libgomp", "libomp"]))]
pub(crate) struct RuntimeFamily(String);

/// Of [`pacman_regions::PhaseKind`].
#[derive(JsonSchema)]
#[schemars(extend("enum" = [
    "kokkos-for", "kokkos-reduce", "kokkos-scan", "kokkos-region", "kokkos-fence", "likwid", "papi",
    "pacman",
]))]
pub(crate) struct PhaseKind(String);

/// A part of 1.
#[derive(JsonSchema)]
#[schemars(extend("minimum" = 0, "maximum" = 1))]
pub(crate) struct Share(f64);

mod tests {
    use schemars::schema_for;
    use serde_json::Value;

    use super::*;
    use crate::document::value;

    fn words<T: JsonSchema>() -> Vec<Value> {
        let schema = schema_for!(T);
        schema.get("enum").and_then(Value::as_array).expect("an enumeration").clone()
    }

    #[test]
    fn words_are_those_of_the_real_ones() {
        let kinds = (0..).map_while(pacman_regions::PhaseKind::numbered);
        assert_eq!(words::<PhaseKind>(), kinds.map(|kind| value(&kind)).collect::<Vec<_>>());
        let families =
            [pacman_regions::RuntimeFamily::Libgomp, pacman_regions::RuntimeFamily::Libomp];
        assert_eq!(words::<RuntimeFamily>(), families.map(|family| value(&family)));
    }
}
