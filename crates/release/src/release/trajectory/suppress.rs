//! Which pairs are taken out: the best by a score, until no violating set is left.

use super::Score;
use super::paths::Paths;
use super::sets::Sets;

/// A pair that was removed, with its state at that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suppressed {
    /// The pair.
    pub pair: u32,
    /// Violating sets that it ended.
    pub gain: u64,
    /// Frequent sets that it broke.
    pub loss: u64,
    /// How many people had it.
    pub people: u64,
}

/// The pairs to take out, in order. Of equal scores the larger gain, the smaller loss, the fewer
/// people and the earlier pair win.
pub fn choose(paths: &Paths, violating: &Sets, frequent: &Sets, score: Score) -> Vec<Suppressed> {
    let mut gains = Tally::new(paths.pairs.len(), violating);
    let mut losses = Tally::new(paths.pairs.len(), frequent);
    let mut people = vec![0u64; paths.pairs.len()];
    for row in 0..paths.rows() {
        for pair in paths.of(row) {
            people[*pair as usize] += u64::from(paths.people[row]);
        }
    }
    let mut open: Vec<u32> = (0..paths.pairs.len() as u32).collect();
    let mut chosen = Vec::new();
    loop {
        open.retain(|pair| gains.counts[*pair as usize] > 0);
        let best = open.iter().copied().max_by(|a, b| {
            let of = |pair: u32| (gains.counts[pair as usize], losses.counts[pair as usize]);
            let ((gain_a, loss_a), (gain_b, loss_b)) = (of(*a), of(*b));
            match score {
                // Both are numbers of sets, of which there are few enough for products.
                Score::GainPerLoss => (gain_a * (loss_b + 1)).cmp(&(gain_b * (loss_a + 1))),
                Score::Gain => gain_a.cmp(&gain_b),
                Score::Loss => loss_b.cmp(&loss_a),
            }
            .then_with(|| gain_a.cmp(&gain_b))
            .then_with(|| loss_b.cmp(&loss_a))
            .then_with(|| people[*b as usize].cmp(&people[*a as usize]))
            .then_with(|| b.cmp(a))
        });
        let Some(pair) = best else { return chosen };
        let (gain, loss) = (gains.counts[pair as usize], losses.counts[pair as usize]);
        chosen.push(Suppressed { pair, gain, loss, people: people[pair as usize] });
        gains.end(pair);
        losses.end(pair);
    }
}

/// Sets that are left, and how many of them hold each pair.
struct Tally<'s> {
    sets: Vec<&'s [u32]>,
    alive: Vec<bool>,
    counts: Vec<u64>,
    /// For every pair, where the sets that hold it begin in the list of them.
    starts: Vec<usize>,
    holding: Vec<u32>,
}

impl<'s> Tally<'s> {
    fn new(pairs: usize, sets: &'s Sets) -> Self {
        let sets: Vec<&[u32]> = sets.iter().collect();
        let mut counts = vec![0; pairs];
        sets.iter().flat_map(|set| set.iter()).for_each(|pair| counts[*pair as usize] += 1);
        let mut starts = vec![0; pairs + 1];
        (0..pairs).for_each(|pair| starts[pair + 1] = starts[pair] + counts[pair] as usize);
        let (mut next, mut holding) = (starts.clone(), vec![0; starts[pairs]]);
        for (number, set) in (0u32..).zip(&sets) {
            for pair in *set {
                holding[next[*pair as usize]] = number;
                next[*pair as usize] += 1;
            }
        }
        Self { alive: vec![true; sets.len()], sets, counts, starts, holding }
    }

    fn end(&mut self, pair: u32) {
        for number in &self.holding[self.starts[pair as usize]..self.starts[pair as usize + 1]] {
            if std::mem::replace(&mut self.alive[*number as usize], false) {
                for other in self.sets[*number as usize] {
                    self.counts[*other as usize] -= 1;
                }
            }
        }
    }
}
