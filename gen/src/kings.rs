//! Sets of like kings by number, and what the solver looks up about them.

use petrov_games::Bits;
use petrov_games::draughts::{Board, Generator};
use petrov_probe::{binomial, set_rank, set_unrank};

/// All sets of `count` kings on a board, numbered as by [`set_rank`] over all
/// playable squares, whatever else stands there. A set of k kings is also k
/// *lanes*: the set without one of its kings names a word, and the king left
/// out is a bit of it. So one word holds a fact about every square that this
/// king could stand on, and the moves of the king from all of them are a few
/// shifts.
pub(crate) struct KingSets<B> {
    count: u8,
    /// The sets.
    sets: Vec<B>,
    /// For each set its number after half a turn of the board.
    turned: Vec<u32>,
    /// For each set the (word, bit) of each of its kings.
    lanes: Vec<(u32, u8)>,
    /// For each word and bit the set they make.
    joined: Vec<u32>,
    /// For each word the other kings.
    words: Vec<B>,
    /// For each symmetry and set: the image's number.
    images: Vec<Vec<u32>>,
}

impl<B: Bits> KingSets<B> {
    pub(crate) fn new(board: &Board, generator: &Generator<B>, symmetries: &[Vec<u8>], count: u8) -> Self {
        let playable = generator.playable();
        let squares = playable.count();
        let number = binomial(squares, count);
        let sets: Vec<B> = (0..number).map(|rank| set_unrank(rank, count, playable)).collect();
        let turned = sets
            .iter()
            .map(|set| set_rank(generator.turned_set(*set), playable) as u32)
            .collect();
        let images = symmetries
            .iter()
            .map(|map| {
                sets.iter()
                    .map(|set| {
                        let image = set
                            .squares()
                            .fold(B::ZERO, |image, s| image | B::bit(map[usize::from(s)]));
                        set_rank(image, playable) as u32
                    })
                    .collect()
            })
            .collect();
        let (mut lanes, mut joined, mut words) = (Vec::new(), Vec::new(), Vec::new());
        if count > 0 {
            words = (0..binomial(squares, count - 1))
                .map(|rank| set_unrank(rank, count - 1, playable))
                .collect();
            joined = vec![u32::MAX; words.len() << 7];
            for (rank, set) in sets.iter().enumerate() {
                for king in set.squares() {
                    let word = set_rank(*set & !B::bit(king), playable) as u32;
                    lanes.push((word, king));
                    joined[(word as usize) << 7 | usize::from(king)] = rank as u32;
                }
            }
            debug_assert!(board.bits() <= 128);
        }
        Self {
            count,
            sets,
            turned,
            lanes,
            joined,
            words,
            images,
        }
    }

    /// Kings in a set.
    #[inline(always)]
    pub(crate) fn count(&self) -> u8 {
        self.count
    }

    /// Number of sets.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.sets.len()
    }

    /// Number of words; none for sets without kings.
    #[inline(always)]
    pub(crate) fn word_count(&self) -> usize {
        self.words.len()
    }

    #[inline(always)]
    pub(crate) fn set(&self, rank: u32) -> B {
        self.sets[rank as usize]
    }

    #[inline(always)]
    pub(crate) fn turned(&self, rank: u32) -> u32 {
        self.turned[rank as usize]
    }

    #[inline(always)]
    pub(crate) fn image(&self, symmetry: u8, rank: u32) -> u32 {
        self.images[usize::from(symmetry)][rank as usize]
    }

    #[inline(always)]
    pub(crate) fn lanes(&self, rank: u32) -> &[(u32, u8)] {
        let count = usize::from(self.count);
        &self.lanes[rank as usize * count..(rank as usize + 1) * count]
    }

    #[inline(always)]
    pub(crate) fn joined(&self, word: u32, bit: u8) -> u32 {
        self.joined[(word as usize) << 7 | usize::from(bit)]
    }

    #[inline(always)]
    pub(crate) fn word(&self, word: u32) -> B {
        self.words[word as usize]
    }

    /// Bytes that the tables for `count` kings take.
    pub(crate) fn bytes(squares: u32, count: u8, symmetries: u64) -> u64 {
        let sets = binomial(squares, count);
        let words = if count == 0 { 0 } else { binomial(squares, count - 1) };
        let set = size_of::<B>() as u64 + 4 + 4 * symmetries + 8 * u64::from(count);
        sets.saturating_mul(set)
            .saturating_add(words.saturating_mul(4 * 128 + size_of::<B>() as u64))
    }
}
