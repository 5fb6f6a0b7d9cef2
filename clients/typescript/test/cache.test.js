// The cache, and what a call can add to its request.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Cache } from "../dist/esm/cache.js";
import { InvalidResponseError, SoftwareDirectory } from "software-directory";

const BASE = "https://directory.example";

/** A server whose ETags depend on URL and version, and that responds with 304 if the ETag is still current. */
function tagging() {
  const server = { version: 1, requests: [] };
  server.fetch = async (url, { headers }) => {
    const etag = `W/"${server.version}"`;
    const sent = { etag, "x-request-id": headers["x-request-id"], "x-generation": `g${server.version}` };
    const unchanged = headers["if-none-match"] === etag;
    server.requests.push({ url, tag: headers["if-none-match"], status: unchanged ? 304 : 200 });
    if (unchanged) return new Response(null, { status: 304, headers: sent });
    const body = JSON.stringify({ data: { id: "a", version: server.version } });
    return new Response(body, { headers: { ...sent, "content-type": "application/json" } });
  };
  return server;
}

const client = (options) => new SoftwareDirectory({ apiKey: "sd_live_k", baseUrl: BASE, ...options });
const statuses = ({ requests }) => requests.map(({ status }) => status);

test("without a cache, nothing is revalidated", async () => {
  const server = tagging();
  const directory = client({ fetch: server.fetch });
  await directory.software.get("a");
  await directory.software.get("a");
  assert.deepEqual(statuses(server), [200, 200]);
});

test("a cached response is served after a 304", async () => {
  const server = tagging();
  const directory = client({ fetch: server.fetch, cacheMaxBytes: 10_000 });
  const first = await directory.software.get("a");
  first.version = "changed by the caller";
  const { data, response, request_id } = await directory.software.get("a").withResponse();
  assert.deepEqual(data, { id: "a", version: 1 });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "application/json");
  // This is the request id of the revalidation, so it can be found in the server's log.
  assert.equal(request_id, response.headers.get("x-request-id"));
  server.version = 2;
  assert.equal((await directory.software.get("a")).version, 2);
  assert.equal((await directory.software.get("a")).version, 2);
  assert.deepEqual(statuses(server), [200, 304, 200, 304]);
});

test("entries are cached by URL and Accept header", async () => {
  const server = tagging();
  const directory = client({ fetch: server.fetch, cacheMaxBytes: 10_000 });
  await directory.software.get("a");
  await directory.software.get("b");
  await directory.software.get("a", { query: { fields: "id" } });
  await directory.software.get("a", { headers: { accept: "application/x" } });
  await directory.get("/v1/software/a");
  assert.deepEqual(statuses(server), [200, 200, 200, 200, 304]);
});

test("a raw get is also served from the cache", async () => {
  const server = tagging();
  const directory = client({ fetch: server.fetch, cacheMaxBytes: 10_000 });
  for (let n = 0; n < 2; n += 1) {
    const response = await directory.get("/v1/software/a");
    assert.equal(response.status, 200);
    assert.equal((await response.json()).data.version, 1);
  }
  assert.deepEqual(statuses(server), [200, 304]);
});

test("the caller's own ETag is sent as is, and its 304 goes to the caller", async () => {
  const server = tagging();
  const directory = client({ fetch: server.fetch, cacheMaxBytes: 10_000 });
  await directory.software.get("a");
  const response = await directory.get("/v1/software/a", null, { headers: { "If-None-Match": 'W/"1"' } });
  assert.equal(response.status, 304);
  assert.equal(await response.text(), "");
  const raw = await directory.software.get("a", { headers: { "if-none-match": 'W/"1"' } }).asResponse();
  assert.equal(raw.status, 304);
});

test("a 304 to an unconditional request is an error", async () => {
  const fetch = async () => new Response(null, { status: 304 });
  await assert.rejects(client({ fetch }).get("/v1/software"), InvalidResponseError);
});

test("downloads and responses that aren't from the directory aren't cached", async () => {
  const server = tagging();
  const directory = client({ fetch: server.fetch, cacheMaxBytes: 10_000 });
  await directory.exports.download("a");
  await directory.exports.download("a");
  // The server responds with a record instead of a list.
  await assert.rejects(directory.software.list(), InvalidResponseError);
  await assert.rejects(directory.software.list(), InvalidResponseError);
  assert.deepEqual(
    server.requests.map(({ tag }) => tag),
    [undefined, undefined, undefined, undefined],
  );
});

test("a partial response isn't cached", async () => {
  const tags = [];
  const fetch = async (_url, { headers }) => {
    tags.push(headers["if-none-match"]);
    return new Response("{", { status: headers.range ? 206 : 200, headers: { etag: '"1"' } });
  };
  const directory = client({ fetch, cacheMaxBytes: 10_000 });
  await directory.get("/v1/exports/a", null, { headers: { range: "bytes=0-0" } });
  await directory.get("/v1/exports/a");
  await directory.get("/v1/exports/a");
  assert.deepEqual(tags, [undefined, undefined, '"1"']);
});

test("the least recently used entries are evicted, and an entry that's too large isn't inserted", () => {
  const cache = new Cache(3 * 1000);
  const put = (key, size, etag = "t") =>
    cache.put(key, new Uint8Array(size), new Response(null, { headers: { etag } }));
  for (const key of ["a", "b", "c"]) put(key, 400);
  // "a" is used again: a call revalidates the entry and inserts it again.
  put("a", 400, "t2");
  put("d", 400);
  assert.deepEqual(
    ["a", "b", "c", "d"].map((key) => cache.get(key)?.etag),
    ["t2", undefined, "t", "t"],
  );
  put("e", 3000);
  assert.equal(cache.get("e"), undefined);
  put("f", 2400);
  assert.deepEqual(
    ["a", "c", "d", "f"].map((key) => cache.get(key)?.etag),
    [undefined, undefined, undefined, "t"],
  );
  cache.put("f", new Uint8Array(1), new Response());
  assert.equal(cache.get("f"), undefined);
});

test("an undefined header isn't sent, and a negative cache size is rejected", async () => {
  const sent = [];
  const fetch = async (_url, { headers }) => {
    sent.push(headers);
    return new Response('{"data":{}}');
  };
  await client({ fetch }).software.get("a", { headers: { "X-Trace": undefined, "X-Span": "1" } });
  assert.equal("x-trace" in sent[0], false);
  assert.equal(sent[0]["x-span"], "1");
  assert.throws(() => client({ cacheMaxBytes: -1 }), RangeError);
});

test("an offset in a call's query parameters doesn't keep iteration on one page", async () => {
  const urls = [];
  const fetch = async (url) => {
    urls.push(url);
    const offset = Number(new URL(url).searchParams.get("offset"));
    return Response.json({ data: [{ id: offset }], pagination: { limit: 1, offset, total: 3 } });
  };
  const ids = [];
  for await (const { id } of client({ fetch }).software.list(null, { query: { offset: 1 } })) ids.push(id);
  assert.deepEqual(ids, [1, 2]);
});
