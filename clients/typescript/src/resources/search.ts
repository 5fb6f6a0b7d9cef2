import { type PagePromise, pagePromise } from "../page.js";
import type { Send } from "../request.js";
import type { RequestOptions } from "../settings.js";
import type { SearchResult, SearchProductsParams } from "../types.js";

export class SearchResource {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Products that match a free text, best match first. */
  products(params?: SearchProductsParams | null, options?: RequestOptions): PagePromise<SearchResult> {
    return pagePromise(this.#send, { path: ["search"], query: params }, options);
  }
}
