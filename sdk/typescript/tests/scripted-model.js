// A model that says what a test has written down. It speaks the streamed form of the Messages API on
// loopback, and keeps what it was sent.

import { createServer } from "node:http";

/** The model wants to use a tool. */
export const use = (name, input, id = "toolu_1") => ({ type: "tool_use", id, name, input });

/** The model says something. */
export const say = (text) => ({ type: "text", text });

/** Answers the nth request of a conversation with the nth turn, and goes on with the last. */
export class ScriptedModel {
  requests = [];
  paths = [];
  #turns;
  #server;

  constructor(turns) {
    this.#turns = turns;
    this.#server = createServer((request, response) => {
      const pieces = [];
      request.on("data", (piece) => pieces.push(piece));
      request.on("end", () => this.#answer(request, Buffer.concat(pieces), response));
    });
  }

  /** Calls with a model that listens as long as the call lasts. */
  static async during(turns, act) {
    const model = new ScriptedModel(turns);
    await new Promise((listening) => model.#server.listen(0, "127.0.0.1", listening));
    try {
      return await act(model);
    } finally {
      model.#server.closeAllConnections();
      await new Promise((closed) => model.#server.close(closed));
    }
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  /** What became of each use of a tool, as the model was told. */
  results() {
    const blocks = this.requests
      .flatMap((request) => request.messages)
      .flatMap(({ content }) => (Array.isArray(content) ? content : []))
      .filter(({ type }) => type === "tool_result");
    const told = ({ tool_use_id: id, is_error: failed, content }) => [
      id,
      { failed: failed === true, text: JSON.stringify(content) },
    ];
    return Object.fromEntries(blocks.map(told));
  }

  /** The tools that the model was offered. */
  tools() {
    return (this.requests[0].tools ?? []).map(({ name }) => name);
  }

  #answer(request, body, response) {
    this.paths.push(request.url);
    if (request.method !== "POST" || request.url.split("?")[0] !== "/v1/messages") {
      response.writeHead(404).end();
      return;
    }
    const asked = JSON.parse(body.toString("utf8"));
    this.requests.push(asked);
    const past = asked.messages.filter(({ role }) => role === "assistant").length;
    const turn = this.#turns[Math.min(past, this.#turns.length - 1)];
    response.writeHead(200, { "content-type": "text/event-stream" });
    // An agent takes messages with the same id for parts of one.
    for (const event of events(`msg_${this.requests.length}`, asked.model, turn)) {
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  }
}

function* events(id, model, turn) {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const stop = { stop_reason: null, stop_sequence: null };
  const message = { id, type: "message", role: "assistant", model, content: [], ...stop, usage };
  yield { type: "message_start", message };
  for (const [index, block] of turn.entries()) {
    const isText = block.type === "text";
    const begun = isText ? { ...block, text: "" } : { ...block, input: {} };
    const delta = isText
      ? { type: "text_delta", text: block.text }
      : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
    yield { type: "content_block_start", index, content_block: begun };
    yield { type: "content_block_delta", index, delta };
    yield { type: "content_block_stop", index };
  }
  const reason = turn.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";
  yield { type: "message_delta", delta: { ...stop, stop_reason: reason }, usage };
  yield { type: "message_stop" };
}
