//! search
mod common;
use common::reference::*;
use common::*;
use petrov_games::draughts::*;

fn small(chance: &mut Chance, game: &Game, n: usize) -> Position {
    loop {
        let p = random_position(chance, game);
        if p.occupied().count_ones() as usize <= n {
            return p;
        }
    }
}

#[test]
fn search() {
    // italian
    let g = game("italian");
    let mut c = Chance(9);
    let mut best = [99u32; 6];
    for _ in 0..1_500_000 {
        let p = small(&mut c, &g, 11);
        let r = Reference::new(g.rules());
        let Some(mut ch) = r.complete_chains(&grid(&g, &p), p.turn == Colour::White) else {
            continue;
        };
        if ch.len() < 2 {
            continue;
        }
        let n = p.occupied().count_ones();
        let m = ch.iter().map(|c| c.taken.len()).max().unwrap();
        let a = ch.clone();
        ch.retain(|c| c.taken.len() == m);
        let loser1 = a.iter().any(|c| c.taken.len() < m && !c.by_man && c.kings() > 0);
        let win1 = ch.iter().all(|c| c.by_man);
        let mut say = |k: usize, best: &mut [u32; 6]| {
            if n < best[k] && p.turn == Colour::White {
                best[k] = n;
                println!(
                    "crit {k}: {} legal {:?}",
                    g.format_fen(&p),
                    legal_texts(&g, &g.format_fen(&p))
                );
            }
        };
        if loser1 && win1 {
            say(1, &mut best);
        }
        let b = ch.clone();
        let kings: Vec<_> = ch.iter().filter(|c| !c.by_man).cloned().collect();
        if !kings.is_empty() && kings.len() < b.len() && m >= 2 {
            say(2, &mut best);
        }
        if kings.is_empty() {
            continue;
        }
        let mk = kings.iter().map(|c| c.kings()).max().unwrap();
        let w: Vec<_> = kings.iter().filter(|c| c.kings() == mk).cloned().collect();
        if w.len() < kings.len() {
            say(3, &mut best);
            // most kings beats an earlier king
            let wo = w.iter().map(|c| c.king_ordinals()).min().unwrap();
            if kings
                .iter()
                .any(|c| c.kings() < mk && !c.king_ordinals().is_empty() && c.king_ordinals() < wo)
            {
                say(0, &mut best);
            }
        }
        let wo = w.iter().map(|c| c.king_ordinals()).min().unwrap();
        if w.iter()
            .any(|c| c.king_ordinals() != wo && c.played().from != w[0].from)
        {
            say(4, &mut best);
            if w.iter()
                .any(|c| c.king_ordinals() != wo && c.king_ordinals()[0] == wo[0])
            {
                say(5, &mut best);
            }
        }
    }
    // start crossed / ended
    let g = game("russian");
    let (mut x, mut e) = (99, 99);
    for _ in 0..600_000 {
        let p = small(&mut c, &g, 9);
        let r = Reference::new(g.rules());
        let Some(ch) = r.complete_chains(&grid(&g, &p), p.turn == Colour::White) else {
            continue;
        };
        let n = p.occupied().count_ones();
        for k in &ch {
            if n < e && k.landings.last() == Some(&k.from) {
                e = n;
                println!(
                    "ends on start {} {:?}",
                    g.format_fen(&p),
                    legal_texts(&g, &g.format_fen(&p))
                );
            }
            let mut at = k.from;
            for (i, l) in k.landings.iter().enumerate() {
                let d = ((l.0 - at.0).signum(), (l.1 - at.1).signum());
                let mut q = (at.0 + d.0, at.1 + d.1);
                while q != *l {
                    if i > 0 && q == k.from && n < x && !k.landings.contains(&k.from) {
                        x = n;
                        println!(
                            "crosses start {} {:?}",
                            g.format_fen(&p),
                            legal_texts(&g, &g.format_fen(&p))
                        );
                    }
                    q = (q.0 + d.0, q.1 + d.1);
                }
                at = *l;
            }
        }
    }
    // frisian 2K v 3M etc.
    let g = game("frisian");
    let mut n0 = [99; 2];
    for _ in 0..1_500_000 {
        let p = small(&mut c, &g, 9);
        if p.side(p.turn).count_ones() != 1 {
            continue;
        }
        let r = Reference::new(g.rules());
        let Some(ch) = r.complete_chains(&grid(&g, &p), p.turn == Colour::White) else {
            continue;
        };
        let n = p.occupied().count_ones();
        let f = |m, k| ch.iter().any(|c| c.kings() == k && c.taken.len() == m + k);
        let l = legal_texts(&g, &g.format_fen(&p));
        let top = ch
            .iter()
            .map(|c| c.taken.iter().map(|t| if t.1 { 199 } else { 100 }).sum::<i32>())
            .max()
            .unwrap_or(0);
        if f(3, 0) && top == 398 && n < n0[0] {
            n0[0] = n;
            println!("2K v 3M {} {l:?}", g.format_fen(&p));
        }
        if f(0, 2) && top == 399 && n < n0[1] {
            n0[1] = n;
            println!("K+2M v 2K {} {l:?}", g.format_fen(&p));
        }
    }
    // =K
    let mut seen = 99;
    let mut diag = 99;
    for _ in 0..150_000 {
        let mut rules = random_rules(&mut c);
        rules.promo_capture = PromoCapture::Continue;
        rules.files = 8;
        rules.ranks = 8;
        rules.names = NameStyle::Algebraic;
        let g = game_of(&rules);
        let lines = rules.squares == SquareKind::All
            || rules.man_capture == ManCapture::AllEight
            || rules.man_capture == ManCapture::StraightAll
            || rules.man_capture == ManCapture::StraightForwardSide;
        for _ in 0..8 {
            let p = random_position(&mut c, &g);
            if p.occupied().count_ones() > 20 {
                continue;
            }
            let r = Reference::new(g.rules());
            let Some(_) = r.complete_chains(&grid(&g, &p), p.turn == Colour::White) else {
                continue;
            };
            let legal = g.legal_moves(&p);
            for m in &legal {
                if m.captured != 0
                    && legal
                        .iter()
                        .any(|o| o != m && o.from == m.from && o.to == m.to && o.captured == m.captured)
                {
                    let n = p.occupied().count_ones();
                    let best = if lines { &mut seen } else { &mut diag };
                    if n < *best {
                        *best = n;
                        println!(
                            "=K lines {lines} {} {:?} {:?}\n",
                            g.format_fen(&p),
                            g.move_texts(&p, &legal),
                            rules.axes()
                        );
                    }
                }
            }
        }
    }
    let _ = (seen, diag);
}
