//! What is left of rows behind the pairs that were chosen, and counters over it: the one way in which
//! sets of pairs are counted, violating and frequent ones alike.

/// What is left of a row: a stretch of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    pub start: u32,
    pub end: u32,
    /// How many people the row represents.
    pub people: u32,
    /// 0, or one more than the place of the row's protected value.
    pub label: u8,
}

/// Places in a list with the number of their rest, those of one pair behind each other; and where
/// those of each pair end.
pub(super) type ByNext = (Vec<(u32, u32)>, Vec<(u32, usize)>);

/// Counters of one thread: of every pair, and which of them are not 0.
pub(super) struct Work {
    counts: Vec<u32>,
    touched: Vec<u32>,
    wide: usize,
    /// How often something was counted.
    pub increments: u64,
}

impl Work {
    /// For so many pairs and protected values.
    pub fn new(pairs: usize, protected: usize) -> Self {
        let wide = protected + 1;
        Self { counts: vec![0; pairs * wide], touched: Vec::new(), wide, increments: 0 }
    }

    /// Counts a pair in a row.
    pub fn add(&mut self, pair: u32, people: u32, label: u8) {
        let counts = &mut self.counts[pair as usize * self.wide..][..self.wide];
        if counts[0] == 0 {
            self.touched.push(pair);
        }
        counts[0] += people;
        if label > 0 {
            counts[usize::from(label)] += people;
        }
        self.increments += 1;
    }

    /// Shows what was counted, in order, and clears it.
    pub fn harvest(&mut self, mut see: impl FnMut(u32, &[u32])) {
        self.touched.sort_unstable();
        for pair in self.touched.drain(..) {
            let counts = &mut self.counts[pair as usize * self.wide..][..self.wide];
            see(pair, counts);
            counts.fill(0);
        }
    }

    /// The positions of the pairs that have at least `behind` others after them.
    pub fn by_next(&mut self, items: &[u32], rests: &[Rest], behind: usize) -> ByNext {
        let places = |rest: &Rest| rest.start..rest.end.saturating_sub(behind as u32);
        for pair in rests.iter().flat_map(places).map(|place| items[place as usize]) {
            let count = &mut self.counts[pair as usize * self.wide];
            if *count == 0 {
                self.touched.push(pair);
            }
            *count += 1;
        }
        self.touched.sort_unstable();
        let (mut ends, mut next) = (Vec::with_capacity(self.touched.len()), 0);
        for pair in &self.touched {
            let count = &mut self.counts[*pair as usize * self.wide];
            let start = next;
            next += *count;
            *count = start;
            ends.push((*pair, next as usize));
        }
        let mut sorted = vec![(0, 0); next as usize];
        for (number, rest) in (0u32..).zip(rests) {
            for place in places(rest) {
                let to = &mut self.counts[items[place as usize] as usize * self.wide];
                sorted[*to as usize] = (place, number);
                *to += 1;
            }
        }
        for pair in self.touched.drain(..) {
            self.counts[pair as usize * self.wide] = 0;
        }
        (sorted, ends)
    }
}
