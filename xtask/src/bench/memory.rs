//! Private memory of what keeps a box open while its program waits.

use std::{
    collections::HashMap,
    fs,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use super::{
    Programs,
    contestants::{BWRAP, Contestants, WARM},
    table::{Table, times},
    warm::Warm,
};

/// Boxes that are open at once; the cost of one is the difference that they make, shared out.
const BOXES: usize = 20;

/// Kibibytes per idle box of the library and of bwrap, without the program itself.
pub fn table(programs: &Programs, contestants: &Contestants) -> Result<Table, String> {
    let mut warm = Warm::start(&programs.helper, 0)?;
    warm.idle(1)?;
    let first = keepers_of(warm.id());
    warm.idle(BOXES)?;
    let ours = (keepers_of(warm.id()).saturating_sub(first)) as f64 / BOXES as f64;
    drop(warm);
    let theirs = bwrap(contestants.bwrap_prefix())?;
    let mut table = Table::new(
        &format!("private memory per idle box, of {BOXES}, without its program"),
        &["KiB", "× bwrap"],
    );
    table.row(BWRAP, &[format!("{theirs:.0}"), times(1.0)]);
    table.row(WARM, &[format!("{ours:.0}"), times(ours / theirs)]);
    Ok(table)
}

fn bwrap(prefix: &[String]) -> Result<f64, String> {
    let [program, arguments @ ..] = prefix else { return Err("no bwrap".to_owned()) };
    let start = || {
        let mut command = Command::new(program);
        command.args(arguments).args(["sh", "-c", "sleep 600"]).stdin(Stdio::null());
        command.spawn().map_err(|error| format!("bwrap could not be started ({error})"))
    };
    let mut boxes: Vec<Child> = (0..BOXES).map(|_| start()).collect::<Result<_, _>>()?;
    thread::sleep(Duration::from_secs(1));
    let total: u64 = boxes.iter().map(|child| private(child.id()) + keepers_of(child.id())).sum();
    for child in &mut boxes {
        let _ = child.kill();
        let _ = child.wait();
    }
    Ok(total as f64 / BOXES as f64)
}

/// Private memory of every process below this one that is not the program in a box.
fn keepers_of(ancestor: u32) -> u64 {
    let parents: HashMap<u32, u32> =
        processes().filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let is_below = |mut pid: u32| {
        while let Some(&parent) = parents.get(&pid) {
            if parent == ancestor {
                return true;
            }
            pid = parent;
        }
        false
    };
    parents
        .keys()
        .filter(|pid| is_below(**pid) && !is_program(**pid))
        .map(|pid| private(*pid))
        .sum()
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// The programs in the boxes here are shells that wait.
fn is_program(pid: u32) -> bool {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    ["sh", "sleep"].contains(&name.trim())
}

/// Kibibytes that would be free again if this process were gone.
fn private(pid: u32) -> u64 {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let lines = rollup.lines().filter(|line| line.starts_with("Private_"));
    lines.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).sum()
}
