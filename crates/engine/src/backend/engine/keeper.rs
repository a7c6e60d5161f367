//! The end of a container. Usually it comes by itself: init exits, and the engine removes what has
//! ended. What does not go by itself is removed by force, and so are orphans of other processes.

use std::{sync::Arc, time::Duration};

use bollard::{
    Docker,
    errors::Error as EngineError,
    query_parameters::{ListContainersOptionsBuilder, RemoveContainerOptionsBuilder},
};
use fumehood_core::protocol::BoxUsage;
use tokio::{net::UnixStream, runtime::Handle, task::JoinHandle, time::timeout};

use super::{
    super::{Closing, Deferred, Keeper},
    owner::{OWNER, Owner},
};
use crate::BackendName;

/// How long an engine may take to say what became of a container.
const ANSWER: Duration = Duration::from_millis(1500);
/// How long it may take to remove one. After that it is left to the next sweep.
const REMOVAL: Duration = Duration::from_secs(15);
/// How many orphans are removed at once.
const REMOVALS_AT_ONCE: usize = 4;

/// A container that was made.
pub(super) struct Container {
    engine: BackendName,
    client: Docker,
    id: Arc<str>,
    /// Whether somebody else sees to its end.
    released: bool,
    removal: std::sync::Mutex<Option<JoinHandle<()>>>,
}

impl Container {
    pub(super) fn new(engine: BackendName, client: Docker, id: &str) -> Container {
        let removal = std::sync::Mutex::default();
        Container { engine, client, id: id.into(), released: false, removal }
    }

    /// Begins the removal, once. Without a runtime nothing can be asked of the engine; then the
    /// end of the control channel ends init.
    fn begin_removal(&self) {
        let Ok(runtime) = Handle::try_current() else { return };
        let mut removal = self.removal.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if removal.is_none() {
            let (client, id) = (self.client.clone(), Arc::clone(&self.id));
            *removal = Some(runtime.spawn(async move { remove(&client, &id).await }));
        }
    }

    /// What the engine says of a container that ended before its init told us how.
    async fn last_words(&self) -> Closing {
        let engine = self.engine;
        let asked = timeout(ANSWER, self.client.inspect_container(&self.id, None)).await;
        let (reason, killed_for_memory) = match asked {
            Ok(Ok(found)) => {
                let state = found.state.unwrap_or_default();
                let code = state.exit_code.unwrap_or(0);
                let reason = match state.running {
                    Some(true) => format!("the control channel to the {engine} container broke"),
                    _ => format!("the {engine} container ended with code {code} before its time"),
                };
                (reason, state.oom_killed == Some(true))
            }
            // Removed already, or about to be: Podman has states for that which Docker lacks.
            Ok(Err(
                EngineError::DockerResponseServerError { .. } | EngineError::JsonDataError { .. },
            )) => {
                let reason = format!(
                    "the {engine} container was killed or removed by somebody else while it ran: \
                     run it again"
                );
                (reason, false)
            }
            Ok(Err(_)) | Err(_) => {
                let reason = format!(
                    "{engine} went away while the box ran: start it again, then run it again"
                );
                (reason, false)
            }
        };
        let oom_kills = killed_for_memory.then_some(1);
        Closing {
            reason: Some(reason),
            usage: BoxUsage { oom_kills, ..BoxUsage::default() },
            ..Closing::default()
        }
    }
}

impl Keeper for Container {
    fn kill(&self) {
        self.begin_removal();
    }

    fn let_go(mut self: Box<Self>, last: Option<UnixStream>) {
        // Init was told to exit, and hears the end of the channel besides.
        self.released = true;
        drop(last);
    }

    fn closed(&mut self) -> Deferred<'_, Closing> {
        Box::pin(async {
            let was_killed = self.removal.lock().is_ok_and(|removal| removal.is_some());
            let closing = if was_killed { Closing::default() } else { self.last_words().await };
            self.begin_removal();
            let removal = self.removal.lock().ok().and_then(|mut removal| removal.take());
            if let Some(removal) = removal {
                let _ = removal.await;
            }
            self.released = true;
            closing
        })
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if !self.released {
            self.begin_removal();
        }
    }
}

/// Ends and removes a container. One that is gone, or going, is what was wanted.
async fn remove(client: &Docker, id: &str) {
    let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
    let _ = timeout(REMOVAL, client.remove_container(id, Some(options))).await;
}

/// Removes containers of ours whose owner is gone. Nothing else is ever touched.
pub(super) async fn sweep(client: Docker, us: Owner) {
    let labelled = std::collections::HashMap::from([("label", vec![OWNER])]);
    let options = ListContainersOptionsBuilder::default().all(true).filters(&labelled).build();
    let Ok(Ok(found)) = timeout(REMOVAL, client.list_containers(Some(options))).await else {
        return;
    };
    let orphans = found.into_iter().filter_map(|container| {
        let labels = container.labels.unwrap_or_default();
        container.id.filter(|_| us.is_orphan(&labels))
    });
    let mut removals = tokio::task::JoinSet::new();
    for id in orphans {
        // Not all at once: the engine has other things to do.
        if removals.len() >= REMOVALS_AT_ONCE {
            removals.join_next().await;
        }
        let client = client.clone();
        removals.spawn(async move { remove(&client, &id).await });
    }
    while removals.join_next().await.is_some() {}
}
