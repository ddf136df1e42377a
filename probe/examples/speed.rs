//! dev
use petrov_games::draughts::*;
use petrov_probe::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let games = Games::built_in();
    let game = games.get(&a[1]).unwrap();
    let n: u8 = a[2].parse().unwrap();
    let tables = Tables::open(&[&a[3]]).unwrap();
    let prober = tables.prober(game).unwrap();
    let mut seed = 1u64;
    let mut rnd = |m: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % m
    };
    let mut v = vec![];
    let playable: Vec<u8> = (0..128u8).filter(|s| game.board().playable() >> s & 1 == 1).collect();
    while v.len() < 1_000_000 {
        let mut p = Position {
            men: [0; 2],
            kings: [0; 2],
            turn: if rnd(2) == 0 { Colour::White } else { Colour::Black },
        };
        while p.occupied().count_ones() < n as u32 {
            let s = playable[rnd(playable.len() as u64) as usize];
            if p.occupied() >> s & 1 == 1 {
                continue;
            }
            let c = rnd(2) as usize;
            let r = game.board().coordinates(s).1;
            if rnd(60) < 28 {
                if r == [7, 0][c] {
                    continue;
                }
                p.men[c] |= 1 << s
            } else {
                p.kings[c] |= 1 << s
            }
        }
        if p.side(Colour::White) == 0 || p.side(Colour::Black) == 0 {
            continue;
        }
        v.push(p);
    }
    for _ in 0..3 {
        let t = std::time::Instant::now();
        let mut w = 0;
        for p in &v {
            w += (prober.value(p).unwrap() == Value::Win) as u64;
        }
        println!("{w} wins {:.2} M/s", v.len() as f64 / t.elapsed().as_secs_f64() / 1e6);
    }
}
