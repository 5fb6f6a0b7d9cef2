import { invalidResponse, isDocument } from "../answer.js";
import type { Bytes } from "../body.js";
import { type PagePromise, pagePromise } from "../page.js";
import { ApiPromise } from "../promise.js";
import type { Request, Transport } from "../request.js";
import type { RequestOptions } from "../settings.js";
import type { ExportDownloadParams, ExportList, ExportListParams } from "../types.js";

/** An export that is being downloaded. */
export interface ExportStream {
  /** The bytes, which are received as you read them. Fails with an `ApiError` if the download is cut off. */
  body: ReadableStream<Bytes>;
  /** The number of bytes. Absent if the server or the platform doesn't say: for `ndjson`, if the body is sent compressed, or
   * on a cross-origin page. `exports.list` has the size for `json`, as `size_bytes`. */
  sizeBytes?: number;
  response: Response;
}

/** A download's options, including those of any call. */
export interface DownloadOptions extends RequestOptions {
  /** Called after each chunk with the bytes received so far and the total, if it's known. */
  onProgress?: ((receivedBytes: number, totalBytes: number | undefined) => void) | undefined;
}

export class ExportsResource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The export files, each with its licence and counts. */
  list(params?: ExportListParams | null, options?: RequestOptions): PagePromise<ExportList> {
    return pagePromise(this.#transport, { path: ["exports"], query: params }, options);
  }

  /** An export's bytes, exactly as the directory validated them, or with `format: "ndjson"` one record per line. They're all
   * kept in memory; use `stream` and `downloadTo` for large exports. The timeout bounds each wait for data, not the total. */
  download(id: string, params?: ExportDownloadParams | null, options?: RequestOptions): ApiPromise<Bytes> {
    return new ApiPromise(this.#transport, downloadRequest(id, params), (bytes) => bytes, options);
  }

  /** An export as a stream, with at most one chunk in memory. There are no retries after the headers, and the timeout bounds
   * each wait for a chunk. If you don't read the body to its end, cancel it. */
  async stream(id: string, params?: ExportDownloadParams | null, options?: RequestOptions): Promise<ExportStream> {
    const { response, request_id } = await this.#transport.open(downloadRequest(id, params), options);
    const { body } = response;
    if (!body || !isDocument(response)) {
      await body?.cancel();
      throw invalidResponse(response, request_id, this.#transport.redact);
    }
    const sizeBytes = sizeOf(response);
    return { body, response, ...(sizeBytes === undefined ? {} : { sizeBytes }) };
  }

  /** Writes an export to a stream, such as a file's, and closes it. If the download fails at any point, the stream is aborted
   * with the error, so it can discard what was written. */
  async downloadTo(
    id: string,
    writable: WritableStream<Bytes>,
    params?: ExportDownloadParams | null,
    options: DownloadOptions = {},
  ): Promise<void> {
    const { onProgress, signal } = options;
    const { body, sizeBytes } = await this.stream(id, params, options).catch(async (error: unknown) => {
      // If aborting fails as well, the first error is still the one to throw.
      await writable.abort(error).catch(() => {});
      throw error;
    });
    let receivedBytes = 0;
    const counter = new TransformStream<Bytes, Bytes>({
      transform(chunk, controller) {
        receivedBytes += chunk.length;
        onProgress?.(receivedBytes, sizeBytes);
        controller.enqueue(chunk);
      },
    });
    await body.pipeThrough(counter).pipeTo(writable, signal ? { signal } : {});
  }
}

function downloadRequest(id: string, params: ExportDownloadParams | null | undefined): Request {
  const accept = params?.format === "ndjson" ? "application/x-ndjson" : "application/json";
  return { path: ["exports", id], query: params, accept, download: true };
}

function sizeOf({ headers, type }: Response): number | undefined {
  // The length is the compressed body's, and browsers don't tell cross-origin pages that it's compressed.
  const length = headers.get("content-length");
  return length && !headers.get("content-encoding") && type !== "cors" ? Number(length) : undefined;
}
