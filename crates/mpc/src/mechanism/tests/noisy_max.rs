use super::*;
use crate::math::Rational;
use crate::mechanism::noisy_max::{
    BATCH, NoiseWidths, NoisyMax, NoisyMaxParameters, PREPARED_BATCH, Scores, Sharing, forecast,
    forecast_prepare, prepare,
};
use crate::net::Tag;
use crate::privacy::noisy_max::NoisyMax as SinglePartyNoisyMax;
use crate::privacy::{Calibration, Choose};
use crate::protocol::Bulk;
use crate::protocol::pair::{assert_forecast, assert_same_shape};
use crate::protocol::shares::WordShares;
use rand::Rng;
use zeroize::Zeroizing;

const WIDTHS: NoiseWidths = NoiseWidths { tau: 64, digits: 26 };

fn choose(session: &mut Workspace, grid_bits: u32, scores: &Scores) -> Result<usize, Error> {
    let largest = Score::whole(1000).unwrap();
    let mut mechanism = NoisyMax::new(session, grid_bits, largest, WIDTHS)?;
    Ok(mechanism.choose(spend("1"), &Calibration::max(), scores)?.index)
}

#[test]
fn any_noise_on_a_tape_leads_to_the_winner_of_the_single_party_form() {
    let mut rng = Randomness::seeded(1);
    for (round, (p1, p2)) in
        [(vec![10, 12], vec![12, 11, 9]), (vec![], vec![3, 3]), (vec![0, 0, 1000], vec![])]
            .into_iter()
            .cycle()
            .take(9)
            .enumerate()
    {
        let grid_bits = [10, 20][round % 2];
        let noise: Vec<u32> = (0..p1.len() + p2.len())
            .map(|_| rng.next_u32() % (4 << grid_bits) * u32::from(round > 2))
            .collect();
        let tape = Tape::of_noise(noise);
        let mut single = SinglePartyNoisyMax::new(grid_bits, tape.clone()).unwrap();
        let index =
            single.choose(spend("1"), &Calibration::max(), &joined(&p1, &p2)).unwrap().index;
        for bulk in Bulk::BOTH {
            let outcome = with_tape(&tape, |role, session| {
                session.bulk = bulk;
                choose(session, grid_bits, &Scores::OneSided(one_sided(role, &p1, &p2))).unwrap()
            });
            assert_eq!((outcome.p1, outcome.p2), (index, index), "round {round}, {bulk:?}");
        }
    }
}

/// Scores as shares of both kinds.
fn shared(role: Role, xor: bool, scores: &[u64], rng: &mut Randomness) -> Scores {
    let masks: Vec<u64> = scores.iter().map(|_| rng.next_u64() % (1 << 20)).collect();
    let share = |(score, mask): (&u64, &u64)| match (role, xor) {
        (Role::P1, _) => *mask,
        (Role::P2, true) => score ^ mask,
        (Role::P2, false) => score.wrapping_sub(*mask),
    };
    let words = scores.iter().zip(&masks).map(share).collect();
    if xor {
        Scores::XorShares(Zeroizing::new(words))
    } else {
        Scores::Shared(WordShares::new(20, words).unwrap())
    }
}

#[test]
fn shared_scores_choose_as_known_ones_do() {
    let scores = [999, 1000, 998, 1000, 1];
    let tape = Tape::of_noise([1 << 20, 5, 0, 6, 1 << 24]);
    for (xor, bulk) in [(false, 0), (true, 0), (false, 1), (true, 1)] {
        let outcome = with_tape(&tape, |role, session| {
            session.bulk = Bulk::BOTH[bulk];
            let mut rng = Randomness::seeded(9);
            choose(session, 20, &shared(role, xor, &scores, &mut rng)).unwrap()
        });
        assert_eq!((outcome.p1, outcome.p2), (3, 3));
    }
}

#[test]
fn ties_go_to_the_lowest_index_of_all() {
    let outcome = with_tape(&Tape::of_noise([0, 7, 7, 7]), |role, session| {
        choose(session, 10, &Scores::OneSided(one_sided(role, &[5, 5], &[5, 5]))).unwrap()
    });
    assert_eq!((outcome.p1, outcome.p2), (1, 1));
}

#[test]
fn more_candidates_than_a_circuit_holds_are_chosen_from_in_batches() {
    let narrow = NoiseWidths { tau: 1, digits: 2 };
    let cases = Bulk::BOTH.into_iter().zip([BATCH + 3, PREPARED_BATCH + 3]);
    let places = |count| [0, 5, count - 3, count - 1];
    for (bulk, count, winner) in
        cases.flat_map(|(bulk, count)| places(count).map(|winner| (bulk, count, winner)))
    {
        let mut scores = vec![1; count];
        scores[winner] = 9;
        let tape = Tape::of_noise(vec![0; count]);
        let outcome = with_tape(&tape, |role, session| {
            session.bulk = bulk;
            let mut rng = Randomness::seeded(2);
            let scores = shared(role, false, &scores, &mut rng);
            let largest = Score::whole(9).unwrap();
            let mut mechanism = NoisyMax::new(session, 10, largest, narrow).unwrap();
            mechanism.choose(spend("1"), &Calibration::max(), &scores).unwrap().index
        });
        assert_eq!((outcome.p1, outcome.p2), (winner, winner));
        let largest = Score::whole(9).unwrap();
        let parameters = NoisyMaxParameters { grid_bits: 10, largest, widths: narrow };
        let (epsilon, calibration) = (Rational::whole(1u8), Calibration::max());
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
            f.do_bulk(bulk);
            forecast(f, &parameters, &epsilon, &calibration, Sharing::Sum, count).unwrap();
        });
    }
}

