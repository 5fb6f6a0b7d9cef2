import { type PagePromise, pagePromise } from "../page.js";
import type { Transport } from "../request.js";
import type { RequestOptions } from "../settings.js";
import type { AttributeList, AttributeListParams } from "../types.js";

export class AttributesResource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The properties that products can be filtered, counted and sorted by. */
  list(params?: AttributeListParams | null, options?: RequestOptions): PagePromise<AttributeList> {
    return pagePromise(this.#transport, { path: ["attributes"], query: params }, options);
  }
}
