import { readBytes } from "../answer.js";
import { type PagePromise, pagePromise } from "../page.js";
import { ApiPromise } from "../promise.js";
import type { Send } from "../request.js";
import type { RequestOptions } from "../settings.js";
import type { ExportDownloadParams, ExportList, ExportListParams } from "../types.js";

export class ExportsResource {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** The export files, each with its licence and counts. */
  list(params?: ExportListParams | null, options?: RequestOptions): PagePromise<ExportList> {
    return pagePromise(this.#send, { path: ["exports"], query: params }, options);
  }

  /** The bytes of an export, exactly as the directory validated them; with `format: "ndjson"` one record a line. For a
   * large one, `.asResponse()` streams. */
  download(
    id: string,
    params?: ExportDownloadParams | null,
    options?: RequestOptions,
  ): ApiPromise<Uint8Array<ArrayBuffer>> {
    const accept = params?.format === "ndjson" ? "application/x-ndjson" : "application/json";
    return new ApiPromise(
      (read) => this.#send({ path: ["exports", id], query: params, accept }, read, options),
      readBytes,
    );
  }
}
