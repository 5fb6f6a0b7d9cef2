import { readRecord } from "../answer.js";
import { type PagePromise, pagePromise } from "../page.js";
import { ApiPromise } from "../promise.js";
import type { Transport } from "../request.js";
import type { RecordOptions, RequestOptions } from "../settings.js";
import type { SimilarList, SimilarListParams, SoftwareDetail, SoftwareList, SoftwareListParams } from "../types.js";

export class SoftwareResource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Products, filtered and in pages. */
  list(params?: SoftwareListParams | null, options?: RequestOptions): PagePromise<SoftwareList> {
    return pagePromise(this.#transport, { path: ["software"], query: params }, options);
  }

  /** One product. */
  get(id: string, options?: RecordOptions): ApiPromise<SoftwareDetail> {
    const request = { path: ["software", id], query: { lang: options?.lang } };
    return new ApiPromise(this.#transport, request, readRecord<SoftwareDetail>, options);
  }

  /** Products that are like one, the most similar first; `shared` is what each has in common with it. */
  similar(id: string, params?: SimilarListParams | null, options?: RequestOptions): PagePromise<SimilarList> {
    return pagePromise(this.#transport, { path: ["software", id, "similar"], query: params }, options);
  }
}
