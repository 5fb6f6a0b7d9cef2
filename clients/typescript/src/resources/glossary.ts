import { readRecord } from "../answer.js";
import { type PagePromise, pagePromise } from "../page.js";
import { ApiPromise } from "../promise.js";
import type { Transport } from "../request.js";
import type { RecordOptions, RequestOptions } from "../settings.js";
import type { GlossaryList, GlossaryListParams, GlossaryTerm } from "../types.js";

export class GlossaryResource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Glossary terms; with `q`, best match first. */
  list(params?: GlossaryListParams | null, options?: RequestOptions): PagePromise<GlossaryList> {
    return pagePromise(this.#transport, { path: ["glossary"], query: params }, options);
  }

  /** One term. */
  get(id: string, options?: RecordOptions): ApiPromise<GlossaryTerm> {
    const request = { path: ["glossary", id], query: { lang: options?.lang } };
    return new ApiPromise(this.#transport, request, readRecord<GlossaryTerm>, options);
  }
}
