//! The decision which executor carries out a run, and why. Nothing here looks at the machine.

use std::fmt;

use super::{ExecutorName, ExecutorType, Fallback, Settings};
use crate::source::Origin;

/// The executor of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Which one.
    pub executor: ExecutorName,
    /// Why this one.
    pub reason: Reason,
    /// Those that were tried before it, and why they were not taken.
    pub passed_over: Vec<(ExecutorName, String)>,
}

/// Why an executor was chosen.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// The caller named it.
    Asked,
    /// `executor.type` names it, there.
    Configured(Origin),
    /// It is the first of `executor.order` that works.
    First(Origin),
    /// None of `executor.order` works, and `executor.fallback` allows it, there.
    Fallback(Origin),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Asked => f.write_str("asked for"),
            Reason::Configured(origin) => write!(f, "executor.type, {origin}"),
            Reason::First(origin) => write!(f, "first of executor.order that works, {origin}"),
            Reason::Fallback(origin) => write!(f, "executor.fallback, {origin}"),
        }
    }
}

impl Choice {
    /// The line that says so at the start: `executor native (first of executor.order that works,
    /// default)`.
    pub fn line(&self) -> String {
        let mut line = format!("executor {} ({})", self.executor, self.reason);
        for (executor, reason) in &self.passed_over {
            line.push_str(&format!("; not {executor}: {reason}"));
        }
        if self.executor == ExecutorName::Local {
            line.push_str("; there is NO ISOLATION");
        }
        line
    }
}

/// Why there is no executor for a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// The one that was named does not work, and no other is taken in its place.
    #[error(
        "the executor {executor} ({why}) cannot be used here ({reason}): `fumehood doctor` shows \
         what it lacks; `auto` takes the first that works"
    )]
    Named {
        /// Which one.
        executor: ExecutorName,
        /// Who named it.
        why: String,
        /// Why it does not work.
        reason: String,
    },
    /// None works.
    #[error(
        "no executor of executor.order can be used here ({}): `fumehood doctor` shows what is \
         missing; only if you trust the code, executor.fallback = local runs it without isolation",
        reasons(tried)
    )]
    NoneWorks {
        /// All that were tried, and why they do not work.
        tried: Vec<(ExecutorName, String)>,
    },
    /// There is nothing to try.
    #[error(
        "executor.order is empty ({origin}), so there is nothing to choose from: name at least one \
         executor, for example native"
    )]
    NothingToTry {
        /// Where it was emptied.
        origin: Origin,
    },
}

fn reasons(tried: &[(ExecutorName, String)]) -> String {
    let each: Vec<String> =
        tried.iter().map(|(executor, reason)| format!("{executor}: {reason}")).collect();
    each.join("; ")
}

/// Chooses the executor of a run. What the caller asks for wins over `executor.type`; one that is
/// named is used or nothing is. `available` says of each executor whether it works, or why not;
/// those that come after the first working one of `executor.order` may be left out of it.
pub fn choose(
    settings: &Settings,
    asked: Option<ExecutorType>,
    available: &[(ExecutorName, Result<(), String>)],
) -> Result<Choice, ChoiceError> {
    let executor = &settings.executor;
    let (wanted, reason) = match asked {
        Some(asked) => (asked, Reason::Asked),
        None => (executor.kind.value, Reason::Configured(executor.kind.origin.clone())),
    };
    match wanted {
        ExecutorType::Named(name) => match works(name, available) {
            Ok(()) => Ok(Choice { executor: name, reason, passed_over: Vec::new() }),
            Err(refusal) => {
                Err(ChoiceError::Named { executor: name, why: reason.to_string(), reason: refusal })
            }
        },
        ExecutorType::Auto => first(settings, available),
    }
}

fn first(
    settings: &Settings,
    available: &[(ExecutorName, Result<(), String>)],
) -> Result<Choice, ChoiceError> {
    let executor = &settings.executor;
    let mut passed_over = Vec::new();
    for name in executor.order.value.iter().copied() {
        match works(name, available) {
            Ok(()) => {
                let reason = Reason::First(executor.order.origin.clone());
                return Ok(Choice { executor: name, reason, passed_over });
            }
            Err(refusal) => passed_over.push((name, refusal)),
        }
    }
    match executor.fallback.value {
        Fallback::Local if works(ExecutorName::Local, available).is_ok() => {
            let reason = Reason::Fallback(executor.fallback.origin.clone());
            Ok(Choice { executor: ExecutorName::Local, reason, passed_over })
        }
        _ if passed_over.is_empty() => {
            Err(ChoiceError::NothingToTry { origin: executor.order.origin.clone() })
        }
        _ => Err(ChoiceError::NoneWorks { tried: passed_over }),
    }
}

