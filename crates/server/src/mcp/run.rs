//! One run: its workspace, its progress, its end. A call that is cancelled ends its box.

use std::{collections::BTreeMap, path::PathBuf, pin::pin, time::Duration};

use axum::http::request::Parts;
use fumehood::{Event, Outcome, Program, Request, Within, Workspace, WorkspaceMode};
use rmcp::{
    RoleServer,
    model::{CallToolResult, ProgressNotificationParam},
    service::RequestContext,
};
use tempfile::TempDir;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::{
    answer,
    arguments::{CodeRun, Content, MOST_CODE, ShellRun, guest},
    failure::CallError,
    presence::Listener,
    session::Session,
    workspace::{self, Artifacts},
};

/// How often a client hears that a run goes on.
const PROGRESS: Duration = Duration::from_secs(1);

pub(super) async fn code(
    session: &Session,
    arguments: CodeRun,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, CallError> {
    let CodeRun { language, code, args, files, stdin, limits, policy } = arguments;
    if code.len() > MOST_CODE {
        return Err(CallError::TooLong { field: "code", most: MOST_CODE });
    }
    let mut request = Request::code(language, code);
    if let Program::Code { args: own, .. } = &mut request.program {
        *own = args;
    }
    request.guest = guest(policy, limits)?;
    carry_out(session, request, stdin, files, context).await
}

pub(super) async fn shell(
    session: &Session,
    arguments: ShellRun,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, CallError> {
    let ShellRun { command, files, stdin, limits, policy } = arguments;
    let mut request = Request::command([shell_name(), "-c", &command]);
    request.guest = guest(policy, limits)?;
    carry_out(session, request, stdin, files, context).await
}

/// The shell that models write for, where there is one.
fn shell_name() -> &'static str {
    let bash = ["/bin/bash", "/usr/bin/bash"].iter().any(|path| PathBuf::from(path).exists());
    if bash { "bash" } else { "sh" }
}

async fn carry_out(
    session: &Session,
    request: Request,
    stdin: Option<String>,
    files: BTreeMap<PathBuf, Content>,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, CallError> {
    let shared = session.shared();
    let turn = tokio::select! {
        turn = shared.turns.acquire() => turn,
        () = given_up(context) => return Err(CallError::Cancelled),
    };
    // It is never closed, and if it were, nothing would be lost.
    let _turn = turn.ok();
    let mut request = shared.configured(request);
    if let Some(stdin) = stdin {
        request = request.stdin(stdin);
    }
    let policy = shared.sandbox.policy(&request)?;
    let mut fresh: Option<TempDir> = None;
    request.workspace = match session.directory()? {
        Some(directory) if shared.directory().is_some() => {
            Some(Workspace { directory: directory.clone(), mode: None })
        }
        Some(directory) => Some(workspace::own(&directory, &policy, None)),
        // The box has an empty one of its own.
        None if files.is_empty() => None,
        None => {
            let place = fresh.insert(shared.private.directory()?);
            Some(workspace::own(place.path(), &policy, Some(WorkspaceMode::ReadOnly)))
        }
    };
    if let (Some(Workspace { directory, .. }), false) = (&request.workspace, files.is_empty()) {
        let within = Within::open(directory)?;
        for (path, Content(content)) in &files {
            if fresh.is_none() {
                super::files::may_write(&policy, path)?;
            }
            within.write(path, content)?;
        }
    }
    let artifacts = Artifacts::add(&mut request, &policy, &shared.private)?;
    let outcome = watched(session, request, context).await?;
    let (pictures, notes) = artifacts.collect();
    Ok(answer::of_run(shared, &outcome, &policy, pictures, notes))
}

/// Runs to the end, and says every second that it goes on.
async fn watched(
    session: &Session,
    request: Request,
    context: &RequestContext<RoleServer>,
) -> Result<Outcome, CallError> {
    let begun = Instant::now();
    let mut run = session.shared().sandbox.start(request)?;
    let mut tick = interval_at(begun + PROGRESS, PROGRESS);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut written, mut phase) = (0u64, "start");
    let mut given_up = pin!(given_up(context));
    loop {
        tokio::select! {
            event = run.next_event() => match event {
                Some(Event::Finished { outcome }) => return Ok(*outcome),
                Some(Event::Output { data, .. }) => written += data.0.len() as u64,
                Some(Event::Phase { phase: next, .. }) => phase = next.name(),
                Some(Event::Started { .. } | Event::Selected { .. } | Event::Network { .. }) => {}
                // Nothing was carried out; the run says why.
                None => return Ok(run.outcome().await?),
            },
            _ = tick.tick() => {
                let elapsed = begun.elapsed().as_secs_f64();
                progress(context, elapsed, format!("{phase}: {elapsed:.0} s, {written} bytes of output")).await;
            }
            // Dropping the run ends the box.
            () = &mut given_up => return Err(CallError::Cancelled),
        }
    }
}

/// Comes to its end when nobody wants the run any more: the call was cancelled, or whoever made it
/// is gone.
async fn given_up(context: &RequestContext<RoleServer>) {
    let listener = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get());
    match listener.cloned() {
        None => context.ct.cancelled().await,
        Some(listener) => tokio::select! {
            () = context.ct.cancelled() => {}
            () = Listener::left(listener) => {}
        },
    }
}

async fn progress(context: &RequestContext<RoleServer>, elapsed: f64, message: String) {
    if let Some(token) = context.meta.get_progress_token() {
        let note = ProgressNotificationParam::new(token, elapsed).with_message(message);
        // A client that is gone is noticed elsewhere; one that does not read must not hold us up.
        let told = context.peer.notify_progress(note);
        let _ = tokio::time::timeout(PROGRESS, told).await;
    }
}
