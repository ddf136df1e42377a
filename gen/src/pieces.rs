//! Sets of one side's moving pieces by number, and what the solver looks up
//! about them.

use petrov_games::{Bits, Kind, Placement, Rulebook, Side};
use petrov_probe::MovingDigit;
use rayon::prelude::*;

/// All placements of one side's moving pieces on a board, numbered as by
/// [`MovingDigit`] over all squares, whatever else stands there. A set of k
/// pieces is also k *lanes*: the set without one of its pieces names a word,
/// and the square of the piece left out is a bit of it. So one word holds a
/// fact about every square that this piece could stand on, and the moves of
/// the piece from all of them are a few shifts.
pub(crate) struct PieceSets<R: Rulebook> {
    digit: MovingDigit,
    /// The squares of each set.
    sets: Vec<R::Set>,
    /// For each set its number as the other side sees it.
    turned: Vec<u32>,
    /// For each set the (word, bit) of each of its pieces.
    lanes: Vec<(u32, u8)>,
    /// For each word and bit the set they make.
    joined: Vec<u32>,
    /// For each word the squares of the other pieces.
    words: Vec<R::Set>,
    /// For each word one of its sets.
    examples: Vec<u32>,
    /// For each kind the end of its words.
    word_ends: Vec<u32>,
    /// For each symmetry and set: the image's number.
    images: Vec<Vec<u32>>,
}

/// No set: the bit of a word on one of its other pieces.
const NO_SET: u32 = u32::MAX;

impl<R: Rulebook> PieceSets<R> {
    pub(crate) fn new(rulebook: &R, symmetries: &[Vec<u8>], kinds: &[(Kind, u8)]) -> Self {
        let digit = MovingDigit::new(kinds);
        let squares = rulebook.squares();
        let number = digit.ways(squares.count()) as usize;
        let mut pieces: Vec<R::Placement> = Vec::with_capacity(number);
        digit.each(
            &R::Placement::default(),
            Side::Own,
            squares,
            &mut |placement: &R::Placement| {
                pieces.push(*placement);
            },
        );
        let rank = |placement: &R::Placement| digit.rank(placement, Side::Own, squares) as u32;
        let moved = |placement: &R::Placement, image: &(dyn Fn(R::Set) -> R::Set + Sync)| {
            let mut out = R::Placement::default();
            for (kind, _) in kinds {
                out.add(Side::Own, *kind, image(placement.pieces(Side::Own, *kind)));
            }
            out
        };
        let turned: Vec<u32> = pieces
            .par_iter()
            .map(|placement| rank(&moved(placement, &|set| rulebook.turned_set(set))))
            .collect();
        let mut images: Vec<Vec<u32>> = Vec::new();
        for map in symmetries {
            // Most symmetries are two others in turn, whose images are known.
            let known = |first: &Vec<u8>, second: &Vec<u8>| {
                let mut all = squares.squares();
                all.all(|square| second[usize::from(first[usize::from(square)])] == map[usize::from(square)])
            };
            let done = &symmetries[..images.len()];
            let pairs = (0..done.len()).flat_map(|first| (0..done.len()).map(move |second| (first, second)));
            let pair = pairs
                .into_iter()
                .find(|(first, second)| known(&done[*first], &done[*second]));
            let image = |set: R::Set| {
                set.squares().fold(R::Set::ZERO, |image, square| {
                    image | R::Set::bit(map[usize::from(square)])
                })
            };
            images.push(match pair {
                Some((first, second)) => images[first]
                    .par_iter()
                    .map(|set| images[second][*set as usize])
                    .collect(),
                None => pieces
                    .par_iter()
                    .map(|placement| rank(&moved(placement, &image)))
                    .collect(),
            });
        }
        // Words of a kind are numbered like sets with one piece less of it.
        let fewer: Vec<MovingDigit> = (0..kinds.len())
            .map(|n| {
                let mut kinds = kinds.to_vec();
                kinds[n].1 -= 1;
                MovingDigit::new(&kinds)
            })
            .collect();
        let mut word_ends = Vec::new();
        let mut words = Vec::new();
        for digit in &fewer {
            digit.each(
                &R::Placement::default(),
                Side::Own,
                squares,
                &mut |placement: &R::Placement| {
                    words.push(placement.occupied());
                },
            );
            word_ends.push(words.len() as u32);
        }
        let count = usize::from(digit.pieces());
        let mut lanes = vec![(0, 0); number * count];
        let lanes_of = |placement: &R::Placement, lanes: &mut [(u32, u8)]| {
            let mut first = 0;
            let mut lanes = lanes.iter_mut();
            for (n, (kind, _)) in kinds.iter().enumerate() {
                for (square, lane) in placement.pieces(Side::Own, *kind).squares().zip(&mut lanes) {
                    let mut others = *placement;
                    others.take(square);
                    *lane = (first + fewer[n].rank(&others, Side::Own, squares) as u32, square);
                }
                first = word_ends[n];
            }
        };
        if count > 0 {
            let work = lanes.par_chunks_mut(count).zip(&pieces);
            work.for_each(|(lanes, placement)| lanes_of(placement, lanes));
        }
        let mut joined = vec![NO_SET; words.len() * R::Set::WIDTH as usize];
        let mut examples = vec![NO_SET; words.len()];
        for (at, (word, square)) in lanes.iter().enumerate() {
            let (word, set) = (*word as usize, (at / count) as u32);
            joined[word * R::Set::WIDTH as usize + usize::from(*square)] = set;
            examples[word] = set;
        }
        Self {
            digit,
            sets: pieces.iter().map(Placement::occupied).collect(),
            lanes,
            joined,
            words,
            examples,
            word_ends,
            images,
            turned,
        }
    }

