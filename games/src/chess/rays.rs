//! Tables of the squares that leaps and slides reach.

/// The squares from each square to the edge in one direction, without it.
#[derive(Clone, Debug)]
pub(super) struct Ray {
    pub(super) step: (i8, i8),
    pub(super) squares: [u64; 64],
    /// Squares further along have higher numbers.
    rises: bool,
}

impl Ray {
    pub(super) fn new(step: (i8, i8), files: u8, ranks: u8) -> Self {
        let mut squares = [0; 64];
        for (square, set) in squares.iter_mut().enumerate() {
            let mut at = square as u8;
            while let Some(next) = offset(at, step, files, ranks) {
                *set |= 1 << next;
                at = next;
            }
        }
        Self {
            step,
            squares,
            rises: step.1 > 0 || step.1 == 0 && step.0 > 0,
        }
    }

    /// The squares up to and including the first occupied one.
    #[inline(always)]
    pub(super) fn reach(&self, square: u8, occupied: u64) -> u64 {
        let all = self.squares[usize::from(square & 63)];
        // The last square of the word ends no ray early: none goes on from it.
        let first = if self.rises {
            (all & occupied | 1 << 63).trailing_zeros()
        } else {
            63 - (all & occupied | 1).leading_zeros()
        };
        all ^ self.squares[(first & 63) as usize]
    }
}

/// The square a step away, if it is on the board; squares off the board have
/// none.
pub(super) fn offset(square: u8, (dx, dy): (i8, i8), files: u8, ranks: u8) -> Option<u8> {
    let (file, rank) = (square % 8, square / 8);
    if file >= files || rank >= ranks {
        return None;
    }
    let to = (file as i8 + dx, rank as i8 + dy);
    let inside = (0..files as i8).contains(&to.0) && (0..ranks as i8).contains(&to.1);
    inside.then(|| (to.1 * 8 + to.0) as u8)
}

/// For each square those that the steps lead to.
pub(super) fn leaps(steps: &[(i8, i8)], files: u8, ranks: u8) -> [u64; 64] {
    let mut table = [0; 64];
    for (square, set) in table.iter_mut().enumerate() {
        for &step in steps {
            if let Some(to) = offset(square as u8, step, files, ranks) {
                *set |= 1 << to;
            }
        }
    }
    table
}

/// The steps that the eight symmetries make of one, each once.
pub(super) fn all_eight((dx, dy): (i8, i8)) -> Vec<(i8, i8)> {
    let mut steps = Vec::new();
    for (a, b) in [(dx, dy), (dy, dx)] {
        for step in [(a, b), (-a, b), (a, -b), (-a, -b)] {
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
    }
    steps
}
