//! The program's standard input: where it comes from, and how it gets there while the run goes on.

use std::{
    fs::File,
    io::{self, IsTerminal as _, Read},
    path::{Path, PathBuf},
    thread,
};

use fumehood::{StdinSource, StdinWriter};
use tokio::sync::mpsc;

use crate::{
    failure::{Failure, reason},
    render::Format,
    values::StdinArg,
};

/// Something to read the input from.
type Source = Box<dyn Read + Send>;

/// The input as the library takes it, and what feeds it if it is live.
pub struct Input {
    /// For the request.
    pub source: StdinSource,
    feed: Option<Source>,
}

impl Input {
    fn fixed(source: StdinSource) -> Input {
        Input { source, feed: None }
    }

    fn live(source: impl Read + Send + 'static) -> Input {
        Input { source: StdinSource::Live, feed: Some(Box::new(source)) }
    }

    /// Finds the input. `taken` says that the code itself was read from standard input.
    pub fn find(asked: Option<StdinArg>, taken: bool, format: Format) -> Result<Input, Failure> {
        match asked {
            Some(StdinArg::Text(text)) => Ok(Input::fixed(StdinSource::Bytes(text.into_bytes()))),
            Some(StdinArg::File(path)) => Ok(Input::live(open(&path, "input file")?)),
            Some(StdinArg::Caller) if taken => Err(Failure::StdinTwice),
            Some(StdinArg::Caller) => Ok(Input::live(io::stdin())),
            None if taken || nobody_is_there(format) => Ok(Input::fixed(StdinSource::Empty)),
            None => Ok(Input::live(io::stdin())),
        }
    }

    /// Starts to read. A thread of its own, because reading a pipe or a terminal blocks; it is
    /// never joined, because nothing can end such a read.
    pub fn start(self) -> Result<Option<Feed>, Failure> {
        let Some(source) = self.feed else { return Ok(None) };
        let (sender, receiver) = mpsc::channel(4);
        thread::Builder::new()
            .name("stdin".to_owned())
            .spawn(move || read(source, &sender))
            .map_err(|reason| Failure::Machinery { what: "the reader of the input", reason })?;
        Ok(Some(Feed(receiver)))
    }
}

/// Opens a file named on the command line.
pub fn open(path: &Path, what: &'static str) -> Result<File, Failure> {
    let unreadable =
        |reason: String| Failure::Unreadable { what, path: PathBuf::from(path), reason };
    let file = File::open(path).map_err(|error| unreadable(reason(&error)))?;
    match file.metadata() {
        Ok(metadata) if metadata.is_dir() => Err(unreadable("it is a directory".to_owned())),
        _ => Ok(file),
    }
}

fn read(mut source: Source, sender: &mpsc::Sender<Vec<u8>>) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => {
                if sender.blocking_send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // What can no longer be read has ended, as far as the program is concerned.
            Err(_) => return,
        }
    }
}

/// Input on its way.
pub struct Feed(mpsc::Receiver<Vec<u8>>);

impl Feed {
    /// Passes everything on, then closes the program's input.
    pub async fn pour_into(mut self, mut writer: StdinWriter) {
        while let Some(bytes) = self.0.recv().await {
            if !writer.write(&bytes).await {
                return;
            }
        }
    }
}

/// True if standard input has nothing to give: the null device, a terminal where only a report is
/// wanted, or a terminal that belongs to another job, reading from which would stop this process.
fn nobody_is_there(format: Format) -> bool {
    let stdin = io::stdin();
    if stdin.is_terminal() { format != Format::Raw || in_background() } else { is_null_device() }
}

#[cfg(unix)]
fn in_background() -> bool {
    rustix::termios::tcgetpgrp(io::stdin())
        .is_ok_and(|foreground| foreground != rustix::process::getpgrp())
}

#[cfg(target_os = "linux")]
fn is_null_device() -> bool {
    let is_character_device = |mode| rustix::fs::FileType::from_raw_mode(mode).is_char_device();
    rustix::fs::fstat(io::stdin()).is_ok_and(|stat| {
        is_character_device(stat.st_mode) && stat.st_rdev == rustix::fs::makedev(1, 3)
    })
}

#[cfg(not(unix))]
fn in_background() -> bool {
    false
}

/// Elsewhere it is read like anything else, and found to be empty.
#[cfg(not(target_os = "linux"))]
fn is_null_device() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_and_the_input_cannot_both_be_standard_input() {
        let found = Input::find(Some(StdinArg::Caller), true, Format::Raw);
        assert!(matches!(found, Err(Failure::StdinTwice)));
        let found = Input::find(None, true, Format::Raw).unwrap();
        assert_eq!(found.source, StdinSource::Empty);
    }

    #[test]
    fn a_text_is_passed_as_it_is() {
        let found = Input::find(Some(StdinArg::Text("2 3".into())), false, Format::Json).unwrap();
        assert_eq!(found.source, StdinSource::Bytes(b"2 3".to_vec()));
    }

    #[test]
    fn what_cannot_be_read_is_refused_before_anything_starts() {
        let message = |path: &str| open(Path::new(path), "input file").unwrap_err().to_string();
        assert_eq!(
            message("/nowhere/at/all"),
            "the input file /nowhere/at/all cannot be read (No such file or directory): check the path"
        );
        assert!(message("/").contains("(it is a directory)"));
    }

    #[test]
    fn a_source_is_read_to_its_end() {
        let (sender, mut receiver) = mpsc::channel(4);
        let bytes = vec![7; 200_000];
        let source = Box::new(io::Cursor::new(bytes.clone()));
        let reader = thread::spawn(move || read(source, &sender));
        let mut seen = Vec::new();
        while let Some(part) = receiver.blocking_recv() {
            seen.extend(part);
        }
        reader.join().unwrap();
        assert!(seen == bytes);
    }
}