    /// Pieces in a set.
    #[inline(always)]
    pub(crate) fn count(&self) -> u8 {
        self.digit.pieces()
    }

    /// The kinds of the pieces with their counts.
    #[inline(always)]
    pub(crate) fn kinds(&self) -> &[(Kind, u8)] {
        self.digit.kinds()
    }

    /// Number of sets.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.sets.len()
    }

    /// Number of words; none for sets without pieces.
    #[inline(always)]
    pub(crate) fn word_count(&self) -> usize {
        self.words.len()
    }

    #[inline(always)]
    pub(crate) fn set(&self, rank: u32) -> R::Set {
        self.sets[rank as usize]
    }

    #[inline(always)]
    pub(crate) fn turned(&self, rank: u32) -> u32 {
        self.turned[rank as usize]
    }

    #[inline(always)]
    pub(crate) fn image(&self, symmetry: u8, rank: u32) -> u32 {
        self.images(symmetry)[rank as usize]
    }

    /// The image of every set.
    #[inline(always)]
    pub(crate) fn images(&self, symmetry: u8) -> &[u32] {
        &self.images[usize::from(symmetry)]
    }

    #[inline(always)]
    pub(crate) fn lanes(&self, rank: u32) -> &[(u32, u8)] {
        let count = usize::from(self.count());
        &self.lanes[rank as usize * count..(rank as usize + 1) * count]
    }

    #[inline(always)]
    pub(crate) fn joined(&self, word: u32, bit: u8) -> u32 {
        self.joined[word as usize * R::Set::WIDTH as usize + usize::from(bit)]
    }

    /// The squares of a word's other pieces.
    #[inline(always)]
    pub(crate) fn word(&self, word: u32) -> R::Set {
        self.words[word as usize]
    }

    /// The kind of the piece whose squares a word tells of.
    #[inline(always)]
    pub(crate) fn kind(&self, word: u32) -> Kind {
        let kinds = self.digit.kinds();
        let mut n = 0;
        while n + 1 < kinds.len() && word >= self.word_ends[n] {
            n += 1;
        }
        kinds[n].0
    }

    /// The words that tell of a kind.
    pub(crate) fn words_of(&self, kind: Kind) -> std::ops::Range<u32> {
        let mut first = 0;
        for ((other, _), end) in self.digit.kinds().iter().zip(&self.word_ends) {
            if *other == kind {
                return first..*end;
            }
            first = *end;
        }
        0..0
    }

    /// Puts the pieces of a set on a board.
    pub(crate) fn add_set(&self, set: u32, side: Side, placement: &mut R::Placement) {
        for (word, square) in self.lanes(set) {
            placement.add(side, self.kind(*word), R::Set::bit(*square));
        }
    }

    /// Puts the other pieces of a word on a board.
    pub(crate) fn add_word(&self, word: u32, side: Side, placement: &mut R::Placement) {
        let mut left_out = false;
        for (other, square) in self.lanes(self.examples[word as usize]) {
            if *other == word && !left_out {
                left_out = true;
            } else {
                placement.add(side, self.kind(*other), R::Set::bit(*square));
            }
        }
    }

    /// Bytes that the tables for such pieces take.
    pub(crate) fn bytes(squares: u32, kinds: &[(Kind, u8)], symmetries: u64) -> u64 {
        let digit = MovingDigit::new(kinds);
        let sets = digit.ways(squares);
        let words = (0..kinds.len()).fold(0u64, |sum, n| {
            let mut kinds = kinds.to_vec();
            kinds[n].1 -= 1;
            sum.saturating_add(MovingDigit::new(&kinds).ways(squares))
        });
        let set = (size_of::<R::Set>() + size_of::<R::Placement>()) as u64 + 4 + 4 * symmetries;
        sets.saturating_mul(set + 8 * u64::from(digit.pieces()))
            .saturating_add(words.saturating_mul(4 * u64::from(R::Set::WIDTH) + size_of::<R::Set>() as u64 + 4))
    }
}
