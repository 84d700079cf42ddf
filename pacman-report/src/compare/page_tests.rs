//! The page of a comparison in a real browser.

use serde_json::{Value, json};

use super::comparison::Comparison;
use super::input::RunDocument;
use super::made::{WIDTHS, open, report};
use super::{json, page};

fn page_of(before: &Value, after: &Value) -> String {
    let [before, after] = [before, after]
        .map(|report| serde_json::from_value::<RunDocument>(report.clone()).expect("a report"));
    let comparison = Comparison::of(&[before], &[after], 0.05, false);
    page::of(&json::document(&comparison, 0.05, 0.01))
}

#[test]
fn a_page_has_both_sides_their_efficiency_and_each_region_at_any_width() {
    let before = report(5.0, &[(10, 1.0, 0.25), (20, 2.0, 0.5), (30, 0.5, 0.0)]);
    let mut after = report(7.0, &[(10, 1.0, 0.25), (20, 4.0, 0.75)]);
    after["processes"][0]["efficiency"]["parallel"] = json!(0.7);
    let page = page_of(&before, &after);
    for size in WIDTHS {
        let probe = "
            const rows = (name, own) => Array.from(document.querySelectorAll(name + ' tbody tr'), own);
            const texts = row => Array.from(row.cells, cell => cell.textContent);
            seen.factors = rows('table.factors', texts);
            seen.regions = rows('table.regions', texts);
            seen.lengths = rows('table.regions', row => Array.from(row.querySelectorAll('.length > span'), one => one.style.width));
            seen.states = rows('table.of-region', texts);
            seen.bars = count('.side .states');";
        let Some(seen) = open(&page, size, probe) else { return };
        assert_eq!(seen["overflow"], 0, "{size:?}: {seen}");
        let factors = json!([
            ["parallel efficiency", "80 %", "70 %"],
            ["serialization", "90 %", "90 %"],
            ["load balance", "95 %", "95 %"],
            ["scheduling", "94 %", "94 %"],
            ["processor share", "100 %", "100 %"],
        ]);
        assert_eq!(seen["factors"], factors);
        let first = json!([
            "solve, line 20  a.c",
            "2.00 s",
            "4.00 s",
            "+100.0 %",
            "+99.4 % to +100.6 %",
            "▲ slower",
            "57 %",
            ""
        ]);
        assert_eq!(seen["regions"][0], first, "{seen}");
        assert_eq!(seen["lengths"], json!([["50%", "100%"], ["25%", "25%"]]));
        let lock = json!(["lock", "2.00 s", "6.00 s", "+200.0 %"]);
        assert_eq!(seen["states"][1], lock, "{seen}");
        assert_eq!(seen["bars"], 4);
        let text = seen["text"].as_str().expect("text");
        for part in
            ["5.00 s -> 7.00 s (+40.0 %)", "only before, 10 %: solve, line 30", "one report a side"]
        {
            assert!(text.contains(part), "lacks {part:?}: {text}");
        }
    }
}

#[test]
fn hostile_names_are_text() {
    let evil = "</script><img src=x onerror=\"window.errors.push('ran')\"><!--";
    let mut bad = report(5.0, &[(10, 1.0, 0.0)]);
    bad["processes"][0]["regions"][0]["name"] = evil.into();
    bad["processes"][0]["sites"][0]["cause"] = evil.into();
    bad["command"] = json!([evil]);
    let probe = "seen.foreign = count('main script, img, [onerror]');";
    for size in WIDTHS {
        let Some(seen) = open(&page_of(&bad, &bad), size, probe) else { return };
        assert_eq!((&seen["foreign"], &seen["overflow"]), (&0.into(), &0.into()), "{size:?}");
        assert!(seen["text"].as_str().expect("text").contains("<img src=x"));
    }
}
