//! Connections that a box carries on its control channel, on their way to the gate and back.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use fumehood_core::protocol::{CARRY_WINDOW, MAX_DNS, MOST_CARRIED, Passage, RESOLVER, ToInit};
use fumehood_gate::Gate;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, ReadHalf, WriteHalf, duplex, split},
    sync::{Notify, Semaphore, mpsc},
    task::JoinSet,
};

const DNS: u16 = 53;
/// The most that waits to be said to a box. One that listens is never that far behind; one that
/// only talks must not fill our memory with answers.
const MOST_WAITING: usize = 64 << 10;
/// How much is read at once.
const PIECE: usize = 32 << 10;

/// Whether this is where a box asks for names over TCP.
pub(super) fn is_resolver(address: SocketAddr) -> bool {
    address == SocketAddr::new(IpAddr::V4(RESOLVER), DNS)
}

/// What is carried for one box.
pub(super) struct Carried {
    connections: HashMap<u32, Connection>,
    /// How many connections there were.
    count: u32,
    /// What is to be said to the box. The windows of all connections bound it.
    said: mpsc::UnboundedReceiver<ToInit>,
    say: mpsc::UnboundedSender<ToInit>,
    /// What the connections do. It ends with this.
    tasks: JoinSet<()>,
}

/// One connection, as far as the box has not ended it.
struct Connection {
    /// Bytes of the box, and at last its end. The window bounds what waits here.
    heard: mpsc::UnboundedSender<Vec<u8>>,
    /// What the box may still be sent.
    credit: Arc<Semaphore>,
    /// What the box may still send; the other half counts what it has taken.
    window: Arc<Semaphore>,
    /// Whether the box has said its last.
    ended: bool,
}

impl Default for Carried {
    fn default() -> Carried {
        let (say, said) = mpsc::unbounded_channel();
        Carried { connections: HashMap::new(), count: 0, said, say, tasks: JoinSet::new() }
    }
}

impl Carried {
    /// The next thing to say to the box.
    pub(super) async fn next(&mut self) -> ToInit {
        match self.said.recv().await {
            Some(message) => message,
            // We hold the other end ourselves.
            None => std::future::pending().await,
        }
    }

    /// The program has dialled. False if the box has lost count.
    pub(super) fn dialled(&mut self, gate: &Arc<Gate>, number: u32, address: SocketAddr) -> bool {
        self.connections.retain(|_, connection| !connection.heard.is_closed());
        while self.tasks.try_join_next().is_some() {}
        if number != self.count || self.does_not_listen() {
            return false;
        }
        if self.connections.len() >= MOST_CARRIED {
            return self.refuse(number);
        }
        self.count += 1;
        let (inside, outside) = duplex(CARRY_WINDOW as usize);
        if is_resolver(address) {
            let gate = Arc::downgrade(gate);
            self.tasks.spawn(async move {
                let _ = questions(outside, |query| gate.upgrade()?.dns_query(query)).await;
            });
        } else {
            gate.connection(address, outside);
        }
        let (heard, hear) = mpsc::unbounded_channel();
        let window = || Arc::new(Semaphore::new(CARRY_WINDOW as usize));
        let connection = Connection { heard, credit: window(), window: window(), ended: false };
        let line = Line {
            number,
            say: self.say.clone(),
            credit: connection.credit.clone(),
            window: connection.window.clone(),
            silence: Notify::new(),
        };
        self.connections.insert(number, connection);
        self.tasks.spawn(line.carry(inside, hear));
        true
    }

    fn does_not_listen(&self) -> bool {
        self.said.len() > MOST_WAITING
    }

    /// Breaks off a connection that leads nowhere. False if the box has lost count.
    pub(super) fn refuse(&mut self, number: u32) -> bool {
        let counts = number == self.count && !self.does_not_listen();
        if counts {
            self.count += 1;
            let reset = ToInit::Passage { connection: number, passage: Passage::Reset };
            let _ = self.say.send(reset);
        }
        counts
    }

