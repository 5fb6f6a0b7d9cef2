import { readBytes } from "../answer.js";
import type { Bytes } from "../body.js";
import { type PagePromise, pagePromise } from "../page.js";
import { ApiPromise } from "../promise.js";
import type { Transport } from "../request.js";
import type { RequestOptions } from "../settings.js";
import type { ExportDownloadParams, ExportList, ExportListParams } from "../types.js";

export class ExportsResource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The export files, each with its licence and counts. */
  list(params?: ExportListParams | null, options?: RequestOptions): PagePromise<ExportList> {
    return pagePromise(this.#transport, { path: ["exports"], query: params }, options);
  }

  /** The bytes of an export, exactly as the directory validated them; with `format: "ndjson"` one record a line. For a
   * large one, `.asResponse()` streams. */
  download(id: string, params?: ExportDownloadParams | null, options?: RequestOptions): ApiPromise<Bytes> {
    const accept = params?.format === "ndjson" ? "application/x-ndjson" : "application/json";
    const request = { path: ["exports", id], query: params, accept, download: true };
    return new ApiPromise(this.#transport, request, readBytes, options);
  }
}
