//! Property tests of the decoders: what is written is read back, and no input does harm.

use proptest::{collection::vec, prelude::*};

use super::{frame::FrameDecoder, *};
use crate::{Layer, Strength};

fn text() -> impl Strategy<Value = String> {
    "[^\0]{0,40}"
}

fn passage() -> impl Strategy<Value = Passage> {
    prop_oneof![
        vec(any::<u8>(), 0..100).prop_map(Passage::Data),
        Just(Passage::End),
        any::<u32>().prop_map(Passage::Credit),
        Just(Passage::Reset),
    ]
}

fn to_init() -> impl Strategy<Value = ToInit> {
    prop_oneof![
        (
            vec(text(), 0..5),
            vec(text(), 0..5),
            text(),
            any::<bool>(),
            any::<u64>(),
            vec(text(), 0..3)
        )
            .prop_map(|(argv, env, cwd, stdin, memory_watch, disk_watch)| ToInit::Exec(
                Exec { argv, env, cwd, stdin, memory_watch, disk_watch }
            )),
        vec(any::<u8>(), 0..100).prop_map(ToInit::Stdin),
        Just(ToInit::StdinEnd),
        any::<u8>().prop_map(ToInit::Signal),
        Just(ToInit::KillAll),
        (text(), any::<u32>(), any::<bool>(), vec(any::<u8>(), 0..100))
            .prop_map(|(path, mode, append, data)| ToInit::Put { path, mode, append, data }),
        (text(), any::<u64>()).prop_map(|(path, most)| ToInit::Get { path, most }),
        (any::<u32>(), passage())
            .prop_map(|(connection, passage)| ToInit::Passage { connection, passage }),
        (any::<u32>(), vec(any::<u8>(), 0..100))
            .prop_map(|(number, message)| ToInit::Answer { number, message }),
        Just(ToInit::Shutdown),
    ]
}

fn reports() -> impl Strategy<Value = Vec<Report>> {
    let strength =
        prop_oneof![Just(Strength::Full), Just(Strength::BestEffort), Just(Strength::Off)];
    vec(
        (0..Layer::ALL.len(), strength, text()).prop_map(|(index, strength, detail)| Report {
            layer: Layer::ALL[index],
            strength,
            detail,
        }),
        0..5,
    )
}

fn from_init() -> impl Strategy<Value = FromInit> {
    prop_oneof![
        (any::<u16>(), reports())
            .prop_map(|(version, reports)| FromInit::Ready { version, reports }),
        (text(), any::<i32>()).prop_map(|(step, errno)| FromInit::SetupFailed { step, errno }),
        (0..Layer::ALL.len(), text()).prop_map(|(index, detail)| FromInit::Lacking {
            report: Report { layer: Layer::ALL[index], strength: Strength::Off, detail },
        }),
        vec(0..3usize, 0..MOST_LENT).prop_map(|kinds| FromInit::Lent {
            sockets: kinds
                .into_iter()
                .map(|kind| {
                    [LentSocket::Connections, LentSocket::DnsDatagrams, LentSocket::DnsConnections]
                        [kind]
                })
                .collect(),
        }),
        (any::<u32>(), any::<core::net::IpAddr>(), any::<u16>()).prop_map(
            |(connection, ip, port)| FromInit::Dialled { connection, address: (ip, port).into() }
        ),
        (any::<u32>(), passage())
            .prop_map(|(connection, passage)| FromInit::Passage { connection, passage }),
        (any::<u32>(), vec(any::<u8>(), 0..100))
            .prop_map(|(number, query)| FromInit::Question { number, query }),
        Just(FromInit::Started),
        any::<i32>().prop_map(|errno| FromInit::ExecFailed { errno }),
        (any::<bool>(), vec(any::<u8>(), 0..100)).prop_map(|(err, data)| FromInit::Output {
            stream: if err { Stream::Stderr } else { Stream::Stdout },
            data
        }),
        any::<u32>().prop_map(FromInit::StdinCredit),
        (any::<bool>(), any::<u8>(), any::<[u64; 7]>(), any::<[bool; 2]>()).prop_map(
            |(signal, value, n, flags)| FromInit::Exited {
                ending: if signal { Ending::Signal(value) } else { Ending::Code(value) },
                usage: ProcessUsage {
                    wall_nanos: n[0],
                    user_micros: n[1],
                    system_micros: n[2],
                    memory_peak: n[3],
                    read_bytes: n[4],
                    written_bytes: n[5],
                    context_switches: n[6],
                    memory_exceeded: flags[0],
                    disk_full: flags[1],
                    group: BoxUsage { memory_peak: flags[0].then_some(n[0]), ..Default::default() },
                }
            }
        ),
        Just(FromInit::Done),
        any::<i32>().prop_map(|errno| FromInit::Failed { errno }),
        (vec(any::<u8>(), 0..100), any::<bool>())
            .prop_map(|(data, last)| FromInit::Data { data, last }),
    ]
}

