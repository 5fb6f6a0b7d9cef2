import { readRecord } from "../answer.js";
import { type PagePromise, pagePromise } from "../page.js";
import { ApiPromise } from "../promise.js";
import type { Transport } from "../request.js";
import type { RecordOptions, RequestOptions } from "../settings.js";
import type { Category, CategoryList, CategoryListParams } from "../types.js";

export class CategoriesResource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** All categories by name, including those without products. */
  list(params?: CategoryListParams | null, options?: RequestOptions): PagePromise<CategoryList> {
    return pagePromise(this.#transport, { path: ["categories"], query: params }, options);
  }

  /** One category. */
  get(id: string, options?: RecordOptions): ApiPromise<Category> {
    const request = { path: ["categories", id], query: { lang: options?.lang } };
    return new ApiPromise(this.#transport, request, readRecord<Category>, options);
  }
}
