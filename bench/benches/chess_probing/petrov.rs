//! Petrov's own tables.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use petrov_games::chess::{Game, Position};
use petrov_probe::{Prober, Tables, Value};

use crate::positions::Positions;
use crate::{Failure, Library};

pub(crate) struct Petrov {
    prober: Prober<Game>,
    positions: Vec<Position>,
}

impl Petrov {
    pub(crate) fn new(dir: &Path, positions: &Positions) -> Result<Self, Failure> {
        // A prober borrows its tables; these are open until the program ends.
        let tables: &'static Tables = Box::leak(Box::new(Tables::open(&[dir])?));
        Ok(Self {
            prober: tables.prober(&positions.game)?,
            positions: positions.all.clone(),
        })
    }
}

impl Library for Petrov {
    fn name(&self) -> &'static str {
        "petrov"
    }

    fn pass(&mut self) -> Result<(Duration, Vec<i8>), Failure> {
        let mut values = Vec::with_capacity(self.positions.len());
        let start = Instant::now();
        for position in &self.positions {
            values.push(match black_box(self.prober.value(position)?) {
                Value::Loss => -1,
                Value::Draw => 0,
                Value::Win => 1,
            });
        }
        Ok((start.elapsed(), values))
    }
}
