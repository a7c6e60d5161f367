//! `fumehood volume`: the volumes that are kept between runs, and how to be rid of them.

use std::{
    io::{self, Write as _},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use clap::{Args, Subcommand};
use fumehood::{Volume, VolumeName, Volumes};
use serde_json::json;

use crate::{
    failure::{EXIT_REFUSED, Failure},
    paint::Paint,
    render::{Format, size},
};

/// Arguments of `fumehood volume`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct VolumeArgs {
    #[command(subcommand)]
    action: Action,
}

/// What is to be done with volumes.
#[derive(Debug, Subcommand)]
enum Action {
    /// List all volumes with their size and last use.
    #[command(after_help = EXAMPLES)]
    Ls {
        /// Print them as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Remove volumes with everything in them.
    #[command(after_help = EXAMPLES)]
    Rm {
        /// The volumes to remove.
        #[arg(value_name = "NAME", required = true)]
        names: Vec<VolumeName>,
    },
}

const EXAMPLES: &str = "\
Examples:
  fumehood exec --volume cache:/home/box/.cache -- make     made when first used
  fumehood volume ls
  fumehood volume ls --json                  for programs
  fumehood volume rm cache old-cache";

/// Lists or removes volumes and gives the exit code.
pub fn main(arguments: &VolumeArgs) -> u8 {
    match &arguments.action {
        Action::Ls { json: true } => answer(list(json), Format::Json),
        Action::Ls { json: false } => {
            let paint = Paint::for_stdout();
            answer(list(|found| text(found, SystemTime::now(), paint)), Format::Text)
        }
        Action::Rm { names } => remove(names),
    }
}

fn answer(done: Result<(), Failure>, format: Format) -> u8 {
    match done {
        Ok(()) => 0,
        Err(failure) => failure.report(format),
    }
}

fn list(render: impl FnOnce(&[Volume]) -> String) -> Result<(), Failure> {
    let found =
        Volumes::open().and_then(|volumes| volumes.list()).map_err(fumehood::Error::from)?;
    Ok(io::stdout().write_all(render(&found).as_bytes())?)
}

/// Removes what can be removed and says what cannot.
fn remove(names: &[VolumeName]) -> u8 {
    let mut code = 0;
    for name in names {
        let removed = Volumes::open().and_then(|volumes| volumes.remove(name));
        if let Err(error) = removed {
            Failure::from(fumehood::Error::from(error)).report(Format::Text);
            code = EXIT_REFUSED;
        }
    }
    code
}

fn text(found: &[Volume], now: SystemTime, paint: Paint) -> String {
    if found.is_empty() {
        return "No volumes. `--volume NAME:/path` makes one.\n".to_owned();
    }
    let width = found.iter().map(|volume| volume.name.as_str().len()).max().unwrap_or(0).max(4);
    let row = |name: &str, size: &str, files: &str, used: &str| {
        format!("{name:width$}  {size:>10}  {files:>7}  {used}")
    };
    let mut text = paint.strong(&row("NAME", "SIZE", "FILES", "LAST USED"));
    text.push('\n');
    for volume in found {
        let used = ago(now.duration_since(volume.last_used).unwrap_or_default());
        let files = volume.files.to_string();
        text.push_str(&row(volume.name.as_str(), &size(volume.size.get()), &files, &used));
        text.push('\n');
    }
    text
}

/// How long ago, in words.
pub fn ago(passed: Duration) -> String {
    let seconds = passed.as_secs();
    let (count, unit) = match seconds {
        0..60 => return "just now".to_owned(),
        60..3600 => (seconds / 60, "minute"),
        3600..86_400 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural} ago")
}

fn json(found: &[Volume]) -> String {
    let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let volumes: Vec<_> = found
        .iter()
        .map(|volume| {
            json!({
                "name": volume.name.as_str(),
                "size": volume.size.get(),
                "files": volume.files,
                "last_used": seconds(volume.last_used),
            })
        })
        .collect();
    format!("{:#}\n", json!(volumes))
}

#[cfg(test)]
mod tests {
    use fumehood::Bytes;

    use super::*;

    fn found() -> Vec<Volume> {
        let volume = |name: &str, size, seconds| Volume {
            name: name.parse().unwrap(),
            size: Bytes::new(size),
            files: 3,
            last_used: UNIX_EPOCH + Duration::from_secs(seconds),
        };
        vec![volume("cache", 1536, 1000), volume("a", 5, 7000)]
    }

    #[test]
    fn people_see_size_and_use() {
        let now = UNIX_EPOCH + Duration::from_secs(7260);
        assert_eq!(
            text(&found(), now, Paint::plain()),
            "NAME         SIZE    FILES  LAST USED\n\
             cache     1.5 KiB        3  1 hour ago\n\
             a             5 B        3  4 minutes ago\n"
        );
        assert!(text(&[], now, Paint::plain()).contains("--volume NAME:/path"));
    }

    #[test]
    fn programs_get_numbers() {
        let parsed: serde_json::Value = serde_json::from_str(&json(&found())).unwrap();
        assert_eq!(parsed[0]["name"], "cache");
        assert_eq!(parsed[0]["size"], 1536);
        assert_eq!(parsed[1]["last_used"], 7000);
    }
}
