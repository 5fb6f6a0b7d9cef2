// The client: its resources over one way of sending.

import { readRecord } from "./answer.js";
import { withBody } from "./body.js";
import { ApiPromise } from "./promise.js";
import { type Transport, transport } from "./request.js";
import { AttributesResource } from "./resources/attributes.js";
import { CategoriesResource } from "./resources/categories.js";
import { ChangesResource } from "./resources/changes.js";
import { ExportsResource } from "./resources/exports.js";
import { GlossaryResource } from "./resources/glossary.js";
import { ReviewsResource } from "./resources/reviews.js";
import { SearchResource } from "./resources/search.js";
import { SoftwareResource } from "./resources/software.js";
import { type ClientOptions, type RequestOptions, settingsFrom } from "./settings.js";
import type { SuggestParams, Suggestions } from "./types.js";

/**
 * Client of a software directory.
 *
 * ```ts
 * const directory = new SoftwareDirectory({ apiKey, baseUrl: "https://directory.example" });
 * for await (const product of directory.software.list({ category: "audits" })) console.log(product.name);
 * ```
 */
export class SoftwareDirectory {
  /** The products. */
  readonly software: SoftwareResource;
  /** The properties that products are filtered by. */
  readonly attributes: AttributesResource;
  /** The categories that products are in. */
  readonly categories: CategoriesResource;
  /** What users say of a product. */
  readonly reviews: ReviewsResource;
  /** The terms of the field. */
  readonly glossary: GlossaryResource;
  /** Free-text search. */
  readonly search: SearchResource;
  /** The export files that make up the directory. */
  readonly exports: ExportsResource;
  /** What was added, changed and removed. */
  readonly changes: ChangesResource;
  readonly #transport: Transport;

  /** Without options, key and address are those of the environment. */
  constructor(options: ClientOptions = {}) {
    // The key is held by a closure, not by a property: no inspection of the client shows it.
    const sending = transport(settingsFrom(options));
    this.#transport = sending;
    this.software = new SoftwareResource(sending);
    this.attributes = new AttributesResource(sending);
    this.categories = new CategoriesResource(sending);
    this.reviews = new ReviewsResource(sending);
    this.glossary = new GlossaryResource(sending);
    this.search = new SearchResource(sending);
    this.exports = new ExportsResource(sending);
    this.changes = new ChangesResource(sending);
  }

  /** Products, categories and terms that a text can become while it is typed: ids and names alone. */
  suggest(params?: SuggestParams | null, options?: RequestOptions): ApiPromise<Suggestions> {
    return new ApiPromise(this.#transport, { path: ["suggest"], query: params }, readRecord<Suggestions>, options);
  }

  /** Requests any path below the base URL, such as `/v1/software`, for what this version has no operation for. The answer
   * is the response, its body read into memory, after the same retries and with the same errors; a 304 is an answer too if
   * `options.headers` has an `if-none-match`. */
  get(path: string, query?: Readonly<Record<string, unknown>> | null, options?: RequestOptions): ApiPromise<Response> {
    return new ApiPromise(this.#transport, { path, query }, (body, response) => withBody(response, body), options);
  }
}
