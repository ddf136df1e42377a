//! Petrov's own tables.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use petrov_games::chess::{Game, Position};
use petrov_probe::{Handle, Metric, Tables, Value};

use crate::positions::Positions;
use crate::{Failure, Library};

pub(crate) struct Petrov {
    handle: Handle<Game>,
    positions: Vec<Position>,
}

impl Petrov {
    pub(crate) fn new(dir: &Path, positions: &Positions) -> Result<Self, Failure> {
        let prober = Tables::open(&[dir])?.prober(&positions.game)?;
        prober.warm(Metric::Wld, u8::MAX, u64::MAX)?;
        Ok(Self {
            handle: prober.handle(),
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
            values.push(match black_box(self.handle.value(position)?) {
                Some(Value::Loss) => -1,
                Some(Value::Draw) => 0,
                Some(Value::Win) => 1,
                None => return Err("a table is missing".into()),
            });
        }
        Ok((start.elapsed(), values))
    }
}
