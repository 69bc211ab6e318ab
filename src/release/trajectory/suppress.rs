//! Which pairs are taken out: the best by a score, until no violating set is left.

use super::paths::Paths;
use super::violating::Set;

/// How a pair is scored; PG is the violating sets it would end, UL the frequent ones it would break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// PG / (UL + 1).
    GainPerLoss,
    /// PG.
    Gain,
    /// 1 / (UL + 1).
    Loss,
}

impl Score {
    /// Each with its word.
    pub const ALL: &'static [(&'static str, Self)] =
        &[("gain-per-loss", Self::GainPerLoss), ("gain", Self::Gain), ("loss", Self::Loss)];
}

/// A pair that was taken out, as it stood then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suppressed {
    /// The pair.
    pub pair: u32,
    /// Violating sets that it ended.
    pub gain: u64,
    /// Frequent sets that it broke.
    pub loss: u64,
}

/// The pairs to take out, in order. Of equal scores the larger gain, the smaller loss, the fewer
/// instances and the earlier pair win.
pub fn choose(paths: &Paths, violating: &[Set], frequent: &[Set], score: Score) -> Vec<Suppressed> {
    let mut gains = Tally::new(paths.pairs.len(), violating);
    let mut losses = Tally::new(paths.pairs.len(), frequent);
    let mut instances = vec![0u64; paths.pairs.len()];
    paths.items.iter().for_each(|pair| instances[*pair as usize] += 1);
    let mut open: Vec<u32> = (0..paths.pairs.len() as u32).collect();
    let mut chosen = Vec::new();
    loop {
        open.retain(|pair| gains.counts[*pair as usize] > 0);
        let best = open.iter().copied().max_by(|a, b| {
            let of = |pair: u32| (gains.counts[pair as usize], losses.counts[pair as usize]);
            let ((gain_a, loss_a), (gain_b, loss_b)) = (of(*a), of(*b));
            let wide = |a: u64, b: u64| u128::from(a) * u128::from(b);
            match score {
                Score::GainPerLoss => wide(gain_a, loss_b + 1).cmp(&wide(gain_b, loss_a + 1)),
                Score::Gain => gain_a.cmp(&gain_b),
                Score::Loss => loss_b.cmp(&loss_a),
            }
            .then_with(|| gain_a.cmp(&gain_b))
            .then_with(|| loss_b.cmp(&loss_a))
            .then_with(|| instances[*b as usize].cmp(&instances[*a as usize]))
            .then_with(|| b.cmp(a))
        });
        let Some(pair) = best else { return chosen };
        let (gain, loss) = (gains.counts[pair as usize], losses.counts[pair as usize]);
        chosen.push(Suppressed { pair, gain, loss });
        gains.end(pair);
        losses.end(pair);
    }
}

/// Sets that are left, and how many of them hold each pair.
struct Tally<'s> {
    sets: &'s [Set],
    alive: Vec<bool>,
    counts: Vec<u64>,
    /// For every pair, the sets that hold it.
    holding: Vec<Vec<u32>>,
}

impl<'s> Tally<'s> {
    fn new(pairs: usize, sets: &'s [Set]) -> Self {
        let (mut counts, mut holding) = (vec![0; pairs], vec![Vec::new(); pairs]);
        for (number, set) in (0u32..).zip(sets) {
            for pair in set {
                counts[*pair as usize] += 1;
                holding[*pair as usize].push(number);
            }
        }
        Self { sets, alive: vec![true; sets.len()], counts, holding }
    }

    fn end(&mut self, pair: u32) {
        for number in std::mem::take(&mut self.holding[pair as usize]) {
            if std::mem::replace(&mut self.alive[number as usize], false) {
                for other in &self.sets[number as usize] {
                    self.counts[*other as usize] -= 1;
                }
            }
        }
    }
}
