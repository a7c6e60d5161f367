//! From what was seen to whether it is what must be.

use super::finding::Answer;
use crate::{Enforced, Layer, Outcome, Strength};

/// What an attempt may get.
pub(super) struct Rule {
    /// Which attempt; `*` for all that no other rule names.
    pub(super) label: &'static str,
    /// The answers of an attempt that was stopped.
    pub(super) allowed: &'static [&'static str],
    /// The layer without which this says nothing, such as a limit that needs a cgroup.
    pub(super) needs: Option<Layer>,
}

/// Every attempt gets one of these.
pub(super) const fn all(allowed: &'static [&'static str]) -> Rule {
    Rule { label: "*", allowed, needs: None }
}

/// This attempt gets one of these.
pub(super) const fn one(label: &'static str, allowed: &'static [&'static str]) -> Rule {
    Rule { label, allowed, needs: None }
}

/// The same, where the kernel holds a layer in full.
pub(super) const fn held(
    label: &'static str,
    allowed: &'static [&'static str],
    layer: Layer,
) -> Rule {
    Rule { label, allowed, needs: Some(layer) }
}

/// What was seen of an attack.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) answers: Vec<Answer>,
    pub(super) enforced: Option<Enforced>,
}

impl Seen {
    /// What the attack program printed in its box.
    pub(super) fn of(outcome: &Outcome) -> Seen {
        let text = outcome.stdout.text();
        let answers = text.lines().filter_map(|line| {
            let (label, answer) = line.split_once(' ')?;
            Some(Answer::new(label, answer))
        });
        Seen { answers: answers.collect(), enforced: Some(outcome.enforced.clone()) }
    }

    /// A single thing that was seen from outside.
    pub(super) fn only(label: &str, answer: impl Into<String>) -> Seen {
        Seen::default().and(label, answer)
    }

    /// One thing more.
    pub(super) fn and(mut self, label: &str, answer: impl Into<String>) -> Seen {
        self.answers.push(Answer::new(label, answer));
        self
    }
}

/// What the rules say of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// Every attempt got what it must.
    Stopped,
    /// One got something else.
    GotThrough,
    /// The rules need a layer that is not held here.
    NotHeld(Layer),
    /// An attempt that the rules name was not told of.
    Silent(&'static str),
}

/// Holds what was seen against the rules. Layers that were left out on purpose count as held: that
/// they are missing is the point.
pub(super) fn judge(seen: &Seen, rules: &[Rule], without: &[Layer]) -> Judgement {
    let holds = |layer: Layer| {
        let full = |all: &Enforced| all.strength(layer) == Strength::Full;
        without.contains(&layer) || seen.enforced.as_ref().is_none_or(full)
    };
    let rule_of = |label: &str| {
        let own = rules.iter().find(|rule| rule.label == label);
        own.or_else(|| rules.iter().find(|rule| rule.label == "*"))
    };
    let mut lacking = None;
    for Answer { label, answer } in &seen.answers {
        let Some(rule) = rule_of(label) else { continue };
        match rule.needs.filter(|layer| !holds(*layer)) {
            Some(layer) => lacking = Some(layer),
            None if rule.allowed.contains(&answer.as_str()) => {}
            None => return Judgement::GotThrough,
        }
    }
    let told = |rule: &&Rule| match rule.label {
        "*" => !seen.answers.is_empty(),
        label => seen.answers.iter().any(|answer| answer.label == label),
    };
    match (rules.iter().find(|rule| !told(rule)), lacking) {
        (Some(rule), _) => Judgement::Silent(rule.label),
        // Not even where all others were stopped: what is not judged is never counted.
        (None, Some(layer)) => Judgement::NotHeld(layer),
        (None, None) => Judgement::Stopped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enforced(strength: Strength) -> Enforced {
        let mut all = Enforced::default();
        all.record(Layer::Cpu, strength, "");
        all
    }

    #[test]
    fn one_answer_too_many_is_a_hole() {
        let rules = [one("a", &["EPERM"]), all(&["ENOENT"])];
        let seen = |a: &str, b: &str| Seen::only("a", a).and("b", b);
        assert_eq!(judge(&seen("EPERM", "ENOENT"), &rules, &[]), Judgement::Stopped);
        assert_eq!(judge(&seen("done", "ENOENT"), &rules, &[]), Judgement::GotThrough);
        assert_eq!(judge(&seen("EPERM", "EPERM"), &rules, &[]), Judgement::GotThrough);
    }

    #[test]
    fn silence_is_no_proof() {
        let rules = [one("a", &["EPERM"])];
        assert_eq!(judge(&Seen::default(), &rules, &[]), Judgement::Silent("a"));
        assert_eq!(judge(&Seen::default(), &[all(&["x"])], &[]), Judgement::Silent("*"));
    }

    #[test]
    fn what_is_not_held_is_not_judged_unless_it_was_left_out_on_purpose() {
        let rules = [held("a", &["few"], Layer::Cpu)];
        let seen =
            |strength| Seen { enforced: Some(enforced(strength)), ..Seen::only("a", "many") };
        assert_eq!(judge(&seen(Strength::Full), &rules, &[]), Judgement::GotThrough);
        assert_eq!(judge(&seen(Strength::Off), &rules, &[]), Judgement::NotHeld(Layer::Cpu));
        assert_eq!(judge(&seen(Strength::Off), &rules, &[Layer::Cpu]), Judgement::GotThrough);
    }
}
