import { type PagePromise, pagePromise } from "../page.js";
import type { Send } from "../request.js";
import type { RequestOptions } from "../settings.js";
import type { CategoryList, CategoryListParams } from "../types.js";

export class CategoriesResource {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** All categories by name, those without products too. */
  list(params?: CategoryListParams | null, options?: RequestOptions): PagePromise<CategoryList> {
    return pagePromise(this.#send, { path: ["categories"], query: params }, options);
  }
}
