// What is this language's own: signals, injected fetches, promises, what inspection and the console show.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { inspect } from "node:util";
import { pause } from "../dist/esm/retry.js";
import {
  ApiConnectionError,
  ApiTimeoutError,
  InvalidResponseError,
  RateLimitError,
  ServerError,
  SoftwareDirectory,
} from "software-directory";

const KEY = "sd_live_test_0123456789abcdef";
const BASE = "https://directory.example";
const PAGE = { data: [{ id: "a" }], pagination: { limit: 20, offset: 0, total: 1 } };
// A test that waits for what never comes ends here; nothing is measured with it.
const timeout = 20_000;

/** A fetch that answers what is given, one after the other, and remembers its calls. */
function scripted(...answers) {
  const calls = [];
  const fetch = async (url, init) => {
    calls.push({ url, init });
    const answer = answers[Math.min(calls.length, answers.length) - 1];
    return typeof answer === "function" ? answer(url, init) : answer.clone();
  };
  return { calls, fetch };
}

const json = (body, status = 200, headers = {}) => new Response(JSON.stringify(body), { status, headers });
const record = () => json({ data: { id: "a" } });
const client = (options) => new SoftwareDirectory({ apiKey: KEY, baseUrl: BASE, sleep: async () => {}, ...options });

/** Answers when the signal aborts, as the platform's fetch does; or never, if told to ignore it. */
const hanging =
  (heed) =>
  (_url, { signal }) =>
    new Promise((_, reject) => {
      if (heed) signal.addEventListener("abort", () => reject(signal.reason));
    });

test("a signal cancels the wait between attempts", { timeout }, async (context) => {
  const { calls, fetch } = scripted(json({}, 503, { "retry-after": "59" }));
  const controller = new AbortController();
  const start = setTimeout;
  context.mock.method(globalThis, "setTimeout", (then, milliseconds) => {
    // The timer of the wait, which has begun when the abort comes.
    if (milliseconds === 59_000) start(() => controller.abort(new Error("enough")), 1);
    return start(then, milliseconds);
  });
  const directory = new SoftwareDirectory({ apiKey: KEY, baseUrl: BASE, fetch });
  await assert.rejects(directory.software.get("a", { signal: controller.signal }), /^Error: enough$/);
  assert.equal(calls.length, 1);
  assert.equal(getEventListeners(controller.signal, "abort").length, 0);
});

test("a wait that is cancelled before it begins doesn't begin", { timeout }, async () => {
  await assert.rejects(pause(59_000, AbortSignal.abort("why")), (reason) => reason === "why");
});

test("a signal reaches an injected sleep", async () => {
  const controller = new AbortController();
  const { fetch } = scripted(json({}, 500));
  let given;
  const sleep = async (_milliseconds, signal) => {
    given = signal;
  };
  await assert.rejects(client({ fetch, sleep }).software.get("a", { signal: controller.signal }), ServerError);
  assert.equal(given, controller.signal);
});

test("a signal that aborts during an injected sleep ends the call", async () => {
  const controller = new AbortController();
  const { calls, fetch } = scripted(json({}, 500), record());
  const sleep = async () => controller.abort();
  await assert.rejects(client({ fetch, sleep }).software.get("a", { signal: controller.signal }), {
    name: "AbortError",
  });
  assert.equal(calls.length, 1);
});

for (const heed of [true, false]) {
  test(`a signal cancels a request in flight; its fetch ${heed ? "heeds" : "ignores"} it`, { timeout }, async () => {
    const controller = new AbortController();
    const { calls, fetch } = scripted(hanging(heed));
    // Without retries: the reason comes out at once, not only before another attempt.
    const call = client({ fetch, maxRetries: 0 }).software.get("a", { signal: controller.signal });
    await new Promise(setImmediate);
    controller.abort("why");
    await assert.rejects(call, (reason) => reason === "why");
    assert.equal(calls.length, 1);
  });

  test(`the timeout ends an attempt; its fetch ${heed ? "heeds" : "ignores"} the signal`, { timeout }, async () => {
    const { calls, fetch } = scripted(hanging(heed));
    await assert.rejects(client({ fetch, timeoutMs: 5 }).software.get("a"), ApiTimeoutError);
    assert.equal(calls.length, 3);
  });
}

