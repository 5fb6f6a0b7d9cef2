import { type PagePromise, pagePromise } from "../page.js";
import type { Send } from "../request.js";
import type { RequestOptions } from "../settings.js";
import type { ReviewList, ReviewListParams } from "../types.js";

export class ReviewsResource {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Reviews of a product, newest first, with a summary of all of them. */
  list(id: string, params?: ReviewListParams | null, options?: RequestOptions): PagePromise<ReviewList> {
    return pagePromise(this.#send, { path: ["reviews", id], query: params }, options);
  }
}
