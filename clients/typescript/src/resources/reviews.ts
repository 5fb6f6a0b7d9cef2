import { type PagePromise, pagePromise } from "../page.js";
import type { Transport } from "../request.js";
import type { RequestOptions } from "../settings.js";
import type { ReviewList, ReviewListParams } from "../types.js";

export class ReviewsResource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Reviews of a product, newest first, with a summary of all of them. */
  list(id: string, params?: ReviewListParams | null, options?: RequestOptions): PagePromise<ReviewList> {
    return pagePromise(this.#transport, { path: ["reviews", id], query: params }, options);
  }
}
