// Types, cases and server stay in step: the client must add each operation that the OpenAPI document adds.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { generate, OPENAPI, SCHEMA } from "../scripts/generate.js";
import { CASES, run, serverBinary } from "./harness.js";

const OPERATIONS = {
  getCategory: "categories.get",
  getExport: "exports.download",
  getGlossaryTerm: "glossary.get",
  getSoftware: "software.get",
  listAttributes: "attributes.list",
  listCategories: "categories.list",
  listChanges: "changes.since",
  listExports: "exports.list",
  listGlossary: "glossary.list",
  listReviews: "reviews.list",
  listSimilarSoftware: "software.similar",
  listSoftware: "software.list",
  listSoftwareHistory: "software.history",
  searchSoftware: "search.products",
  suggest: "suggest",
};

// A product as a file in another catalogue's format. Programs that want it just download it.
const FILES = ["getCodemeta", "getPubliccode"];

test("the types match the OpenAPI document (if not: npm run generate)", async () => {
  assert.equal(await readFile(SCHEMA, "utf8"), await generate());
});

test("the server prints the same OpenAPI document", async () => {
  const printed = await run(serverBinary(), ["openapi"]);
  assert.deepEqual(JSON.parse(printed), JSON.parse(await readFile(OPENAPI, "utf8")));
});

test("the client has every API operation, and the cases try every parameter of each", async () => {
  const { paths } = JSON.parse(await readFile(OPENAPI, "utf8"));
  const { cases } = JSON.parse(await readFile(CASES, "utf8"));
  const operations = Object.entries(paths).filter(
    ([path, { get }]) => path.startsWith("/v1/") && !FILES.includes(get.operationId),
  );
  assert.deepEqual(operations.map(([, { get }]) => get.operationId).sort(), Object.keys(OPERATIONS).sort());
  for (const [path, { get }] of operations) {
    const calls = cases.filter(({ call }) => call?.operation === OPERATIONS[get.operationId]);
    const sent = new Set(
      calls.flatMap(({ expect }) => expect.requests.flatMap(({ query = [] }) => query.map(([name]) => name))),
    );
    const known = get.parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name);
    assert.deepEqual(
      known.filter((name) => !sent.has(name)),
      [],
      `parameters of ${path} that no case sends`,
    );
  }
});
