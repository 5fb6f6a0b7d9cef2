import { type PagePromise, pagePromise } from "../page.js";
import type { Transport } from "../request.js";
import type { RequestOptions } from "../settings.js";
import type { Listed, SearchResult, SearchProductsParams } from "../types.js";

export class SearchResource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Products that match a query, best match first. */
  products<Params extends SearchProductsParams>(
    params?: Params | null,
    options?: RequestOptions,
  ): PagePromise<Listed<SearchResult, Params>> {
    return pagePromise(this.#transport, { path: ["search"], query: params }, options);
  }
}
