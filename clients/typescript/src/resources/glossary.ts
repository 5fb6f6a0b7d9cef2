import { readRecord } from "../answer.js";
import { type PagePromise, pagePromise } from "../page.js";
import { ApiPromise } from "../promise.js";
import type { Transport } from "../request.js";
import type { RequestOptions } from "../settings.js";
import type { GlossaryList, GlossaryListParams, GlossaryTerm } from "../types.js";

export class GlossaryResource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Terms of the field; with `q` best match first. */
  list(params?: GlossaryListParams | null, options?: RequestOptions): PagePromise<GlossaryList> {
    return pagePromise(this.#transport, { path: ["glossary"], query: params }, options);
  }

  /** One term. */
  get(id: string, options?: RequestOptions): ApiPromise<GlossaryTerm> {
    return new ApiPromise(this.#transport, { path: ["glossary", id] }, readRecord<GlossaryTerm>, options);
  }
}
