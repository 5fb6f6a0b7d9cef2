// One call: its URL and headers, its attempts and the waits between them.

import { idOf, invalidResponse, isDocument, type Read } from "./answer.js";
import { attempt, type MessageHeaders } from "./attempt.js";
import type { Bytes } from "./body.js";
import { Cache, revalidated } from "./cache.js";
import { maySetUserAgent } from "./environment.js";
import { ApiError } from "./errors.js";
import { type Redact, redactor } from "./redact.js";
import { backoffSeconds, isWorthRetrying } from "./retry.js";
import { type RequestOptions, retriesFrom, type Settings, timeoutFrom } from "./settings.js";
import { urlOf } from "./url.js";
import { VERSION } from "./version.js";

/** What to request. */
export interface Request {
  /** Unencoded segments below `/v1`, or a path below the base URL that is used as is. */
  path: readonly string[] | string;
  query?: object | null | undefined;
  accept?: string;
  /** Whether the body is an export: JSON or NDJSON, too large for the cache or a total timeout. */
  download?: boolean;
}

export interface Answer<Result> {
  result: Result;
  response: Response;
  /** The body that the result was read from. */
  body: Bytes;
  /** The request's id on the server. */
  request_id: string;
}

/** A response whose body hasn't been read yet. */
export type Opened = Pick<Answer<unknown>, "response" | "request_id">;

/** Sends a client's requests. */
export interface Transport extends Pick<Settings, "generationChange" | "logger"> {
  /** Removes the key from a string. */
  redact: Redact;
  /** Sends a request, with retries, and reads the whole response. */
  send<Result>(request: Request, read: Read<Result>, options?: RequestOptions): Promise<Answer<Result>>;
  /** Sends a request, with retries, and returns once the headers arrive. The caller reads the body. */
  open(request: Request, options?: RequestOptions): Promise<Opened>;
}

export function transport(settings: Settings): Transport {
  const redact = redactor(settings.apiKey);
  const cache = settings.cacheMaxBytes > 0 ? new Cache(settings.cacheMaxBytes) : undefined;

  const call = async <Result>(
    { url, headers }: Message,
    options: RequestOptions = {},
    streamed: boolean,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> => {
    const timeoutMs = timeoutFrom(options.timeoutMs ?? settings.timeoutMs);
    const maxRetries = retriesFrom(options.maxRetries ?? settings.maxRetries);
    const { signal } = options;
    const { fetch, logger, onRetry } = settings;
    const request_id = headers["x-request-id"];
    const line = redact(`GET ${url}, request id ${request_id}`);
    for (let retry = 0; ; retry += 1) {
      signal?.throwIfAborted();
      logger?.debug?.(`${line}, attempt ${retry + 1}`);
      try {
        return await attempt({ url, headers, timeoutMs, signal, redact, fetch, streamed }, read);
      } catch (error) {
        if (!(error instanceof ApiError) || !isWorthRetrying(error) || retry >= maxRetries) throw error;
        const wait_seconds = error.retry_after_seconds ?? backoffSeconds(retry);
        if (wait_seconds > settings.maxRetryAfterSeconds) throw error;
        logger?.info?.(`${line}: ${error.message}; attempt ${retry + 2} in ${wait_seconds.toFixed(1)} s`);
        onRetry?.({ attempt: retry + 1, wait_seconds, error, request_id, url });
        await settings.sleep(wait_seconds * 1000, signal);
      }
    }
  };

  return {
    generationChange: settings.generationChange,
    logger: settings.logger,
    redact,
    async send(request, read, options) {
      const message = messageOf(settings, request, options);
      const { url, headers } = message;
      const key = `${headers.accept} ${url}`;
      // A caller that sends its own ETag has its own cache.
      const caches = request.download || "if-none-match" in headers ? undefined : cache;
      const entry = caches?.get(key);
      if (entry) headers["if-none-match"] = entry.etag;
      return call(message, options, request.download === true, async (answer) => {
        // This is checked before the body is read, since the body could be anything.
        if (request.download && !isDocument(answer)) throw invalidResponse(answer, headers["x-request-id"], redact);
        const isCached = entry !== undefined && answer.status === 304;
        const response = isCached ? revalidated(entry, answer) : answer;
        const body = isCached ? entry.body : new Uint8Array(await answer.arrayBuffer());
        const request_id = idOf(response, headers["x-request-id"]);
        const result = read(body, response, request_id);
        if (result === undefined) throw invalidResponse(response, request_id, redact, body);
        // A partial response (206) isn't cached.
        if (response.status === 200) caches?.put(key, body, response);
        return { result, response, body, request_id };
      });
    },
    async open(request, options) {
      const message = messageOf(settings, request, options);
      return call(message, options, true, async (response) => ({
        response,
        request_id: idOf(response, message.headers["x-request-id"]),
      }));
    },
  };
}

interface Message {
  url: string;
  headers: MessageHeaders;
}

function messageOf(settings: Settings, request: Request, options: RequestOptions = {}): Message {
  const headers: Record<string, string> = {
    accept: request.accept ?? "application/json",
    // All attempts share one request id, so the whole call can be found in a log.
    "x-request-id": newRequestId(),
  };
  if (maySetUserAgent()) headers["user-agent"] = `software-directory-typescript/${VERSION}`;
  for (const [name, value] of Object.entries(options.headers ?? {}))
    if (value !== undefined) headers[name.toLowerCase()] = value;
  if (settings.apiKey !== undefined) headers["authorization"] = `Bearer ${settings.apiKey}`;
  return {
    url: urlOf(settings.baseUrl, request.path, { ...request.query, ...options.query }),
    headers: headers as MessageHeaders,
  };
}

/** Unique enough to find a request in a log; `crypto.randomUUID` is missing in Node 18 and on pages without TLS. */
function newRequestId(): string {
  const part = () => Math.random().toString(36).slice(2, 12).padEnd(10, "0");
  return part() + part();
}
