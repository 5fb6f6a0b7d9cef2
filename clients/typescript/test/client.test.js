// Behaviour specific to this language: options, promises, what inspection and the console show.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import {
  ApiConnectionError,
  ApiTimeoutError,
  RateLimitError,
  ServerError,
  SoftwareDirectory,
} from "software-directory";
import { BASE, client, hanging, json, KEY, PAGE, record, scripted } from "./scripted.js";

test("a call's options override the client's", async () => {
  const failing = scripted(json({}, 500));
  await assert.rejects(client({ fetch: failing.fetch }).software.get("a", { maxRetries: 0 }), ServerError);
  assert.equal(failing.calls.length, 1);
  await assert.rejects(
    client({ fetch: hanging(true) }).software.get("a", { timeoutMs: 5, maxRetries: 0 }),
    ApiTimeoutError,
  );
  for (const options of [{ timeoutMs: 0 }, { timeoutMs: NaN }, { maxRetries: -1 }, { maxRetries: 1.5 }]) {
    await assert.rejects(client({ fetch: failing.fetch }).software.get("a", options), RangeError);
  }
  assert.equal(failing.calls.length, 1);
});

test("the platform's fetch is the default, looked up at each call", async (context) => {
  const directory = new SoftwareDirectory({ apiKey: KEY, baseUrl: new URL(BASE) });
  let receiver = "not called";
  context.mock.method(globalThis, "fetch", async function () {
    receiver = this;
    return record();
  });
  await directory.software.get("a");
  // Browsers refuse to call `fetch` as a method ("Illegal invocation").
  assert.ok(receiver === undefined || receiver === globalThis);
});

test("a call is sent once, awaited or not, however often it's used", async () => {
  const { calls, fetch } = scripted(json(PAGE));
  const promise = client({ fetch }).software.list();
  await new Promise(setImmediate);
  assert.equal(calls.length, 1);
  const [first, second] = await Promise.all([promise, promise.then((page) => page)]);
  assert.equal(first, second);
  for await (const { id } of promise) assert.equal(id, "a");
  assert.equal((await promise.withResponse()).data, first);
  assert.equal(calls.length, 1);
});

test("calls that are started together run concurrently", async () => {
  let open = 0;
  let most = 0;
  const fetch = async () => {
    open += 1;
    most = Math.max(most, open);
    await new Promise(setImmediate);
    open -= 1;
    return record();
  };
  const directory = client({ fetch });
  const [a, b] = [directory.software.get("a"), directory.software.get("b")];
  await a;
  await b;
  assert.equal(most, 2);
});

test("the client's promises have the methods of Promise", async () => {
  const settled = [];
  const directory = client({ fetch: scripted(record(), json({}, 404)).fetch });
  await directory.software.get("a").finally(() => settled.push("finally"));
  await directory.software.get("a").catch(({ status }) => settled.push(status));
  assert.deepEqual(settled, ["finally", 404]);
  assert.equal(Object.prototype.toString.call(directory.software.get("a").catch(() => {})), "[object Promise]");
});

test("inspecting the client never shows the key", () => {
  const directory = client();
  for (const shown of [
    inspect(directory, { depth: Infinity, showHidden: true }),
    JSON.stringify(directory),
    String(directory),
  ]) {
    assert.ok(!shown.includes(KEY), shown);
  }
});

test("no error shows the key, even if an injected fetch attaches the request to its own error", async () => {
  const fetch = async (_url, init) => {
    const inner = Object.assign(new Error(`bad header ${init.headers.authorization}`), {
      config: init,
      code: "E_HEADER",
    });
    throw Object.assign(new TypeError(`failed with ${init.headers.authorization}`, { cause: inner }), { config: init });
  };
  const error = await client({ fetch })
    .software.get("a")
    .catch((reason) => reason);
  assert.ok(error instanceof ApiConnectionError);
  const shown = inspect(error, { depth: Infinity, showHidden: true }) + JSON.stringify(error) + error.stack;
  assert.ok(!shown.includes(KEY), shown);
  assert.match(error.message, /failed with Bearer \*\*\*: bad header Bearer \*\*\*/);
  assert.equal(error.cause.cause.code, "E_HEADER");
});

test("a fetch can throw something that isn't an Error", async () => {
  const fetch = async (_url, init) => {
    throw `refused: ${init.headers.authorization}`;
  };
  const error = await client({ fetch })
    .software.get("a")
    .catch((reason) => reason);
  assert.ok(error instanceof ApiConnectionError);
  assert.equal(error.cause, "refused: Bearer ***");
});

test("a rejected key or base URL isn't quoted", () => {
  for (const options of [
    { apiKey: "secret\n" },
    { baseUrl: "https://user:secret@directory.example" },
    { baseUrl: "secret" },
  ]) {
    assert.throws(
      () => client(options),
      (error) =>
        error instanceof TypeError &&
        !inspect(error)
          .replace(/\n +at .*/g, "")
          .includes("secret"),
    );
  }
});

test("nothing is logged by default, whatever happens", async (context) => {
  const written = [];
  for (const stream of [process.stdout, process.stderr])
    context.mock.method(stream, "write", (text) => written.push(text));
  for (const method of Object.keys(console))
    if (typeof console[method] === "function") context.mock.method(console, method, (...all) => written.push(all));
  const answers = [json({}, 500), json({}, 404), json([]), record(), json({}, 429, { "retry-after": "99" })];
  for (const answer of answers)
    await client({ fetch: scripted(answer).fetch })
      .software.get("a")
      .catch(() => {});
  context.mock.restoreAll();
  assert.deepEqual(written, []);
});

test("a redirect keeps its status if the platform shows it", async () => {
  const { calls, fetch } = scripted(
    new Response(null, { status: 302, headers: { location: "https://elsewhere.example" } }),
  );
  await assert.rejects(client({ fetch }).software.get("a"), { status: 302, code: "unexpected_redirect" });
  assert.equal(calls[0].init.redirect, "manual");
});

test("an error's JSON has all its properties", async () => {
  const problem = {
    type: "/errors",
    title: "Slow down",
    status: 429,
    detail: "Wait.",
    code: "rate_limited",
    request_id: "r1",
    retry_after_seconds: 99,
    extra: 1,
  };
  const error = await client({ fetch: scripted(json(problem, 429)).fetch })
    .software.get("a")
    .catch((reason) => reason);
  assert.ok(error instanceof RateLimitError);
  const { name, status, code, request_id, retry_after_seconds } = error;
  assert.deepEqual(
    { name, status, code, request_id, retry_after_seconds },
    { name: "RateLimitError", status: 429, code: "rate_limited", request_id: "r1", retry_after_seconds: 99 },
  );
  assert.deepEqual(JSON.parse(JSON.stringify(error)).problem, problem);
  assert.equal(error.message, "Wait. (status 429, code rate_limited, request id r1)");
});
