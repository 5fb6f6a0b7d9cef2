// Pages and iteration, beyond the shared cases.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ServerError } from "software-directory";
import { client, json, PAGE, scripted } from "./scripted.js";

test("a call's options apply to the pages after the first", async () => {
  const { calls, fetch } = scripted(json({ data: [{}], pagination: { limit: 1, offset: 0, total: 2 } }), json({}, 500));
  const items = client({ fetch }).software.list(null, { maxRetries: 0 })[Symbol.asyncIterator]();
  await items.next();
  await assert.rejects(items.next(), ServerError);
  assert.equal(calls.length, 2);
});

test("a page contains what the server sent, and nothing else when it's written as JSON", async () => {
  const body = { ...PAGE, a_field_of_tomorrow: 1 };
  const page = await client({ fetch: scripted(json(body)).fetch }).software.list();
  assert.equal(JSON.stringify(page), JSON.stringify(body));
  assert.equal(page.hasNextPage(), false);
  assert.equal(await page.getNextPage(), undefined);
});

test("the last page doesn't request another", async () => {
  const { calls, fetch } = scripted(json(PAGE));
  for await (const page of client({ fetch }).software.list().pages()) assert.equal(page.data.length, 1);
  assert.equal(calls.length, 1);
});

test("an iteration that's ended early requests no more pages", async () => {
  const { calls, fetch } = scripted(
    json({ data: [{ id: 1 }, { id: 2 }], pagination: { limit: 2, offset: 0, total: 9 } }),
  );
  for await (const { id } of client({ fetch }).software.list()) if (id === 2) break;
  assert.equal(calls.length, 1);
});

test("iteration from a page starts again at that page when the directory changes", async () => {
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

test("records without an id are returned again when iteration starts again", async () => {
  const page = (offset, generation) =>
    json({ data: [{ name: `n${offset}` }], pagination: { limit: 1, offset, total: 2 } }, 200, {
      "x-generation": generation,
    });
  const { fetch } = scripted(page(0, "g1"), page(1, "g2"), page(0, "g2"), page(1, "g2"));
  const names = [];
  for await (const { name } of client({ fetch }).software.list()) names.push(name);
  assert.deepEqual(names, ["n0", "n0", "n1"]);
});
