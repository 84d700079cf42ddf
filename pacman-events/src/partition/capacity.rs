//! Deals events to counters that serve one event in each set, by a flow.
//!
//! If every event needs one counter and nothing else, k sets suffice exactly if each counter can
//! get at most k events. The first event of every counter makes the first set, and so on. For
//! events that need more, the same flow is a lower bound. A flow over registers instead of counters
//! is another one.

/// Gives each mask one of its bits, and no bit more than `capacity` times. `None` if that is
/// impossible. An empty mask needs no bit and gets none.
pub(super) fn share_out(masks: &[u128], capacity: usize) -> Option<Vec<Option<u8>>> {
    let mut holders: Vec<Vec<usize>> = vec![Vec::new(); 128];
    for (event, mask) in masks.iter().enumerate() {
        if *mask != 0 && !augment(event, masks, capacity, &mut holders, &mut 0) {
            return None;
        }
    }
    let mut given = vec![None; masks.len()];
    for (bit, events) in holders.iter().enumerate() {
        for event in events {
            given[*event] = Some(bit as u8);
        }
    }
    Some(given)
}

fn augment(
    event: usize,
    masks: &[u128],
    capacity: usize,
    holders: &mut [Vec<usize>],
    visited: &mut u128,
) -> bool {
    while masks[event] & !*visited != 0 {
        let bit = (masks[event] & !*visited).trailing_zeros() as usize;
        *visited |= 1 << bit;
        if holders[bit].len() < capacity {
            holders[bit].push(event);
            return true;
        }
        for at in 0..holders[bit].len() {
            if augment(holders[bit][at], masks, capacity, holders, visited) {
                holders[bit][at] = event;
                return true;
            }
        }
    }
    false
}

/// The fewest sets for events that need one counter of a mask each.
///
/// `reserved` is the mask of a counter that is taken in every set. Returns each event's set
/// number, and the number of sets. Every event must fit next to the reserved counter, or no
/// number of sets suffices.
pub(super) fn deal(masks: &[u128], reserved: Option<u128>) -> (Vec<usize>, usize) {
    for sets in 1..=masks.len() {
        let mut all = masks.to_vec();
        all.extend(std::iter::repeat_n(reserved, sets).flatten());
        let Some(given) = share_out(&all, sets) else { continue };
        // The copy of the reserved event in set n closes its counter there.
        let mut busy: Vec<Vec<bool>> = vec![vec![false; sets]; 128];
        for (set, bit) in given[masks.len()..].iter().enumerate() {
            if let Some(bit) = bit {
                busy[usize::from(*bit)][set] = true;
            }
        }
        let mut deal_one = |bit: &Option<u8>| {
            let Some(bit) = bit else { return 0 };
            let row = &mut busy[usize::from(*bit)];
            // A counter has at most as many events as there are sets, so a set is free.
            let set = row.iter().position(|busy| !busy).unwrap_or(0);
            row[set] = true;
            set
        };
        return (given[..masks.len()].iter().map(&mut deal_one).collect(), sets);
    }
    (Vec::new(), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_serves_one_event_a_set() {
        assert_eq!(deal(&[0b1, 0b1, 0b1], None).1, 3);
        assert_eq!(deal(&[0b11, 0b11, 0b01], None).1, 2);
        assert_eq!(deal(&[0b1111; 9], None).1, 3);
        assert_eq!(deal(&[], None), (vec![], 0));
    }

    #[test]
    fn what_is_reserved_takes_a_counter_in_every_set() {
        assert_eq!(deal(&[0b1111; 9], Some(0b1111)).1, 3);
        assert_eq!(deal(&[0b1111; 10], Some(0b1111)).1, 4);
        let (sets, count) = deal(&[0b11, 0b01, 0b10], Some(0b11));
        assert_eq!(count, 3);
        assert_eq!(sets.iter().collect::<std::collections::BTreeSet<_>>().len(), 3);
    }
}
