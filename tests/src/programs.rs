//! Short ways to write the requests of the cases.

use fumehood::{LimitOverrides, Request};

/// A Python program.
pub fn python(source: &str) -> Request {
    Request::code("python", source)
}

/// A line for the shell.
pub fn shell(line: &str) -> Request {
    Request::command(["/bin/sh", "-c", line])
}

/// A command with its arguments.
pub fn command_line(words: &[&str]) -> Request {
    Request::command(words.iter().copied())
}

/// Limits in the words people write, such as `memory=64m timeout=1s`.
pub fn with_limits(request: Request, words: &str) -> Request {
    let mut limits = LimitOverrides::default();
    for word in words.split_whitespace() {
        let (name, value) = word.split_once('=').expect("a limit is name=value");
        let number = || value.parse().expect("a number");
        let bytes = || value.parse().expect("a size");
        let span = || value.parse().expect("a span of time");
        match name {
            "memory" => limits.memory = Some(bytes()),
            "cpus" => limits.cpus = Some(value.parse().expect("a number of cores")),
            "pids" => limits.pids = Some(number()),
            "timeout" => limits.timeout = Some(span()),
            "grace" => limits.grace = Some(span()),
            "output" => limits.output = Some(bytes()),
            "disk" => limits.disk = Some(bytes()),
            "open_files" => limits.open_files = Some(number()),
            "file_size" => limits.file_size = Some(bytes()),
            _ => panic!("no limit is called {name}"),
        }
    }
    request.limits(limits)
}
