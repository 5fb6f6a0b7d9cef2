import { readRecord } from "../answer.js";
import { type PagePromise, pagePromise } from "../page.js";
import { ApiPromise } from "../promise.js";
import type { Transport } from "../request.js";
import type { RequestOptions } from "../settings.js";
import type { Category, CategoryList, CategoryListParams } from "../types.js";

export class CategoriesResource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** All categories by name, those without products too. */
  list(params?: CategoryListParams | null, options?: RequestOptions): PagePromise<CategoryList> {
    return pagePromise(this.#transport, { path: ["categories"], query: params }, options);
  }

  /** One category. */
  get(id: string, options?: RequestOptions): ApiPromise<Category> {
    return new ApiPromise(this.#transport, { path: ["categories", id] }, readRecord<Category>, options);
  }
}