    /// The box says something of a connection. False if that makes no sense.
    pub(super) fn pass(&mut self, number: u32, passage: Passage) -> bool {
        if number >= self.count || self.does_not_listen() {
            return false;
        }
        // It may have ended while this was on its way.
        let Some(connection) = self.connections.get_mut(&number) else { return true };
        match passage {
            Passage::Data(data) => {
                let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
                let Ok(room) = connection.window.try_acquire_many(length) else { return false };
                room.forget();
                // Nobody listens any more: the box hears of it, too.
                let _ = data.is_empty() || connection.heard.send(data).is_ok();
            }
            Passage::End => {
                // There is one last word.
                if std::mem::replace(&mut connection.ended, true) {
                    return false;
                }
                let _ = connection.heard.send(Vec::new());
            }
            Passage::Credit(bytes) => {
                let more = bytes as usize;
                if connection.credit.available_permits() + more > CARRY_WINDOW as usize {
                    return false;
                }
                connection.credit.add_permits(more);
            }
            Passage::Reset => {
                // The gate sees the end of its stream.
                self.connections.remove(&number);
            }
        }
        true
    }
}

/// What the two halves of a connection share.
struct Line {
    number: u32,
    say: mpsc::UnboundedSender<ToInit>,
    credit: Arc<Semaphore>,
    window: Arc<Semaphore>,
    /// The gate has said its last.
    silence: Notify,
}

impl Line {
    async fn carry(self, stream: DuplexStream, hear: mpsc::UnboundedReceiver<Vec<u8>>) {
        let (reader, writer) = split(stream);
        let (inwards, outwards) = (self.inwards(reader), self.outwards(writer, hear));
        tokio::pin!(inwards, outwards);
        let mut is_silent = false;
        let way = loop {
            tokio::select! {
                way = &mut outwards => break way,
                () = &mut inwards, if !is_silent => is_silent = true,
            }
        };
        match way {
            Way::BrokenOff => self.say(Passage::Reset),
            Way::BothEnded => {}
            Way::BoxEnded => {
                if !is_silent {
                    inwards.await;
                }
                self.say(Passage::End);
            }
        }
    }

    /// From the gate to the box.
    async fn inwards(&self, mut reader: ReadHalf<DuplexStream>) {
        let mut buffer = vec![0; PIECE];
        while let Ok(one) = self.credit.acquire().await {
            one.forget();
            let more = self.credit.available_permits().min(PIECE - 1);
            let Ok(count @ 1..) = reader.read(&mut buffer[..=more]).await else { break };
            if let Ok(taken) = self.credit.try_acquire_many(count as u32 - 1) {
                taken.forget();
            }
            self.say(Passage::Data(buffer[..count].to_vec()));
        }
        self.silence.notify_one();
    }

    /// From the box to the gate.
    async fn outwards(
        &self,
        mut writer: WriteHalf<DuplexStream>,
        mut hear: mpsc::UnboundedReceiver<Vec<u8>>,
    ) -> Way {
        let mut is_silent = false;
        loop {
            let data = tokio::select! {
                biased;
                data = hear.recv() => data,
                () = self.silence.notified(), if !is_silent => {
                    // A gate that does not listen either has dropped the connection.
                    if writer.write(&[]).await.is_err() {
                        return Way::BrokenOff;
                    }
                    is_silent = true;
                    self.say(Passage::End);
                    continue;
                }
            };
            let Some(data) = data else { return Way::BrokenOff };
            if data.is_empty() {
                // What cannot be told to a gate that is gone need not be.
                let _ = writer.shutdown().await;
                return if is_silent { Way::BothEnded } else { Way::BoxEnded };
            }
            if writer.write_all(&data).await.is_err() {
                return Way::BrokenOff;
            }
            self.window.add_permits(data.len());
            self.say(Passage::Credit(data.len() as u32));
        }
    }

    fn say(&self, passage: Passage) {
        let _ = self.say.send(ToInit::Passage { connection: self.number, passage });
    }
}

/// How the way from the box to the gate ended.
enum Way {
    /// The box has said its last, and the gate not yet.
    BoxEnded,
    /// Both have, and both were told.
    BothEnded,
    /// One of them dropped the connection.
    BrokenOff,
}