#[test]
fn generators_make_both_parties_agree_and_let_candidates_of_either_win() {
    let mut won = [0; 4];
    for seed in 0..50 {
        let outcome = with_generators(seed, |role, session| {
            session.bulk = Bulk::BOTH[seed as usize % 2];
            choose(session, 10, &Scores::OneSided(one_sided(role, &[2, 2], &[2, 2]))).unwrap()
        });
        assert_eq!(outcome.p1, outcome.p2);
        won[outcome.p1] += 1;
    }
    assert!(won.iter().all(|count| *count > 0), "{won:?}");
}

#[test]
fn the_transcript_has_the_same_shape_for_all_scores() {
    let scores = [([0, 0], [0]), ([1000, 1], [7]), ([3, 4], [1000])];
    for bulk in Bulk::BOTH {
        assert_same_shape(&scores, |(p1, p2)| {
            with_generators(3, |role, session| {
                session.bulk = bulk;
                choose(session, 20, &Scores::OneSided(one_sided(role, p1, p2))).unwrap()
            })
        });
    }
}

#[test]
fn choices_without_a_spend_each_are_refused_before_anything_is_said() {
    let outcome = with_generators(5, |_, session| {
        let largest = Score::whole(9).unwrap();
        let mut mechanism = NoisyMax::new(session, 10, largest, WIDTHS).unwrap();
        let scores = [WordShares::new(8, vec![1, 2]).unwrap()];
        let mut choose = |spends, scores: &[WordShares]| {
            mechanism.choose_each(spends, &Calibration::max(), scores)
        };
        assert!(
            choose(Vec::new(), &scores)
                .is_err_and(|e| e.says("Internal", "1 choices at once are too many: at most 0"))
        );
        assert!(
            choose(vec![spend("1")], &[])
                .is_err_and(|e| e.says("Internal", "0 choices at once are too many: at most 1"))
        );
        choose(Vec::new(), &[]).unwrap().len()
    });
    assert_eq!((outcome.p1, outcome.p2), (0, 0));
}

/// Noise for three choices is drawn at once; the fourth finds none left.
#[test]
fn choices_find_the_noise_that_was_prepared_for_them() {
    let scores = |role| Scores::OneSided(one_sided(role, &[5, 9], &[7]));
    let largest = Score::whole(1000).unwrap();
    let parameters = NoisyMaxParameters { grid_bits: 10, largest, widths: WIDTHS };
    let (epsilon, calibration) = (Rational::whole(1u8), Calibration::max());
    let outcome = with_generators(7, |role, session| {
        session.bulk = Bulk::SharedBits;
        prepare(session, &parameters, &epsilon, &calibration, 9).unwrap();
        (0..4).map(|_| choose(session, 10, &scores(role)).unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(outcome.p1, outcome.p2);
    assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
        f.do_bulk(Bulk::SharedBits);
        forecast_prepare(f, &parameters, &epsilon, &calibration, 9).unwrap();
        for _ in 0..4 {
            forecast(f, &parameters, &epsilon, &calibration, Sharing::Xor, 3).unwrap();
        }
    });
    // Six layers of comparing at τ = 64 for the nine noises and six for those of the last choice.
    let opened = |tag: &Tag| *tag == Tag::new(*b"btop");
    assert_eq!(outcome.transcripts.p1.iter().filter(|(_, tag, _)| opened(tag)).count(), 24);
}

#[test]
fn what_cannot_be_chosen_from_is_refused_before_anything_is_sent() {
    let none = Scores::OneSided(OneSided { own: vec![], peer: 0 });
    let many = Scores::OneSided(OneSided { own: vec![], peer: 1 << 21 });
    let narrow = Scores::Shared(WordShares::new(9, vec![1, 2]).unwrap());
    let outcome = with_generators(1, |_, session| {
        let coarse = choose(session, 9, &none).is_err();
        let fine = choose(session, 21, &none).is_err();
        let empty = choose(session, 20, &none);
        let too_many = choose(session, 20, &many);
        let narrow = choose(session, 20, &narrow);
        assert!(coarse && fine);
        assert!(empty.unwrap_err().says("Internal", "there is no candidate"));
        assert!(too_many.is_err_and(|e| e.says("Internal", "are too many")));
        assert!(narrow.is_err_and(|e| e.says(
            "Internal",
            "over 9 bits leave no room for their noise: share them over at least 10"
        )));
    });
    assert!(outcome.transcripts.p1.is_empty());
}
