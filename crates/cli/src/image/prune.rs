//! `fumehood image prune`: removing what nobody needs.

use clap::Args;
use fumehood::{
    Bytes, LimitError, TimeSpan,
    image::{PrunePolicy, PruneReason, Pruned},
};
use serde_json::json;

use super::{Common, print};
use crate::{failure::Failure, render::size};

/// Arguments of `fumehood image prune`.
#[derive(Args, Debug)]
#[command(
    after_help = EXAMPLES,
    group(clap::ArgGroup::new("which").required(true).multiple(true))
)]
pub struct PruneArgs {
    /// Remove what was made longer ago than this.
    #[arg(long, value_name = "TIME", value_parser = seconds, group = "which")]
    older_than: Option<u64>,
    /// Remove what was not used for this long.
    #[arg(long, value_name = "TIME", value_parser = seconds, group = "which")]
    unused: Option<u64>,
    /// Remove what was used longest ago, until the rest is no larger than this.
    #[arg(long, value_name = "SIZE", group = "which")]
    keep_size: Option<Bytes>,
    /// Remove all.
    #[arg(long, group = "which")]
    all: bool,
    /// Only say what would be removed.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

const EXAMPLES: &str = "\
Examples:
  fumehood image prune --older-than 30d
  fumehood image prune --unused 7d --keep-size 5g
  fumehood image prune --all --dry-run       only say what would go

Only images that fumehood made are ever touched. What another took the name of goes too.";

/// A length of time in seconds; days as well.
fn seconds(given: &str) -> Result<u64, LimitError> {
    match given.strip_suffix('d').and_then(|days| days.parse::<u32>().ok()) {
        Some(days) => Ok(u64::from(days) * 86_400),
        None => given.parse::<TimeSpan>().map(|span| span.duration().as_secs()),
    }
}

pub(super) fn run(arguments: &PruneArgs) -> Result<u8, Failure> {
    let policy = PrunePolicy {
        all: arguments.all,
        older_than: arguments.older_than,
        unused: arguments.unused,
        keep_size: arguments.keep_size,
    };
    let (as_json, dry_run) = (arguments.common.json, arguments.dry_run);
    arguments.common.on_images(async |images, _| {
        let pruned = images.prune(&policy, dry_run).await?;
        print(&if as_json { json(&pruned, dry_run) } else { text(&pruned, dry_run) })
    })
}

fn reason(reason: PruneReason) -> &'static str {
    match reason {
        PruneReason::Nameless => "replaced",
        PruneReason::All => "all",
        PruneReason::Old => "old",
        PruneReason::Unused => "unused",
        PruneReason::Space => "space",
    }
}

fn text(pruned: &Pruned, dry_run: bool) -> String {
    let mut text = String::new();
    for image in &pruned.images {
        let name = image.image.reference.as_ref().unwrap_or(&image.image.id);
        text.push_str(&match (&image.kept, dry_run) {
            (Some(why), _) => format!("kept {name}: {}\n", fumehood::escape_controls(why)),
            (None, true) => format!("would remove {name} ({})\n", reason(image.reason)),
            (None, false) => format!("removed {name} ({})\n", reason(image.reason)),
        });
    }
    let verb = if dry_run { "would free" } else { "freed" };
    text + &format!("{verb} {}\n", size(pruned.freed.get()))
}

fn json(pruned: &Pruned, dry_run: bool) -> String {
    let images: Vec<_> = pruned
        .images
        .iter()
        .map(|image| {
            json!({
                "name": image.image.name,
                "reference": image.image.reference,
                "id": image.image.id,
                "size": image.image.size.get(),
                "reason": reason(image.reason),
                "removed": !dry_run && image.kept.is_none(),
                "kept": image.kept,
            })
        })
        .collect();
    let answer = json!({ "dry_run": dry_run, "images": images, "freed": pruned.freed.get() });
    format!("{answer:#}\n")
}

#[cfg(test)]
mod tests {
    use fumehood::image::{PresentImage, PrunedImage};

    use super::*;

    fn pruned() -> Pruned {
        let image = |name: &str, reference: Option<&str>, kept: Option<&str>| PrunedImage {
            image: PresentImage {
                name: name.into(),
                reference: reference.map(str::to_owned),
                id: "sha256:77".into(),
                size: Bytes::new(1536),
                made: None,
                used: None,
                inputs: None,
                current: None,
            },
            reason: PruneReason::Unused,
            kept: kept.map(str::to_owned),
        };
        Pruned {
            images: vec![
                image("go", Some("fumehood/go:latest"), None),
                image("c", None, Some("a container uses it")),
            ],
            freed: Bytes::new(1536),
        }
    }

    #[test]
    fn what_went_and_what_stayed_is_said() {
        assert_eq!(
            text(&pruned(), false),
            "removed fumehood/go:latest (unused)\nkept sha256:77: a container uses it\n\
             freed 1.5 KiB\n"
        );
        assert!(text(&pruned(), true).starts_with("would remove fumehood/go:latest (unused)\n"));
        let parsed: serde_json::Value = serde_json::from_str(&json(&pruned(), false)).unwrap();
        assert_eq!(parsed["images"][0]["removed"], true);
        assert_eq!(parsed["images"][1]["kept"], "a container uses it");
        assert_eq!(parsed["freed"], 1536);
    }

    #[test]
    fn days_are_understood_too() {
        assert_eq!(seconds("30d"), Ok(2_592_000));
        assert_eq!(seconds("2h"), Ok(7200));
        assert!(seconds("soon").is_err() && seconds("-3d").is_err());
    }
}
