//! Carrying out a plan: phases in order, each in a box of its own.

mod drive;
mod flow;
mod handle;
mod record;
pub(crate) mod store;
mod verdict;

use std::sync::Arc;

use tokio::sync::mpsc;

pub use self::handle::{Canceller, Run, StdinWriter};
pub(crate) use self::record::Records;
use self::{
    flow::Flow,
    handle::{Io, Order},
};
use crate::{Error, Outcome, Plan, Request, StdinSource, policy::Policy, sandbox::Inner};

/// How many events may wait for a caller that does not take them.
const EVENTS_WAITING: usize = 64;

/// Carries out a plan without telling anyone in between.
pub(crate) async fn to_end(
    inner: &Inner,
    plan: Plan,
    policy: Option<Policy>,
    request: Request,
) -> Result<Outcome, Error> {
    let (stdin, request) = taken_apart(inner, request);
    let (_orders, receiver) = mpsc::unbounded_channel::<Order>();
    let io = Io::new(None, receiver, handle::Stdin::from_source(stdin).0);
    Flow::new(inner, plan, policy, io, request)?.carry_out().await
}

/// What the run needs of the request, and what the ledger does.
fn taken_apart(inner: &Inner, mut request: Request) -> (StdinSource, Option<Request>) {
    match inner.records.get() {
        Some(_) => (request.stdin.clone(), Some(request)),
        None => (std::mem::take(&mut request.stdin), None),
    }
}

/// Carries out a plan in a task of its own.
pub(crate) fn start(inner: Arc<Inner>, plan: Plan, policy: Policy, request: Request) -> Run {
    let (stdin, request) = taken_apart(&inner, request);
    let (orders, order_receiver) = mpsc::unbounded_channel();
    let (events, event_receiver) = mpsc::channel(EVENTS_WAITING);
    let (stdin, writer) = handle::Stdin::from_source(stdin);
    let io = Io::new(Some(events), order_receiver, stdin);
    let task = tokio::spawn(async move {
        Flow::new(&inner, plan, Some(policy), io, request)?.carry_out().await
    });
    Run::new(event_receiver, orders, writer, task)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{fs, path::PathBuf};

    use crate::{BackendName, Request, SandboxBuilder, WorkspaceMode};

    /// Tries every way to a hidden file, and to change a protected one.
    const TRY: &str = "cat .env; cat sub/.env; cat /proc/self/root/workspace/.env; \
        ln .env hard; cat hard; mv sub moved; cat moved/.env; ls secrets; rm .env; rm -r secrets; \
        echo x > .git/config; echo x > .git/hooks/new; mv .git gone; rm .git/config; \
        mkdir -p .git/hooks/x; touch free; touch .envrc; cat .git/config";

    #[tokio::test]
    async fn covered_paths_hold() {
        covered_paths_hold_on(SandboxBuilder::default(), |request| request).await;
    }

    /// Where the environment names an engine and an image, as for the conformance list.
    #[tokio::test]
    async fn covered_paths_hold_in_containers() {
        let variable = |name: &str| std::env::var(name).ok();
        let Some(image) = variable("FUMEHOOD_TEST_IMAGE") else { return };
        if let Some(host) = variable("FUMEHOOD_TEST_DOCKER") {
            let builder = SandboxBuilder::default().docker_host(host);
            let here = |request: Request| request.backend(BackendName::Docker).image(&image);
            covered_paths_hold_on(builder, here).await;
        }
        if let Some(host) = variable("FUMEHOOD_TEST_PODMAN") {
            let builder = SandboxBuilder::default().podman_host(host);
            let here = |request: Request| request.backend(BackendName::Podman).image(&image);
            covered_paths_hold_on(builder, here).await;
        }
    }

    async fn covered_paths_hold_on(builder: SandboxBuilder, here: impl Fn(Request) -> Request) {
        let directory = tempfile::tempdir().unwrap();
        let workspace = directory.path().join("workspace");
        for path in ["sub", "secrets", ".git/hooks"] {
            fs::create_dir_all(workspace.join(path)).unwrap();
        }
        for path in [".env", "sub/.env", "secrets/key", ".git/config"] {
            fs::write(workspace.join(path), "of the caller\n").unwrap();
        }
        let sandbox =
            builder.cache_dir(directory.path().join("cache")).keep_ready(0).build().unwrap();
        let request =
            Request::command(["sh", "-c", TRY]).workspace(&workspace, WorkspaceMode::ReadWrite);
        let mut plan = sandbox.plan(&here(request)).unwrap();
        plan.run.masked = [".env", "sub/.env", "secrets"]
            .map(|path| PathBuf::from("/workspace").join(path))
            .to_vec();
        plan.run.protected = [".envrc", ".git/config", ".git/hooks"]
            .map(|path| PathBuf::from("/workspace").join(path))
            .to_vec();
        let outcome = super::to_end(&sandbox.inner, plan, None, request).await.unwrap();
        println!("{}", outcome.stderr.text());
        assert_eq!(outcome.stdout.text(), "of the caller\n", "only what is protected can be read");
        for path in [".env", "moved/.env", "secrets/key", ".git/config"] {
            assert_eq!(
                fs::read_to_string(workspace.join(path)).unwrap(),
                "of the caller\n",
                "{path}"
            );
        }
        assert!(workspace.join("free").exists());
        assert_eq!(outcome.violations.len(), 1, "{:?}", outcome.violations);
    }
}
