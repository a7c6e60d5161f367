//! Signals to fumehood end the box: politely first, then at once.

use fumehood::Canceller;

use crate::failure::Failure;

/// Signals that ask this process to end. Exists before the box does, so that none is missed.
pub struct Signals {
    #[cfg(unix)]
    streams: [(i32, tokio::signal::unix::Signal); 3],
}

#[cfg(unix)]
impl Signals {
    /// Starts to listen.
    pub fn listen() -> Result<Signals, Failure> {
        use tokio::signal::unix::{SignalKind, signal};

        let listen = |kind: SignalKind| match signal(kind) {
            Ok(stream) => Ok((kind.as_raw_value(), stream)),
            Err(reason) => Err(Failure::Machinery { what: "the signal handler", reason }),
        };
        let streams = [
            listen(SignalKind::interrupt())?,
            listen(SignalKind::terminate())?,
            listen(SignalKind::hangup())?,
        ];
        Ok(Signals { streams })
    }

    /// Waits for the next signal and gives its number.
    pub async fn next(&mut self) -> i32 {
        let [(interrupt, first), (terminate, second), (hangup, third)] = &mut self.streams;
        tokio::select! {
            _ = first.recv() => *interrupt,
            _ = second.recv() => *terminate,
            _ = third.recv() => *hangup,
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    /// Listening begins with the first wait.
    pub fn listen() -> Result<Signals, Failure> {
        Ok(Signals {})
    }

    /// Waits for the next signal and gives its number.
    pub async fn next(&mut self) -> i32 {
        const INTERRUPT: i32 = 2;
        // Where it cannot be listened to there is nothing to pass on either.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        INTERRUPT
    }
}

/// What the next signal does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// The program gets it, and the grace period.
    PassOn,
    /// The box ends at once.
    Kill,
    /// This process ends, whoever still has to read its output.
    Leave,
}

/// The first is passed on, as is every one of another kind; a second interrupt is impatience.
#[derive(Debug, Default)]
struct Patience {
    interrupts: u32,
}

impl Patience {
    fn answer(&mut self, signal: i32) -> Answer {
        const INTERRUPT: i32 = 2;
        if signal != INTERRUPT {
            return Answer::PassOn;
        }
        self.interrupts += 1;
        match self.interrupts {
            1 => Answer::PassOn,
            2 => Answer::Kill,
            _ => Answer::Leave,
        }
    }
}

impl Signals {
    /// Passes signals on until one of them says to stop waiting. Gives the exit code for that.
    pub async fn pass_on(&mut self, canceller: &Canceller) -> u8 {
        let mut patience = Patience::default();
        loop {
            let signal = self.next().await;
            match patience.answer(signal) {
                Answer::PassOn => canceller.signal(signal),
                Answer::Kill => canceller.kill(),
                Answer::Leave => return u8::try_from(128 + signal).unwrap_or(u8::MAX),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_interrupt_kills_and_a_third_leaves() {
        let mut patience = Patience::default();
        assert_eq!(patience.answer(15), Answer::PassOn);
        assert_eq!(patience.answer(2), Answer::PassOn);
        assert_eq!(patience.answer(1), Answer::PassOn);
        assert_eq!(patience.answer(2), Answer::Kill);
        assert_eq!(patience.answer(2), Answer::Leave);
    }
}
