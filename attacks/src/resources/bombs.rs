//! Processes, memory and processor time.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::number;
use crate::{
    Words,
    answer::{tell, word},
    sys::{fork, hoard, numbers, wait},
};

/// `COUNT SECONDS`: as many processes as that, each trying to have children of its own, for as long
/// as that.
pub(crate) fn forks(words: Words<'_>) {
    let (count, seconds) = (number(words, 0, 200), number(words, 1, 1));
    let begun = Instant::now();
    let over = move || begun.elapsed() > Duration::from_secs(seconds);
    let mut children = Vec::new();
    let mut refused = None;
    for _ in 0..count {
        match fork(|| {
            while !over() {
                thread::sleep(Duration::from_millis(20));
            }
        }) {
            Ok(pid) => children.push(pid),
            Err(errno) => {
                refused = Some(errno);
                break;
            }
        }
    }
    tell("forks", refused.map_or_else(|| "done".to_owned(), |errno| word::<()>(Err(errno))));
    // And again and again, as a bomb does.
    while !over() {
        if let Ok(pid) = fork(|| {}) {
            wait(pid);
        }
        thread::sleep(Duration::from_millis(1));
    }
    for pid in children {
        wait(pid);
    }
}

/// `MIB`: as much memory as that, every page of it used.
pub(crate) fn memory(words: Words<'_>) {
    const STEP: usize = 4 << 20;
    for _ in 0..number(words, 0, 256) / 4 {
        if let Err(errno) = hoard(STEP) {
            return tell("memory", word::<()>(Err(errno)));
        }
        // As fast as a program that computes something, so that those who watch can see it.
        thread::sleep(Duration::from_millis(2));
    }
    tell("memory", "done");
}

/// `CHILDREN SECONDS`: all of them do nothing but run, and then tell how long they did.
pub(crate) fn spin(words: Words<'_>) {
    let (count, seconds) = (number(words, 0, 2), number(words, 1, 1));
    let begun = Instant::now();
    let children: Vec<_> = (0..count)
        .filter_map(|_| {
            fork(|| {
                while begun.elapsed() < Duration::from_secs(seconds) {
                    std::hint::spin_loop();
                }
            })
            .ok()
        })
        .collect();
    for pid in children {
        wait(pid);
    }
    let mut times = [0u8; 32];
    let asked = crate::sys::call(libc::SYS_times, vec![crate::sys::Arg::Out(&mut times)]);
    let ticks: i64 = times
        .chunks_exact(8)
        .map(|word| i64::from_ne_bytes(word.try_into().unwrap_or_default()))
        .sum();
    // Ticks are hundredths of a second on every Linux that there is.
    let percent = ticks as f64 / begun.elapsed().as_secs_f64();
    tell("percent", if asked.is_ok() { format!("{percent:.0}") } else { "unknown".to_owned() });
    let _ = numbers(libc::SYS_sched_yield, &[]);
}
