"""A model that says what a test has written down. It speaks the streamed form of the Messages API on
loopback, and keeps what it was sent."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Dict, Iterator, List, Optional, Tuple

Block = Dict[str, Any]


def use(name: str, input: Dict[str, Any], id: str = "toolu_1") -> Block:
    """The model wants to use a tool."""
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def say(text: str) -> Block:
    """The model says something."""
    return {"type": "text", "text": text}


class ScriptedModel:
    """Answers the nth request of a conversation with the nth turn, and goes on with the last."""

    def __init__(self, *turns: List[Block]) -> None:
        self.requests: List[Dict[str, Any]] = []
        self.paths: List[str] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                model.paths.append(self.path)
                if self.path.split("?")[0] != "/v1/messages":
                    self.send_error(404)
                    return
                request = json.loads(body)
                model.requests.append(request)
                past = [one for one in request["messages"] if one["role"] == "assistant"]
                turn = turns[min(len(past), len(turns) - 1)]
                # An agent takes messages with the same id for parts of one.
                id = f"msg_{len(model.requests)}"
                answer = b"".join(_events(id, request["model"], turn))
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> ScriptedModel:
        return self

    def __exit__(self, *reason: Any) -> None:
        self._server.shutdown()
        self._server.server_close()

    def results(self) -> Dict[str, Tuple[bool, str]]:
        """What became of each use of a tool, as the model was told: whether it is an error, and the
        text."""
        told = {}
        for request in self.requests:
            for message in request["messages"]:
                blocks = message["content"] if isinstance(message["content"], list) else []
                for block in blocks:
                    if block["type"] == "tool_result":
                        text = json.dumps(block["content"])
                        told[block["tool_use_id"]] = (bool(block.get("is_error")), text)
        return told

    def tools(self) -> List[str]:
        """The tools that the model was offered."""
        return [tool["name"] for tool in self.requests[0].get("tools", [])]


def _events(id: str, model: str, turn: List[Block]) -> Iterator[bytes]:
    def event(kind: str, **fields: Any) -> bytes:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()

    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": id, "type": "message", "role": "assistant", "model": model}
    message.update(content=[], stop_reason=None, stop_sequence=None, usage=usage)
    yield event("message_start", message=message)
    stop: Optional[str] = "end_turn"
    for index, block in enumerate(turn):
        if block["type"] == "text":
            begin, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            stop = "tool_use"
            begin = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield event("content_block_start", index=index, content_block=begin)
        yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    yield event(
        "message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage=usage
    )
    yield event("message_stop")
