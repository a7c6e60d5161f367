//! Servers that the rows about the network try to reach. All of them are on this machine.

use std::net::{IpAddr, UdpSocket};

use super::super::{
    judge::Seen,
    row::Pending,
    server::{FAR, NEAR, Server},
    stage::{Preparing as _, Stage, Trouble, limited, under},
};
use crate::{Layer, Request};

/// A request under a policy that says this of the network besides its mode.
fn lent(request: Request, net: &str) -> Request {
    under(request, &format!("net:\n  mode: allow\n  {net}"))
}

/// A server, kept until the attack is over, and its port.
fn server(stage: &Stage<'_>, address: IpAddr) -> Result<u16, Trouble> {
    let server = Server::start(address)?;
    let port = server.port();
    stage.keep(server);
    Ok(port)
}

/// An address of this machine that is not loopback; nothing is sent to find it.
fn own_address() -> Result<IpAddr, Trouble> {
    let found = UdpSocket::bind("0.0.0.0:0")
        .and_then(|socket| socket.connect("192.0.2.1:9").and_then(|()| socket.local_addr()));
    found
        .map(|address| address.ip())
        .map_err(|_| Trouble::Missing("this machine has no address but loopback"))
}

pub(super) fn without_network(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let port = server(stage, [127, 0, 0, 1].into())?.to_string();
    let mut words = vec!["N1", "127.0.0.1", &port];
    // Where nothing stands in the way, this machine is as far as it may go.
    if !stage.without.contains(&Layer::NetNamespace) {
        words.extend(["203.0.113.1", "80", "2001:db8::1", "443", "169.254.169.254", "80"]);
    }
    Ok(stage.attack(words))
}

/// Rules for a server at `near.test`.
fn near(port: u16) -> String {
    format!("allow: ['near.test:{port}', '{NEAR}:{port}']")
}

/// `far.test` is there, and only `near.test` is allowed.
pub(super) fn direct(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let (port, far) = (server(stage, NEAR)?, server(stage, FAR)?.to_string());
    let request = stage.attack(["N2", "far.test", &far, "203.0.113.1", "80"]);
    Ok(lent(request.env("HTTPS_PROXY", ""), &near(port)))
}

pub(super) fn direct_allowed(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let port = server(stage, NEAR)?;
    Ok(lent(stage.attack(["N2", "near.test", &port.to_string()]), &near(port)))
}

pub(super) fn literal(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let own = own_address()?;
    let port = server(stage, own)?.to_string();
    let request = stage.attack(["N3", &own.to_string(), &port, "203.0.113.1", "80"]);
    Ok(lent(request, "allow: [near.test]"))
}

pub(super) fn literal_named(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let own = own_address()?;
    let port = server(stage, own)?;
    let request = stage.attack(["N3", &own.to_string(), &port.to_string()]);
    Ok(lent(request, &format!("allow: ['{own}:{port}']")))
}

pub(super) fn metadata(stage: &Stage<'_>) -> Result<Request, Trouble> {
    const SPELLINGS: &[&str] = &[
        "169.254.169.254",
        "2852039166",
        "0xa9fea9fe",
        "0251.0376.0251.0376",
        "169.254.43518",
        "::ffff:169.254.169.254",
        "::ffff:a9fe:a9fe",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::1",
        "fd00:ec2::254",
        "100.100.100.200",
        "168.63.129.16",
        "0.0.0.0",
        "metadata.test",
    ];
    let words = SPELLINGS.iter().flat_map(|host| [*host, "80"]);
    Ok(lent(stage.attack(std::iter::once("N4").chain(words)), "allow: ['*']"))
}

pub(super) fn rebinding(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let port = server(stage, NEAR)?.to_string();
    let names = ["near.test", "mapped.test", "private.test", "metadata.test"];
    let words = names.into_iter().flat_map(|name| [name, port.as_str()]);
    Ok(lent(stage.attack(std::iter::once("N5").chain(words)), "allow: ['*.test']"))
}

pub(super) fn rebinding_named(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let port = server(stage, NEAR)?;
    let request = stage.attack(["N5", "near.test", &port.to_string()]);
    Ok(lent(request, &format!("allow: ['*.test', '{NEAR}:{port}']")))
}

pub(super) fn labels(stage: &Stage<'_>) -> Result<Request, Trouble> {
    Ok(lent(stage.attack(["N6", "far.test"]), "allow: [near.test]"))
}

pub(super) fn labels_allowed(stage: &Stage<'_>) -> Result<Request, Trouble> {
    Ok(lent(stage.attack(["N6", "far.test"]), "allow: ['*.far.test']"))
}

pub(super) fn fronting(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let port = server(stage, NEAR)?;
    Ok(lent(stage.attack(["N7", "near.test", &port.to_string(), "far.test"]), &near(port)))
}

pub(super) fn honest(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let port = server(stage, NEAR)?;
    Ok(lent(stage.attack(["N7", "near.test", &port.to_string(), "near.test"]), &near(port)))
}

