import { readRecord } from "../answer.js";
import { type PagePromise, pagePromise } from "../page.js";
import { ApiPromise } from "../promise.js";
import type { Transport } from "../request.js";
import type { RecordOptions, RequestOptions } from "../settings.js";
import type {
  HistoryList,
  HistoryParams,
  Listed,
  SimilarList,
  SimilarListParams,
  SoftwareDetail,
  SoftwareList,
  SoftwareListParams,
} from "../types.js";

export class SoftwareResource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Products, filtered and paged. */
  list<Params extends SoftwareListParams>(
    params?: Params | null,
    options?: RequestOptions,
  ): PagePromise<Listed<SoftwareList, Params>> {
    return pagePromise(this.#transport, { path: ["software"], query: params }, options);
  }

  /** One product. */
  get(id: string, options?: RecordOptions): ApiPromise<SoftwareDetail> {
    const request = { path: ["software", id], query: { lang: options?.lang } };
    return new ApiPromise(this.#transport, request, readRecord<SoftwareDetail>, options);
  }

  /** Products similar to this one, most similar first; `shared` is what they have in common. */
  similar(id: string, params?: SimilarListParams | null, options?: RequestOptions): PagePromise<SimilarList> {
    return pagePromise(this.#transport, { path: ["software", id, "similar"], query: params }, options);
  }

  /** What changed in a product's record, from what to what, and when, newest first. `since` is when the history begins. A
   * removed product still has one. */
  history(id: string, params?: HistoryParams | null, options?: RequestOptions): PagePromise<HistoryList> {
    return pagePromise(this.#transport, { path: ["software", id, "history"], query: params }, options);
  }
}
