//! Standard input on its way into a box, never more than the box has asked for.

use fumehood_core::protocol::{MAX_DATA, ToInit};

use super::{super::handle::Stdin, Driver};

impl Driver<'_> {
    /// Sends a piece of standard input, as much as the box has asked for.
    pub(super) fn feed(&mut self, piece: Option<Vec<u8>>) {
        if let Some(bytes) = piece {
            let then = match std::mem::replace(&mut self.io.stdin, Stdin::End) {
                Stdin::Live(receiver) => Some(receiver),
                Stdin::Piece { then, .. } => then,
                Stdin::End => None,
            };
            self.io.stdin = Stdin::Piece { bytes, sent: 0, then };
        }
        match std::mem::replace(&mut self.io.stdin, Stdin::End) {
            Stdin::Piece { bytes, sent, then } if sent < bytes.len() => {
                let count = (bytes.len() - sent).min(self.credit).min(MAX_DATA);
                self.say(&ToInit::Stdin(bytes[sent..sent + count].to_vec()));
                self.credit -= count;
                self.io.stdin = Stdin::Piece { bytes, sent: sent + count, then };
            }
            Stdin::Piece { then: Some(receiver), .. } => self.io.stdin = Stdin::Live(receiver),
            Stdin::Piece { then: None, .. } | Stdin::Live(_) | Stdin::End => {
                self.say(&ToInit::StdinEnd);
                // Nothing more to send: no credit is needed, however much is granted.
                self.credit = 0;
            }
        }
    }
}

/// The next piece of live input; at once if a piece is at hand; never if there is none to come.
pub(super) async fn next_piece(stdin: &mut Stdin) -> Option<Vec<u8>> {
    match stdin {
        Stdin::Piece { .. } => None,
        Stdin::Live(receiver) => receiver.recv().await,
        Stdin::End => std::future::pending().await,
    }
}
