// Runs every operation against a real directory: the project's own binary on the project's own data.

import { expect, expectContains, expectEqual } from "./check.js";

/** The checks. `apiKey` and `baseUrl` are the directory's. */
export function directoryChecks({ sdk, apiKey, baseUrl }) {
  const directory = new sdk.SoftwareDirectory({ apiKey, baseUrl });
  const check = (name, run) => ({ name: `directory: ${name}`, run });
  return [
    check("software.list, page by page and item by item, tiles the whole list", async () => {
      const whole = await directory.software.list({ limit: 100 });
      expect(whole.pagination.total > 20, "the data has more products than fit on a page");
      const ids = whole.data.map(({ id }) => id);
      for (let offset = 100; offset < whole.pagination.total; offset += 100)
        ids.push(...(await directory.software.list({ limit: 100, offset })).data.map(({ id }) => id));
      expectEqual(ids.length, whole.pagination.total, "the pages have all products");
      const items = [];
      for await (const { id } of directory.software.list({ limit: 7 })) items.push(id);
      expectEqual(items, ids, "items");
      const pages = [];
      for (let page = await directory.software.list({ limit: 30 }); page; page = await page.getNextPage())
        pages.push(...page.data.map(({ id }) => id));
      expectEqual(pages, ids, "pages");
    }),
    check("software.list filters by categories, type, rating and order", async () => {
      const [first, second] = (await directory.categories.list()).data.filter(({ software_count: count }) => count > 0);
      const either = new Set();
      for (const { id } of [first, second])
        for await (const product of directory.software.list({ category: id })) either.add(product.id);
      const both = [];
      for await (const product of directory.software.list({ category: [first.id, second.name] })) both.push(product.id);
      expectEqual(both.sort(), [...either].sort(), "products from two categories");
      const rated = await directory.software.list({
        min_rating: 1,
        sort: "-rating",
        offering_type: "software",
        limit: 100,
      });
      const ratings = rated.data.map(({ rating }) => rating);
      expect(ratings.length > 0, "some products are rated");
      expectEqual(
        ratings,
        [...ratings].sort((a, b) => b - a),
        "ratings are in descending order",
      );
    }),
    check("software.get returns the record", async () => {
      const [{ id, name }] = (await directory.software.list({ limit: 1 })).data;
      const product = await directory.software.get(id);
      expectContains(product, { id, name }, "product");
      expect(
        typeof product.export.license === "string" && Array.isArray(product.sources),
        "the record's details are present",
      );
    }),
    check("software.similar says what products share", async () => {
      const [{ id }] = (await directory.software.list({ limit: 1 })).data;
      const page = await directory.software.similar(id, { limit: 2 });
      expectEqual(page.data.length, 2, "length");
      for (const one of page.data) expect(one.id !== id && Array.isArray(one.shared.words), "shared");
    }),
    check("software.history says when it begins", async () => {
      const [{ id }] = (await directory.software.list({ limit: 1 })).data;
      const page = await directory.software.history(id);
      expect(Array.isArray(page.data) && !Number.isNaN(Date.parse(page.since)), "since");
    }),
    check("suggest returns products, categories and terms", async () => {
      const found = await directory.suggest({ q: "au", limit: 2 });
      for (const kind of ["software", "categories", "glossary"]) expect(Array.isArray(found[kind]), kind);
      expect(found.categories.length > 0, "a category");
    }),
    check("categories.list and categories.get", async () => {
      const page = await directory.categories.list({ limit: 3 });
      expectEqual(await directory.categories.get(page.data[0].id), page.data[0], "the same record");
      expectEqual(page.data.length, 3, "length");
      expect(page.hasNextPage(), "there are more");
    }),
    check("reviews.list filters", async () => {
      const [product] = (await directory.software.list({ sort: "-review_count", limit: 1 })).data;
      const page = await directory.reviews.list(product.id, { min_rating: 4, sort: "rating", verified: true });
      expect(
        page.data.every(({ rating }) => rating >= 4),
        "ratings",
      );
    }),
    check("reviews.list has a summary of all reviews", async () => {
      const [product] = (await directory.software.list({ sort: "-review_count", limit: 1 })).data;
      const page = await directory.reviews.list(product.id, { limit: 1 });
      expectEqual(page.summary.count, page.pagination.total, "count");
      let count = 0;
      for await (const review of page) {
        expectEqual(review.software_id, product.id, "software_id");
        count += 1;
      }
      expectEqual(count, page.summary.count, "number of reviews");
    }),
    check("glossary.list and glossary.get", async () => {
      const [term] = (await directory.glossary.list({ limit: 1 })).data;
      const found = await directory.glossary.list({ q: term.term });
      expectEqual(found.data[0].id, term.id, "the term itself comes first");
      expectEqual((await directory.glossary.get(term.id)).term, term.term, "the same term");
    }),
    check("search.products with facets and highlights", async () => {
      const [{ name }] = (await directory.software.list({ limit: 1 })).data;
      const page = await directory.search.products({
        q: name,
        facets: ["category", "rating"],
        highlight: true,
        typo: false,
        prefix: "never",
      });
      expectEqual(page.data[0].name, name, "an exact name comes first");
      expect(page.data[0].highlights.length > 0, "highlights");
      expectEqual(Object.keys(page.facets).sort(), ["category", "rating"], "facets");
      expectContains(page.query, { corrected: [] }, "query");
    }),
    check("exports: list, bytes, lines, streams", async () => {
      const [entry] = (await directory.exports.list()).data;
      const bytes = await directory.exports.download(entry.id);
      expectEqual(bytes.length, entry.size_bytes, "size");
      const records = JSON.parse(new TextDecoder().decode(bytes)).software;
      expectEqual(records.length, entry.software_count, "records");
      const lines = new TextDecoder()
        .decode(await directory.exports.download(entry.id, { format: "ndjson" }))
        .trim()
        .split("\n");
      expectEqual(
        lines.map((line) => JSON.parse(line).id),
        records.map(({ id }) => id),
        "lines",
      );
      const raw = await directory.exports.download(entry.id).asResponse();
      expectEqual(await lengthOf(raw.body), entry.size_bytes, "bytes of the raw response");
      const { body, sizeBytes } = await directory.exports.stream(entry.id);
      expect(sizeBytes === undefined || sizeBytes === entry.size_bytes, `announced size: ${sizeBytes}`);
      expectEqual(await lengthOf(body), entry.size_bytes, "bytes streamed");
      let written = 0;
      let progress;
      const writable = new WritableStream({ write: (chunk) => void (written += chunk.length) });
      const onProgress = (received, total) => (progress = [received, total]);
      await directory.exports.downloadTo(entry.id, writable, { format: "json" }, { onProgress });
      expectEqual(written, entry.size_bytes, "bytes written");
      expectEqual(progress, [entry.size_bytes, sizeBytes], "progress");
    }),
    check("the response's headers are accessible", async () => {
      const { data, response, request_id } = await directory.categories.list().withResponse();
      expect(data.data.length > 0 && response.headers.get("x-generation"), "generation");
      expectEqual(request_id, response.headers.get("x-request-id"), "request id");
    }),
    check("an unknown product is a NotFoundError with the request id that was sent", async () => {
      let sent;
      const spy = new sdk.SoftwareDirectory({
        apiKey,
        baseUrl,
        fetch: (url, init) => {
          sent = init.headers["x-request-id"];
          return fetch(url, init);
        },
      });
      const error = await failure(spy.software.get("no such/product"));
      expect(error instanceof sdk.NotFoundError, String(error));
      expectContains(error, { status: 404, code: "software_not_found", request_id: sent }, "error");
    }),
    check("a wrong key is an AuthenticationError", async () => {
      const error = await failure(new sdk.SoftwareDirectory({ apiKey: "sd_live_wrong", baseUrl }).categories.list());
      expect(error instanceof sdk.AuthenticationError && error.code === "invalid_api_key", String(error));
    }),
    check("a bad parameter is an InvalidRequestError that names it", async () => {
      const error = await failure(directory.software.list({ limit: 101 }));
      expect(error instanceof sdk.InvalidRequestError, String(error));
      expectEqual(error.errors[0].param, "limit", "param");
    }),
  ];
}

async function lengthOf(stream) {
  const reader = stream.getReader();
  let length = 0;
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) length += chunk.value.length;
  return length;
}

async function failure(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("no error was thrown");
}
