// Downloads: their timeouts, on a mock clock, and what happens after each kind of failure.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  ApiConnectionError,
  ApiTimeoutError,
  InvalidResponseError,
  NotFoundError,
  SoftwareDirectory,
} from "software-directory";

const MEBIBYTE = 2 ** 20;
const JSON_TYPE = { "content-type": "application/json" };
// Only ends a test that would otherwise wait forever.
const timeout = 20_000;

const client = (fetch, options) =>
  new SoftwareDirectory({
    apiKey: "sd_live_k",
    baseUrl: "https://directory.example",
    fetch,
    sleep: async () => {},
    ...options,
  });

/** A response that's pulled chunk by chunk: `next` returns a chunk, undefined at the end, or a promise. Counts the pulls. */
function pulled(next, headers = {}) {
  const noted = { pulls: 0, cancelled: undefined };
  const body = new ReadableStream(
    {
      async pull(controller) {
        noted.pulls += 1;
        const chunk = await next(noted.pulls);
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
      cancel(reason) {
        noted.cancelled = reason ?? true;
      },
    },
    { highWaterMark: 0 },
  );
  return { noted, response: new Response(body, { headers: { ...JSON_TYPE, ...headers } }) };
}

/** A target that records what was written and how it ended. */
function target(write = () => {}) {
  const noted = { chunks: [], closed: false, aborted: undefined };
  const writable = new WritableStream({
    async write(chunk) {
      await write(chunk);
      noted.chunks.push(chunk);
    },
    close() {
      noted.closed = true;
    },
    abort(reason) {
      noted.aborted = reason;
    },
  });
  return { noted, writable };
}

const never = () => new Promise(() => {});
const bytes = (n) => new Uint8Array(n);

test("a download may take longer than the timeout: 40 MiB at 1 MiB per second", { timeout }, async ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  let requests = 0;
  const slow = () => {
    requests += 1;
    return pulled((n) => {
      mock.timers.tick(1_000);
      return n <= 40 ? bytes(MEBIBYTE) : undefined;
    }).response;
  };
  const whole = await client(async () => slow()).exports.download("a");
  assert.equal(whole.length, 40 * MEBIBYTE);
  assert.equal(requests, 1);
});

for (const [name, begin] of [
  ["download", (directory) => directory.exports.download("a").then()],
  ["stream", async (directory) => (await directory.exports.stream("a")).body.pipeTo(target().writable)],
  [
    "raw response",
    async (directory) => (await directory.software.get("a").asResponse()).body.pipeTo(target().writable),
  ],
]) {
  test(`${name}: a chunk that doesn't arrive in time is a timeout`, { timeout }, async ({ mock }) => {
    mock.timers.enable({ apis: ["setTimeout"] });
    const stalls = async () =>
      pulled((n) => {
        if (n === 1) return bytes(1);
        mock.timers.tick(30_000);
        return never();
      }).response;
    await assert.rejects(begin(client(stalls, { maxRetries: 0 })), (error) => {
      assert.ok(error instanceof ApiTimeoutError, String(error));
      assert.match(error.message, /^No more data from https:\/\/directory\.example within 30000 ms/);
      return true;
    });
  });
}

test("the timeout also covers a download's headers", { timeout }, async ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const silent = () => {
    queueMicrotask(() => mock.timers.tick(30_000));
    return never();
  };
  await assert.rejects(client(silent, { maxRetries: 0 }).exports.stream("a"), ApiTimeoutError);
});

test("a download that's cut off is retried", { timeout }, async () => {
  let requests = 0;
  const breaks = async () => {
    requests += 1;
    const fails = requests === 1;
    return pulled((n) => {
      if (n === 1) return bytes(2);
      if (fails) throw new TypeError("terminated");
    }).response;
  };
  assert.equal((await client(breaks).exports.download("a")).length, 2);
  assert.equal(requests, 2);
});

test("a reader may take its time, and nothing is fetched ahead of it", { timeout }, async ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { noted, response } = pulled((n) => (n <= 3 ? bytes(1) : undefined));
  const { body } = await client(async () => response).exports.stream("a");
  assert.equal(noted.pulls, 0);
  const reader = body.getReader();
  await reader.read();
  assert.equal(noted.pulls, 1);
  mock.timers.tick(3_600_000);
  await reader.read();
  await reader.read();
  assert.equal((await reader.read()).done, true);
});

