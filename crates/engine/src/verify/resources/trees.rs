//! What is left behind in directories, and what comes in archives.

use std::fs;

use super::super::{
    host::said,
    judge::Seen,
    row::Pending,
    runner,
    stage::{Preparing as _, Stage, Trouble, limited},
};
use crate::{WorkspaceMode, archive};

/// Directories above one another; a path of the kernel has room for 2048 of them.
const DEPTH: &str = "3000";

/// The tree, made by a box in a directory of the caller.
async fn grow(stage: &Stage<'_>) -> Result<std::path::PathBuf, Trouble> {
    let workspace = stage.directory("workspace")?;
    let request = stage.attack(["R11", DEPTH]).workspace(&workspace, WorkspaceMode::ReadWrite);
    let outcome = stage.run(limited(request, &[("timeout", "60s")])?).await?;
    match said(&outcome, "made done") {
        true => Ok(workspace),
        false => Err(Trouble::Missing("the file system of the cache takes no tree so deep")),
    }
}

pub(super) fn deep_tree<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let workspace = grow(stage).await?;
        runner::remove_aside(workspace.clone()).await;
        Ok(Seen::only("tree", if workspace.exists() { "left" } else { "removed" }))
    })
}

/// The path of the innermost directory is longer than any system call takes.
pub(super) fn removal_by_path<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let workspace = grow(stage).await?;
        let innermost = workspace.join("d/".repeat(3000));
        let removed = fs::remove_dir(innermost).is_ok();
        Ok(Seen::only("tree", if removed { "removed" } else { "left" }))
    })
}

/// Archives that no honest program makes: each with a name, and what is in it.
fn hostile(outside: &str) -> Vec<(&'static str, tar::Builder<Vec<u8>>)> {
    let entry = |name: &str, kind: tar::EntryType, link: &str, content: &[u8]| {
        let mut header = tar::Header::new_gnu();
        // Written as it is: the crate's own way refuses such names.
        let bytes = &mut header.as_old_mut().name;
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        let bytes = &mut header.as_old_mut().linkname;
        bytes[..link.len()].copy_from_slice(link.as_bytes());
        header.set_entry_type(kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        let mut builder = tar::Builder::new(Vec::new());
        let _ = builder.append(&header, content);
        builder
    };
    vec![
        ("climbing", entry("../escaped", tar::EntryType::Regular, "", b"x")),
        ("absolute", entry(outside, tar::EntryType::Regular, "", b"x")),
        ("device", entry("device", tar::EntryType::Char, "", b"")),
        ("link_out", entry("link", tar::EntryType::Symlink, "../../..", b"")),
        ("hard_link_out", entry("link", tar::EntryType::Link, "../../etc/passwd", b"")),
        ("pipe", entry("pipe", tar::EntryType::Fifo, "", b"")),
    ]
}

pub(super) fn hostile_archives<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let cache = stage.directory("cache")?;
        let outside = stage.directory("o")?.join("x");
        let outside_name = "/tmp/fumehood-verify-escaped";
        let mut seen = Seen::default();
        let limits = archive::UnpackLimits::default();
        let mut try_one = |label: &str, bytes: &[u8]| -> Result<(), Trouble> {
            let path = stage.path.join(format!("{label}.tar"));
            fs::write(&path, bytes).preparing("an archive")?;
            let rejected = archive::unpacked(&path, &cache, &limits).is_err();
            let escaped =
                [stage.path.join("escaped"), cache.join("escaped")].iter().any(|p| p.exists())
                    || cache.join("unpacked/escaped").exists()
                    || std::path::Path::new(outside_name).exists()
                    || outside.exists();
            let answer = if rejected && !escaped { "rejected" } else { "unpacked" };
            seen = std::mem::take(&mut seen).and(label, answer);
            Ok(())
        };
        for (label, builder) in hostile(outside_name) {
            let bytes = builder.into_inner().preparing("an archive")?;
            try_one(label, &bytes)?;
        }
        // A file of zeros far longer than what it is packed in.
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        let mut builder = tar::Builder::new(&mut packer);
        let mut header = tar::Header::new_gnu();
        let length = 32 << 20;
        header.set_size(length);
        header.set_mode(0o644);
        let zeros = std::io::Read::take(std::io::repeat(0), length);
        builder.append_data(&mut header, "zeros", zeros).preparing("an archive")?;
        builder.into_inner().preparing("an archive")?;
        try_one("bomb", &packer.finish().preparing("an archive")?)?;
        Ok(seen)
    })
}

/// What somebody in a hurry would write.
pub(super) fn naive_unpacker<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let target = stage.directory("target")?;
        let (_, builder) = hostile("/x").swap_remove(0);
        let bytes = builder.into_inner().preparing("an archive")?;
        let mut archive = tar::Archive::new(bytes.as_slice());
        for entry in archive.entries().preparing("an archive")?.flatten() {
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            fs::write(target.join(name), "x").preparing("a file")?;
        }
        let escaped = stage.path.join("escaped").exists();
        Ok(Seen::only("climbing", if escaped { "unpacked" } else { "rejected" }))
    })
}
