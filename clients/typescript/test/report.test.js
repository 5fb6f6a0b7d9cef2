// What the client reports: log, retry hook, headers and bodies of errors; and what it reads from the environment.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { InvalidResponseError, RateLimitError, ServerError, SoftwareDirectory } from "software-directory";
import { PACKAGE, run } from "./harness.js";
import { binary } from "./hosts/binary.js";

const KEY = "sd_live_test_0123456789abcdef";
const client = (fetch, options) =>
  new SoftwareDirectory({
    apiKey: KEY,
    baseUrl: "https://directory.example",
    fetch,
    sleep: async () => {},
    ...options,
  });

/** A fetch that returns the responses one after the other. */
const scripted = (...answers) => {
  const left = [...answers];
  return async () => left.shift();
};
const json = (body, status = 200, headers = {}) => new Response(JSON.stringify(body), { status, headers });

/** A logger that records its lines. */
function log() {
  const lines = [];
  const level = (name) => (message) => lines.push(`${name}: ${message}`);
  return { lines, logger: { debug: level("debug"), info: level("info"), warn: level("warn") } };
}

test("a wait for the quota is reported before it starts", async () => {
  const events = [];
  const { lines, logger } = log();
  const fetch = scripted(json({}, 429, { "retry-after": "60" }), json({ data: { id: "a" } }));
  const sleep = async () => events.push("sleep");
  await client(fetch, { logger, sleep, onRetry: (event) => events.push(event) }).software.get("a", {
    headers: { "x-request-id": "r1" },
  });
  const [{ error, ...event }, then] = events;
  assert.ok(error instanceof RateLimitError);
  const url = "https://directory.example/v1/software/a";
  assert.deepEqual(event, { attempt: 1, wait_seconds: 60, request_id: "r1", url });
  assert.equal(then, "sleep");
  assert.deepEqual(lines, [
    `debug: GET ${url}, request id r1, attempt 1`,
    `info: GET ${url}, request id r1: ${error.message}; attempt 2 in 60.0 s`,
    `debug: GET ${url}, request id r1, attempt 2`,
  ]);
});

test("no log line contains the key, wherever it's echoed", async () => {
  const { lines, logger } = log();
  const problem = { code: "odd", detail: `not ${KEY}`, request_id: KEY };
  const fetch = scripted(json(problem, 503), json({ data: {} }));
  await client(fetch, { logger }).software.get(KEY, { query: { key: KEY } });
  assert.equal(lines.length, 3);
  assert.ok(!lines.join().includes(KEY), lines.join("\n"));
});

test("a logger may have only some of the methods", async () => {
  const fetch = scripted(json({}, 503), json({ data: {} }));
  await client(fetch, { logger: {} }).software.get("a");
});

test("an error from the retry hook ends the call", async () => {
  const enough = new Error("enough");
  const onRetry = () => {
    throw enough;
  };
  await assert.rejects(client(scripted(json({}, 503)), { onRetry }).software.get("a"), (error) => error === enough);
});

test("an iteration that starts again is logged", async () => {
  const { lines, logger } = log();
  const page = (offset, generation) =>
    json({ data: [{ id: offset }], pagination: { limit: 1, offset, total: 2 } }, 200, { "x-generation": generation });
  const fetch = scripted(page(0, "g1"), page(1, "g2"), page(0, "g2"), page(1, "g2"));
  for await (const { id } of client(fetch, { logger }).software.list()) assert.ok(id < 2);
  assert.equal(lines.filter((line) => line.startsWith("warn: The directory changed")).length, 1);
});

test("an error has its response's headers and body, without the key", async () => {
  const fetch = scripted(new Response(`<h1>no ${KEY}</h1>`, { status: 502, headers: { via: `proxy ${KEY}` } }));
  const error = await client(fetch, { maxRetries: 0 })
    .software.get("a")
    .catch((reason) => reason);
  assert.ok(error instanceof ServerError);
  assert.equal(error.headers.get("via"), "proxy ***");
  assert.equal(error.body, "<h1>no ***</h1>");
  // Headers and body aren't printed, because a body may be long.
  assert.ok(!inspect(error).includes("<h1>"));
});

