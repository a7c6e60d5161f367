//! `fumehood doctor`: what this machine can give, and what to do about the rest.

use std::io::{self, Write as _};

use clap::Args;
use fumehood::{BackendHealth, Examination, LanguageHealth, LayerHealth, Strength};

use crate::{
    drive,
    failure::Failure,
    opening::Opened,
    paint::Paint,
    render::Format,
    table::{self, Row, State},
};

/// Arguments of `fumehood doctor`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct DoctorArgs {
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
    /// Look for toolchains again.
    #[arg(long)]
    refresh: bool,
}

const EXAMPLES: &str = "\
Examples:
  fumehood doctor
  fumehood doctor --refresh                  after installing a language
  fumehood doctor --json                     for programs

The exit code is 0 if the default backend works, else 1.";

/// Exit code for a machine on which the default backend does not work.
const EXIT_UNHEALTHY: u8 = 1;

/// Examines the machine and gives the exit code.
pub fn main(opened: impl FnOnce() -> Result<Opened, Failure>, arguments: &DoctorArgs) -> u8 {
    match examine(opened, arguments) {
        Ok(true) => 0,
        Ok(false) => EXIT_UNHEALTHY,
        Err(failure) => {
            let format = if arguments.json { Format::Json } else { Format::Text };
            failure.report(format)
        }
    }
}

fn examine(
    opened: impl FnOnce() -> Result<Opened, Failure>,
    arguments: &DoctorArgs,
) -> Result<bool, Failure> {
    let sandbox = opened()?.sandbox;
    let examination = drive::runtime()?.block_on(async {
        let examination = sandbox.examine(arguments.refresh).await;
        sandbox.close().await;
        examination
    });
    let text = if arguments.json {
        let json = serde_json::to_string_pretty(&examination);
        json.map_err(|error| Failure::Output(error.into()))? + "\n"
    } else {
        report(&examination, Paint::for_stdout())
    };
    io::stdout().write_all(text.as_bytes())?;
    Ok(examination.healthy)
}

fn report(examination: &Examination, paint: Paint) -> String {
    let backends: Vec<Row> = examination.backends.iter().map(backend_row).collect();
    let layers: Vec<Row> = examination.layers.iter().map(layer_row).collect();
    let languages: Vec<Row> = examination.languages.iter().map(language_row).collect();
    let verdict = if examination.healthy {
        paint.good("Code can be run here.")
    } else {
        paint.bad("Code cannot be run here yet; see what is missing above.")
    };
    [
        format!("{}\n", examination.machine),
        table::render("Backends", &backends, paint),
        table::render("Layers of the native backend", &layers, paint),
        table::render("Languages", &languages, paint),
        format!("{verdict}\n"),
    ]
    .join("\n")
}

fn backend_row(health: &BackendHealth) -> Row {
    Row {
        name: health.backend.to_string(),
        state: State::of(health.works),
        detail: health.detail.clone(),
        remedy: health.remedy.clone(),
    }
}

fn layer_row(health: &LayerHealth) -> Row {
    let state = match health.strength {
        Strength::Full => State::Works,
        Strength::BestEffort => State::BestEffort,
        Strength::Off => State::Missing,
    };
    Row {
        name: health.layer.to_string(),
        state,
        detail: health.detail.clone(),
        remedy: health.remedy.clone(),
    }
}

fn language_row(health: &LanguageHealth) -> Row {
    Row {
        name: health.language.clone(),
        state: State::of(health.works),
        detail: health.detail.clone(),
        remedy: health.remedy.clone(),
    }
}

#[cfg(test)]
mod tests {
    use fumehood::{BackendName, Layer};

    use super::*;

    fn examination() -> Examination {
        Examination {
            healthy: false,
            machine: "Linux 6.18, user 1000".into(),
            backends: vec![BackendHealth {
                backend: BackendName::Native,
                works: false,
                detail: "user namespaces are forbidden".into(),
                remedy: Some("type this".into()),
            }],
            layers: vec![LayerHealth {
                layer: Layer::Memory,
                strength: Strength::BestEffort,
                detail: "no cgroup".into(),
                remedy: None,
            }],
            languages: vec![LanguageHealth {
                language: "go".into(),
                title: "Go".into(),
                works: true,
                detail: "1.26".into(),
                remedy: None,
            }],
        }
    }

    #[test]
    fn everything_found_is_in_the_report() {
        let report = report(&examination(), Paint::plain());
        for line in [
            "Linux 6.18, user 1000",
            "  native  missing      user namespaces are forbidden",
            "-> type this",
            "  memory_limit  best effort  no cgroup",
            "  go  works        1.26",
            "Code cannot be run here yet",
        ] {
            assert!(report.contains(line), "{line} is not in\n{report}");
        }
    }
}
