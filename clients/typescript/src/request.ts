// One call: its URL and headers, its attempts and the waits between them.

import { idOf, invalidResponse, type Read } from "./answer.js";
import { attempt } from "./attempt.js";
import type { Bytes } from "./body.js";
import { ApiError } from "./errors.js";
import { redactor } from "./redact.js";
import { backoffSeconds, isWorthRetrying } from "./retry.js";
import { type RequestOptions, retriesFrom, type Settings, timeoutFrom } from "./settings.js";

/** What is requested. */
export interface Request {
  /** Segments below `/v1`, not yet encoded. */
  path: readonly string[];
  query?: object | null | undefined;
  accept?: string;
}

export interface Answer<Result> {
  result: Result;
  response: Response;
  /** The body that the result was read from. */
  body: Bytes;
  /** The id under which the server knows the request. */
  request_id: string;
}

/** Sends requests of one client. */
export interface Transport extends Pick<Settings, "generationChange"> {
  /** Sends a request, with retries, and reads the whole answer. */
  send<Result>(request: Request, read: Read<Result>, options?: RequestOptions): Promise<Answer<Result>>;
  /** Sends a request, with retries, up to the headers; the body is left to the caller. */
  open(request: Request, options?: RequestOptions): Promise<Response>;
}

export function transport(settings: Settings): Transport {
  const redact = redactor(settings.apiKey);

  const call = async <Result>(
    request: Request,
    options: RequestOptions = {},
    streamed: boolean,
    read: (response: Response, sentId: string) => Promise<Result>,
  ): Promise<Result> => {
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
    const { fetch } = settings;
    for (let retry = 0; ; retry += 1) {
      signal?.throwIfAborted();
      try {
        const once = { url, headers, sentId, timeoutMs, signal, redact, fetch, streamed };
        return await attempt(once, (response) => read(response, sentId));
      } catch (error) {
        if (!(error instanceof ApiError) || !isWorthRetrying(error) || retry >= maxRetries) throw error;
        const seconds = error.retry_after_seconds ?? backoffSeconds(retry);
        if (seconds > settings.maxRetryAfterSeconds) throw error;
        await settings.sleep(seconds * 1000, signal);
      }
    }
  };

  return {
    generationChange: settings.generationChange,
    send: (request, read, options) =>
      call(request, options, false, async (response, sentId) => {
        const body = new Uint8Array(await response.arrayBuffer());
        const request_id = idOf(response, sentId);
        const result = read(body, response, request_id);
        if (result === undefined) throw invalidResponse(response, sentId);
        return { result, response, body, request_id };
      }),
    open: (request, options) => call(request, options, true, async (response) => response),
  };
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
