//! The network of a box beside that of a bare process: directly, and through a proxy.

use std::time::Duration;

use super::{
    Programs,
    samples::{Samples, ratio},
    table::{Table, millis, times},
    warm::Warm,
};

/// How often each moves its bytes, in turn with the others.
const ROUNDS: usize = 9;
const BYTES: usize = 512 << 20;
/// Connections one after the other, in each round; the client says how long the middle one took.
const CONNECTIONS: usize = 200;

/// The ways to a server of this machine, as the helper calls them and as people do.
const WAYS: [(&str, &str); 3] = [
    ("direct", "directly over loopback"),
    ("proxy", "through an HTTP CONNECT proxy"),
    ("gate", "from a box, through the gate"),
];

/// What one way gave.
#[derive(Default)]
struct Seen {
    bulk: Samples,
    connect: Samples,
    crowd: Duration,
    kibibytes: u64,
}

/// Bulk bytes, connections, and a thousand of them at once.
pub fn table(programs: &Programs) -> Result<Table, String> {
    let mut warm = Warm::start(&programs.helper, 0)?;
    let mut seen: [Seen; WAYS.len()] = Default::default();
    for _ in 0..ROUNDS {
        for (seen, (way, _)) in seen.iter_mut().zip(WAYS) {
            seen.bulk.push(nanos(&warm.gate(&format!("bulk\t{way}\t{BYTES}"))?)?);
            seen.connect.push(nanos(&warm.gate(&format!("connect\t{way}\t{CONNECTIONS}"))?)?);
        }
    }
    for (seen, (way, _)) in seen.iter_mut().zip(WAYS) {
        let answer = warm.gate(&format!("crowd\t{way}"))?;
        let (taken, kibibytes) = answer.split_once(' ').ok_or("the helper gave one number")?;
        seen.crowd = nanos(taken)?;
        seen.kibibytes = kibibytes.parse().map_err(|_| format!("helper: {answer}"))?;
    }
    let mut table = Table::new(
        "to a server of the same machine",
        &["bulk", "× direct", "connect and one word", "1000 at once", "memory for them"],
    );
    let direct = seen[0].bulk.median();
    for (seen, (_, name)) in seen.iter().zip(WAYS) {
        let taken = seen.bulk.median();
        let speed = (BYTES >> 20) as f64 / taken.as_secs_f64();
        let memory = match seen.kibibytes {
            0 => "none".to_owned(),
            kibibytes => format!("{:.1} MiB", kibibytes as f64 / 1024.0),
        };
        let cells = [
            format!("{speed:.0} MiB/s"),
            times(ratio(direct, taken)),
            millis(seen.connect.median()),
            millis(seen.crowd),
            memory,
        ];
        table.row(name, &cells);
    }
    Ok(table)
}

fn nanos(text: &str) -> Result<Duration, String> {
    text.parse().map(Duration::from_nanos).map_err(|_| format!("helper: {text}"))
}