fn works(
    name: ExecutorName,
    available: &[(ExecutorName, Result<(), String>)],
) -> Result<(), String> {
    match available.iter().find(|(each, _)| *each == name) {
        Some((_, state)) => state.clone(),
        None => Err("it is not part of this program".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ExecutorName::{Docker, Local, Native, Podman};

    fn settings(pairs: &[(&str, &str)]) -> Settings {
        let mut settings = Settings::default();
        for (key, value) in pairs {
            settings.set(key, value, Origin::named("test")).unwrap();
        }
        settings
    }

    /// All that are named here work, the others do not.
    fn only(working: &[ExecutorName]) -> Vec<(ExecutorName, Result<(), String>)> {
        let state = |name: &ExecutorName| match working.contains(name) {
            true => Ok(()),
            false => Err(format!("no {name}")),
        };
        ExecutorName::ALL.iter().map(|name| (*name, state(name))).collect()
    }

    #[test]
    fn what_is_asked_for_wins() {
        let settings = settings(&[("executor.type", "docker")]);
        let choice = choose(&settings, Some(Podman.into()), &only(&[Docker, Podman])).unwrap();
        assert_eq!((choice.executor, &choice.reason), (Podman, &Reason::Asked));
        assert_eq!(choice.line(), "executor podman (asked for)");
        let choice = choose(&settings, Some(ExecutorType::Auto), &only(&[Native, Docker])).unwrap();
        assert_eq!(choice.executor, Native, "auto can be asked for, too");
    }

    #[test]
    fn what_is_asked_for_is_used_or_nothing_is() {
        let settings = settings(&[("executor.fallback", "local")]);
        let error = choose(&settings, Some(Docker.into()), &only(&[Native, Local])).unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("the executor docker (asked for) cannot be used here (no docker)")
        );
        assert!(text.contains("`fumehood doctor`"), "{text}");
    }

    #[test]
    fn a_configured_one_is_used_or_nothing_is() {
        let settings = settings(&[("executor.type", "docker"), ("executor.fallback", "local")]);
        let choice = choose(&settings, None, &only(&[Native, Docker])).unwrap();
        assert_eq!(choice.line(), "executor docker (executor.type, test)");
        let error = choose(&settings, None, &only(&[Native, Local])).unwrap_err().to_string();
        assert!(error.starts_with("the executor docker (executor.type, test) cannot"), "{error}");
    }

    #[test]
    fn auto_takes_the_first_that_works_and_says_what_it_passed_over() {
        let choice = choose(&settings(&[]), None, &only(&[Native, Podman, Docker])).unwrap();
        assert_eq!(choice.line(), "executor native (first of executor.order that works, default)");
        let choice = choose(&settings(&[]), None, &only(&[Docker, Local])).unwrap();
        assert_eq!(choice.executor, Docker);
        assert_eq!(
            choice.passed_over,
            [(Native, "no native".to_owned()), (Podman, "no podman".to_owned())]
        );
        assert_eq!(
            choice.line(),
            "executor docker (first of executor.order that works, default); not native: no native; \
             not podman: no podman"
        );
        let settings = settings(&[("executor.order", "docker,native")]);
        assert_eq!(choose(&settings, None, &only(&[Native, Docker])).unwrap().executor, Docker);
    }

    #[test]
    fn what_comes_later_need_not_be_looked_at() {
        let choice = choose(&settings(&[]), None, &[(Native, Ok(()))]).unwrap();
        assert_eq!(choice.executor, Native);
        let error = choose(&settings(&[]), None, &[]).unwrap_err().to_string();
        assert!(error.contains("native: it is not part of this program"), "{error}");
    }

    #[test]
    fn nothing_runs_without_isolation_unless_somebody_said_so() {
        let error = choose(&settings(&[]), None, &only(&[Local])).unwrap_err();
        let ChoiceError::NoneWorks { tried } = &error else { panic!("{error:?}") };
        assert_eq!(tried.len(), 3);
        let text = error.to_string();
        assert!(text.contains("(native: no native; podman: no podman; docker: no docker)"));
        assert!(text.contains("executor.fallback = local"), "{text}");

        let allowed = settings(&[("executor.fallback", "local")]);
        let choice = choose(&allowed, None, &only(&[Local])).unwrap();
        assert_eq!((choice.executor, choice.passed_over.len()), (Local, 3));
        assert!(choice.line().ends_with("; there is NO ISOLATION"), "{}", choice.line());
        assert!(choice.line().starts_with("executor local (executor.fallback, test); not native"));
        assert!(choose(&allowed, None, &only(&[])).is_err());
        assert_eq!(choose(&allowed, None, &only(&[Native, Local])).unwrap().executor, Native);

        let named = settings(&[("executor.order", "native,local")]);
        assert_eq!(choose(&named, None, &only(&[Local])).unwrap().executor, Local);
    }

    #[test]
    fn an_empty_order_is_said_to_be_empty() {
        let mut settings = Settings::default();
        settings.executor.order.value.clear();
        let error = choose(&settings, None, &only(&[Native])).unwrap_err().to_string();
        assert!(error.starts_with("executor.order is empty (default)"), "{error}");
    }
}
