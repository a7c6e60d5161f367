//! Sockets that were made in a box's namespace: whoever connects or asks there is the box.

use std::{io, net::IpAddr, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream, UdpSocket},
    sync::Semaphore,
    time::{sleep, timeout},
};

use crate::{
    dns::MOST_QUERY,
    gate::{Shared, WeakTasks},
    relay::BoxEnd,
};

/// After an accept that fails, for want of descriptors for example.
const BREATH: Duration = Duration::from_millis(50);
/// Connections with questions, at once.
const MOST_ASKING: usize = 16;
/// How long such a connection may be silent.
const SILENCE: Duration = Duration::from_secs(10);

/// Takes connections in.
pub(crate) async fn connections(listener: TcpListener, shared: Arc<Shared>, tasks: WeakTasks) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let Some(tasks) = tasks.upgrade() else { return };
                // Without its own address nobody knows whom it dials.
                let Ok(dialled) = stream.local_addr() else { continue };
                let stream = BoxEnd::Tcp(stream);
                // A listener for one port of every address gets what a box dials of itself, too.
                // That never leads out of it, whatever the rules say.
                if is_own(&shared, dialled.ip()) {
                    stream.reset_on_close();
                } else {
                    shared.admit(&tasks, dialled, stream);
                }
            }
            Err(error) if is_over(&error) => return,
            Err(_) => sleep(BREATH).await,
        }
    }
}

/// Whether this is loopback, and no address that stands for a name.
fn is_own(shared: &Shared, dialled: IpAddr) -> bool {
    match dialled.to_canonical() {
        IpAddr::V4(address) => address.is_loopback() && !shared.egress.synthetic.contains(address),
        IpAddr::V6(address) => address.is_loopback(),
    }
}

/// Answers datagrams.
pub(crate) async fn datagrams(socket: UdpSocket, shared: Arc<Shared>) {
    // One more, to tell what fits from what was cut.
    let mut buffer = [0; MOST_QUERY + 1];
    loop {
        match socket.recv_from(&mut buffer).await {
            Ok((size, from)) if size <= MOST_QUERY => {
                if let Some(answer) = shared.dns_query(&buffer[..size]) {
                    // Whoever does not take the answer asks again.
                    let _ = socket.send_to(&answer, from).await;
                }
            }
            Ok(_) => {}
            Err(error) if is_over(&error) => return,
            Err(_) => sleep(BREATH).await,
        }
    }
}

/// Answers questions over TCP.
pub(crate) async fn questions(listener: TcpListener, shared: Arc<Shared>, tasks: WeakTasks) {
    let room = Arc::new(Semaphore::new(MOST_ASKING));
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let Some(tasks) = tasks.upgrade() else { return };
                if let Ok(place) = room.clone().try_acquire_owned() {
                    let shared = shared.clone();
                    tasks.spawn(async move {
                        // A connection that breaks or falls silent has asked all it will.
                        let _ = answer_all(stream, &shared).await;
                        drop(place);
                    });
                }
            }
            Err(error) if is_over(&error) => return,
            Err(_) => sleep(BREATH).await,
        }
    }
}

async fn answer_all(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    loop {
        let question = async {
            let size = usize::from(stream.read_u16().await?);
            if size > MOST_QUERY {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let mut question = vec![0; size];
            stream.read_exact(&mut question).await?;
            Ok::<_, io::Error>(question)
        };
        let question = timeout(SILENCE, question).await??;
        let Some(answer) = shared.dns_query(&question) else { return Ok(()) };
        // An answer is little longer than its question.
        let size = u16::try_from(answer.len()).map_err(io::Error::other)?;
        let message = [&size.to_be_bytes()[..], &answer].concat();
        timeout(SILENCE, stream.write_all(&message)).await??;
    }
}

/// Whether a socket will never work again.
fn is_over(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::NotConnected)
}
