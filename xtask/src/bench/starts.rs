//! Start to exit of small commands: how long one takes, and how many go through in a second.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{
    contestants::{BARE, BWRAP, Contestant, Contestants, Way, Workload, spawn_and_wait},
    samples::{Samples, ratio},
    table::{Table, millis, times},
    warm::Warm,
};

/// Runs before the first that counts.
const WARM_UP: usize = 10;
/// Rounds of the throughput measurement, and the time that everybody has in each.
const ROUNDS: usize = 3;
const ROUND: Duration = Duration::from_secs(1);

/// Everybody runs the command in turn, this often.
pub fn in_turn(
    contestants: &Contestants,
    workload: &Workload,
    runs: usize,
) -> Result<Vec<(&'static str, Samples)>, String> {
    let mut seen: Vec<_> =
        contestants.all.iter().map(|contestant| (contestant.name, Samples::default())).collect();
    let mut order: Vec<usize> = (0..seen.len()).collect();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for run in 0..WARM_UP + runs {
        dice.shuffle(&mut order);
        for &index in &order {
            let taken = contestants.all[index].run(&workload.words)?;
            if run >= WARM_UP {
                seen[index].1.push(taken);
            }
        }
    }
    Ok(seen)
}

/// Changes the order of every round. The kernel takes namespaces apart when their processes are
/// gone, which costs whoever comes next: nobody may always come behind the same.
struct Dice(u64);

impl Dice {
    fn shuffle(&mut self, order: &mut [usize]) {
        for last in (1..order.len()).rev() {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            order.swap(last, (self.0 % (last as u64 + 1)) as usize);
        }
    }
}

/// What was seen, beside bare and bwrap.
pub fn table(workload: &Workload, seen: &[(&'static str, Samples)]) -> Table {
    let median = |wanted: &str| {
        seen.iter().find(|(name, _)| *name == wanted).map(|(_, s)| s.median()).unwrap_or_default()
    };
    let (bare, bwrap) = (median(BARE), median(BWRAP));
    let title = format!("{}, start to exit", workload.name);
    let mut table = Table::new(&title, &["p50", "p99", "p50 × bare", "p50 × bwrap"]);
    for (name, samples) in seen {
        let p50 = samples.median();
        table.row(
            name,
            &[
                millis(p50),
                millis(samples.percentile(99)),
                times(ratio(p50, bare)),
                times(ratio(p50, bwrap)),
            ],
        );
    }
    table
}

/// How many `/bin/true` go through in a second, with one and with two workers.
pub fn throughput(contestants: &Contestants) -> Result<Table, String> {
    let [workload, _] = contestants.workloads();
    let mut counts = vec![[0u64; 2]; contestants.all.len()];
    // One helper for each number of workers, since it brings as many threads.
    let mut helpers = [Warm::start(&contestants.helper, 1)?, Warm::start(&contestants.helper, 2)?];
    for _ in 0..ROUNDS {
        for (contestant, counts) in contestants.all.iter().zip(&mut counts) {
            for ((count, helper), workers) in counts.iter_mut().zip(&mut helpers).zip([1, 2]) {
                *count += for_a_round(contestant, helper, workers, &workload.words)?;
            }
        }
    }
    let seconds = ROUND.as_secs_f64() * ROUNDS as f64;
    let of = |wanted: &str| {
        let found = contestants.all.iter().position(|contestant| contestant.name == wanted);
        found.map_or([0; 2], |index| counts[index])
    };
    let (bare, bwrap) = (of(BARE), of(BWRAP));
    let mut table = Table::new(
        "`/bin/true`, runs per second",
        &["1 worker", "× bare", "× bwrap", "2 workers", "× bare", "× bwrap"],
    );
    for (contestant, counts) in contestants.all.iter().zip(&counts) {
        let cells: Vec<String> = (0..2)
            .flat_map(|index| {
                let count = counts[index] as f64;
                [
                    format!("{:.0}", count / seconds),
                    times(count / bare[index] as f64),
                    times(count / bwrap[index] as f64),
                ]
            })
            .collect();
        table.row(contestant.name, &cells);
    }
    Ok(table)
}

fn for_a_round(
    contestant: &Contestant,
    helper: &mut Warm,
    workers: usize,
    words: &[String],
) -> Result<u64, String> {
    match &contestant.way {
        Way::InProcess(_) => helper.many(workers, ROUND, words),
        Way::Spawned { prefix } => {
            let command = [prefix.as_slice(), words].concat();
            let end = Instant::now() + ROUND;
            let work = || {
                let mut count = 0;
                while Instant::now() < end {
                    spawn_and_wait(&command)?;
                    count += 1;
                }
                Ok(count)
            };
            thread::scope(|threads| {
                let all: Vec<_> = (0..workers).map(|_| threads.spawn(work)).collect();
                let counts = all
                    .into_iter()
                    .map(|worker| worker.join().map_err(|_| "a worker panicked".to_owned())?);
                counts.sum::<Result<u64, String>>()
            })
        }
    }
}
