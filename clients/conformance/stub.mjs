// The stub server for the conformance cases. It plays scripted responses, including faults, and records the requests.
// README.md in this folder describes it.

import { createServer } from "node:http";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "authorization, content-type, if-none-match, x-request-id",
  "access-control-allow-methods": "GET, HEAD, OPTIONS, POST, DELETE",
  "access-control-expose-headers": "ETag, Link, X-Request-Id, X-Generation, RateLimit, RateLimit-Policy, Retry-After",
};

// In total, a slow body takes longer than its cases' timeout, but each wait is far shorter.
const SLOW_PARTS = 8;
const SLOW_MILLISECONDS = 200;

/** Starts a stub on a free loopback port. */
export async function startStub() {
  const scripts = new Map();
  let count = 0;

  const server = createServer(async (request, response) => {
    // One connection per request, so a client can't mistake a scripted cut for a stale connection and retry silently.
    response.setHeader("connection", "close");
    if (request.method === "OPTIONS") {
      response.writeHead(204, CORS).end();
      return;
    }
    const [path, search = ""] = request.url.split("?", 2);
    const [, room, id] = path.split("/", 3);
    if (room === "s" && scripts.has(id)) {
      await play(scripts.get(id), path.slice(`/s/${id}`.length), search, request, response);
      return;
    }
    if (room === "script" && request.method === "POST") {
      let body = "";
      for await (const chunk of request) body += chunk;
      count += 1;
      scripts.set(String(count), { responses: JSON.parse(body).responses, requests: [], hanging: new Set() });
      answerJson(response, 201, { base_url: `${base}/s/${count}` });
      return;
    }
    if (room === "script" && request.method === "DELETE" && scripts.has(id)) {
      for (const socket of scripts.get(id).hanging) socket.destroy();
      scripts.delete(id);
      answerJson(response, 200, {});
      return;
    }
    if (room === "log" && scripts.has(id)) {
      answerJson(response, 200, { requests: scripts.get(id).requests });
      return;
    }
    answerJson(response, 404, { code: "no_such_script" });
  });

  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${server.address().port}`;
  return {
    base,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

async function play(script, path, search, request, response) {
  const answer = script.responses[script.requests.length];
  script.requests.push({ method: request.method, path, query: sortedPairs(search), headers: request.headers });
  if (!answer) {
    answerJson(response, 599, { code: "script_exhausted" });
    return;
  }

  const { socket } = request;
  const body = Buffer.from(fill(answer.text ?? (answer.json === undefined ? "" : JSON.stringify(answer.json)), request));
  const half = body.subarray(0, Math.floor(body.length / 2));
  const head = () => {
    response.sendDate = false;
    // Keeps a platform with its own cache, such as a browser, from responding instead of the stub.
    const headers = { ...CORS, "cache-control": "no-store" };
    for (const [name, value] of Object.entries(answer.headers ?? {})) headers[name] = fill(value, request);
    if (answer.action !== "trickle_body") headers["content-length"] = body.length;
    response.writeHead(answer.status, headers);
  };

  switch (answer.action) {
    case undefined:
      head();
      response.end(body);
      return;
    case "cut":
      socket.destroy();
      return;
    case "cut_body":
      head();
      response.write(half, () => socket.destroy());
      return;
    case "hang":
      script.hanging.add(socket);
      return;
    case "hang_body":
      script.hanging.add(socket);
      head();
      response.write(half);
      return;
    case "slow_body": {
      script.hanging.add(socket);
      head();
      const size = Math.ceil(body.length / SLOW_PARTS);
      for (let part = 0; part < SLOW_PARTS && !socket.destroyed; part += 1) {
        await setTimeout(SLOW_MILLISECONDS);
        response.write(body.subarray(part * size, (part + 1) * size));
      }
      response.end();
      return;
    }
    case "trickle_body": {
      script.hanging.add(socket);
      head();
      const timer = setInterval(() => response.write(" "), 50);
      socket.on("close", () => clearInterval(timer));
      return;
    }
    default:
      answerJson(response, 599, { code: "unknown_action" });
  }
}

function sortedPairs(search) {
  const parameters = new URLSearchParams(search);
  parameters.sort();
  return [...parameters];
}

function fill(text, request) {
  return text.replace(/\{\{(http_date|request_id|authorization)([+-]\d+)?\}\}/g, (_, name, seconds = "0") => {
    if (name === "request_id") return request.headers["x-request-id"] ?? "";
    if (name === "authorization") return request.headers.authorization ?? "";
    return new Date(Date.now() + Number(seconds) * 1000).toUTCString();
  });
}

function answerJson(response, status, body) {
  response.writeHead(status, { ...CORS, "content-type": "application/json" }).end(JSON.stringify(body));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const stub = await startStub();
  console.log(stub.base);
  process.stdin.on("end", () => process.exit(0)).resume();
}
