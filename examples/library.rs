//! The library in one page: run code, watch it while it runs, bound it.
//!
//! `cargo run --release --example library`

use fumehood::{Error, Event, LimitOverrides, Request, Sandbox, Status, TimeSpan};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let sandbox = Sandbox::new()?;

    // The short way: a request in, an outcome out.
    let outcome = sandbox.run(Request::code("python", "print(6 * 7)")).await?;
    println!("python says {}", outcome.stdout.text().trim());

    // The long way: events as they happen.
    let mut run =
        sandbox.start(Request::command(["sh", "-c", "echo one; echo two >&2; exit 3"]))?;
    while let Some(event) = run.next_event().await {
        match event {
            Event::Output { stream, data, .. } => println!("{stream:?}: {}", data.text().trim()),
            Event::Finished { outcome } => println!("exit code {:?}", outcome.exit_code),
            _ => {}
        }
    }

    // A program that does not end is ended.
    let limits = LimitOverrides { timeout: Some(TimeSpan::from_millis(200)), ..Default::default() };
    let outcome = sandbox.run(Request::command(["sleep", "60"]).limits(limits)).await?;
    assert_eq!(outcome.status, Status::Timeout);
    println!("sleep was ended after {:.1} s", outcome.execution_time);

    sandbox.close().await;
    Ok(())
}
