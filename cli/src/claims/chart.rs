//! Distributions of distances as SVG charts.

use std::collections::BTreeMap;

use petrov_gen::claims::own_moves;
use petrov_probe::format::SideParts;
use plotters::prelude::*;

use crate::failure::Failure;
use crate::words;

/// How many positions a side wins in how many of its own moves, by the side to
/// move.
pub(crate) struct Distances {
    /// With the winner to move.
    pub(crate) to_move: BTreeMap<u16, u64>,
    /// With the loser to move.
    pub(crate) waiting: BTreeMap<u16, u64>,
}

impl Distances {
    /// Wins of the side that the first of two sides of a table of distances
    /// has to move.
    pub(crate) fn of(sides: [&SideParts; 2]) -> Self {
        let mut found = Self {
            to_move: BTreeMap::new(),
            waiting: BTreeMap::new(),
        };
        for line in &sides[0].palette {
            if line.score().is_win() && line.count > 0 {
                *found.to_move.entry(own_moves(line.distance)).or_default() += line.count;
            }
        }
        for line in &sides[1].palette {
            if line.score().is_loss() && line.count > 0 {
                *found.waiting.entry(own_moves(line.distance)).or_default() += line.count;
            }
        }
        found
    }

    /// The longest win in own moves; `None` if there is none.
    pub(crate) fn longest(&self) -> Option<u16> {
        self.to_move.keys().chain(self.waiting.keys()).max().copied()
    }
}

/// Draws the distances; `None` if nothing is won.
pub(crate) fn draw(title: &str, distances: &Distances) -> Result<Option<String>, Failure> {
    let Some(longest) = distances.longest() else {
        return Ok(None);
    };
    let mut picture = String::new();
    draw_into(title, distances, longest, &mut picture)
        .map_err(|error| Failure::Broken(format!("a chart could not be drawn: {error}")))?;
    // The backend ends lines in the middle of elements as it likes; the file
    // ends with one.
    picture.push('\n');
    Ok(Some(picture))
}

const WHITE_TO_MOVE: RGBColor = RGBColor(196, 143, 64);
const BLACK_TO_MOVE: RGBColor = RGBColor(58, 70, 92);

fn draw_into(
    title: &str,
    distances: &Distances,
    longest: u16,
    picture: &mut String,
) -> Result<(), Box<dyn std::error::Error>> {
    let most = distances
        .to_move
        .values()
        .chain(distances.waiting.values())
        .max()
        .copied()
        .unwrap_or(0);
    let area = SVGBackend::with_string(picture, (720, 340)).into_drawing_area();
    area.fill(&WHITE)?;
    let end = f64::from(longest) + 0.5;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(38)
        .y_label_area_size(72)
        .build_cartesian_2d(-0.5..end, 0.0..most as f64 * 1.05)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .max_light_lines(0)
        .x_desc("moves of the winner to the end")
        .y_desc("positions")
        .x_labels(usize::from(longest) + 2)
        .x_label_formatter(&|x| whole(*x))
        .y_label_formatter(&|y| whole(*y))
        .axis_desc_style(("sans-serif", 14))
        .draw()?;
    let sides = [
        (
            "White, with more kings, to move",
            &distances.to_move,
            WHITE_TO_MOVE,
            -0.4,
        ),
        ("Black to move", &distances.waiting, BLACK_TO_MOVE, 0.0),
    ];
    for (name, counts, colour, left) in sides {
        let bars = counts.iter().map(|(moves, count)| {
            let from = f64::from(*moves) + left;
            Rectangle::new([(from, 0.0), (from + 0.4, *count as f64)], colour.filled())
        });
        chart
            .draw_series(bars)?
            .label(name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], colour.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.9))
        .border_style(RGBColor(160, 160, 160))
        .label_font(("sans-serif", 13))
        .draw()?;
    area.present()?;
    Ok(())
}

/// A number on an axis; nothing between whole numbers.
fn whole(number: f64) -> String {
    if number < 0.0 || (number - number.round()).abs() > 1e-6 {
        String::new()
    } else {
        words::thousands(number.round() as u64)
    }
}