fn setup() -> impl Strategy<Value = Setup> {
    (
        text(),
        any::<[u64; 3]>(),
        vec(text(), 0..3),
        vec((text(), text(), any::<bool>(), any::<bool>()), 0..4),
        vec((text(), any::<u32>(), vec(any::<u8>(), 0..20)), 0..3),
        any::<(bool, u32, u32)>(),
        0..Layer::ALL.len(),
    )
        .prop_map(
            |(hostname, n, writable, binds, files, (loopback, pids, milli_cores), layer)| Setup {
                disk: n[0],
                inodes: n[1],
                on_base: loopback,
                content: Content {
                    overlays: writable
                        .iter()
                        .map(|path| OverlayMount {
                            lower: path.clone(),
                            storage: hostname.clone(),
                            target: path.clone(),
                        })
                        .collect(),
                    writable,
                    binds: binds
                        .into_iter()
                        .map(|(source, target, writable, optional)| BindMount {
                            source,
                            target,
                            writable,
                            owned: !writable,
                            optional,
                        })
                        .collect(),
                    links: files
                        .iter()
                        .map(|(path, ..)| SetupLink { path: path.clone(), target: path.clone() })
                        .collect(),
                    files: files
                        .into_iter()
                        .map(|(path, mode, content)| SetupFile { path, mode, content })
                        .collect(),
                },
                covers: vec![
                    Cover { path: "/workspace/.env".into(), kind: CoverKind::Hidden },
                    Cover { path: "/workspace/.git".into(), kind: CoverKind::Pinned },
                ],
                hostname,
                loopback,
                lend: loopback.then(|| Lend {
                    address: core::net::Ipv4Addr::from_bits(pids),
                    dns: milli_cores % 2 == 0,
                    ports: vec![80, pids as u16],
                }),
                cgroup: CgroupLimits { memory: n[2], pids, milli_cores },
                rlimits: vec![Rlimit { resource: Resource::FileSize, value: n[0] }],
                required: vec![Layer::ALL[layer], Layer::Seccomp],
                without: vec![Layer::ALL[layer]],
            },
        )
}

proptest! {
    #[test]
    fn messages_to_init_are_read_back(message in to_init()) {
        prop_assert_eq!(ToInit::decode(&message.encode()), Ok(message));
    }

    #[test]
    fn messages_from_init_are_read_back(message in from_init()) {
        prop_assert_eq!(FromInit::decode(&message.encode()), Ok(message));
    }

    #[test]
    fn launcher_messages_are_read_back(number in any::<u32>(), setup in setup(), n in any::<[Option<u64>; 4]>()) {
        let base = ToLauncher::Base(setup.content.clone());
        prop_assert_eq!(ToLauncher::decode(&base.encode()), Ok(base));
        let given = vec![Report {
            layer: Layer::MountNamespace,
            strength: Strength::Full,
            detail: setup.hostname.clone(),
        }];
        let order = BoxOrder { setup: setup.clone(), given };
        prop_assert_eq!(BoxOrder::decode(&order.encode()), Ok(order));
        let open = ToLauncher::Open { number, setup: Box::new(setup) };
        prop_assert_eq!(ToLauncher::decode(&open.encode()), Ok(open));
        let failed = FromLauncher::OpenFailed { number, step: "step".into(), errno: -1 };
        prop_assert_eq!(FromLauncher::decode(&failed.encode()), Ok(failed));
        let usage = BoxUsage {
            memory_peak: n[0], oom_kills: n[1], pids_peak: n[2], pids_refused: n[3],
        };
        let closed = FromLauncher::Closed { number, usage };
        prop_assert_eq!(FromLauncher::decode(&closed.encode()), Ok(closed));
    }

    #[test]
    fn any_bytes_are_refused_or_read_and_never_panic(bytes in vec(any::<u8>(), 0..300)) {
        let _ = ToInit::decode(&bytes);
        let _ = ToLauncher::decode(&bytes);
        let _ = BoxOrder::decode(&bytes);
        let _ = FromLauncher::decode(&bytes);
        // A message has one encoding: what was accepted is what would be written.
        if let Ok(message) = FromInit::decode(&bytes) {
            prop_assert_eq!(message.encode(), bytes);
        }
    }

    #[test]
    fn a_cut_or_longer_message_is_refused(message in from_init(), extra in any::<u8>()) {
        let whole = message.encode();
        for end in 0..whole.len() {
            prop_assert!(FromInit::decode(&whole[..end]).is_err());
        }
        let mut longer = whole;
        longer.push(extra);
        prop_assert!(FromInit::decode(&longer).is_err());
    }

    #[test]
    fn frames_survive_any_cutting(messages in vec(from_init(), 1..6), cut in 1usize..50) {
        let mut stream = Vec::new();
        for message in &messages {
            frame::append(&mut stream, &message.encode());
        }
        let mut decoder = FrameDecoder::new();
        let mut seen = Vec::new();
        for piece in stream.chunks(cut) {
            decoder.push(piece);
            while let Some(bytes) = decoder.next_message().unwrap() {
                seen.push(FromInit::decode(bytes).unwrap());
            }
        }
        prop_assert!(decoder.is_at_boundary());
        prop_assert_eq!(seen, messages);
    }
}

#[test]
fn an_oversized_frame_is_refused_before_its_body_arrives() {
    let mut decoder = FrameDecoder::new();
    decoder.push(&(MAX_MESSAGE as u32 + 1).to_le_bytes());
    assert_eq!(decoder.next_message(), Err(DecodeError::TooLong("frame")));
    let mut decoder = FrameDecoder::new();
    decoder.push(&0u32.to_le_bytes());
    assert!(decoder.next_message().is_err());
}

#[test]
fn a_list_that_claims_more_than_the_message_holds_is_refused() {
    let mut message = vec![1u8];
    message.extend_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(ToInit::decode(&message), Err(DecodeError::TooLong("list")));
}

#[test]
fn a_box_hands_out_no_more_sockets_than_one_needs() {
    let many = |count| FromInit::Lent { sockets: vec![LentSocket::Connections; count] }.encode();
    assert!(FromInit::decode(&many(MOST_LENT)).is_ok());
    assert_eq!(
        FromInit::decode(&many(MOST_LENT + 1)),
        Err(DecodeError::TooLong("list of sockets"))
    );
}
