// One call: its attempts, their timeouts, the waits between them. The only module that sends requests.

import { errorFromAnswer, idOf, invalidResponse, type Read } from "./answer.js";
import { ApiConnectionError, ApiError, ApiTimeoutError } from "./errors.js";
import { reason, type Redact, redactCause, redactor } from "./redact.js";
import { backoffSeconds, isWorthRetrying, startTimer } from "./retry.js";
import { type RequestOptions, retriesFrom, type Settings, timeoutFrom } from "./settings.js";

/** What to ask for. */
export interface Request {
  /** Segments below `/v1`, not yet encoded. */
  path: readonly string[];
  query?: object | null | undefined;
  accept?: string;
}

export interface Answer<Result> {
  result: Result;
  response: Response;
  /** The id under which the server knows the request. */
  request_id: string;
}

/** Sends a request, with retries, and reads its answer. */
export type Send = <Result>(request: Request, read: Read<Result>, options?: RequestOptions) => Promise<Answer<Result>>;

export function sender(settings: Settings): Send {
  const redact = redactor(settings.apiKey);
  return async (request, read, options = {}) => {
    const url = urlOf(settings.baseUrl, request);
    const timeoutMs = timeoutFrom(options.timeoutMs ?? settings.timeoutMs);
    const maxRetries = retriesFrom(options.maxRetries ?? settings.maxRetries);
    const { signal } = options;
    // One request id for all attempts, so that it finds the whole call in a log.
    const sentId = newRequestId();
    const headers = {
      authorization: `Bearer ${settings.apiKey}`,
      accept: request.accept ?? "application/json",
      "x-request-id": sentId,
    };
    for (let retry = 0; ; retry += 1) {
      signal?.throwIfAborted();
      try {
        return await attempt({ url, headers, sentId, timeoutMs, signal, redact, read, fetch: settings.fetch });
      } catch (error) {
        if (!(error instanceof ApiError) || !isWorthRetrying(error) || retry >= maxRetries) throw error;
        const seconds = error.retry_after_seconds ?? backoffSeconds(retry);
        if (seconds > settings.maxRetryAfterSeconds) throw error;
        await settings.sleep(seconds * 1000, signal);
      }
    }
  };
}

interface Attempt<Result> extends Pick<Settings, "fetch" | "timeoutMs"> {
  url: string;
  headers: Record<string, string>;
  sentId: string;
  signal: AbortSignal | undefined;
  redact: Redact;
  read: Read<Result>;
}

async function attempt<Result>({
  url,
  headers,
  sentId,
  timeoutMs,
  signal,
  redact,
  read,
  fetch,
}: Attempt<Result>): Promise<Answer<Result>> {
  const controller = new AbortController();
  const cancel = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", cancel, { once: true });
  let timedOut = false;
  const timer = startTimer(timeoutMs, () => {
    timedOut = true;
    controller.abort();
  });

  let response: Response | undefined;
  const exchange = async (): Promise<Answer<Result> | ApiError> => {
    response = await fetch(url, { headers, redirect: "manual", signal: controller.signal });
    if (response.status >= 400) return errorFromAnswer(response, await response.text(), sentId, redact);
    const result = response.ok ? await read(response) : undefined;
    return result === undefined
      ? invalidResponse(response, sentId)
      : { result, response, request_id: idOf(response, sentId) };
  };
  // Raced, because an injected fetch may not listen to the signal.
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason), { once: true });
  });

  try {
    const outcome = await Promise.race([exchange(), aborted]);
    if (outcome instanceof ApiError) throw outcome;
    // The body of a raw response is read later, and the caller's signal must reach it then still.
    if (outcome.response.bodyUsed) signal?.removeEventListener("abort", cancel);
    return outcome;
  } catch (error) {
    // Releases the rest of the exchange.
    controller.abort();
    signal?.removeEventListener("abort", cancel);
    if (signal?.aborted) throw signal.reason;
    if (error instanceof ApiError) throw error;
    // Keeps the status of an error with an incomplete body.
    if (response && response.status >= 400) throw errorFromAnswer(response, "", sentId, redact);
    const { origin } = new URL(url);
    if (timedOut) {
      throw new ApiTimeoutError(`No whole answer from ${origin} within ${timeoutMs} ms`, {
        status: 0,
        code: "timeout",
        request_id: sentId,
      });
    }
    const cause = redactCause(error, redact);
    throw new ApiConnectionError(`The connection to ${origin} failed: ${reason(cause)}`, {
      status: 0,
      code: "connection_error",
      request_id: sentId,
      cause,
    });
  } finally {
    clearTimeout(timer);
  }
}

function urlOf(baseUrl: string, { path, query }: Request): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const one of [value].flat()) {
      if (one !== null && one !== undefined) search.append(name, String(one));
    }
  }
  const tail = search.toString();
  return `${baseUrl}/v1/${path.map(segment).join("/")}${tail && "?"}${tail}`;
}

function segment(text: string): string {
  // An empty segment would be the list instead of the record, and URLs resolve dots, encoded or not, before they are sent.
  if (typeof text !== "string" || /^\.{0,2}$/.test(text))
    throw new TypeError('an id must be a text, not empty, "." or ".."');
  return encodeURIComponent(text);
}

/** Unique enough to find a request in a log; `crypto.randomUUID` is missing in Node 18 and on pages without TLS. */
function newRequestId(): string {
  const part = () => Math.random().toString(36).slice(2, 12).padEnd(10, "0");
  return part() + part();
}
