// Runs the cases that all clients share (clients/conformance) in the runtime that loads this module.

import { expect, expectContains, expectEqual, expectNumber } from "./check.js";

const CLASSES = {
  authentication: "AuthenticationError",
  permission: "PermissionDeniedError",
  not_found: "NotFoundError",
  gone: "GoneError",
  rate_limit: "RateLimitError",
  invalid_request: "InvalidRequestError",
  server: "ServerError",
  timeout: "ApiTimeoutError",
  generation_changed: "GenerationChangedError",
  connection: "ApiConnectionError",
  invalid_response: "InvalidResponseError",
};

/** The checks, one per case. `sdk` is the module under test, `stub` the stub's base URL, `closed` an address where
 * nothing listens, and `inspect` the runtime's function for printing an object, if it has one. */
export function conformanceChecks({ sdk, document, stub, closed, inspect = String }) {
  return document.cases.map((one) => ({
    name: one.name,
    run: () => runCase({ sdk, one, key: document.api_key, stub, closed, inspect }),
  }));
}

async function runCase({ sdk, one, key, stub, closed, inspect }) {
  const script = await fetchJson(`${stub}/script`, {
    method: "POST",
    body: JSON.stringify({ responses: one.responses }),
  });
  const log = script.base_url.replace("/s/", "/log/");
  const sleeps = [];
  const retries = [];
  const outcome = {};
  try {
    try {
      const client = new sdk.SoftwareDirectory(optionsOf(one.client ?? {}, { key, script, closed, sleeps, retries }));
      for (const call of one.calls ?? [one.call]) {
        Object.assign(outcome, { items: [], pages: [] });
        await perform(client, call, outcome);
      }
    } catch (error) {
      outcome.error = error;
    }
    const { requests } = await fetchJson(log);
    compare({
      sdk,
      one,
      key: keyOf(one.client ?? {}, key),
      outcome,
      requests,
      sleeps,
      retries,
      inspect,
      prefix: one.client?.base_path,
    });
  } finally {
    await fetchJson(script.base_url.replace("/s/", "/script/"), { method: "DELETE" });
  }
}

/** The case's key, or else the document's; `null` stands for no key. */
function keyOf(client, key) {
  return "api_key" in client ? (client.api_key ?? undefined) : key;
}

function optionsOf(client, { key, script, closed, sleeps, retries }) {
  const baseUrl =
    client.base_url === "closed_port" ? closed : (client.base_url ?? script.base_url + (client.base_path ?? ""));
  const options = {
    apiKey: keyOf(client, key),
    baseUrl,
    sleep: async (milliseconds) => {
      sleeps.push(milliseconds / 1000);
    },
    onRetry: ({ error: { status, code }, ...event }) => retries.push({ ...event, status, code }),
  };
  if (client.timeout_seconds !== undefined) options.timeoutMs = client.timeout_seconds * 1000;
  if (client.max_retries !== undefined) options.maxRetries = client.max_retries;
  if (client.max_retry_after_seconds !== undefined) options.maxRetryAfterSeconds = client.max_retry_after_seconds;
  if (client.generation_change !== undefined) options.generationChange = client.generation_change;
  if (client.cache_max_bytes !== undefined) options.cacheMaxBytes = client.cache_max_bytes;
  return options;
}

/** Makes the call. What it returns before it fails is kept in `outcome`. */
async function perform(client, call, outcome) {
  const options = { headers: call.extra_headers, query: call.extra_query };
  if (call.operation === "get") {
    outcome.raw = await client.get(call.path, call.parameters, options);
    outcome.rawText = await outcome.raw.text();
    return;
  }
  // An operation on a resource, or on the client itself.
  const [method, resource] = call.operation.split(".").reverse();
  const args = "id" in call ? [call.id] : [];
  // The methods that get a single record take its parameters as options.
  if (method === "get") Object.assign(options, call.parameters);
  else args.push(call.parameters);
  const promise = (resource ? client[resource] : client)[method](...args, options);
  if (method === "stream") {
    const { body, sizeBytes } = await promise;
    outcome.sizeBytes = sizeBytes;
    outcome.result = await readAll(body);
    return;
  }
  switch (call.consume) {
    case "items":
      for await (const item of promise) outcome.items.push(item);
      return;
    case "pages":
      for await (const page of promise.pages()) outcome.pages.push(page);
      return;
    case "next_page":
      outcome.result = await (await promise).getNextPage();
      return;
    case "raw":
      outcome.raw = await promise.asResponse();
      outcome.rawText = await outcome.raw.text();
      return;
    default:
      outcome.result = await promise;
  }
}

async function readAll(stream) {
  const reader = stream.getReader();
  const bytes = [];
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) bytes.push(...chunk.value);
  return Uint8Array.from(bytes);
}