test("an error for a response that isn't from the directory includes the response", async () => {
  const fetch = scripted(new Response("<h1>Sign in</h1>", { headers: { "content-type": "text/html" } }));
  const error = await client(fetch)
    .software.get("a")
    .catch((reason) => reason);
  assert.ok(error instanceof InvalidResponseError);
  assert.equal(error.headers.get("content-type"), "text/html");
  assert.equal(error.body, "<h1>Sign in</h1>");
});

test("an error keeps 64 KiB of a long body, with no part of the key at its end, and the rest isn't read", async () => {
  let pulls = 0;
  const body = new ReadableStream(
    {
      pull(controller) {
        pulls += 1;
        // The key starts just before the point where the error cuts off the body.
        const text = pulls === 1 ? `${"x".repeat(65_530)}${KEY}` : "y".repeat(10_000);
        controller.enqueue(new TextEncoder().encode(text));
      },
    },
    { highWaterMark: 0 },
  );
  const error = await client(scripted(new Response(body, { status: 404 })))
    .software.get("a")
    .catch((reason) => reason);
  assert.equal(error.body, `${"x".repeat(65_530)}***yyy`);
  assert.equal(pulls, 2);
});

test("a connection error has neither headers nor a body", async () => {
  const error = await client(() => Promise.reject(new TypeError("no")), { maxRetries: 0 })
    .software.get("a")
    .catch((reason) => reason);
  assert.equal("headers" in error, false);
  assert.equal("body" in error, false);
});

test("a missing address is named, and an empty key in the environment is none", async () => {
  for (const name of ["SOFTWARE_DIRECTORY_API_KEY", "SOFTWARE_DIRECTORY_URL"]) delete process.env[name];
  assert.throws(() => new SoftwareDirectory({ apiKey: KEY }), /^TypeError: baseUrl is missing.*SOFTWARE_DIRECTORY_URL/);
  process.env.SOFTWARE_DIRECTORY_API_KEY = "";
  const sent = [];
  const fetch = async (_, init) => {
    sent.push("authorization" in init.headers);
    return Response.json({ data: [] });
  };
  for (const apiKey of [undefined, KEY]) await new SoftwareDirectory({ apiKey, baseUrl: "http://a", fetch }).get("/v1");
  assert.deepEqual(sent, [false, true]);
  delete process.env.SOFTWARE_DIRECTORY_API_KEY;
});

const PROGRAM = `
import { SoftwareDirectory } from "./dist/esm/index.js";
const fetch = async (url, { headers }) => Response.json({ data: [url, headers.authorization] });
try {
  console.log((await (await new SoftwareDirectory({ fetch }).get("/v1")).json()).data.join());
} catch (error) {
  console.log(error.message);
}`;
const node = (version) => [binary(`Node ${version}`), ["--input-type=module", "--eval", PROGRAM]];
const deno = (...flags) => [binary("Deno"), ["run", "--quiet", "--no-lock", "--no-config", ...flags, "-"]];
const FOUND = `https://directory.example/x/v1,Bearer ${KEY}\n`;

for (const [name, [program, args], expected] of [
  ["Node 18", node(18), FOUND],
  ["Node 26", node(26), FOUND],
  ["Bun", [binary("Bun"), ["--eval", PROGRAM]], FOUND],
  ["Deno", deno("--allow-env"), FOUND],
  [
    "Deno without permission",
    deno("--no-prompt"),
    "baseUrl is missing; pass it, or set SOFTWARE_DIRECTORY_URL in the environment\n",
  ],
]) {
  test(`${name}: the key and address come from the environment`, async () => {
    const env = {
      ...process.env,
      DENO_NO_UPDATE_CHECK: "1",
      SOFTWARE_DIRECTORY_API_KEY: KEY,
      SOFTWARE_DIRECTORY_URL: "https://directory.example/x/",
    };
    assert.equal(await run(program, args, { cwd: PACKAGE, env, input: PROGRAM }), expected);
  });
}
