//! The Adult experiments.
#![allow(missing_docs)]

#[path = "adult/data.rs"]
mod data;
#[path = "adult/runs.rs"]
mod runs;
#[path = "adult/vertical.rs"]
mod vertical;

use diptych::app::evaluate::generalize::raw;
use diptych::app::evaluate::tree::Tree;
use runs::{PAPER, Run, Runs, Settings};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let place = data::place().unwrap();
    let adult = data::Adult::read(&place).unwrap();
    println!("{} {}", adult.train.len(), adult.test.len());
    let leak = |s: &str| -> &'static str { Box::leak(s.to_owned().into_boxed_str()) };
    // try cv|test seeds spec...
    if arguments[1] == "raw" {
        let schema = adult.agreement("partition = \"local\"\nepsilon = \"1\"", 10).unwrap().schema;
        let t = std::time::Instant::now();
        let tree = Tree::learn(&raw(&schema, &adult.train).unwrap());
        println!(
            "raw {:?} leaves {} {:?}",
            tree.accuracy(&raw(&schema, &adult.test).unwrap()),
            tree.leaves(),
            t.elapsed()
        );
        return;
    }
    let cv = arguments[1] == "cv";
    let seeds: u64 = arguments[2].parse().unwrap();
    let mut runs = Runs::open(std::path::Path::new(
        &std::env::var("RUNS").unwrap_or("target/adult-runs.csv".into()),
    ))
    .unwrap();
    for spec in &arguments[3..] {
        let f: Vec<&str> = spec.split('/').collect();
        for eps in f[6].split(',') {
            for h in f[7].split(',') {
                let s = Settings {
                    profile: leak(f[0]),
                    parties: leak(f[1]),
                    utility: leak(f[2]),
                    selection: leak(f[3]),
                    share: leak(f[4]),
                    noises: f[5].parse().unwrap(),
                    epsilon: leak(eps),
                    specializations: h.parse().unwrap(),
                };
                let list: Vec<Run> = if cv {
                    (0..seeds)
                        .flat_map(|seed| {
                            (0..runs::FOLDS).map(move |fold| Run {
                                settings: s,
                                fold: Some(fold),
                                seed,
                            })
                        })
                        .collect()
                } else {
                    (0..seeds).map(|seed| Run { settings: s, fold: None, seed }).collect()
                };
                let t = std::time::Instant::now();
                runs.carry_out(&adult, &list, &|_| {}).unwrap();
                let all = runs.of(&list);
                let stat = |f: &dyn Fn(&runs::Outcome) -> f64| {
                    let n = all.len() as f64;
                    let m = all.iter().map(f).sum::<f64>() / n;
                    let v = all.iter().map(|o| (f(o) - m).powi(2)).sum::<f64>() / (n - 1.0);
                    (m, v.sqrt())
                };
                let (a, d) = stat(&|o| o.accuracy);
                println!(
                    "{:60} {} n={} acc {a:.2} ± {d:.2} leaves {:.0} total {:.0} 1way {:.4} 2way {:.4}  {:.0} ms each",
                    s.key(),
                    if cv { "cv" } else { "test" },
                    all.len(),
                    stat(&|o| o.leaves).0,
                    stat(&|o| o.total).0,
                    stat(&|o| o.one_way).0,
                    stat(&|o| o.two_way).0,
                    t.elapsed().as_secs_f64() * 1000.0 / all.len() as f64
                );
            }
        }
    }
    let _ = PAPER;
}
