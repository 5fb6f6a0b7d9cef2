import { type PagePromise, pagePromise } from "../page.js";
import type { Send } from "../request.js";
import type { RequestOptions } from "../settings.js";
import type { GlossaryList, GlossaryListParams } from "../types.js";

export class GlossaryResource {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Terms of the field; with `q` best match first. */
  list(params?: GlossaryListParams | null, options?: RequestOptions): PagePromise<GlossaryList> {
    return pagePromise(this.#send, { path: ["glossary"], query: params }, options);
  }
}
