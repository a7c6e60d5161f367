//! What the rows about the kernel need outside of the box.

use std::{
    env, fs,
    os::{
        fd::OwnedFd,
        linux::net::SocketAddrExt as _,
        unix::{
            fs::{PermissionsExt as _, symlink},
            net::{SocketAddr, UnixListener},
        },
    },
    path::Path,
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::Duration,
};

use super::super::{
    given::{secrets, with_secrets, with_words},
    host::{attack_program, printed},
    judge::Seen,
    row::Pending,
    stage::{Preparing as _, Stage, Trouble, until},
};
use crate::{Error, Mount, Request};

pub(super) fn writable_program(stage: &Stage<'_>) -> Result<Request, Trouble> {
    Ok(stage.attack(["K1", "/tmp/copy"]))
}

/// Open in this process without close-on-exec. No program in a box may ever see it.
fn stray(stage: &Stage<'_>) -> Result<(), Trouble> {
    let file: OwnedFd = fs::File::open("/dev/null").preparing("a stray descriptor")?.into();
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).preparing("a stray descriptor")?;
    stage.keep(file);
    Ok(())
}

pub(super) fn stray_descriptor(stage: &Stage<'_>) -> Result<Request, Trouble> {
    stray(stage)?;
    Ok(stage.attack(["K2"]))
}

pub(super) fn bare<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        stray(stage)?;
        let mut command = Command::new(attack_program(stage)?);
        let output = command.arg("K2").output().preparing("the attack program")?;
        Ok(printed(&output.stdout))
    })
}

/// Between the plan and the box a directory of the workspace becomes a link, is moved away for a
/// while, or a mount target does. Nothing may run that reads the secret.
pub(super) fn swapped_targets<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let workspace = secrets(stage)?;
        let outside = stage.directory("outside")?;
        stage.file("outside/.env", "secret")?;
        let sub = workspace.join("sub");
        let mut seen = Seen::default();
        let request = || with_secrets(stage, &["K3", "/workspace/sub/.env"]);
        let link = |_: &_| {
            let _ = fs::rename(&sub, workspace.join("aside"));
            let _ = symlink(&outside, &sub);
        };
        note(&mut seen, "link_above_mask", stage.run_after(request()?, link).await);
        let _ = fs::remove_file(&sub).and_then(|()| fs::rename(workspace.join("aside"), &sub));

        let target = workspace.join("target");
        fs::create_dir(&target).preparing("a directory")?;
        let request =
            with_secrets(stage, &["K3", "/workspace/target/.env", "/workspace/sub/.env"])?
                .mount(Mount::read_only(&outside, "/workspace/target"));
        let link = |_: &_| {
            let _ = fs::remove_dir(&target);
            let _ = symlink("/tmp", &target);
        };
        note(&mut seen, "link_as_target", stage.run_after(request, link).await);
        let _ = fs::remove_file(&target);

        // Away when the mask is put in place, and back when the program runs.
        for delay in if stage.is_engine() { &[200, 900][..] } else { &[1, 2, 4, 8, 16, 32] } {
            let request = with_words(stage, &workspace, &["K3", "/workspace/sub/.env"]);
            let mut mover = None;
            let away = |_: &_| mover = Some(away_for(&sub, Duration::from_millis(*delay)));
            note(&mut seen, "moved_while_masked", stage.run_after(request, away).await);
            let _ = mover.map(thread::JoinHandle::join);
        }
        Ok(seen)
    })
}

/// Moves a directory away, and back again after a while.
fn away_for(place: &Path, time: Duration) -> thread::JoinHandle<()> {
    let (place, aside) = (place.to_owned(), place.with_file_name("aside"));
    let _ = fs::rename(&place, &aside);
    thread::spawn(move || {
        thread::sleep(time);
        let _ = fs::rename(&aside, &place);
    })
}

/// What a box read, or that none was made.
fn note(seen: &mut Seen, label: &str, result: Result<crate::Outcome, Error>) {
    match result {
        Ok(outcome) => {
            let got = Seen::of(&outcome);
            seen.answers.extend(got.answers);
            seen.enforced = got.enforced;
        }
        Err(_) => *seen = std::mem::take(seen).and(label, "aborted"),
    }
}

/// The attack program itself, from a file with the set-uid bit.
pub(super) fn set_uid_program(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let directory = stage.directory("programs")?;
    let program = directory.join("attack");
    fs::copy(attack_program(stage)?, &program).preparing("a copy of the attack program")?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o6755)).preparing("the bit")?;
    let request = Request::command(["/programs/attack", "K16"]);
    Ok(request.mount(Mount::read_only(directory, "/programs")))
}

pub(super) fn signal(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let parent = rustix::process::getppid().map_or(1, |pid| pid.as_raw_nonzero().get());
    // Numbers so small are in every box.
    let pids = [std::process::id().cast_signed(), parent].into_iter().filter(|pid| *pid > 20);
    let words = std::iter::once("K20".to_owned()).chain(pids.map(|pid| pid.to_string()));
    Ok(stage.attack(words))
}

pub(super) fn sockets(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let name = format!("fumehood-verify-{}", stage.path.display());
    let address = SocketAddr::from_abstract_name(&name).preparing("an abstract socket")?;
    stage.keep(UnixListener::bind_addr(&address).preparing("an abstract socket")?);
    let usual = ["/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/nscd/socket"];
    let words = ["K21", &name].into_iter().chain(usual).map(str::to_owned);
    let of_user = env::var("XDG_RUNTIME_DIR").map(|directory| format!("{directory}/bus"));
    Ok(stage.attack(words.chain(of_user)))
}

/// One box leaves things, another looks for them while the first is alive.
pub(super) fn shared_memory<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let meeting = stage.directory("meeting")?;
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed) & 0xff;
        // A key that nobody else is likely to have.
        let key = (0x6600_0000u32 | (std::process::id() & 0xffff) << 8 | number).to_string();
        let make = stage
            .attack(["K23", "make", &key, "/meeting"])
            .mount(Mount::read_write(&meeting, "/meeting"));
        let ready = meeting.join("ready");
        let look = async {
            let there = until("the first box", Duration::from_secs(30), || ready.exists()).await;
            let looked = match there {
                Ok(()) => {
                    stage.run(stage.attack(["K23", "look", &key])).await.map_err(Trouble::from)
                }
                Err(trouble) => Err(trouble),
            };
            fs::write(meeting.join("done"), "").preparing("a file").and(looked)
        };
        let (made, looked) = tokio::join!(stage.run(make), look);
        made?;
        Ok(Seen::of(&looked?))
    })
}
