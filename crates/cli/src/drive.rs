//! The way of one run through the command line: start it, feed it, show it, end with its code.

use fumehood::{Event, Request, Sandbox, StreamName};
use tokio::runtime::{Builder, Runtime};

use crate::{
    failure::{EXIT_BROKEN_PIPE, Failure},
    input::{Feed, Input},
    opening::Opened,
    output,
    render::{Format, Renderer, View},
    signals::Signals,
};

/// Carries out a request, or prints its plan. Gives the exit code.
pub fn carry_out(
    opened: impl FnOnce() -> Result<Opened, Failure>,
    mut request: Request,
    input: Input,
    view: View,
) -> Result<u8, Failure> {
    request.stdin = input.source.clone();
    let opened = opened()?;
    opened.configure(&mut request);
    let sandbox = opened.sandbox;
    let runtime = runtime()?;
    let format = view.format;
    let code = runtime.block_on(async {
        let result = if view.dry_run {
            print_plan(&sandbox, &request, format).await
        } else {
            run(&sandbox, request, input, view).await
        };
        let code = result.unwrap_or_else(|failure| failure.report(format));
        sandbox.tidied_up().await;
        // The box is over; the launcher cleans up behind us.
        sandbox.detach();
        code
    });
    // A thread that still waits for input, or for a reader of the output, must not hold us up, and
    // nothing is worth tidying up in a process that ends.
    std::mem::forget(runtime);
    std::process::exit(code.into())
}

/// One thread is enough: everything here waits.
pub fn runtime() -> Result<Runtime, Failure> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|reason| Failure::Machinery { what: "the runtime", reason })
}

/// The plan as YAML, or as JSON where that was asked for.
async fn print_plan(sandbox: &Sandbox, request: &Request, format: Format) -> Result<u8, Failure> {
    let plan = sandbox.plan(request)?;
    let value = serde_json::to_value(&plan).map_err(|error| Failure::Output(error.into()))?;
    let text = match format {
        Format::Json | Format::Jsonl => format!("{value:#}\n"),
        Format::Raw | Format::Text => {
            format!("# {}\n{}", plan.digest(), fumehood::source::write_yaml(&value))
        }
    };
    output::write(StreamName::Stdout, text.as_bytes()).await?;
    Ok(0)
}

async fn run(sandbox: &Sandbox, request: Request, input: Input, view: View) -> Result<u8, Failure> {
    let mut signals = Signals::listen()?;
    let mut renderer = Renderer::new(view, &request);
    let mut run = sandbox.start(request)?;
    let feed = input.start()?;
    let writer = run.stdin();
    let canceller = run.canceller();

    let feeding = async {
        if let (Some(feed), Some(writer)) = (feed, writer) {
            Feed::pour_into(feed, writer).await;
        }
        // The end of the input is not the end of the run.
        std::future::pending::<Result<u8, Failure>>().await
    };
    // Owns the run: once nobody wants to see it any more, it is dropped, and the box ends.
    let showing = async move {
        let outcome = loop {
            match run.next_event().await {
                Some(Event::Finished { outcome }) => break outcome,
                Some(event) => renderer.event(event).await?,
                // Nothing was carried out; the run says why.
                None => break Box::new(run.outcome().await?),
            }
        };
        let code = outcome.cli_exit_code();
        renderer.finish(outcome).await?;
        Ok(code)
    };
    let ended = tokio::select! {
        ended = showing => ended,
        ended = feeding => ended,
        code = signals.pass_on(&canceller) => Ok(code),
    };
    match ended {
        // Quietly, as a program does that writes into a closed pipe.
        Err(Failure::ReaderGone) => Ok(EXIT_BROKEN_PIPE),
        ended => ended,
    }
}
