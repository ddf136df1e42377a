//! Which ranks are where, and what they have.

use std::fs;
use std::io::Write;

use petrov_cli::failure::Failure;
use petrov_cli::output::Output;
use petrov_cli::setting::Setting;
use petrov_cli::words;

use crate::end::{Outcome, Stopped};
use crate::world::{World, usable_processors};

/// Says for each rank where it is and how many threads it could use.
pub(crate) fn ranks(world: &World, output: &mut Output) -> Outcome<()> {
    let line = format!(
        "rank {} of {}: {}, {}",
        world.rank,
        world.size,
        world.host,
        words::count(usable_processors() as u64, "thread", "threads")
    );
    for line in world.gather(&line) {
        writeln!(output, "{line}").map_err(|error| Stopped::Here(Failure::from(error)))?;
    }
    Ok(())
}

/// What a rank has.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Place {
    host: String,
    threads: usize,
    /// Processors that it may use.
    usable: usize,
    /// Processors of its host.
    processors: usize,
}

impl Place {
    fn of(world: &World, threads: usize) -> Self {
        Self {
            host: world.host.clone(),
            threads,
            usable: usable_processors(),
            processors: host_processors(),
        }
    }

    /// As one line.
    fn line(&self) -> String {
        format!("{} {} {} {}", self.threads, self.usable, self.processors, self.host)
    }

    /// From its line.
    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.splitn(4, ' ');
        let mut number = || parts.next()?.parse().ok();
        let (threads, usable, processors) = (number()?, number()?, number()?);
        Some(Self {
            host: parts.next()?.to_owned(),
            threads,
            usable,
            processors,
        })
    }
}

/// Processors that are on line, whether this process may use them or not.
fn host_processors() -> usize {
    let list = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    count_listed(list.trim()).unwrap_or_else(usable_processors)
}

/// Numbers in a list such as `0-3,8`.
fn count_listed(list: &str) -> Option<usize> {
    list.split(',')
        .map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
            Some(last.checked_sub(first)? + 1)
        })
        .sum()
}

/// Logs, on rank 0, which ranks and threads are on which host, and warns where these cannot all run at once.
pub(crate) fn log(world: &World, setting: &Setting, threads: usize) {
    let lines = world.gather(&Place::of(world, threads).line());
    let places: Vec<Place> = lines.iter().filter_map(|line| Place::parse(line)).collect();
    for text in in_words(&places) {
        setting.note(&text);
    }
}

/// The ranks of one host.
struct Host<'a> {
    name: &'a str,
    ranks: Vec<&'a Place>,
}

/// What there is to say about the places of all ranks: hosts with the same on one line, then warnings.
fn in_words(places: &[Place]) -> Vec<String> {
    let mut hosts: Vec<Host> = Vec::new();
    for place in places {
        match hosts.iter_mut().find(|host| host.name == place.host) {
            Some(host) => host.ranks.push(place),
            None => hosts.push(Host {
                name: &place.host,
                ranks: vec![place],
            }),
        }
    }
    let (mut alike, mut crowded, mut bound) = (Sayings::default(), Sayings::default(), Sayings::default());
    for host in &hosts {
        let threads: usize = host.ranks.iter().map(|place| place.threads).sum();
        let processors = host.ranks[0].processors;
        let each = host.ranks[0].threads;
        let ranks = words::count(host.ranks.len() as u64, "rank", "ranks");
        let threads_each = if host.ranks.iter().all(|place| place.threads == each) {
            format!("{} each", words::count(each as u64, "thread", "threads"))
        } else {
            format!("{} in all", words::count(threads as u64, "thread", "threads"))
        };
        let on = words::count(processors as u64, "processor", "processors");
        alike.add(format!("{ranks} with {threads_each}, {on}"), host.name);
        if threads > processors {
            let threads = words::count(threads as u64, "thread", "threads");
            crowded.add(
                format!("{threads} for {on}; fewer ranks or fewer --threads would do the same work"),
                host.name,
            );
        }
        if let Some(place) = host
            .ranks
            .iter()
            .find(|place| place.usable < place.threads.min(place.processors))
        {
            bound.add(format!(
                    "a rank is bound to {} but has {}; start mpirun with --bind-to none, or with more processors for each rank",
                    words::count(place.usable as u64, "processor", "processors"),
                    words::count(place.threads as u64, "thread", "threads"),
                ),
                host.name,
            );
        }
    }
    let warnings = crowded.0.into_iter().chain(bound.0);
    let plain = alike.0.into_iter();
    plain
        .map(|(text, names)| format!("{}: {text}", names_in_words(&names)))
        .chain(warnings.map(|(text, names)| format!("warning: {}: {text}", names_in_words(&names))))
        .collect()
}

/// Texts, each with the names of the hosts that it is true of.
#[derive(Default)]
struct Sayings<'a>(Vec<(String, Vec<&'a str>)>);

impl<'a> Sayings<'a> {
    fn add(&mut self, text: String, host: &'a str) {
        match self.0.iter_mut().find(|(known, _)| *known == text) {
            Some((_, hosts)) => hosts.push(host),
            None => self.0.push((text, vec![host])),
        }
    }
}

/// `a`, `a and b`, or `5 hosts (a to e)`.
fn names_in_words(names: &[&str]) -> String {
    match names {
        [one] => (*one).to_owned(),
        [one, other] => format!("{one} and {other}"),
        [first, .., last] => format!("{} hosts ({first} to {last})", words::thousands(names.len() as u64)),
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(host: &str, threads: usize, usable: usize, processors: usize) -> Place {
        Place {
            host: host.to_owned(),
            threads,
            usable,
            processors,
        }
    }

    #[test]
    fn lists_of_processors() {
        assert_eq!(count_listed("0"), Some(1));
        assert_eq!(count_listed("0-3,8,10-11"), Some(7));
        for wrong in ["", "a", "3-1", "0-", "1,,2"] {
            assert_eq!(count_listed(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn places_survive_the_way() {
        let there = place("a host", 3, 2, 64);
        assert_eq!(Place::parse(&there.line()), Some(there));
        assert_eq!(Place::parse("1 2 x host"), None);
    }

    #[test]
    fn hosts_alike_are_said_together() {
        let mut places = Vec::new();
        for host in ["n1", "n2", "n3"] {
            places.extend([place(host, 8, 16, 16), place(host, 8, 16, 16)]);
        }
        assert_eq!(
            in_words(&places),
            ["3 hosts (n1 to n3): 2 ranks with 8 threads each, 16 processors"]
        );
    }

    #[test]
    fn crowds_and_bonds_are_warned_of() {
        let said = in_words(&[place("n1", 4, 1, 4), place("n1", 4, 4, 4), place("n2", 2, 2, 2)]);
        assert_eq!(said.len(), 4, "{said:?}");
        assert_eq!(said[0], "n1: 2 ranks with 4 threads each, 4 processors");
        assert_eq!(said[1], "n2: 1 rank with 2 threads each, 2 processors");
        assert!(
            said[2].starts_with("warning: n1: 8 threads for 4 processors"),
            "{}",
            said[2]
        );
        assert!(
            said[3].starts_with("warning: n1: a rank is bound to 1 processor but has 4 threads"),
            "{}",
            said[3]
        );
    }
}