function compare({ sdk, one, key, outcome, requests, sleeps, retries, inspect }) {
  const { expect: wanted } = one;
  if (outcome.error && !wanted.error) throw outcome.error;
  expectEqual(requests.length, wanted.requests.length, "number of requests");
  wanted.requests.forEach((request, n) => {
    const { method, path, query, headers } = requests[n];
    expectEqual(method, "GET", "method");
    expectEqual(headers.authorization, key === undefined ? undefined : `Bearer ${key}`, "authorization");
    expect(/^[A-Za-z0-9_-]{1,64}$/.test(headers["x-request-id"]), `X-Request-Id: ${headers["x-request-id"]}`);
    // A web page isn't allowed to set `User-Agent`.
    if (!globalThis.document)
      expect(/^software-directory-typescript\/\d/.test(headers["user-agent"]), `user-agent: ${headers["user-agent"]}`);
    if (request.path) expectEqual(path, request.path, "path");
    if (request.query) expectEqual(query, request.query, "query");
    expectContains(headers, request.headers ?? {}, "headers");
  });
  if (wanted.same_request_id)
    expectEqual(new Set(requests.map(({ headers }) => headers["x-request-id"])).size, 1, "request ids");
  if (wanted.sleeps) {
    expectEqual(sleeps.length, wanted.sleeps.length, "number of sleeps");
    wanted.sleeps.forEach((sleep, n) => expectNumber(sleeps[n], sleep, `sleep ${n}`));
  }
  if (wanted.retries) expectContains(retries, wanted.retries, "retries");
  if (wanted.result) expectContains(outcome.result, wanted.result, "result");
  if (wanted.bytes !== undefined) {
    expect(outcome.result instanceof Uint8Array, "a download is bytes");
    expectEqual(new TextDecoder().decode(outcome.result), wanted.bytes, "bytes");
  }
  // Not every platform tells a cross-origin page how long a body is.
  if (wanted.size_bytes !== undefined && outcome.sizeBytes !== undefined)
    expectEqual(outcome.sizeBytes, wanted.size_bytes, "size");
  if (wanted.items) expectContains(outcome.items, wanted.items, "items");
  if (wanted.pages) expectContains(outcome.pages, wanted.pages, "pages");
  if (wanted.raw) compareRaw(outcome, wanted.raw);
  if (wanted.error) compareError({ sdk, error: outcome.error, wanted: wanted.error, requests, key, inspect });
}

function compareRaw({ raw, rawText }, wanted) {
  expectEqual(raw.status, wanted.status, "raw status");
  for (const [name, value] of Object.entries(wanted.headers ?? {})) expectEqual(raw.headers.get(name), value, name);
  if (wanted.json) expectContains(JSON.parse(rawText), wanted.json, "raw body");
}

function compareError({ sdk, error, wanted, requests, key, inspect }) {
  expect(error !== undefined, "no error was thrown");
  const texts = [String(error), String(error.stack), JSON.stringify(error), inspect(error)];
  if (key) for (const text of texts) expect(!text.includes(key), `the key is in: ${text}`);
  if (wanted.kind === "usage") {
    expect(!(error instanceof sdk.ApiError), `not an ApiError: ${error}`);
    expect(error instanceof TypeError || error instanceof RangeError, `a TypeError or RangeError: ${error}`);
    return;
  }
  expect(error instanceof sdk.ApiError, `an ApiError: ${error.stack}`);
  expect(error instanceof sdk[CLASSES[wanted.kind]], `${error.name} instead of ${wanted.kind}: ${error.message}`);
  expectEqual(error.name, CLASSES[wanted.kind], "name");
  expect(Number.isInteger(error.status), `status: ${error.status}`);
  for (const member of ["code", "request_id"])
    expect(typeof error[member] === "string" && error[member], `${member}: ${error[member]}`);

  if (wanted.status !== undefined) expectEqual(error.status, wanted.status, "status");
  if (wanted.code) expectEqual(error.code, wanted.code, "code");
  if (wanted.request_id === "sent") {
    // If no request arrived, there's nothing to compare.
    expectEqual(error.request_id, requests.at(-1).headers["x-request-id"], "request_id");
  } else if (wanted.request_id) {
    expectEqual(error.request_id, wanted.request_id, "request_id");
  }
  if (wanted.retry_after_seconds === null) expect(!("retry_after_seconds" in error), "retry_after_seconds is present");
  else if (wanted.retry_after_seconds !== undefined)
    expectNumber(error.retry_after_seconds, wanted.retry_after_seconds, "retry_after_seconds");
  if (wanted.errors) expectContains(error.errors, wanted.errors, "errors");
  if (wanted.message_contains) expect(error.message.includes(wanted.message_contains), `message: ${error.message}`);
  if (wanted.message_lacks) expect(!error.message.includes(wanted.message_lacks), `message: ${error.message}`);
}

async function fetchJson(url, init) {
  const response = await fetch(url, init);
  expect(response.ok, `the stub answered ${response.status} to ${url}`);
  return response.json();
}
