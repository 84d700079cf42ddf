//! The main job without the kernel's driver: sessions that program the registers.

use super::boots::PENTIUM_4;
use super::guest;

#[test]
fn a_session_counts_both_threads_of_a_pentium_4() {
    let Some(text) = guest(PENTIUM_4, "by-registers") else { return };
    for context in ["reads 0 Rdpmc", "reads 1 Rdpmc"] {
        assert!(text.lines().any(|line| line == context), "{context} in:\n{text}");
    }
    let samples: Vec<[i64; 5]> = text
        .lines()
        .filter_map(|line| {
            let words = line.strip_prefix("sample ")?.split(' ');
            let numbers: Vec<i64> = words.map(|word| word.parse().expect("a number")).collect();
            Some(numbers.try_into().expect("five numbers"))
        })
        .collect();
    assert_eq!(samples.len(), 100, "two threads of fifty phases:\n{text}");
    let edges: Vec<i64> = samples.iter().map(|[_, retired, .., known]| retired - known).collect();
    let (least, most) = (edges.iter().min().unwrap(), edges.iter().max().unwrap());
    println!("lab p4: counted minus known instructions over 100 phases: {least}..={most}");
    assert!((0..=300).contains(least) && (0..=300).contains(most), "{least}..={most}");
    for [cpu, retired, cycles, writes, _] in samples {
        // The lab's clock: three core cycles an instruction.
        assert!((cycles - 3 * retired).abs() <= 900, "thread {cpu}: {cycles} for {retired}");
        assert_eq!(writes, 0, "nobody rings for them");
    }
}
