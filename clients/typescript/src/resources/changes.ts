import { type PagePromise, pagePromise } from "../page.js";
import type { Transport } from "../request.js";
import type { RequestOptions } from "../settings.js";
import type { ChangeList, ChangesParams } from "../types.js";

export class ChangesResource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Products that were added, changed or removed since a generation: the `to` of an earlier response. Without a generation
   * there are no changes, and `to` is the generation to start from. If the server no longer has the generation, this throws a
   * `GoneError`: start again with the exports. */
  since(generation?: string | null, params?: ChangesParams | null, options?: RequestOptions): PagePromise<ChangeList> {
    return pagePromise(this.#transport, { path: ["changes"], query: { ...params, since: generation } }, options);
  }
}
