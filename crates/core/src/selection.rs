//! Which backend carries out a run, and why. Nothing here looks at the machine: what cannot serve a
//! request is found out by trying, and told here.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    BackendName,
    config::{BackendChoice, ExecutorSettings, Fallback},
};

/// The backend of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// Which one.
    pub backend: BackendName,
    /// Why this one.
    pub reason: String,
    /// Those that came before it, and why they could not serve.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<PassedOver>,
}

/// A backend that could not serve a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedOver {
    /// Which one.
    pub backend: BackendName,
    /// Why not.
    pub reason: String,
}

impl fmt::Display for PassedOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not {}: {}", self.backend, self.reason)
    }
}

impl Selection {
    /// The line that says so at the start: `backend native (first of executor.order that can,
    /// default)`.
    pub fn line(&self) -> String {
        let mut line = format!("backend {} ({})", self.backend, self.reason);
        for passed_over in &self.passed_over {
            line.push_str(&format!("; {passed_over}"));
        }
        if self.backend == BackendName::Local {
            line.push_str("; there is NO ISOLATION");
        }
        line
    }
}

/// A backend that may carry out a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Which one.
    pub backend: BackendName,
    /// Why it would be taken.
    pub reason: String,
}

impl ExecutorSettings {
    /// The backends that may carry out a run, the first that can is to be taken. What a caller asks
    /// for wins over `executor.type`; one that is named is used or nothing is. Programs run without
    /// isolation only where somebody said so.
    pub fn candidates(&self, asked: Option<BackendChoice>) -> Vec<Candidate> {
        let (wanted, reason) = match asked {
            Some(asked) => (asked, "asked for".to_owned()),
            None => (self.kind.value, format!("executor.type, {}", self.kind.origin)),
        };
        if let BackendChoice::Named(backend) = wanted {
            return vec![Candidate { backend, reason }];
        }
        let first = format!("first of executor.order that can, {}", self.order.origin);
        let candidate =
            |backend: &BackendName| Candidate { backend: *backend, reason: first.clone() };
        let mut all: Vec<Candidate> = self.order.value.iter().map(candidate).collect();
        if self.fallback.value == Fallback::Local && !self.order.value.contains(&BackendName::Local)
        {
            let reason = format!("executor.fallback, {}", self.fallback.origin);
            all.push(Candidate { backend: BackendName::Local, reason });
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use BackendName::{Docker, Local, Native, Podman};

    use super::*;
    use crate::{config::Settings, source::Origin};

    fn settings(pairs: &[(&str, &str)]) -> ExecutorSettings {
        let mut settings = Settings::default();
        for (key, value) in pairs {
            settings.set(key, value, Origin::named("test")).unwrap();
        }
        settings.executor
    }

    fn backends(settings: &ExecutorSettings, asked: Option<BackendChoice>) -> Vec<BackendName> {
        settings.candidates(asked).into_iter().map(|candidate| candidate.backend).collect()
    }

    #[test]
    fn what_is_asked_for_wins_and_stands_alone() {
        let settings = settings(&[("executor.type", "docker"), ("executor.fallback", "local")]);
        assert_eq!(backends(&settings, Some(Podman.into())), [Podman]);
        assert_eq!(settings.candidates(Some(Podman.into()))[0].reason, "asked for");
        assert_eq!(backends(&settings, None), [Docker]);
        assert_eq!(settings.candidates(None)[0].reason, "executor.type, test");
        let auto = backends(&settings, Some(BackendChoice::Auto));
        assert_eq!(auto, [Native, Podman, Docker, Local], "auto can be asked for, too");
    }

    #[test]
    fn nothing_runs_without_isolation_unless_somebody_said_so() {
        assert_eq!(backends(&settings(&[]), None), [Native, Podman, Docker]);
        let allowed = settings(&[("executor.fallback", "local")]).candidates(None);
        let last = allowed.last().unwrap();
        assert_eq!((last.backend, last.reason.as_str()), (Local, "executor.fallback, test"));
        let named = settings(&[("executor.order", "local,native"), ("executor.fallback", "local")]);
        assert_eq!(backends(&named, None), [Local, Native], "once is enough");
    }

    #[test]
    fn the_line_says_why() {
        let passed_over = vec![PassedOver { backend: Native, reason: "no user namespaces".into() }];
        let selection = Selection { backend: Docker, reason: "because".into(), passed_over };
        assert_eq!(selection.line(), "backend docker (because); not native: no user namespaces");
        let local = Selection { backend: Local, passed_over: Vec::new(), ..selection };
        assert_eq!(local.line(), "backend local (because); there is NO ISOLATION");
    }
}
