//! What is run.

use crate::runs::{FOLDS, Run, Settings};

/// Privacy budgets.
pub const EPSILONS: [&str; 4] = ["0.1", "0.25", "0.5", "1"];
/// Numbers of specializations.
pub const SPECIALIZATIONS: [u32; 5] = [4, 7, 10, 13, 16];

/// The papers' choices, with one noise.
pub const PAPER: Settings = Settings {
    profile: "paper",
    parties: "one",
    utility: "max",
    selection: "exponential",
    share: "0.5",
    noises: 1,
    epsilon: "1",
    specializations: 10,
};

/// What a local agreement says that leaves every choice out.
pub const DEFAULT: Settings =
    Settings { profile: "default", utility: "leaf-max", share: "0.7", ..PAPER };

/// What a vertical agreement says that leaves every choice out.
pub const VERTICAL: Settings = Settings { parties: "two", ..DEFAULT };

/// The ways whose grids are shown: name and settings but for ε and h.
pub const WAYS: [(&str, Settings); 5] = [
    ("paper, one noise", PAPER),
    ("paper, two noises", Settings { parties: "two", noises: 2, ..PAPER }),
    ("default, one party", DEFAULT),
    ("default, two parties, joint noise", VERTICAL),
    ("default, two parties, two noises", Settings { noises: 2, ..VERTICAL }),
];

/// Every way, ε and h.
pub fn grid() -> Vec<Settings> {
    let cells = |way: Settings| {
        EPSILONS.iter().flat_map(move |epsilon| {
            SPECIALIZATIONS.map(|specializations| Settings { epsilon, specializations, ..way })
        })
    };
    WAYS.iter().flat_map(|(_, way)| cells(*way)).collect()
}

/// What was tried beside the defaults, one thing at a time.
pub fn tuning() -> Vec<Settings> {
    let mut ways = vec![
        DEFAULT,
        Settings { utility: "max", ..DEFAULT },
        Settings { utility: "info-gain", ..DEFAULT },
        Settings { selection: "permute-and-flip", ..DEFAULT },
        Settings { share: "0.5", ..DEFAULT },
        Settings { share: "0.85", ..DEFAULT },
        VERTICAL,
        Settings { utility: "max", ..VERTICAL },
        Settings { noises: 2, ..VERTICAL },
        Settings { selection: "permute-and-flip", ..VERTICAL },
        Settings { share: "0.5", ..VERTICAL },
        Settings { share: "0.85", ..VERTICAL },
    ];
    ways.dedup();
    let cells = |way: Settings| {
        EPSILONS
            .iter()
            .flat_map(move |epsilon| [5, 7, 10, 13].map(|h| (epsilon, h)))
            .map(move |(epsilon, specializations)| Settings { epsilon, specializations, ..way })
    };
    ways.into_iter().flat_map(cells).collect()
}

/// One run per seed, judged on the test records.
pub fn on_test_records(settings: Settings, seeds: u64) -> Vec<Run> {
    (0..seeds).map(|seed| Run { settings, fold: None, seed }).collect()
}

/// As many runs, each judged on the fold of the training records that it did not see.
pub fn by_cross_validation(settings: Settings, seeds: u64) -> Vec<Run> {
    let seeds = seeds.div_ceil(FOLDS as u64);
    (0..seeds)
        .flat_map(|seed| (0..FOLDS).map(move |fold| Run { settings, fold: Some(fold), seed }))
        .collect()
}
