"""Whom clients talk to: HTTP, WebSocket and the beginning of PostgreSQL on one port, plain or in TLS.

Arguments: certificate, key, an address, another one. Listens on one port of both addresses and on a
second port of the first, prints the two ports, and then a line for every connection.
"""

import base64
import hashlib
import socket
import ssl
import struct
import sys
import threading

CERTIFICATE, KEY, NEAR, FAR = sys.argv[1:]
SSL_REQUEST = struct.pack(">II", 8, 80877103)


def web(stream):
    head = b""
    while b"\r\n\r\n" not in head:
        piece = stream.recv(4096)
        if not piece:
            return
        head += piece
    lines = head.decode().split("\r\n")
    headers = {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:] if line)}
    if headers.get("upgrade", "").lower() == "websocket":
        key = headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        stream.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode()
            + b"\x81\x05hello"
        )
        stream.recv(4096)
    else:
        body = headers.get("authorization", "hello").encode()
        stream.sendall(
            f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body
        )


def message(kind, body):
    return kind + struct.pack(">I", len(body) + 4) + body


def database(stream):
    ready = message(b"Z", b"I")
    length = struct.unpack(">I", stream.recv(4))[0]
    if length == 8:
        stream.recv(4)
        stream.sendall(b"N")
        length = struct.unpack(">I", stream.recv(4))[0]
    stream.recv(length - 4)
    stream.sendall(message(b"R", struct.pack(">I", 0)) + ready)
    while kind := stream.recv(1):
        stream.recv(struct.unpack(">I", stream.recv(4))[0] - 4)
        if kind != b"Q":
            return
        column = b"greeting\0" + struct.pack(">IHIhih", 0, 0, 25, -1, -1, 0)
        row = struct.pack(">Hi", 1, 5) + b"hello"
        stream.sendall(
            message(b"T", struct.pack(">H", 1) + column)
            + message(b"D", row)
            + message(b"C", b"SELECT 1\0")
            + ready
        )


def answer(stream):
    try:
        stream.settimeout(20)
        first = stream.recv(1, socket.MSG_PEEK)
        if first == b"\x16":
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATE, KEY)
            web(context.wrap_socket(stream, server_side=True))
        elif first == b"\0":
            database(stream)
        elif first:
            web(stream)
    except OSError:
        pass
    finally:
        stream.close()


def serve(listener):
    while True:
        stream, _ = listener.accept()
        print("%s:%d" % listener.getsockname(), flush=True)
        threading.Thread(target=answer, args=(stream,), daemon=True).start()


def listeners():
    for _ in range(100):
        one = socket.create_server((NEAR, 0))
        try:
            return one, socket.create_server((FAR, one.getsockname()[1])), socket.create_server((NEAR, 0))
        except OSError:
            one.close()
    raise SystemExit("no port is free")


allowed, elsewhere, other = listeners()
print(allowed.getsockname()[1], other.getsockname()[1], flush=True)
for listener in (allowed, elsewhere, other):
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
# Whoever started this closes its end when nobody is left to talk to.
sys.stdin.read()