test("a signal that is aborted already sends nothing", async () => {
  const { calls, fetch } = scripted(record());
  await assert.rejects(client({ fetch }).software.get("a", { signal: AbortSignal.abort() }), { name: "AbortError" });
  assert.equal(calls.length, 0);
});

test("a signal cancels the body of a raw response too", async () => {
  const controller = new AbortController();
  const { calls, fetch } = scripted(record());
  await client({ fetch }).software.get("a", { signal: controller.signal }).asResponse();
  assert.equal(calls[0].init.signal.aborted, false);
  controller.abort();
  assert.equal(calls[0].init.signal.aborted, true);
});

/** A response whose body gives its chunks one by one, then ends or fails; it notes its cancellation. */
function streaming(chunks, failure) {
  const noted = { cancelled: false };
  const body = new ReadableStream({
    pull(controller) {
      const chunk = chunks.shift();
      if (chunk !== undefined) controller.enqueue(new TextEncoder().encode(chunk));
      else if (failure) controller.error(failure);
      else controller.close();
    },
    cancel() {
      noted.cancelled = true;
    },
  });
  return { noted, fetch: async () => new Response(body, { headers: { "content-type": "application/json" } }) };
}

test("a raw response keeps no listener once its body was read, was cancelled or failed", { timeout }, async () => {
  const { signal } = new AbortController();
  const listeners = () => getEventListeners(signal, "abort").length;
  const open = (fetch) => client({ fetch }).software.get("a", { signal }).asResponse();

  const whole = await open(streaming(["{", "}"]).fetch);
  assert.equal(listeners(), 1);
  assert.equal(await whole.text(), "{}");
  assert.equal(listeners(), 0);

  const cancelled = streaming(["{", "}"]);
  const reader = (await open(cancelled.fetch)).body.getReader();
  await reader.read();
  assert.equal(listeners(), 1);
  await reader.cancel();
  assert.equal(cancelled.noted.cancelled, true);
  assert.equal(listeners(), 0);

  const broken = await open(streaming(["{"], new TypeError("terminated")).fetch);
  await assert.rejects(broken.text(), ApiConnectionError);
  assert.equal(listeners(), 0);

  await open(async () => new Response(null));
  await assert.rejects(open(async () => json({}, 404)));
  assert.equal(listeners(), 0);
});

test("a signal that aborts while a raw body is read ends the body with its reason", { timeout }, async () => {
  const controller = new AbortController();
  const stuck = new Response(new ReadableStream({ pull: () => new Promise(() => {}) }));
  const response = await client({ fetch: async () => stuck })
    .software.get("a", { signal: controller.signal })
    .asResponse();
  const reading = response.text();
  controller.abort("why");
  await assert.rejects(reading, (reason) => reason === "why");
  assert.equal(getEventListeners(controller.signal, "abort").length, 0);
});

