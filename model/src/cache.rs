//! Tags of a first-level cache: which lines it holds, and what maintenance does to them.

use crate::part::{CacheShape, Replacement};

#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// Address over line size.
    number: u32,
    used: u64,
    valid: bool,
    dirty: bool,
}

/// What a maintenance operation does to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Writes a dirty line back and keeps it.
    Clean,
    /// Drops the line, dirty or not.
    Invalidate,
    /// Both, in this order.
    CleanInvalidate,
}

/// The tags. Which ways an address may be held in is the caller's knowledge, as a mask.
#[derive(Debug)]
pub struct Cache {
    lines: Vec<Line>,
    turn: Vec<u32>,
    sets: u32,
    ways: u32,
    shift: u32,
    replacement: Replacement,
    now: u64,
}

impl Cache {
    /// An empty cache.
    pub fn new(shape: &CacheShape) -> Self {
        Self {
            lines: vec![Line::default(); (shape.sets * shape.ways) as usize],
            turn: vec![0; shape.sets as usize],
            sets: shape.sets,
            ways: shape.ways,
            shift: shape.line.trailing_zeros(),
            replacement: shape.replacement,
            now: 0,
        }
    }

    fn set(&self, number: u32) -> usize {
        ((number & (self.sets - 1)) * self.ways) as usize
    }

    /// Looks `address` up; a hit counts as a use and, with `dirty`, makes the line dirty.
    #[inline]
    pub fn hit(&mut self, address: u32, dirty: bool) -> bool {
        let number = address >> self.shift;
        let set = self.set(number);
        self.now += 1;
        for line in &mut self.lines[set..set + self.ways as usize] {
            if line.valid && line.number == number {
                line.used = self.now;
                line.dirty |= dirty;
                return true;
            }
        }
        false
    }

    /// Takes the line of `address` in, into one of the ways of `mask`, which must not be empty; the
    /// address of the dirty line that had to go, if one had to.
    pub fn fill(&mut self, address: u32, mask: u32, dirty: bool) -> Option<u32> {
        let number = address >> self.shift;
        let set = self.set(number);
        let ways = (0..self.ways).filter(|way| mask >> way & 1 == 1);
        let free = ways.clone().find(|&way| !self.lines[set + way as usize].valid);
        let way = free.unwrap_or_else(|| match self.replacement {
            Replacement::Lru => ways.min_by_key(|&way| self.lines[set + way as usize].used).unwrap_or(0),
            Replacement::RoundRobin => {
                let turn = &mut self.turn[set / self.ways as usize];
                while mask >> *turn & 1 == 0 {
                    *turn = (*turn + 1) % self.ways;
                }
                let way = *turn;
                *turn = (way + 1) % self.ways;
                way
            }
        });
        let line = &mut self.lines[set + way as usize];
        let victim = (line.valid && line.dirty).then(|| line.number << self.shift);
        self.now += 1;
        *line = Line { number, used: self.now, valid: true, dirty };
        victim
    }

    fn apply(&mut self, at: usize, operation: Operation) -> Option<u32> {
        let line = &mut self.lines[at];
        let written = line.valid && line.dirty && operation != Operation::Invalidate;
        let address = line.number << self.shift;
        if operation != Operation::Clean {
            line.valid = false;
        }
        if written || !line.valid {
            line.dirty = false;
        }
        written.then_some(address)
    }

    /// Maintenance by address; the address of the line that was written back, if one was.
    pub fn by_address(&mut self, address: u32, operation: Operation) -> Option<u32> {
        let number = address >> self.shift;
        let set = self.set(number);
        let at = (set..set + self.ways as usize).find(|&at| self.lines[at].valid && self.lines[at].number == number)?;
        self.apply(at, operation)
    }

    /// Maintenance by set and way, with the operand of DCCISW and its relatives: the way in the top bits,
    /// the set above the line's offset. A set beyond the cache's falls on the one with the same low bits.
    pub fn by_set_way(&mut self, operand: u32, operation: Operation) -> Option<u32> {
        let bits = self.ways.next_power_of_two().trailing_zeros();
        let way = operand.checked_shr(32 - bits).unwrap_or(0);
        if way >= self.ways {
            return None;
        }
        let set = self.set(operand >> self.shift);
        self.apply(set + way as usize, operation)
    }

    /// Drops every line.
    pub fn invalidate_all(&mut self) {
        self.lines.fill(Line::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::Write;

    fn shape(replacement: Replacement) -> CacheShape {
        CacheShape { sets: 4, ways: 2, line: 64, replacement, write: Write::Back, flash_ways: 0 }
    }

    /// The n-th line that falls on set 1.
    fn line(n: u32) -> u32 {
        64 + n * 4 * 64
    }

    #[test]
    fn misses_hits_and_evicts_the_line_used_longest_ago() {
        let mut cache = Cache::new(&shape(Replacement::Lru));
        assert!(!cache.hit(line(0), false));
        assert_eq!(cache.fill(line(0), 3, false), None);
        assert!(cache.hit(line(0) + 63, false));
        assert!(!cache.hit(line(0) + 64, false));
        cache.fill(line(1), 3, true);
        assert!(cache.hit(line(0), false));
        assert_eq!(cache.fill(line(2), 3, false), Some(line(1)), "dirty and used longest ago");
        assert!(cache.hit(line(0), false));
        assert!(!cache.hit(line(1), false));
    }

    #[test]
    fn round_robin_does_not_look_at_use() {
        let mut cache = Cache::new(&shape(Replacement::RoundRobin));
        for n in 0..2 {
            cache.fill(line(n), 3, false);
        }
        assert!(cache.hit(line(0), false));
        cache.fill(line(2), 3, false);
        assert!(!cache.hit(line(0), false), "way 0 had its turn although it was used last");
        cache.fill(line(3), 3, false);
        assert!(!cache.hit(line(1), false));
    }

    #[test]
    fn a_mask_keeps_lines_in_their_ways() {
        let mut cache = Cache::new(&shape(Replacement::Lru));
        cache.fill(line(0), 0b01, false);
        cache.fill(line(1), 0b10, false);
        cache.fill(line(2), 0b10, false);
        assert!(cache.hit(line(0), false));
        assert!(!cache.hit(line(1), false));
    }

    #[test]
    fn maintenance_by_address() {
        let mut cache = Cache::new(&shape(Replacement::Lru));
        cache.fill(line(0), 3, true);
        assert_eq!(cache.by_address(line(1), Operation::Clean), None, "not there");
        assert_eq!(cache.by_address(line(0) + 8, Operation::Clean), Some(line(0)));
        assert_eq!(cache.by_address(line(0), Operation::CleanInvalidate), None, "clean by now");
        assert!(!cache.hit(line(0), false));
        cache.fill(line(0), 3, true);
        assert_eq!(cache.by_address(line(0), Operation::Invalidate), None, "dropped without write-back");
        assert!(!cache.hit(line(0), false));
    }

    #[test]
    fn maintenance_by_set_and_way() {
        let mut cache = Cache::new(&shape(Replacement::Lru));
        cache.fill(line(0), 1, true);
        cache.fill(line(1), 2, true);
        assert_eq!(cache.by_set_way(1 << 6, Operation::CleanInvalidate), Some(line(0)));
        assert!(cache.hit(line(1), false));
        // Set 5 of a guest that was told eight sets is set 1 of the four.
        assert_eq!(cache.by_set_way(1 << 31 | 5 << 6, Operation::CleanInvalidate), Some(line(1)));
        cache.fill(line(0), 1, false);
        cache.invalidate_all();
        assert!(!cache.hit(line(0), false));
    }
}
