//! McCalpin's list of a Xeon Phi 7250: 68 cores on 34 of 38 tiles.

use pacman_metrics::ErrorKind;
use pacman_metrics::tiles::Tiles;

/// Core ids of logical CPUs 0 to 67, as printed.
const CORE_IDS: [u32; 68] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 22, 23, 24, 25, 26, 27,
    28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51,
    56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73,
];

/// The tiles printed beside them.
const PRINTED: [u32; 68] = [
    0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 11, 11, 12, 12, 13, 13, 14, 14, 15,
    15, 16, 16, 17, 17, 18, 18, 19, 19, 20, 20, 21, 21, 22, 22, 23, 23, 24, 24, 25, 25, 28, 28, 29,
    29, 30, 30, 31, 31, 32, 32, 33, 33, 34, 34, 35, 35, 36, 36,
];

#[test]
fn the_printed_list_comes_out() {
    let cores = CORE_IDS.iter().enumerate().map(|(cpu, core)| (cpu as u32, *core));
    let tiles = Tiles::of_cores(cores).unwrap();
    let found: Vec<(u32, u32)> = tiles.iter().collect();
    let printed: Vec<(u32, u32)> =
        PRINTED.iter().enumerate().map(|(cpu, tile)| (cpu as u32, *tile)).collect();
    assert_eq!(found, printed);
    assert_eq!(tiles.missing().collect::<Vec<_>>(), [10, 26, 27, 37]);
    assert_eq!((tiles.tile(20), tiles.tile(68)), (Some(11), None));
}

/// All four contexts of every core, as the kernel lists them: by context, then by core.
#[test]
fn cpuinfo_says_the_same_for_every_context() {
    let mut text = String::new();
    for context in 0..4 {
        for (index, core) in CORE_IDS.iter().enumerate() {
            let cpu = 68 * context + index;
            text += &format!("processor\t: {cpu}\nmodel name\t: KNL\ncore id\t\t: {core}\n\n");
        }
    }
    let tiles = Tiles::of_cpuinfo(&text).unwrap();
    assert_eq!(tiles.iter().count(), 272);
    assert_eq!(tiles.missing().collect::<Vec<_>>(), [10, 26, 27, 37]);
    for (cpu, tile) in tiles.iter() {
        assert_eq!(tile, PRINTED[cpu as usize % 68]);
    }
}

#[test]
fn other_numbers_are_refused() {
    for (cores, why) in [
        (vec![], "no CPU is listed"),
        (vec![(0, 76)], "core id 76 is beyond a die of 38 tiles"),
        (vec![(0, 0), (0, 1)], "CPU 0 is listed twice"),
        (vec![(0, 0), (1, 1), (2, 2)], "tile 1 has one core"),
    ] {
        let error = Tiles::of_cores(cores).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotComputable);
        assert!(error.to_string().contains(why), "{error}");
    }
    for (text, why) in [
        ("processor : 0\nprocessor : 1\ncore id : 0\n", "CPU 0 has no core id"),
        ("processor : 0\n", "CPU 0 has no core id"),
        ("core id : 0\n", "belongs to no processor"),
        ("", "no CPU is listed"),
    ] {
        let error = Tiles::of_cpuinfo(text).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
}
