// Compiled but never run: the types as a user's editor sees them. Lines that must not compile are
// marked.

import {
  ApiError,
  type Bytes,
  type Category,
  type ExportStream,
  GenerationChangedError,
  type Page,
  RateLimitError,
  type SearchHit,
  SoftwareDirectory,
  type SoftwareItem,
  type SoftwareList,
  type Suggestions,
} from "software-directory";

const directory = new SoftwareDirectory({
  apiKey: "sd_live_…",
  baseUrl: new URL("https://directory.example"),
  fetch,
  timeoutMs: 1000,
  maxRetries: 0,
  maxRetryAfterSeconds: 10,
  generationChange: "raise",
  cacheMaxBytes: 1_000_000,
});

export async function use(signal: AbortSignal): Promise<void> {
  const page: Page<SoftwareList> = await directory.software.list({ category: "audits", limit: 5 }, { signal });
  const total: number = page.pagination.total;
  const rating: number | null | undefined = page.data[0]?.rating;
  for await (const item of page) takesItem(item);
  for await (const item of directory.software.list({ category: ["audits", "permits"], q: undefined })) takesItem(item);
  for await (const one of directory.software.list().pages()) takesItem(one.data[0]!);
  const next: Page<SoftwareList> | undefined = await page.getNextPage();

  const product = await directory.software.get("a", { headers: { "x-trace": "1" }, query: { fields: ["id"] } });
  const licence: string = product.export.license;
  const { data, response, request_id } = await directory.categories.list().withResponse();
  const category: Category | undefined = data.data[0];
  const average: number | null = (await directory.reviews.list("a", { limit: 1 })).summary.average;
  const found = await directory.search.products({
    q: "permit",
    facets: ["category"],
    sort: "-rating",
    highlight: true,
  });
  const hit: SearchHit | undefined = found.data[0];
  const count: number | undefined = found.facets?.["category"]?.[0]?.count;
  const bytes: Uint8Array = await directory.exports.download("demo", { format: "ndjson" });
  const blob = new Blob([await directory.exports.download("demo")]);
  const bytesAgain: Bytes = bytes as Bytes;
  const any: Response = await directory.get("/v1/software", { limit: 1, tag: ["a", "b"] }, { signal });
  const { body, sizeBytes }: ExportStream = await directory.exports.stream("demo", { format: "json" }, { signal });
  await body.pipeTo(new WritableStream<Uint8Array>());
  await directory.exports.downloadTo("demo", new WritableStream<Uint8Array>(), null, {
    onProgress: (received, all) => wait(received / (all ?? sizeBytes ?? 1)),
  });
  for await (const { shared } of directory.software.similar("a")) console.log(shared.words.join());
  const suggested: Suggestions = await directory.suggest({ q: "au" });
  const [oneCategory, term] = [await directory.categories.get("audits"), await directory.glossary.get("capa")];
  await directory.reviews.list("a", { verified: true, min_rating: 2, sort: "-rating" });
  console.log(suggested.software[0]?.name, oneCategory.name.length, term.term.length);
  const raw: Response = await directory.exports.download("demo").asResponse();
  const [first, second] = await Promise.all([directory.glossary.list({ q: "capa" }), directory.exports.list()]);
  console.log(
    total,
    rating,
    next,
    licence,
    response.status,
    request_id,
    category,
    average,
    hit,
    count,
    bytesAgain,
    blob,
    any,
    raw,
    first,
    second,
  );

  try {
    await product;
  } catch (error) {
    if (error instanceof RateLimitError) wait(error.retry_after_seconds ?? 1);
    if (error instanceof GenerationChangedError) wait(1);
    if (error instanceof ApiError)
      console.log(
        error.status.toFixed(),
        error.code.length,
        error.request_id.length,
        error.errors[0]?.param,
        error.headers?.get("via"),
        error.body?.length,
      );
  }

  for await (const { name, categories, tags } of directory.software.list({ include: ["tags"] })) {
    console.log(name.length, categories.length, tags?.length);
  }
  for await (const { id, name } of directory.search.products({ q: "audit", fields: "name" })) {
    // @ts-expect-error: with `fields`, a member may be missing
    console.log(id.length, name.length);
  }
  // @ts-expect-error: no such parameter
  directory.software.list({ categories: "audits" });
  // @ts-expect-error: no such sort order
  directory.reviews.list("a", { sort: "best" });
  // @ts-expect-error: an id is a string
  directory.software.get(7);
  // @ts-expect-error: no such format
  directory.exports.download("demo", { format: "csv" });
  // @ts-expect-error: no such field
  console.log(product.nmae);
  // @ts-expect-error: no such option
  new SoftwareDirectory({ key: "sd_live_…" });
  new SoftwareDirectory({ logger: console, onRetry: ({ wait_seconds, error }) => wait(wait_seconds * error.status) });
  new SoftwareDirectory();
}

declare function takesItem(item: SoftwareItem): void;
declare function wait(seconds: number): void;
