//! Names are answered from the rules. Nothing that a box asks is ever sent on.

mod message;

use std::net::Ipv4Addr;

use fumehood_core::{
    egress::{Egress, Reason, Verdict},
    policy::NetMode,
};

use self::message::{Code, Parsed, Question};
use crate::names::Names;

/// The longest query that is looked at.
pub(crate) const MOST_QUERY: usize = 1232;

const A: u16 = 1;
const IN: u16 = 1;

/// The answer to one message, and what was refused in it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Answer {
    /// What to send back; nothing for what is not even a query.
    pub(crate) message: Option<Vec<u8>>,
    /// A name that was refused, and why.
    pub(crate) refused: Option<(String, Verdict)>,
}

/// `decide` says whether a name may be answered.
pub(crate) fn answer(
    egress: &Egress,
    names: &Names,
    query: &[u8],
    decide: impl FnOnce(&str) -> Verdict,
) -> Answer {
    let question = match message::parse(query) {
        Parsed::Query(question) => question,
        Parsed::Wrong(message) => return Answer { message: Some(message), refused: None },
        Parsed::NoQuery => return Answer::default(),
    };
    if question.class != IN {
        return reply(&question, Code::Refused, None);
    }
    let Some(name) = question.name.as_deref() else {
        return reply(&question, Code::NoSuchName, None);
    };
    let mut verdict = decide(name);
    if verdict.reason == Reason::BoxLoopback {
        let address = (question.kind == A).then_some(Ipv4Addr::LOCALHOST);
        return reply(&question, Code::NoError, address);
    }
    if verdict.allowed && question.kind != A {
        return reply(&question, Code::NoError, None);
    }
    if verdict.allowed {
        if let Some(address) = names.address_of(name) {
            return reply(&question, Code::NoError, Some(address));
        }
        verdict = Verdict { allowed: false, reason: Reason::TooManyNames, rule: None };
    }
    let code = match verdict.reason {
        Reason::TooManyNames => Code::ServerFailure,
        _ => Code::NoSuchName,
    };
    // Without a network there is nobody who could reach this but by mistake.
    let refused = (egress.mode != NetMode::None).then(|| (name.to_owned(), verdict));
    Answer { refused, ..reply(&question, code, None) }
}

fn reply(question: &Question<'_>, code: Code, address: Option<Ipv4Addr>) -> Answer {
    Answer { message: Some(question.reply(code, address)), refused: None }
}

#[cfg(test)]
mod tests;
