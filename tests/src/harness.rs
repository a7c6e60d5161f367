//! Cases × places: one test each, with the usual options and output of a test program.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
    sync::Arc,
};

use libtest_mimic::{Arguments, Failed, Trial};

use crate::{Case, Place, Scene, scene};

/// How many cases run at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// One per core.
    Many,
    /// One after the other: the cases look at the machine as a whole.
    One,
}

/// Runs every case at every place and says how it went.
pub fn conduct(cases: Vec<Case>, threads: Threads) -> ExitCode {
    let mut arguments = Arguments::from_args();
    if threads == Threads::One {
        arguments.test_threads = Some(1);
    }
    let cases: Vec<Arc<Case>> = cases.into_iter().map(Arc::new).collect();
    let trials = Place::all()
        .iter()
        .flat_map(|place| cases.iter().map(move |case| trial(case.clone(), place.clone())))
        .collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    scene::clean_up();
    conclusion.exit_code()
}

fn trial(case: Arc<Case>, place: Place) -> Trial {
    let name = format!("{}::{}", place.name, case.name);
    match case.pointless_at(&place) {
        // Shown with its reason, never counted as passed; asked for by name, it fails.
        Some(reason) => {
            Trial::test(name, move || Err(Failed::from(format!("does not apply: {reason}"))))
                .with_kind(reason)
                .with_ignored_flag(true)
        }
        None => Trial::test(name, move || carry_out(&case, place)),
    }
}

fn carry_out(case: &Case, place: Place) -> Result<(), Failed> {
    let scene = Scene::new(place);
    catch_unwind(AssertUnwindSafe(|| (case.steps)(&scene))).map_err(|panic| {
        let mut report = message_of(&*panic).to_owned();
        if let Some(outcome) = scene.last_outcome() {
            report.push_str("\nthe last outcome: ");
            report.push_str(&outcome);
        }
        Failed::from(report)
    })
}

fn message_of(panic: &(dyn Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        text
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text
    } else {
        "a panic without words"
    }
}
