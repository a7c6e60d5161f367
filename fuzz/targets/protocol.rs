//! Frames and messages of a control channel, from a guest that says what it likes.
#![no_main]

use fumehood_core::protocol::{FromInit, FromLauncher, ToInit, ToLauncher, frame::FrameDecoder};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut frames = FrameDecoder::new();
    for piece in bytes.chunks(7) {
        frames.push(piece);
        while let Ok(Some(message)) = frames.next_message() {
            let _ = FromInit::decode(message);
        }
    }
    let _ = FromInit::decode(bytes);
    let _ = ToInit::decode(bytes);
    let _ = FromLauncher::decode(bytes);
    let _ = ToLauncher::decode(bytes);
});
