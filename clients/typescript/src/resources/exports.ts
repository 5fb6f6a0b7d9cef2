import { invalidResponse, isDocument } from "../answer.js";
import type { Bytes } from "../body.js";
import { type PagePromise, pagePromise } from "../page.js";
import { ApiPromise } from "../promise.js";
import type { Request, Transport } from "../request.js";
import type { RequestOptions } from "../settings.js";
import type { ExportDownloadParams, ExportList, ExportListParams } from "../types.js";

/** An export that is being received. */
export interface ExportStream {
  /** The bytes, received as they are read. It fails with an `ApiError` if the rest doesn't come. */
  body: ReadableStream<Bytes>;
  /** The number of bytes; not there if the server or the platform doesn't say: for `ndjson`, for a body that is compressed on
   * its way, on a page of another origin. `exports.list` has it for `json`, as `size_bytes`. */
  sizeBytes?: number;
  response: Response;
}

/** Options of a download, with those of any call. */
export interface DownloadOptions extends RequestOptions {
  /** Called after each chunk with the bytes received and the number of all, if that is known. */
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

  /** The bytes of an export, exactly as the directory validated them; with `format: "ndjson"` one record a line. The whole
   * is in memory: `stream` and `downloadTo` are for large ones. The timeout bounds each wait for data, not the whole. */
  download(id: string, params?: ExportDownloadParams | null, options?: RequestOptions): ApiPromise<Bytes> {
    return new ApiPromise(this.#transport, downloadRequest(id, params), (bytes) => bytes, options);
  }

  /** An export as a stream: no more than a chunk is in memory. Retries end with the headers; the timeout bounds each wait for
   * a chunk. A body that isn't read to its end is to be cancelled. */
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

  /** Writes an export into a stream, such as a file's, and closes it. If the download fails at any point the stream is aborted
   * with the error, so that it can drop what was written. */
  async downloadTo(
    id: string,
    writable: WritableStream<Bytes>,
    params?: ExportDownloadParams | null,
    options: DownloadOptions = {},
  ): Promise<void> {
    const { onProgress, signal } = options;
    const { body, sizeBytes } = await this.stream(id, params, options).catch(async (error: unknown) => {
      // Its own failure to abort doesn't matter any more.
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
  // The length is that of the compressed body, and to pages of another origin browsers don't show that it is compressed.
  const length = headers.get("content-length");
  return length && !headers.get("content-encoding") && type !== "cors" ? Number(length) : undefined;
}
