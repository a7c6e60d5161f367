//! `fumehood hook install`: has Claude Code ask before every tool, or no longer. The settings before
//! the change are kept beside them.

use std::{
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::Args;

use super::settings::{self, SettingsError};
use crate::{failure, output};

/// Arguments of `fumehood hook install`.
#[derive(Args, Debug)]
pub(super) struct InstallArgs {
    /// In this project: .claude/settings.json. The default.
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// For all your projects: ~/.claude/settings.json.
    #[arg(long)]
    user: bool,
    /// Take the hook out again.
    #[arg(long)]
    remove: bool,
    /// Print what the settings would be, and change nothing.
    #[arg(long)]
    dry_run: bool,
}

/// Why settings were not changed.
#[derive(Debug, thiserror::Error)]
enum InstallFailure {
    #[error("nobody knows where your settings are, since HOME is not set: use --project")]
    NoHome,
    #[error("{} cannot be {verb} ({reason}): check its permissions", path.display())]
    System { verb: &'static str, path: PathBuf, reason: String },
    #[error("{} cannot be changed: {reason}; correct it by hand first", path.display())]
    Settings { path: PathBuf, reason: SettingsError },
    #[error("this program does not know where it is ({reason}): start it by its path")]
    NoProgram { reason: String },
}

pub(super) fn main(arguments: &InstallArgs) -> u8 {
    match install(arguments) {
        Ok(said) => {
            output::line_for_programs(&said);
            0
        }
        Err(error) => {
            output::line_for_people(&error.to_string());
            failure::EXIT_REFUSED
        }
    }
}

fn install(arguments: &InstallArgs) -> Result<String, InstallFailure> {
    let path = place(arguments.user)?;
    let system = |verb: &'static str, path: &Path| {
        let path = path.to_owned();
        move |error: io::Error| InstallFailure::System {
            verb,
            path,
            reason: failure::reason(&error),
        }
    };
    let before = match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(system("read", &path)(error)),
    };
    let text = before.as_deref().unwrap_or_default();
    let changed = match arguments.remove {
        true => settings::without_hook(text),
        false => {
            let program = env::current_exe()
                .map_err(|error| InstallFailure::NoProgram { reason: error.to_string() })?;
            settings::with_hook(text, &settings::command(&program.to_string_lossy()))
        }
    };
    let changed =
        changed.map_err(|reason| InstallFailure::Settings { path: path.clone(), reason })?;
    let shown = path.display();
    let Some(after) = changed else {
        return Ok(match arguments.remove {
            true => format!("{shown} has no hook of fumehood; nothing was changed"),
            false => format!("{shown} has the hook already; nothing was changed"),
        });
    };
    if arguments.dry_run {
        return Ok(format!("{shown} would be:\n{}", after.trim_end()));
    }
    let mut said = match arguments.remove {
        true => format!("removed the hook from {shown}"),
        false => format!("installed the hook in {shown}"),
    };
    if let Some(before) = &before {
        let backup = beside(&path, ".before-fumehood");
        fs::write(&backup, before).map_err(system("written", &backup))?;
        said += &format!("\nthe settings before are in {}", backup.display());
    } else if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(system("made", directory))?;
    }
    replace(&path, &after).map_err(system("written", &path))?;
    Ok(said)
}

/// The file, and not a link to it, so that the link stays one.
fn place(user: bool) -> Result<PathBuf, InstallFailure> {
    let base = match user {
        true => PathBuf::from(env::var_os("HOME").ok_or(InstallFailure::NoHome)?),
        false => PathBuf::from("."),
    };
    let path = base.join(".claude").join("settings.json");
    Ok(fs::canonicalize(&path).unwrap_or(path))
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    path.with_file_name(name)
}

/// Whoever reads meanwhile sees the old settings or the new.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let draft = beside(path, ".fumehood-draft");
    let mut file = fs::File::create(&draft)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| {
        if let Ok(old) = fs::metadata(path) {
            file.set_permissions(old.permissions())?;
        }
        fs::rename(&draft, path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}
