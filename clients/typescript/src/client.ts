// The client: its resources over one way of sending.

import { transport } from "./request.js";
import { CategoriesResource } from "./resources/categories.js";
import { ExportsResource } from "./resources/exports.js";
import { GlossaryResource } from "./resources/glossary.js";
import { ReviewsResource } from "./resources/reviews.js";
import { SearchResource } from "./resources/search.js";
import { SoftwareResource } from "./resources/software.js";
import { type ClientOptions, settingsFrom } from "./settings.js";

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

  constructor(options: ClientOptions) {
    // Held by a closure, not by a property: no inspection of the client shows the key.
    const sending = transport(settingsFrom(options));
    this.software = new SoftwareResource(sending);
    this.categories = new CategoriesResource(sending);
    this.reviews = new ReviewsResource(sending);
    this.glossary = new GlossaryResource(sending);
    this.search = new SearchResource(sending);
    this.exports = new ExportsResource(sending);
  }
}
