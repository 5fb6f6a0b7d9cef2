import { type PagePromise, pagePromise } from "../page.js";
import type { Transport } from "../request.js";
import type { RequestOptions } from "../settings.js";
import type { ChangeList, ChangesParams } from "../types.js";

export class ChangesResource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Products that were added, changed or removed since a generation, which is the `to` of an earlier answer; without one there are
   * no changes, and `to` is where to begin. A generation that the server doesn't have any more is a `GoneError`: begin again with
   * the exports. */
  since(generation?: string | null, params?: ChangesParams | null, options?: RequestOptions): PagePromise<ChangeList> {
    return pagePromise(this.#transport, { path: ["changes"], query: { ...params, since: generation } }, options);
  }
}
