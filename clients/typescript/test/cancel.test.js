// Signals, timeouts and the waits between attempts.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { pause } from "../dist/esm/retry.js";
import { ApiTimeoutError, InvalidResponseError, ServerError, SoftwareDirectory } from "software-directory";
import { BASE, client, hanging, json, KEY, record, scripted, timeout } from "./scripted.js";

test("a signal cancels the wait between attempts", { timeout }, async (context) => {
  const { calls, fetch } = scripted(json({}, 503, { "retry-after": "59" }));
  const controller = new AbortController();
  const start = setTimeout;
  context.mock.method(globalThis, "setTimeout", (then, milliseconds) => {
    // This is the timer for the wait. The call is aborted once the timer has started.
    if (milliseconds === 59_000) start(() => controller.abort(new Error("enough")), 1);
    return start(then, milliseconds);
  });
  const directory = new SoftwareDirectory({ apiKey: KEY, baseUrl: BASE, fetch });
  await assert.rejects(directory.software.get("a", { signal: controller.signal }), /^Error: enough$/);
  assert.equal(calls.length, 1);
  assert.equal(getEventListeners(controller.signal, "abort").length, 0);
});

test("a wait that's cancelled before it starts doesn't start", { timeout }, async () => {
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
    // There are no retries, so the reason is thrown at once, not just before another attempt.
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

test("with a signal that's already aborted, nothing is sent", async () => {
  const { calls, fetch } = scripted(record());
  await assert.rejects(client({ fetch }).software.get("a", { signal: AbortSignal.abort() }), { name: "AbortError" });
  assert.equal(calls.length, 0);
});

test("a signal that outlives many calls keeps none of their listeners", async () => {
  const { signal } = new AbortController();
  const answers = [record(), json({}, 404), json([]), json({}, 503, { "retry-after": "0" }), record()];
  // This uses the built-in sleep, which also listens to the signal.
  const directory = client({ fetch: scripted(...answers).fetch, sleep: undefined });
  for (let call = 0; call < 4; call += 1) await directory.software.get("a", { signal }).catch(() => {});
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("a finished call leaves no timer that would keep the process alive", async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  const directory = client({ fetch: scripted(record()).fetch });
  await directory.software.get("a");
  await directory.software.get("a").asResponse();
  assert.equal(timers(), before);
});

test("a discarded response's request is aborted", async () => {
  const { calls, fetch } = scripted(new Response("<h1>", { headers: { "content-type": "text/html" } }));
  await assert.rejects(client({ fetch }).exports.download("a"), InvalidResponseError);
  assert.equal(calls[0].init.signal.aborted, true);
});

test("an infinite timeout, or one that's too long for timers, doesn't fire at once", async () => {
  for (const timeoutMs of [Infinity, 2 ** 40]) {
    const slow = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return record();
    };
    assert.equal((await client({ fetch: slow, timeoutMs, maxRetries: 0 }).software.get("a")).id, "a");
  }
});

test("half of each wait is random, and the other half is fixed", async (context) => {
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
