// Raw responses: one request whatever the order of calls, and what happens to the body and the caller's signal.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { ApiConnectionError } from "software-directory";
import { client, json, record, scripted, timeout } from "./scripted.js";

test("a signal also cancels a raw response's body", async () => {
  const controller = new AbortController();
  const { calls, fetch } = scripted(record());
  await client({ fetch }).software.get("a", { signal: controller.signal }).asResponse();
  assert.equal(calls[0].init.signal.aborted, false);
  controller.abort();
  assert.equal(calls[0].init.signal.aborted, true);
});

/** A response whose body returns its chunks one by one, then ends or fails. It records a cancellation. */
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

test("a raw response keeps no listener once its body has been read, was cancelled or failed", { timeout }, async () => {
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

test("a signal that aborts while a raw body is being read ends the body with its reason", { timeout }, async () => {
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

test("a raw response takes one request, and its body is unread", async () => {
  const { calls, fetch } = scripted(record());
  const response = await client({ fetch }).software.get("a").asResponse();
  await new Promise(setImmediate);
  assert.equal(response.bodyUsed, false);
  assert.equal(calls.length, 1);
});

test("a raw response that's requested late is a copy of the one that was read", async () => {
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

test("a result and its raw response take one request, in either order", async () => {
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

test("no result can be read from a raw response that was already read, and nothing is sent for it", async () => {
  const { calls, fetch } = scripted(record());
  const promise = client({ fetch }).software.get("a");
  const response = await promise.asResponse();
  assert.equal(await promise.asResponse(), response);
  await response.text();
  await assert.rejects(promise.then(), TypeError);
  assert.equal(calls.length, 1);
});