/// Answers questions of DNS that come over TCP, each behind its length.
async fn questions(
    mut stream: DuplexStream,
    answer: impl Fn(&[u8]) -> Option<Vec<u8>>,
) -> std::io::Result<()> {
    loop {
        let length = usize::from(stream.read_u16().await?);
        if length > MAX_DNS {
            return Ok(());
        }
        let mut query = vec![0; length];
        stream.read_exact(&mut query).await?;
        let Some(message) = answer(&query) else { return Ok(()) };
        let Ok(length) = u16::try_from(message.len()) else { return Ok(()) };
        stream.write_u16(length).await?;
        stream.write_all(&message).await?;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fumehood_core::{
        egress::{AllowRule, Egress},
        policy::NetMode,
    };
    use fumehood_gate::{Proxies, Secrets, TableResolver};
    use tokio::time::timeout;

    use super::*;

    /// A gate that lends connections to one server of this machine, which sends back what it gets.
    async fn gate_and_server() -> (Arc<Gate>, SocketAddr) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut reader, mut writer) = stream.split();
                    let _ = tokio::io::copy(&mut reader, &mut writer).await;
                });
            }
        });
        let rule = AllowRule::new(address.to_string().parse().unwrap(), "here");
        let egress = Egress { mode: NetMode::Allow, allow: vec![rule], ..Egress::none() };
        let resolver = Arc::new(TableResolver::new());
        let sink = Arc::new(|_| {});
        let gate = Gate::new(egress, resolver, Proxies::none(), Secrets::none(), sink);
        (Arc::new(gate), address)
    }

    async fn next(carried: &mut Carried) -> Passage {
        match timeout(Duration::from_secs(20), carried.next()).await.expect("in time") {
            ToInit::Passage { passage, .. } => passage,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_box_that_only_talks_is_cut_off() {
        let mut carried = Carried::default();
        let most = 2 * u32::try_from(MOST_WAITING).unwrap();
        let refused = (0..most).take_while(|number| carried.refuse(*number)).count();
        assert_eq!(refused, MOST_WAITING + 1);
        let (gate, address) = gate_and_server().await;
        let mut carried = Carried::default();
        assert!(carried.dialled(&gate, 0, address));
        assert!(carried.pass(0, Passage::End));
        assert!(!carried.pass(0, Passage::End), "there is one last word");
    }

    #[tokio::test]
    async fn bytes_go_both_ways_within_their_windows() {
        let (gate, address) = gate_and_server().await;
        let mut carried = Carried::default();
        assert!(carried.dialled(&gate, 0, address));
        let (mut sent, mut granted, mut back) = (0usize, CARRY_WINDOW as usize, 0usize);
        let (all, mut unpaid) = (1 << 20, 0usize);
        while back < all {
            let count = granted.min(all - sent).min(10_000);
            if count > 0 {
                assert!(carried.pass(0, Passage::Data(vec![7; count])));
                (sent, granted) = (sent + count, granted - count);
                continue;
            }
            match next(&mut carried).await {
                Passage::Credit(bytes) => granted += bytes as usize,
                Passage::Data(data) => {
                    (back, unpaid) = (back + data.len(), unpaid + data.len());
                    assert!(unpaid <= CARRY_WINDOW as usize, "more than was granted");
                    if unpaid > 50_000 {
                        assert!(carried.pass(0, Passage::Credit(unpaid as u32)));
                        unpaid = 0;
                    }
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(carried.pass(0, Passage::End));
        loop {
            match next(&mut carried).await {
                Passage::End => break,
                Passage::Credit(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    #[tokio::test]
    async fn what_the_gate_refuses_is_broken_off() {
        let (gate, address) = gate_and_server().await;
        let mut carried = Carried::default();
        let other = SocketAddr::new(address.ip(), address.port() ^ 1);
        assert!(carried.dialled(&gate, 0, other));
        assert_eq!(next(&mut carried).await, Passage::Reset);
    }

    #[tokio::test]
    async fn a_box_that_takes_more_than_it_was_given_is_not_believed() {
        let (gate, address) = gate_and_server().await;
        let mut carried = Carried::default();
        assert!(!carried.pass(0, Passage::End), "nobody has dialled");
        assert!(!carried.dialled(&gate, 1, address), "numbers count up");
        assert!(carried.dialled(&gate, 0, address));
        assert!(!carried.dialled(&gate, 0, address));
        assert!(!carried.pass(0, Passage::Credit(1)), "nothing was sent");
        let too_much = vec![0; CARRY_WINDOW as usize + 1];
        assert!(!carried.pass(0, Passage::Data(too_much)));
    }
}
