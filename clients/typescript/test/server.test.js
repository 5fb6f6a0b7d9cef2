// Requests that the real server rejects, each with the right error class.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  ApiConnectionError,
  AuthenticationError,
  InvalidRequestError,
  PermissionDeniedError,
  RateLimitError,
  SoftwareDirectory,
} from "software-directory";
import { run, serverBinary, startDirectory } from "./harness.js";

const ORIGIN = "https://page.example";

let folder;
let keys;
let server;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "keys-"));
  const file = join(folder, "keys.json");
  const create = async (...options) =>
    (await run(serverBinary(), ["keys", "create", "--keys", file, ...options])).trim();
  keys = {
    slow: await create("--name", "slow", "--rate", "1/min"),
    cached: await create("--name", "cached", "--rate", "1/min"),
    limited: await create("--name", "limited", "--origin", ORIGIN),
    expired: await create("--name", "expired", "--expires", "2100-01-01"),
  };
  // No command creates a key that has already expired.
  await writeFile(file, (await readFile(file, "utf8")).replace("2100-01-0", "2000-01-0"));
  server = await startDirectory({ keys: file });
});
after(async () => {
  await server?.close();
  if (folder) await rm(folder, { recursive: true });
});

const client = (apiKey, options) => new SoftwareDirectory({ apiKey, baseUrl: server.baseUrl, ...options });

/** Sends the `Origin` header that a browser would send. */
const from = (origin) => (url, init) => fetch(url, { ...init, headers: { ...init.headers, origin } });

test("an exceeded quota is a RateLimitError that says how long to wait", async () => {
  const directory = client(keys.slow, { maxRetries: 0 });
  await directory.categories.list();
  const error = await directory.categories.list().catch((reason) => reason);
  assert.ok(error instanceof RateLimitError, String(error));
  assert.equal(error.code, "rate_limited");
  assert.ok(error.retry_after_seconds > 0 && error.retry_after_seconds <= 60, `${error.retry_after_seconds}`);
});

test("a call that's served from the cache doesn't count against the quota", async () => {
  const directory = client(keys.cached, { maxRetries: 0, cacheMaxBytes: 100_000 });
  const first = await directory.categories.list();
  const again = await directory.categories.list().withResponse();
  assert.deepEqual(again.data.data, first.data);
  assert.equal(again.response.status, 200);
  await assert.rejects(directory.categories.list({ limit: 1 }), RateLimitError);
});

test("a raw get with a response's ETag gets a 304", async () => {
  const directory = client(keys.limited, { fetch: from(ORIGIN) });
  const { headers } = await directory.get("/v1/categories", { limit: 1 });
  const again = await directory.get(
    "/v1/categories",
    { limit: 1 },
    { headers: { "if-none-match": headers.get("etag") } },
  );
  assert.equal(again.status, 304);
});

test("an expired key is an AuthenticationError", async () => {
  await assert.rejects(
    client(keys.expired).categories.list(),
    (error) => error instanceof AuthenticationError && error.code === "expired_api_key",
  );
});

test("a disallowed origin gets a PermissionDeniedError, and an allowed one gets through", async () => {
  await assert.rejects(
    client(keys.limited, { fetch: from("https://other.example") }).categories.list(),
    (error) => error instanceof PermissionDeniedError && error.code === "origin_not_allowed",
  );
  assert.ok((await client(keys.limited, { fetch: from(ORIGIN) }).categories.list()).data.length > 0);
});

test("an offset that search rejects is an error, not the end of the list", async () => {
  const error = await client(keys.limited, { fetch: from(ORIGIN) })
    .search.products({ q: "a", offset: 10_001 })
    .catch((reason) => reason);
  assert.ok(error instanceof InvalidRequestError, String(error));
  assert.equal(error.code, "offset_too_large");
});

test("an unreachable server is an ApiConnectionError", async () => {
  const gone = await startDirectory({ keys: join(folder, "keys.json") });
  await gone.close();
  await assert.rejects(
    new SoftwareDirectory({ apiKey: keys.limited, baseUrl: gone.baseUrl, sleep: async () => {} }).categories.list(),
    ApiConnectionError,
  );
});
