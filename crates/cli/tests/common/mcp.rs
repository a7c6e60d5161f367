//! Clients of `fumehood mcp`: one that speaks line by line, one that speaks over HTTP.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::common::fumehood;

/// A client over standard input and output. What waits too long ends with the server.
pub struct Client {
    pub child: Child,
    pub input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    pub fn start(arguments: &[&str]) -> Client {
        let mut client = Client::bare(arguments);
        let answer = client.ask("initialize", initialize());
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    pub fn bare(arguments: &[&str]) -> Client {
        Client::of(fumehood(&[&["mcp"], arguments].concat()))
    }

    /// A client of this server.
    pub fn of(mut command: Command) -> Client {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        Client { child, input, output: BufReader::new(output), next: 0 }
    }

    pub fn line(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).and_then(|()| input.write_all(b"\n")).unwrap();
    }

    pub fn send(&mut self, message: &Value) {
        self.line(message.to_string().as_bytes());
    }

    pub fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Sends a request and gives its id.
    pub fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        loop {
            let answer = self.receive();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// Calls a tool and gives its result.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    pub fn shell(&mut self, command: &str) -> Value {
        self.call("sandboxed_shell.run", json!({"command": command}))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn initialize() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    })
}

pub fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// Whether a process has this word among its arguments.
pub fn somebody_runs(word: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|process| {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes())
    })
}

pub fn within(time: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < time {
        if holds() {
            return true;
        }
        thread::sleep(Duration::from_millis(50));
    }
    false
}

/// A server over HTTP, and where it is.
pub struct Served {
    pub child: Child,
    pub address: String,
}

impl Served {
    pub fn start(arguments: &[&str]) -> Served {
        let arguments = [&["mcp", "--http", "127.0.0.1:0"], arguments].concat();
        let mut child = fumehood(&arguments).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines
            .map_while(Result::ok)
            .find_map(|line| Some(line.split_once("http://")?.1.split_once('/')?.0.to_owned()))
            .expect("it says where it serves");
        Served { child, address }
    }

    /// A connection on which a request with this body was sent.
    pub fn send(&self, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
            body.len()
        );
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head += &format!("Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        // A server that has heard enough answers before the end.
        let _ = stream.write_all(body.as_bytes());
        stream
    }

    /// The status and everything after it.
    pub fn post(&self, headers: &[(&str, &str)], body: &Value) -> (u16, String) {
        self.post_text(headers, &body.to_string())
    }

    /// The same for what may be no JSON.
    pub fn post_text(&self, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut answer = Vec::new();
        // What was said before the connection broke counts.
        let _ = self.send(headers, body).read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.unwrap_or_else(|| panic!("no answer: {answer:?}")), answer)
    }

    /// Begins a session and gives its name.
    pub fn session(&self, headers: &[(&str, &str)]) -> String {
        let begin =
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize()});
        let (status, answer) = self.post(headers, &begin);
        assert_eq!(status, 200, "{answer}");
        let named = answer.lines().find_map(|line| {
            line.to_ascii_lowercase().strip_prefix("mcp-session-id: ").map(str::to_owned)
        });
        let session = named.expect("a session");
        let headers = [headers, &[("Mcp-Session-Id", &session)]].concat();
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(&headers, &initialized).0, 202);
        session
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A call of a tool.
pub fn call(id: u64, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}