pub(super) fn not_tls(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let port = server(stage, NEAR)?;
    let rules =
        format!("allow: [{{host: near.test, ports: [{port}], tls: required}}, '{NEAR}:{port}']");
    Ok(lent(stage.attack(["N8", "near.test", &port.to_string()]), &rules))
}

pub(super) fn not_tls_allowed(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let port = server(stage, NEAR)?;
    Ok(lent(stage.attack(["N8", "near.test", &port.to_string()]), &near(port)))
}

/// A socket on this machine that answers nothing.
fn datagram_listener(stage: &Stage<'_>) -> Result<u16, Trouble> {
    let socket = UdpSocket::bind((NEAR, 0)).preparing("a socket on this machine")?;
    let port = socket.local_addr().preparing("a socket on this machine")?.port();
    stage.keep(socket);
    Ok(port)
}

pub(super) fn datagrams(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let port = datagram_listener(stage)?.to_string();
    let places = ["near.test", &port, "203.0.113.1", "443", "203.0.113.1", "53"];
    let request = stage.attack(std::iter::once("N9").chain(places));
    Ok(lent(request, &format!("allow: ['*', '{NEAR}:{port}']")))
}

/// The same datagram where nobody refuses it waits for an answer that does not come.
pub(super) fn bare_datagram<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let port = datagram_listener(stage)?.to_string();
        let mut command = std::process::Command::new(super::super::host::attack_program(stage)?);
        let output = command.args(["N9", &NEAR.to_string(), &port]).output();
        let seen = super::super::host::printed(&output.preparing("the attack program")?.stdout);
        Ok(Seen {
            answers: seen.answers.into_iter().filter(|a| a.label == "datagram").collect(),
            enforced: None,
        })
    })
}

pub(super) fn loopback(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let port = server(stage, [127, 0, 0, 1].into())?.to_string();
    let hosts = ["127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "198.18.0.1", "host"];
    let words = hosts.into_iter().flat_map(|host| [host, port.as_str()]);
    let request = stage.attack(std::iter::once("N10").chain(words));
    Ok(lent(request, &format!("allow: ['*', '127.0.0.1:{port}']")))
}

pub(super) fn loopback_named(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let port = server(stage, [127, 0, 0, 1].into())?;
    let request = stage.attack(["N10", "host", &port.to_string()]);
    Ok(lent(request, &format!("allow: ['host:{port}']")))
}

pub(super) fn malformed(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let port = server(stage, NEAR)?;
    Ok(lent(stage.attack(["N11", "near.test", &port.to_string()]), &near(port)))
}

/// A flood, and another box that wants a single connection meanwhile.
async fn flooded(stage: &Stage<'_>, most: usize) -> Result<Seen, Trouble> {
    const FLOOD: usize = 60;
    let server = Server::start(NEAR)?;
    let rules = near(server.port());
    let port = server.port().to_string();
    let request = stage.attack(["N12", "near.test", &port, &FLOOD.to_string()]);
    let net = format!("{rules}\n  limits: {{connections: {most}}}");
    let flood = stage.run(limited(lent(request, &net), &[("open_files", "1024")])?);
    let calm = stage.run(lent(stage.attack(["N2", "near.test", &port]), &rules));
    let (flood, calm) = tokio::join!(flood, calm);
    let (flood, calm) = (flood?, calm?);
    let crowded = flood.network.iter().any(|record| record.reason.code() == "too_many_connections");
    let beside = if super::super::host::said(&calm, "connect heard") { "heard" } else { "refused" };
    // Two more than the flood: the one afterwards, and that of the other box.
    let few = server.connections() <= most + 42;
    let served = if crowded && few { "capped" } else { "all" };
    Ok(Seen::of(&flood).and("served", served).and("beside", beside))
}

pub(super) fn flood<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(flooded(stage, 8))
}

pub(super) fn flood_with_room<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(flooded(stage, 256))
}

/// A name that is denied by the policy, and services that are denied wherever nobody names them.
pub(super) fn denied(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let port = server(stage, NEAR)?;
    let text = port.to_string();
    let request = stage.attack([
        "N13",
        "near.test",
        &text,
        "api.openai.com",
        "443",
        "api.anthropic.com",
        "443",
    ]);
    Ok(lent(request, &format!("allow: ['*', '{NEAR}:{port}']\n  deny: [near.test]")))
}

pub(super) fn not_denied(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let port = server(stage, NEAR)?;
    let request = stage.attack(["N13", "near.test", &port.to_string()]);
    Ok(lent(request, &format!("allow: ['*', '{NEAR}:{port}']")))
}

pub(super) fn relay(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let (port, far) = (server(stage, NEAR)?, server(stage, FAR)?.to_string());
    Ok(lent(stage.attack(["N14", "far.test", &far, "203.0.113.1", "80"]), &near(port)))
}

pub(super) fn relay_allowed(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let port = server(stage, NEAR)?;
    Ok(lent(stage.attack(["N14", "near.test", &port.to_string()]), &near(port)))
}
