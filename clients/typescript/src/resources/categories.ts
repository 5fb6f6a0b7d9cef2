import { type PagePromise, pagePromise } from "../page.js";
import type { Transport } from "../request.js";
import type { RequestOptions } from "../settings.js";
import type { CategoryList, CategoryListParams } from "../types.js";

export class CategoriesResource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** All categories by name, those without products too. */
  list(params?: CategoryListParams | null, options?: RequestOptions): PagePromise<CategoryList> {
    return pagePromise(this.#transport, { path: ["categories"], query: params }, options);
  }
}
