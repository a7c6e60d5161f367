//! Requests, honest and not.

use proptest::prelude::*;

use super::*;
use crate::first_bytes::tests::peer;

fn filter() -> RequestFilter {
    RequestFilter::new(peer("a.com"), Injection::None)
}

fn pass(request: &str) -> Result<String, Reason> {
    let mut out = Vec::new();
    filter().push(request.as_bytes(), &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

#[track_caller]
fn passes(request: &str) {
    assert_eq!(pass(request).as_deref(), Ok(request));
}

#[test]
fn honest_requests_pass_unchanged() {
    passes("GET / HTTP/1.1\r\nHost: a.com\r\n\r\n");
    passes("GET / HTTP/1.0\r\nHost: A.com.:80\r\nX: y: z\r\n\r\n");
    passes("GET http://a.com/x HTTP/1.1\r\nHost: a.com\r\n\r\n");
    passes("OPTIONS * HTTP/1.1\r\nHost: a.com\r\n\r\n");
    passes(
        "POST / HTTP/1.1\r\nHost: a.com\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: a.com\r\n\r\n",
    );
    passes(
        "POST / HTTP/1.1\r\nHost: a.com\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: v\r\n\r\nGET / HTTP/1.1\r\nHost: a.com\r\n\r\n",
    );
}

#[test]
fn others_are_refused() {
    use Reason::*;
    for (request, reason) in [
        ("GET / HTTP/1.1\r\nHost: b.com\r\n\r\n", HttpHostMismatch),
        ("GET / HTTP/1.1\r\nHost: a.com.evil\r\n\r\n", HttpHostMismatch),
        ("GET / HTTP/1.1\r\nHost: a.com@b.com\r\n\r\n", HttpHostMismatch),
        ("GET / HTTP/1.1\r\nHost: a.com, b.com\r\n\r\n", HttpHostMismatch),
        ("GET / HTTP/1.1\r\nHost: a.com:80:90\r\n\r\n", HttpHostMismatch),
        ("GET / HTTP/1.1\r\nHost:\r\n\r\n", HttpHostMismatch),
        ("GET / HTTP/1.1\r\n\r\n", HttpHostMissing),
        ("GET / HTTP/1.1\r\nHost: a.com\r\nHOST: a.com\r\n\r\n", HttpHostDuplicate),
        ("GET http://b.com/ HTTP/1.1\r\nHost: a.com\r\n\r\n", HttpHostMismatch),
        ("GET http://a.com@b.com/ HTTP/1.1\r\nHost: a.com\r\n\r\n", HttpHostMismatch),
        ("GET https://a.com/ HTTP/1.1\r\nHost: a.com\r\n\r\n", HttpMalformed),
        ("GET b.com HTTP/1.1\r\nHost: a.com\r\n\r\n", HttpMalformed),
        ("CONNECT a.com:443 HTTP/1.1\r\nHost: a.com\r\n\r\n", HttpConnect),
        ("GET / HTTP/1.1\r\nHost : a.com\r\n\r\n", HttpMalformed),
        ("GET / HTTP/1.1\r\n Host: a.com\r\n\r\n", HttpMalformed),
        ("GET / HTTP/1.1\r\nX: y\r\n z\r\nHost: a.com\r\n\r\n", HttpMalformed),
        ("GET / HTTP/1.1\r\nHost: a.com\nHost: b.com\r\n\r\n", HttpMalformed),
        ("GET / HTTP/1.1\r\nHost: a.com\rX: y\r\n\r\n", HttpMalformed),
        ("GET / HTTP/1.1\r\nHost: a.com\0\r\n\r\n", HttpMalformed),
        ("GET  / HTTP/1.1\r\nHost: a.com\r\n\r\n", HttpMalformed),
        ("GET / HTTP/2.0\r\nHost: a.com\r\n\r\n", HttpMalformed),
        ("\r\nGET / HTTP/1.1\r\nHost: a.com\r\n\r\n", HttpMalformed),
        (
            "GET / HTTP/1.1\r\nHost: a.com\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
            HttpMalformed,
        ),
        ("GET / HTTP/1.1\r\nHost: a.com\r\nContent-Length: +1\r\n\r\n", HttpMalformed),
        (
            "GET / HTTP/1.1\r\nHost: a.com\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            HttpMalformed,
        ),
        ("GET / HTTP/1.1\r\nHost: a.com\r\nTransfer-Encoding: xchunked\r\n\r\n", HttpMalformed),
        ("GET / HTTP/1.0\r\nHost: a.com\r\nTransfer-Encoding: chunked\r\n\r\n", HttpMalformed),
        (
            "GET / HTTP/1.1\r\nHost: a.com\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\n",
            HttpMalformed,
        ),
        (
            "GET / HTTP/1.1\r\nHost: a.com\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc",
            HttpMalformed,
        ),
        (
            "GET / HTTP/1.1\r\nHost: a.com\r\n\r\nGET / HTTP/1.1\r\nHost: b.com\r\n\r\n",
            HttpHostMismatch,
        ),
        (
            "GET / HTTP/1.1\r\nHost: a.com\r\n\r\nGET / HTTP/1.1\r\nHost: a.com\r\nUpgrade: x\r\n\r\n",
            HttpMalformed,
        ),
    ] {
        assert_eq!(pass(request), Err(reason), "{request:?}");
    }
    let large = format!("GET / HTTP/1.1\r\nHost: a.com\r\nX: {}\r\n\r\n", "x".repeat(MOST_HEAD));
    assert_eq!(pass(&large), Err(HttpTooLarge));
    assert_eq!(pass(&large[..MOST_HEAD + 1]), Err(HttpTooLarge));
}

#[test]
fn a_secret_is_in_every_request_in_place_of_the_programs_own() {
    let header = Injection::Header { name: "Authorization".into(), value: "Bearer s".into() };
    let mut filter = RequestFilter::new(peer("a.com"), header);
    let mut out = Vec::new();
    let request = "GET / HTTP/1.1\r\nauthorization: mine\r\nHost: a.com\r\n\r\n";
    filter.push(request.repeat(2).as_bytes(), &mut out).unwrap();
    let expected = "GET / HTTP/1.1\r\nHost: a.com\r\nAuthorization: Bearer s\r\n\r\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected.repeat(2));

    let mut missing = RequestFilter::new(peer("a.com"), Injection::Missing);
    assert_eq!(missing.push(request.as_bytes(), &mut Vec::new()), Err(Reason::SecretMissing));
}

#[test]
fn an_upgrade_waits_for_the_server() {
    let upgrade = "GET / HTTP/1.1\r\nHost: a.com\r\nUpgrade: websocket\r\n\r\n";
    let evil = "GET / HTTP/1.1\r\nHost: b.com\r\n\r\n";
    for upgraded in [true, false] {
        let mut filter = filter();
        let mut out = Vec::new();
        filter.push(format!("{upgrade}{evil}").as_bytes(), &mut out).unwrap();
        assert_eq!(out, upgrade.as_bytes());
        assert!(filter.awaits_server());
        let after = filter.server_said(upgraded, &mut out);
        assert_eq!(after, if upgraded { Ok(()) } else { Err(Reason::HttpHostMismatch) });
        assert_eq!(filter.is_open(), upgraded);
    }
}

#[test]
fn requests_are_known_by_their_look() {
    for (bytes, look) in [
        ("GET /", Look::Yes),
        ("\r\n\r\nGET /", Look::Yes),
        ("get x", Look::Yes),
        ("PROPFIND /", Look::Yes),
        ("PROPFIND   /", Look::Yes),
        ("PROPFIND x://b.com/ HTTP/1.1\r\n", Look::Yes),
        ("PROPFIND x://b.com/", Look::Maybe),
        ("MAIL FROM:<a@b.com>\r\n", Look::No),
        ("POST", Look::Maybe),
        ("P", Look::Maybe),
        ("", Look::Maybe),
        ("PROPFIND ", Look::Maybe),
        ("SSH-2.0-OpenSSH_9\r\n", Look::No),
        ("EHLO me\r\n", Look::No),
        ("*1\r\n$4\r\nPING\r\n", Look::No),
        ("PRI * HTTP/2.0\r\n", Look::No),
        ("\0\0\0\x08\x04\u{d2}\x16\x2f", Look::No),
    ] {
        assert_eq!(looks_like_http(bytes.as_bytes()), look, "{bytes:?}");
    }
}

proptest! {
    #[test]
    fn pieces_of_any_size_pass_alike(sizes in proptest::collection::vec(1usize..40, 1..40)) {
        let request = "POST / HTTP/1.1\r\nHost: a.com\r\nTransfer-Encoding: chunked\r\n\r\n\
                       b\r\nhello world\r\n0\r\n\r\nPUT /x HTTP/1.1\r\nHost: a.com\r\n\
                       Content-Length: 5\r\n\r\nhello";
        let (mut filter, mut out) = (filter(), Vec::new());
        let mut rest = request.as_bytes();
        for size in sizes.into_iter().cycle() {
            let (piece, behind) = rest.split_at(size.min(rest.len()));
            filter.push(piece, &mut out).unwrap();
            rest = behind;
            if rest.is_empty() { break }
        }
        prop_assert_eq!(out, request.as_bytes());
    }

    #[test]
    fn no_bytes_break_it(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0usize..60) {
        let start = b"POST / HTTP/1.1\r\nHost: a.com\r\nTransfer-Encoding: chunked\r\n\r\n";
        let mut out = Vec::new();
        let _ = filter().push(&[&start[..cut], &bytes].concat(), &mut out);
        let _ = filter().push(&[&start[..], &bytes].concat(), &mut out);
    }
}
