import { readRecord } from "../answer.js";
import { type PagePromise, pagePromise } from "../page.js";
import { ApiPromise } from "../promise.js";
import type { Send } from "../request.js";
import type { RequestOptions } from "../settings.js";
import type { SoftwareDetail, SoftwareList, SoftwareListParams } from "../types.js";

export class SoftwareResource {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Products, filtered and in pages. */
  list(params?: SoftwareListParams | null, options?: RequestOptions): PagePromise<SoftwareList> {
    return pagePromise(this.#send, { path: ["software"], query: params }, options);
  }

  /** One product. */
  get(id: string, options?: RequestOptions): ApiPromise<SoftwareDetail> {
    return new ApiPromise((read) => this.#send({ path: ["software", id] }, read, options), readRecord<SoftwareDetail>);
  }
}
