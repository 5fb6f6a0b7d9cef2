// The client: its resources, which share one transport.

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
 * Client for a software directory.
 *
 * ```ts
 * const directory = new SoftwareDirectory({ apiKey, baseUrl: "https://directory.example" });
 * for await (const product of directory.software.list({ category: "audits" })) console.log(product.name);
 * ```
 */
export class SoftwareDirectory {
  /** The products. */
  readonly software: SoftwareResource;
  /** The properties that products can be filtered by. */
  readonly attributes: AttributesResource;
  /** The product categories. */
  readonly categories: CategoriesResource;
  /** Users' reviews of a product. */
  readonly reviews: ReviewsResource;
  /** Terms and their definitions. */
  readonly glossary: GlossaryResource;
  /** Free-text search. */
  readonly search: SearchResource;
  /** The export files that make up the directory. */
  readonly exports: ExportsResource;
  /** What was added, changed and removed. */
  readonly changes: ChangesResource;
  readonly #transport: Transport;

  /** Without options, the key and address come from the environment. */
  constructor(options: ClientOptions = {}) {
    // The key is in a closure rather than a property, so inspecting the client doesn't show it.
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

  /** Suggests products, categories and terms while a query is being typed, by id and name. */
  suggest(params?: SuggestParams | null, options?: RequestOptions): ApiPromise<Suggestions> {
    return new ApiPromise(this.#transport, { path: ["suggest"], query: params }, readRecord<Suggestions>, options);
  }

  /** Requests any path below the base URL, such as `/v1/software`, for anything that this version has no operation for.
   * Returns the response with its body in memory; retries and errors are the same as for other calls. A 304 isn't an error
   * if `options.headers` has an `if-none-match`. */
  get(path: string, query?: Readonly<Record<string, unknown>> | null, options?: RequestOptions): ApiPromise<Response> {
    return new ApiPromise(this.#transport, { path, query }, (body, response) => withBody(response, body), options);
  }
}
