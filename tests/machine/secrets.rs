//! A secret of whoever starts a run goes with requests to one host, and the box never sees it.
//! Only the user's own policy may say so, hence the command line with a configuration of its own.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    process::Stdio,
    thread,
};

use fumehood_tests::{Case, Condition, Scene};

use crate::tool::Tool;

const SECRET: &str = "a-secret-of-the-tests";

pub fn cases() -> Vec<Case> {
    let all = [
        Case::steps("secrets::injected", |scene| {
            let [heard, said] = ask(scene, Some(SECRET));
            assert_eq!(heard, format!("Basic {SECRET}"), "{said}");
            assert!(!said.contains(SECRET), "{said}");
            assert!(said.contains("answered"), "{said}");
        }),
        Case::steps("secrets::missing", |scene| {
            let [heard, said] = ask(scene, None);
            assert_eq!(heard, "", "a request passed without it");
            assert!(said.contains("refused"), "{said}");
        }),
        Case::steps("secrets::not_of_a_project", not_of_a_project),
    ];
    all.into_iter().map(|case| case.only(Condition::GATE)).collect()
}

/// A rule for a server of this machine, with a secret.
fn policy(port: u16) -> String {
    format!(
        "version: 1\nnet:\n  mode: allow\n  allow:\n    \
         - {{host: 'host:{port}', inject: {{header: Authorization, from: 'env:TOKEN'}}}}\n"
    )
}

/// A program that asks with words of its own, and shows everything that it has.
fn program(port: u16) -> String {
    format!(
        "import os, socket\n\
         head = b'GET / HTTP/1.1\\r\\nHost: host:{port}\\r\\nAuthorization: my own\\r\\n\\r\\n'\n\
         s = socket.create_connection(('host', {port}), 10); s.sendall(head)\n\
         try: print(s.recv(99) and 'answered' or 'refused')\n\
         except OSError: print('refused')\n\
         print(os.environ)\n\
         for pid in filter(str.isdigit, os.listdir('/proc')):\n\
         \x20try: print(open(f'/proc/{{pid}}/environ').read(), open(f'/proc/{{pid}}/cmdline').read())\n\
         \x20except OSError: pass"
    )
}

/// What the server was told in the header, and what the program saw.
fn ask(scene: &Scene, secret: Option<&str>) -> [String; 2] {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let address = listener.local_addr().expect("its address");
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut head = [0; 4096];
        let count = stream.read(&mut head).unwrap_or(0);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
        let head = String::from_utf8_lossy(&head[..count]).into_owned();
        let line = head.lines().find_map(|line| line.split_once(": ").filter(is_authorization));
        line.map(|(_, value)| value.to_owned()).unwrap_or_default()
    });
    let tool = Tool::find(scene);
    fs::write(scene.directory("config").join("policy.yaml"), policy(address.port()))
        .expect("a policy");
    let program = program(address.port());
    let mut command = tool.exec(scene, &["python3", "-c", &program]);
    command.env_remove("TOKEN").stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(secret) = secret {
        command.env("TOKEN", format!("Basic {secret}"));
    }
    let done = command.output().expect("it starts");
    // If nobody came, this is who it waits for.
    let _ = std::net::TcpStream::connect(address);
    let heard = server.join().expect("the server");
    let said = [done.stdout, done.stderr].concat();
    [heard, String::from_utf8_lossy(&said).into_owned()]
}

fn is_authorization((name, _): &(&str, &str)) -> bool {
    name.eq_ignore_ascii_case("authorization")
}

/// A file that comes with a project may not send it anywhere.
fn not_of_a_project(scene: &Scene) {
    let tool = Tool::find(scene);
    let file = scene.file("project.yaml", policy(80));
    let file = file.to_str().expect("a path of text");
    let mut command = tool.exec_with(scene, &["--policy", file], &["true"]);
    command.env("TOKEN", SECRET).stderr(Stdio::piped());
    let done = command.output().expect("it starts");
    assert_eq!(done.status.code(), Some(125));
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(said.contains("not a secret of this file"), "{said}");
}
