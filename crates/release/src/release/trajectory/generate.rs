//! Made-up paths to try things on: people in a city of blocks, and on a metro.
//!
//! Both follow the descriptions in thesis 4.5 as far as those go; its data are not public. The same
//! seed gives the same paths. Nothing here is private.

use std::io::{self, Write};

/// Which world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum World {
    /// 26 blocks and 24 hours; every hour is used with a chance of 1/3, blocks by Zipf's law with an
    /// exponent of 3, in another order every hour.
    City,
    /// 65 stations of four lines, one minute each, in one hour; with a train every so many minutes
    /// from the ends of the lines, and delays of up to so many minutes. People are seen on trains.
    Metro {
        /// Minutes between two trains.
        headway: u64,
        /// Largest delay of a train, in minutes.
        delay: u64,
    },
}

/// Values of the sensitive column, all as likely.
const VALUES: [&str; 5] = ["AIDS", "Diabetes", "Fever", "Flu", "None"];
const BLOCKS: usize = 26;
const HOURS: usize = 24;
/// Stations of each line, and those that lines share: line and place of each, from 0.
const LINES: [usize; 4] = [27, 28, 3, 12];
const SHARED: [&[(usize, usize)]; 4] =
    [&[(0, 7), (1, 10)], &[(0, 14), (1, 17), (2, 0)], &[(1, 6), (3, 0)], &[(1, 23), (3, 8)]];
const MINUTES: u64 = 60;

/// Writes so many people as `id,path,sensitive`.
///
/// # Errors
/// Those of `out`.
pub fn write(world: World, people: u64, seed: u64, mut out: impl Write) -> io::Result<()> {
    let mut draws = Draws(seed);
    writeln!(out, "id,path,sensitive")?;
    let (city, metro) = (City::new(&mut draws), Metro::new());
    for id in 0..people {
        let path = match world {
            World::City => city.path(&mut draws),
            World::Metro { headway, delay } => metro.path(headway.max(1), delay, &mut draws),
        };
        writeln!(out, "{id},{path},{}", VALUES[draws.below(VALUES.len() as u64) as usize])?;
    }
    Ok(())
}

/// SplitMix64: quick and the same everywhere; for made-up data only.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(count)) >> 64) as u64
    }

    /// A place by its weight; the weights are sums of those before.
    fn weighted(&mut self, sums: &[f64]) -> usize {
        let at = self.next() as f64 / u64::MAX as f64 * sums.last().copied().unwrap_or(0.0);
        sums.partition_point(|sum| *sum < at).min(sums.len().saturating_sub(1))
    }
}

fn sums(weights: impl Iterator<Item = f64>) -> Vec<f64> {
    weights
        .scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        })
        .collect()
}

struct City {
    zipf: Vec<f64>,
    /// Of every hour, which block has which rank.
    orders: Vec<Vec<usize>>,
}

impl City {
    fn new(draws: &mut Draws) -> Self {
        let zipf = sums((1..=BLOCKS).map(|rank| (rank as f64).powi(-3)));
        let mut order = |_| {
            let mut blocks: Vec<usize> = (0..BLOCKS).collect();
            for last in (1..BLOCKS).rev() {
                blocks.swap(last, draws.below(last as u64 + 1) as usize);
            }
            blocks
        };
        Self { zipf, orders: (0..HOURS).map(&mut order).collect() }
    }

    fn path(&self, draws: &mut Draws) -> String {
        let mut pairs = Vec::new();
        for hour in 0..HOURS {
            if draws.below(3) == 0 {
                let block = self.orders[hour][draws.weighted(&self.zipf)];
                pairs.push(format!("{}{hour}", char::from(b'a' + block as u8)));
            }
        }
        pairs.join(">")
    }
}

struct Metro {
    /// Of every line, its stations.
    lines: Vec<Vec<usize>>,
    /// Of every two stations, the next on the way and the number of hops.
    next: Vec<Vec<(usize, usize)>>,
    starts: Vec<f64>,
    ends: Vec<Vec<f64>>,
}

impl Metro {
    fn new() -> Self {
        let mut lines: Vec<Vec<usize>> =
            LINES.iter().map(|stations| vec![usize::MAX; *stations]).collect();
        for (station, places) in SHARED.iter().enumerate() {
            places.iter().for_each(|(line, place)| lines[*line][*place] = station);
        }
        let mut stations = SHARED.len();
        for station in lines.iter_mut().flatten().filter(|station| **station == usize::MAX) {
            *station = stations;
            stations += 1;
        }
        let mut near = vec![Vec::new(); stations];
        for two in lines.iter().flat_map(|line| line.windows(2)) {
            near[two[0]].push(two[1]);
            near[two[1]].push(two[0]);
        }
        let next = (0..stations).map(|goal| Self::ways_to(goal, &near)).collect::<Vec<_>>();
        let weight = |station: usize| ((station + 1) as f64).powf(-0.8);
        let ends = (0..stations).map(|start| {
            sums((0..stations).map(|goal| {
                let away = next[goal][start].1 as f64 - 7.0;
                if goal == start { 0.0 } else { weight(goal) * (-away * away / 18.0).exp() }
            }))
        });
        let ends = ends.collect();
        Self { lines, next, starts: sums((0..stations).map(weight)), ends }
    }

    /// From every station towards one: the next station, and how many hops it is away.
    fn ways_to(goal: usize, near: &[Vec<usize>]) -> Vec<(usize, usize)> {
        let mut ways = vec![(goal, usize::MAX); near.len()];
        ways[goal].1 = 0;
        let mut open = std::collections::VecDeque::from([goal]);
        while let Some(station) = open.pop_front() {
            for other in &near[station] {
                if ways[*other].1 == usize::MAX {
                    ways[*other] = (station, ways[station].1 + 1);
                    open.push_back(*other);
                }
            }
        }
        ways
    }

    fn path(&self, headway: u64, delay: u64, draws: &mut Draws) -> String {
        let mut station = draws.weighted(&self.starts);
        let goal = draws.weighted(&self.ends[station]);
        let mut minute = match draws.below(2) {
            0 => draws.below(MINUTES - 20),
            _ => 15 + draws.below(5) + draws.below(5),
        };
        let (mut pairs, mut riding) = (Vec::new(), None);
        while station != goal {
            let next = self.next[goal][station].0;
            let line = self.line(station, next);
            if riding != Some(line) {
                // A train leaves either end every so many minutes, and comes by as many hops later.
                let phase = line.2 as u64 % headway;
                minute += (headway + phase - minute % headway) % headway + draws.below(delay + 1);
                // Somebody is seen on a train, not while waiting for the first one.
                if pairs.is_empty() {
                    pairs.push(format!("{}@{minute}", name(station)));
                }
            }
            riding = Some((line.0, line.1, line.2 + 1));
            minute += 1;
            station = next;
            if minute >= MINUTES {
                break;
            }
            pairs.push(format!("{}@{minute}", name(station)));
        }
        pairs.join(">")
    }

    /// The line between two neighbours, whether it goes up, and hops since its end.
    fn line(&self, from: usize, to: usize) -> (usize, bool, usize) {
        for (number, line) in self.lines.iter().enumerate() {
            for (place, two) in line.windows(2).enumerate() {
                if two == [from, to] {
                    return (number, true, place);
                }
                if two == [to, from] {
                    return (number, false, line.len() - 2 - place);
                }
            }
        }
        (0, true, 0)
    }
}

fn name(station: usize) -> String {
    format!("S{station}")
}