test("a signal that outlives many calls keeps no listeners of theirs", async () => {
  const { signal } = new AbortController();
  const answers = [record(), json({}, 404), json([]), json({}, 503, { "retry-after": "0" }), record()];
  // With the timer's own sleep, which listens too.
  const directory = client({ fetch: scripted(...answers).fetch, sleep: undefined });
  for (let call = 0; call < 4; call += 1) await directory.software.get("a", { signal }).catch(() => {});
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("after a call no timer is left that would keep the process alive", async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  const directory = client({ fetch: scripted(record()).fetch });
  await directory.software.get("a");
  await directory.software.get("a").asResponse();
  assert.equal(timers(), before);
});

test("an answer that is thrown away is let go", async () => {
  const { calls, fetch } = scripted(new Response("<h1>", { headers: { "content-type": "text/html" } }));
  await assert.rejects(client({ fetch }).exports.download("a"), InvalidResponseError);
  assert.equal(calls[0].init.signal.aborted, true);
});

test("options of a call win over the client's", async () => {
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

test("options of a call hold for the pages after the first", async () => {
  const { calls, fetch } = scripted(json({ data: [{}], pagination: { limit: 1, offset: 0, total: 2 } }), json({}, 500));
  const items = client({ fetch }).software.list(null, { maxRetries: 0 })[Symbol.asyncIterator]();
  await items.next();
  await assert.rejects(items.next(), ServerError);
  assert.equal(calls.length, 2);
});

test("a timeout that is endless or longer than timers can count doesn't fire at once", async () => {
  for (const timeoutMs of [Infinity, 2 ** 40]) {
    const slow = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return record();
    };
    assert.equal((await client({ fetch: slow, timeoutMs, maxRetries: 0 }).software.get("a")).id, "a");
  }
});

test("half of each wait is random, the other half is certain", async (context) => {
  for (const [random, waits] of [
    [0, [250, 500]],
    [0.5, [375, 750]],
  ]) {
    context.mock.method(Math, "random", () => random);
    const slept = [];
    await assert.rejects(
      client({
        fetch: scripted(json({}, 500)).fetch,
        sleep: async (milliseconds) => slept.push(milliseconds),
      }).software.get("a"),
    );
    assert.deepEqual(slept, waits);
    context.mock.restoreAll();
  }
});

test("the platform's fetch is the default, looked up at each call", async (context) => {
  const directory = new SoftwareDirectory({ apiKey: KEY, baseUrl: new URL(BASE) });
  let receiver = "not called";
  context.mock.method(globalThis, "fetch", async function () {
    receiver = this;
    return record();
  });
  await directory.software.get("a");
  // With an object before the dot, browsers refuse ("Illegal invocation").
  assert.ok(receiver === undefined || receiver === globalThis);
});

test("a call is sent once, awaited or not, however often it is looked at", async () => {
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

test("calls that are begun together run together", async () => {
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

test("the raw response is one request, its body unread", async () => {
  const { calls, fetch } = scripted(record());
  const response = await client({ fetch }).software.get("a").asResponse();
  await new Promise(setImmediate);
  assert.equal(response.bodyUsed, false);
  assert.equal(calls.length, 1);
});

test("a raw response that is requested late is a copy of the one that was read", async () => {
  const { calls, fetch } = scripted(json({ data: { id: "a" } }, 200, { "x-generation": "g1" }));
  const promise = client({ fetch }).software.get("a");
  await new Promise(setImmediate);
  const response = await promise.asResponse();
  assert.equal(response.headers.get("x-generation"), "g1");
  assert.deepEqual(await response.json(), { data: { id: "a" } });
  assert.equal((await promise).id, "a");
  assert.deepEqual(await (await promise.asResponse()).json(), { data: { id: "a" } });
  assert.equal(calls.length, 1);
});

test("result and raw response together are one request, in either order", async () => {
  for (const rawFirst of [false, true]) {
    const { calls, fetch } = scripted(record());
    const promise = client({ fetch }).software.get("a");
    const raw = rawFirst ? promise.asResponse() : promise.then().then(() => promise.asResponse());
    const [result, response] = await Promise.all([promise, raw]);
    assert.equal(result.id, "a");
    assert.deepEqual(await response.json(), { data: { id: "a" } });
    assert.equal(calls.length, 1);
  }
});

test("a result can't be had of a raw response that was read, and nothing is sent for it", async () => {
  const { calls, fetch } = scripted(record());
  const promise = client({ fetch }).software.get("a");
  const response = await promise.asResponse();
  assert.equal(await promise.asResponse(), response);
  await response.text();
  await assert.rejects(promise.then(), TypeError);
  assert.equal(calls.length, 1);
});

test("a promise of the client is a promise to whoever asks", async () => {
  const settled = [];
  const directory = client({ fetch: scripted(record(), json({}, 404)).fetch });
  await directory.software.get("a").finally(() => settled.push("finally"));
  await directory.software.get("a").catch(({ status }) => settled.push(status));
  assert.deepEqual(settled, ["finally", 404]);
  assert.equal(Object.prototype.toString.call(directory.software.get("a").catch(() => {})), "[object Promise]");
});

test("a page is what the server sent, and nothing else when it is written as JSON", async () => {
  const body = { ...PAGE, a_field_of_tomorrow: 1 };
  const page = await client({ fetch: scripted(json(body)).fetch }).software.list();
  assert.equal(JSON.stringify(page), JSON.stringify(body));
  assert.equal(page.hasNextPage(), false);
  assert.equal(await page.getNextPage(), undefined);
});

test("the last page doesn't ask for another", async () => {
  const { calls, fetch } = scripted(json(PAGE));
  for await (const page of client({ fetch }).software.list().pages()) assert.equal(page.data.length, 1);
  assert.equal(calls.length, 1);
});

test("iteration that is broken off asks for no further page", async () => {
  const { calls, fetch } = scripted(
    json({ data: [{ id: 1 }, { id: 2 }], pagination: { limit: 2, offset: 0, total: 9 } }),
  );
  for await (const { id } of client({ fetch }).software.list()) if (id === 2) break;
  assert.equal(calls.length, 1);
});

test("iteration from a page begins again at that page when the directory changes", async () => {
  const page = (offset, ids, generation) =>
    json({ data: ids.map((id) => ({ id })), pagination: { limit: 1, offset, total: 3 } }, 200, {
      "x-generation": generation,
    });
  const { calls, fetch } = scripted(
    page(0, ["a"], "g1"),
    page(1, ["b"], "g1"),
    page(2, ["c"], "g2"),
    page(1, ["a"], "g2"),
    page(2, ["d"], "g2"),
  );
  const second = await (await client({ fetch }).software.list({ limit: 1 })).getNextPage();
  const ids = [];
  for await (const { id } of second) ids.push(id);
  assert.deepEqual(ids, ["b", "a", "d"]);
  const offsets = calls.map(({ url }) => new URL(url).searchParams.get("offset"));
  assert.deepEqual(offsets, [null, "1", "2", "1", "2"]);
});

test("records without an id are given again when iteration begins again", async () => {
  const page = (offset, generation) =>
    json({ data: [{ name: `n${offset}` }], pagination: { limit: 1, offset, total: 2 } }, 200, {
      "x-generation": generation,
    });
  const { fetch } = scripted(page(0, "g1"), page(1, "g2"), page(0, "g2"), page(1, "g2"));
  const names = [];
  for await (const { name } of client({ fetch }).software.list()) names.push(name);
  assert.deepEqual(names, ["n0", "n0", "n1"]);
});

test("no inspection of the client shows the key", () => {
  const directory = client();
  for (const shown of [
    inspect(directory, { depth: Infinity, showHidden: true }),
    JSON.stringify(directory),
    String(directory),
  ]) {
    assert.ok(!shown.includes(KEY), shown);
  }
});

test("no error shows the key, even if an injected fetch ties the request to its own error", async () => {
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

test("what isn't an error can be thrown by a fetch, too", async () => {
  const fetch = async (_url, init) => {
    throw `refused: ${init.headers.authorization}`;
  };
  const error = await client({ fetch })
    .software.get("a")
    .catch((reason) => reason);
  assert.ok(error instanceof ApiConnectionError);
  assert.equal(error.cause, "refused: Bearer ***");
});

test("a key or a base URL that is refused isn't repeated", () => {
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

test("nothing is logged, whatever happens", async (context) => {
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

test("a redirect keeps its status where the platform shows it", async () => {
  const { calls, fetch } = scripted(
    new Response(null, { status: 302, headers: { location: "https://elsewhere.example" } }),
  );
  await assert.rejects(client({ fetch }).software.get("a"), { status: 302, code: "unexpected_redirect" });
  assert.equal(calls[0].init.redirect, "manual");
});

test("an error tells all it knows as JSON", async () => {
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
