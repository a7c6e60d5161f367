//! A real compilation, inside and outside: what the walls cost a program that works.

use std::{env, fs, process};

use super::{
    Programs,
    contestants::{BARE, BWRAP, Contestants, EXEC, spawn_and_wait},
    samples::{Samples, ratio},
    table::{Table, millis, times},
};

const ROUNDS: usize = 7;
/// Enough for a few seconds of a compiler's work.
const FUNCTIONS: usize = 500;

/// gcc on one large file, in turn: bare, in bwrap, in a box.
pub fn table(programs: &Programs, contestants: &Contestants) -> Result<Table, String> {
    let directory = env::temp_dir().join(format!("fumehood-bench-{}", process::id()));
    fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
    let measured = measure(programs, contestants, &directory.display().to_string());
    let _ = fs::remove_dir_all(&directory);
    let seen = measured?;
    let (bare, bwrap) = (seen[0].1.median(), seen[1].1.median());
    let title = format!("`gcc -O1` on {FUNCTIONS} functions in one file");
    let mut table = Table::new(&title, &["p50", "× bare", "× bwrap"]);
    for (name, samples) in &seen {
        let p50 = samples.median();
        table.row(name, &[millis(p50), times(ratio(p50, bare)), times(ratio(p50, bwrap))]);
    }
    Ok(table)
}

fn measure(
    programs: &Programs,
    contestants: &Contestants,
    directory: &str,
) -> Result<[(&'static str, Samples); 3], String> {
    fs::write(format!("{directory}/large.c"), source()).map_err(|error| error.to_string())?;
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let gcc = |at: &str| {
        let (from, to) = (format!("{at}/large.c"), format!("{at}/large.o"));
        owned(&["/usr/bin/gcc", "-O1", "-c", &from, "-o", &to])
    };
    let bwrap = contestants.bwrap_prefix();
    // The directory goes where its own workspace was, before the command begins.
    let bind = owned(&["--bind", directory, "/workspace", "--"]);
    let in_bwrap = [&bwrap[..bwrap.len() - 1], &bind, &gcc("/workspace")].concat();
    let fumehood = programs.fumehood.display().to_string();
    let prefix = owned(&[
        &fumehood,
        "exec",
        "--workspace",
        directory,
        "--memory",
        "2g",
        "--cpus",
        "2",
        "--",
    ]);
    let in_box = [prefix, gcc("/workspace")].concat();
    let commands = [gcc(directory), in_bwrap, in_box];
    let mut seen = [BARE, BWRAP, EXEC].map(|name| (name, Samples::default()));
    for round in 0..=ROUNDS {
        for (command, (_, samples)) in commands.iter().zip(&mut seen) {
            let taken = spawn_and_wait(command)?;
            // The first round brings everything into the page cache.
            if round > 0 {
                samples.push(taken);
            }
        }
    }
    Ok(seen)
}

/// Functions that differ enough for a compiler to work on each.
fn source() -> String {
    let mut text = String::from("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n");
    for number in 0..FUNCTIONS {
        text.push_str(&format!(
            "int f{number}(int n, const char *s) {{\n\
             \x20 int sum = {number}; char copy[64];\n\
             \x20 for (int i = 0; i < n; i++) {{\n\
             \x20   switch ((i * {} + {}) % 7) {{\n\
             \x20     case 0: sum += i * {number}; break;\n\
             \x20     case 1: sum ^= (int)strlen(s) + i; break;\n\
             \x20     case 2: snprintf(copy, sizeof copy, \"%d-%s\", sum, s); sum += copy[i % 8]; break;\n\
             \x20     case 3: sum -= abs(sum % {}); break;\n\
             \x20     default: sum = sum * 31 + i;\n\
             \x20   }}\n\
             \x20 }}\n\
             \x20 return sum;\n\
             }}\n",
            number % 13 + 1,
            number % 5,
            number + 3
        ));
    }
    text
}