test("chunks that have been read are released, and leave no listener behind", { timeout }, async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  let inner;
  const fetch = async (_url, { signal }) => {
    inner = signal;
    return pulled((n) => (n <= 50 ? bytes(1000) : undefined)).response;
  };
  const { body } = await client(fetch).exports.stream("a");
  const reader = body.getReader();
  const chunks = [];
  for (let n = 0; n < 40; n += 1) chunks.push(new WeakRef((await reader.read()).value));
  assert.ok(getEventListeners(inner, "abort").length <= 1);
  await new Promise(setImmediate);
  collect();
  const kept = chunks.filter((chunk) => chunk.deref()).length;
  assert.ok(kept <= 3, `${kept} of 40 chunks are still in memory`);
  await reader.cancel();
});

test("the size is present only if it's the size of the bytes received", async () => {
  const sizes = [];
  for (const headers of [{ "content-length": "7" }, { "content-length": "7", "content-encoding": "zstd" }, {}]) {
    const stream = await client(async () => pulled(() => undefined, headers).response).exports.stream("a");
    sizes.push("sizeBytes" in stream ? stream.sizeBytes : "absent");
    await stream.body.cancel();
  }
  // Browsers don't tell a cross-origin page that a body is compressed.
  const { response } = pulled(() => undefined, { "content-length": "7" });
  const cors = Object.defineProperty(response, "type", { value: "cors" });
  sizes.push((await client(async () => cors).exports.stream("a")).sizeBytes);
  assert.deepEqual(sizes, [7, "absent", "absent", undefined]);
});

test(
  "a stream keeps no listener once it has ended, and cancels the body when it's cancelled",
  { timeout },
  async () => {
    const { signal } = new AbortController();
    const { noted, response } = pulled(() => bytes(1));
    const { body } = await client(async () => response).exports.stream("a", null, { signal });
    assert.equal(getEventListeners(signal, "abort").length, 1);
    await body.cancel("enough");
    assert.equal(noted.cancelled, "enough");
    assert.equal(getEventListeners(signal, "abort").length, 0);
  },
);

test("downloadTo writes all chunks, reports its progress and closes", { timeout }, async () => {
  const { response } = pulled((n) => (n <= 3 ? bytes(n) : undefined), { "content-length": "6" });
  let url;
  const fetch = async (given) => {
    url = given;
    return response;
  };
  const { noted, writable } = target();
  const progress = [];
  const { signal } = new AbortController();
  const onProgress = (...both) => progress.push(both);
  await client(fetch).exports.downloadTo("a", writable, { format: "ndjson" }, { onProgress, signal });
  assert.equal(url, "https://directory.example/v1/exports/a?format=ndjson");
  assert.deepEqual(
    noted.chunks.map(({ length }) => length),
    [1, 2, 3],
  );
  assert.deepEqual(progress, [
    [1, 6],
    [3, 6],
    [6, 6],
  ]);
  assert.equal(noted.closed, true);
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("downloadTo fetches no faster than the target can write", { timeout }, async () => {
  const { noted, response } = pulled(() => bytes(1));
  const controller = new AbortController();
  let release;
  const { writable } = target(() => new Promise((resolve) => (release = resolve)));
  const done = client(async () => response).exports.downloadTo("a", writable, null, { signal: controller.signal });
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
  assert.ok(noted.pulls <= 4, `${noted.pulls} chunks`);
  controller.abort("why");
  // An abort waits for the write in progress.
  release();
  await assert.rejects(done, (reason) => reason === "why");
  assert.equal(getEventListeners(controller.signal, "abort").length, 0);
});

for (const [name, fetch, kind] of [
  [
    "the body is cut off",
    async () => pulled((n) => (n === 1 ? bytes(1) : Promise.reject(new TypeError("terminated")))).response,
    ApiConnectionError,
  ],
  ["the export isn't there", async () => new Response("{}", { status: 404 }), NotFoundError],
  [
    "a proxy answers with a page",
    async () => new Response("<h1>", { headers: { "content-type": "text/html" } }),
    InvalidResponseError,
  ],
]) {
  test(`downloadTo aborts its target when ${name}`, { timeout }, async () => {
    const { noted, writable } = target();
    const error = await client(fetch)
      .exports.downloadTo("a", writable)
      .catch((reason) => reason);
    assert.ok(error instanceof kind, String(error));
    assert.equal(noted.aborted, error);
    assert.equal(noted.closed, false);
  });
}

test("downloadTo cancels the body when its target or its progress callback fails", { timeout }, async () => {
  const full = new Error("disk full");
  const fail = () => {
    throw full;
  };
  for (const [write, onProgress] of [
    [fail, undefined],
    [undefined, fail],
  ]) {
    const { noted, response } = pulled(() => bytes(1));
    const { signal } = new AbortController();
    const { writable } = target(write);
    const done = client(async () => response).exports.downloadTo("a", writable, null, { onProgress, signal });
    await assert.rejects(done, (error) => error === full);
    assert.equal(noted.cancelled, full);
    assert.equal(getEventListeners(signal, "abort").length, 0);
  }
});
