// One attempt: a request, its timeout, its cancellation, and the error if it fails. The only module that calls `fetch`.

import { errorFromAnswer, invalidResponse } from "./answer.js";
import { beginningOf, watched } from "./body.js";
import { ApiConnectionError, ApiError, ApiTimeoutError } from "./errors.js";
import { reason, type Redact, redactCause } from "./redact.js";
import { startTimer } from "./retry.js";
import type { Settings } from "./settings.js";

/** Headers by lower-case name. */
export interface MessageHeaders extends Record<string, string> {
  accept: string;
  authorization: string;
  "x-request-id": string;
}

export interface Attempt extends Pick<Settings, "fetch" | "timeoutMs"> {
  url: string;
  headers: MessageHeaders;
  signal: AbortSignal | undefined;
  redact: Redact;
  /** Whether the body may be large. The timeout then bounds each wait for a chunk, and the body may be read later. */
  streamed: boolean;
}

/** Sends the request and passes a successful response to `read`. The timeout covers headers and `read`, or for a streamed
 * body the headers and then each chunk. The signal is watched until the body has been read, is cancelled or fails. */
export async function attempt<Result>(
  { url, headers, timeoutMs, signal, redact, fetch, streamed }: Attempt,
  read: (response: Response) => Promise<Result>,
): Promise<Result> {
  const sentId = headers["x-request-id"];
  const controller = new AbortController();
  let response: Response | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let timedOut = false;
  let failure: { reason: unknown } | undefined;

  const cancel = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", cancel, { once: true });
  const startTimeout = () => {
    timer = startTimer(timeoutMs, () => {
      timedOut = true;
      controller.abort();
    });
  };
  const end = () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
  };

  const meaning = (error: unknown): unknown => {
    if (signal?.aborted) return signal.reason;
    if (error instanceof ApiError) return error;
    // An error keeps its status even if its body is incomplete.
    if (response && response.status >= 400) return errorFromAnswer(response, "", sentId, redact);
    const { origin } = new URL(url);
    const details = { status: 0, request_id: sentId };
    if (timedOut) {
      const what = streamed && response ? "No more data" : "No complete response";
      return new ApiTimeoutError(`${what} from ${origin} within ${timeoutMs} ms`, { ...details, code: "timeout" });
    }
    const cause = redactCause(error, redact);
    const message = `The connection to ${origin} failed: ${reason(cause)}`;
    return new ApiConnectionError(message, { ...details, code: "connection_error", cause });
  };

  /** Waits for a step of the exchange. A failure ends the exchange and is thrown as the matching error. */
  const guarded = async <T>(step: () => Promise<T>): Promise<T> => {
    let stop = () => {};
    try {
      // A race, because an injected fetch may ignore the signal. Each step has its own listener: reactions to one promise that
      // never settles would pile up and keep every chunk in memory.
      return await new Promise<T>((resolve, reject) => {
        stop = () => reject(controller.signal.reason);
        controller.signal.addEventListener("abort", stop);
        if (controller.signal.aborted) stop();
        step().then(resolve, reject);
      });
    } catch (error) {
      // Only the first failure counts, because engines replace a stream's error with their own.
      failure ??= { reason: meaning(error) };
      // Ends whatever is still running, such as the body's stream.
      controller.abort();
      end();
      throw failure.reason;
    } finally {
      controller.signal.removeEventListener("abort", stop);
    }
  };

  const exchange = async (): Promise<Result> => {
    response = await fetch(url, { headers, redirect: "manual", signal: controller.signal });
    if (response.status >= 400) throw errorFromAnswer(response, await beginningOf(response), sentId, redact);
    const isUnchanged = response.status === 304 && "if-none-match" in headers;
    if (!response.ok && !isUnchanged) throw invalidResponse(response, sentId, redact);
    if (!streamed) {
      const result = await read(response);
      end();
      return result;
    }
    clearTimeout(timer);
    const wait = <T>(chunk: () => Promise<T>): Promise<T> => {
      startTimeout();
      return guarded(chunk).finally(() => clearTimeout(timer));
    };
    return read(watched(response, wait, end));
  };

  startTimeout();
  return guarded(exchange);
}
