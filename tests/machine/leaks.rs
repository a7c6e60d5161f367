//! Nothing is left behind, however often and however a run ends.

use fumehood::{Error, Mount, PolicyChoice, Status};
use fumehood_tests::{Case, Condition, NEAR, Server, command_line, python, shell, with_limits};

use crate::{
    residue::{assert_as_before, at_rest},
    tool::Tool,
};

const RUNS: u32 = 1000;
const COMMANDS: u32 = 50;

pub fn cases() -> Vec<Case> {
    vec![
        Case::steps("leaks::a_thousand_runs", |scene| {
            // The first run starts what all of them share.
            scene.run(command_line(&["/bin/true"]));
            let before = at_rest(scene.path());
            for number in 0..RUNS {
                let outcome = scene.run(command_line(&["/bin/true"]));
                assert!(outcome.success, "run {number}: {:?}", outcome.error);
            }
            assert_as_before(&before, scene.path());
        })
        .only(Condition::FAST),
        Case::steps("leaks::every_kind_of_end", |scene| {
            scene.run(command_line(&["/bin/true"]));
            let before = at_rest(scene.path());
            for _ in 0..5 {
                let timeout = with_limits(shell("sleep 9 & sleep 9"), "timeout=50ms grace=50ms");
                assert_eq!(scene.run(timeout).status, Status::Timeout);
                let flood = with_limits(command_line(&["yes"]), "output=4k");
                assert_eq!(scene.run(flood).status, Status::OutputLimit);
                drop(scene.start(command_line(&["sleep", "9"])));
                let missing = Mount::read_only(scene.path().join("missing"), "/data");
                let refused = scene.try_run(command_line(&["/bin/true"]).mount(missing));
                assert!(matches!(refused, Err(Error::Path { .. })));
            }
            assert_as_before(&before, scene.path());
        })
        .only(Condition::ISOLATED),
        Case::steps("leaks::lent_connections", |scene| {
            let server = Server::start(NEAR);
            let port = server.port();
            let policy = format!(
                "version: 1\nnet:\n  mode: allow\n  allow: ['near.test:{port}', '{NEAR}:{port}']\n"
            );
            // One connection stays open, one is refused, and one is made by who is killed.
            let source = format!(
                "import os, socket\n\
                 near = [socket.create_connection(('near.test', {port})) for _ in range(3)]\n\
                 near[0].sendall(b'hello'); near[0].recv(99)\n\
                 try: socket.create_connection(('203.0.113.1', 80)).recv(1)\n\
                 except OSError: pass\n\
                 os.kill(os.getpid(), 9)"
            );
            let request = || {
                let text = policy.clone();
                python(&source).policy(PolicyChoice::Text { name: "the policy".into(), text })
            };
            scene.run(request());
            let before = at_rest(scene.path());
            for _ in 0..5 {
                let outcome = scene.run(request());
                assert_eq!(outcome.network.len(), 4, "{:?}", outcome.network);
                drop(scene.start(request()));
            }
            assert_as_before(&before, scene.path());
        })
        .only(Condition::GATE),
        Case::steps("leaks::fifty_commands", |scene| {
            let tool = Tool::find(scene);
            // The first command finds out about toolchains and remembers it.
            assert!(tool.exec(scene, &["/bin/true"]).status().expect("it starts").success());
            let before = at_rest(scene.path());
            let count = if scene.place.image.is_some() { COMMANDS / 5 } else { COMMANDS };
            for _ in 0..count {
                assert!(tool.exec(scene, &["/bin/true"]).status().expect("it starts").success());
            }
            assert_as_before(&before, scene.path());
        }),
    ]
}
