// The options for clients and calls, checked once before anything is sent.

import { variable } from "./environment.js";
import type { ApiError } from "./errors.js";
import { pause } from "./retry.js";

/** Sends one request, like the platform's `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Waits the given number of milliseconds. Rejects as soon as the signal aborts. */
export type Sleep = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

/** What iterating over a list does if the directory changes between two pages. */
export type GenerationChange = "restart" | "raise" | "ignore";

/** Receives log lines; `console` is one. */
export interface Logger {
  /** Called before each attempt. */
  debug?(message: string): void;
  /** Called before the wait for a retry. */
  info?(message: string): void;
  /** Called when an iteration starts again because the directory changed. */
  warn?(message: string): void;
}

/** A retry that is about to happen. */
export interface RetryEvent {
  /** The number of the attempt that failed, from 1. */
  attempt: number;
  wait_seconds: number;
  /** The failed attempt's error. */
  error: ApiError;
  request_id: string;
  url: string;
}

export interface ClientOptions {
  /** The API key, which a public API doesn't need. It's only ever sent in the `Authorization` header. Default: the
   * environment variable `SOFTWARE_DIRECTORY_API_KEY`, on platforms that have one. */
  apiKey?: string | undefined;
  /** The directory's address, such as `https://directory.example`. Any path in front of `/v1` is kept. Default: the
   * environment variable `SOFTWARE_DIRECTORY_URL`, on platforms that have one. */
  baseUrl?: string | URL | undefined;
  /** The function that sends requests. Default: the platform's `fetch`. */
  fetch?: Fetch | undefined;
  /** The longest that one attempt may take, from the request to the last byte of the body. Default: 30 000. */
  timeoutMs?: number | undefined;
  /** How many times a failed request is retried. Default: 2. */
  maxRetries?: number | undefined;
  /** The longest `Retry-After` that the client waits for. If it's longer, the error is thrown at once. Default: 60. */
  maxRetryAfterSeconds?: number | undefined;
  /** What iterating over items does if the directory changes, that is, if a page's `X-Generation` differs from the first
   * page's. `restart` reads the list again, at most three times, and skips records that were already returned, by `id`.
   * `raise` throws a `GenerationChangedError`. When iterating over pages, both throw this error. `ignore` continues.
   * Default: `restart`. */
  generationChange?: GenerationChange | undefined;
  /** The size of the response cache in bytes. A repeated call is then revalidated (`If-None-Match`), and doesn't count
   * against the quota if nothing has changed. Downloads aren't cached. Default: 0, no cache. */
  cacheMaxBytes?: number | undefined;
  /** Where the client logs; nowhere by default. No line contains the key. */
  logger?: Logger | undefined;
  /** Called before the wait for a retry. If it throws, the call ends. */
  onRetry?: ((event: RetryEvent) => void) | undefined;
  /** Waits between attempts; replace it in tests that must not wait. */
  sleep?: Sleep | undefined;
}

export interface RequestOptions {
  /** Cancels the request, reading its body, and waiting between attempts. The call rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** The timeout for each of this call's attempts, instead of the client's. */
  timeoutMs?: number | undefined;
  /** This call's number of retries, instead of the client's. */
  maxRetries?: number | undefined;
  /** Additional headers. They replace the client's own, except `authorization`. */
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Additional query parameters, for example for a newer server. They replace the operation's own. */
  query?: Readonly<Record<string, unknown>> | undefined;
}

export interface RecordOptions extends RequestOptions {
  /** The language of the record's text, a tag such as `de`. Text that isn't available in that language is returned in the
   * record's own. */
  lang?: string | null | undefined;
}

export interface Settings {
  apiKey: string | undefined;
  /** Without a trailing slash. */
  baseUrl: string;
  fetch: Fetch;
  timeoutMs: number;
  maxRetries: number;
  maxRetryAfterSeconds: number;
  generationChange: GenerationChange;
  cacheMaxBytes: number;
  logger: Logger | undefined;
  onRetry: ((event: RetryEvent) => void) | undefined;
  sleep: Sleep;
}

export function settingsFrom(options: ClientOptions): Settings {
  const apiKey = options.apiKey ?? variable("SOFTWARE_DIRECTORY_API_KEY");
  // The key is checked here, because the platform's error for a bad header value would quote it.
  if (apiKey !== undefined && (typeof apiKey !== "string" || !/^[!-~]+$/.test(apiKey))) {
    throw new TypeError("apiKey must be an API key: printable ASCII without spaces or line breaks");
  }
  return {
    apiKey,
    baseUrl: baseUrlFrom(options.baseUrl ?? variable("SOFTWARE_DIRECTORY_URL")),
    // `fetch` is looked up at each call, so tests can replace it, and isn't called as a method,
    // which browsers don't allow.
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    timeoutMs: timeoutFrom(options.timeoutMs ?? 30_000),
    maxRetries: retriesFrom(options.maxRetries ?? 2),
    maxRetryAfterSeconds: fromZero("maxRetryAfterSeconds", options.maxRetryAfterSeconds ?? 60),
    generationChange: generationChangeFrom(options.generationChange ?? "restart"),
    cacheMaxBytes: fromZero("cacheMaxBytes", options.cacheMaxBytes ?? 0),
    logger: options.logger,
    onRetry: options.onRetry,
    sleep: options.sleep ?? pause,
  };
}

function baseUrlFrom(given: string | URL | undefined): string {
  if (given === undefined) {
    throw new TypeError("baseUrl is missing; pass it, or set SOFTWARE_DIRECTORY_URL in the environment");
  }
  let url: URL | undefined;
  try {
    url = new URL(given);
  } catch {
    // Reported below, without quoting it, because it may contain a password.
  }
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new TypeError("baseUrl must be an http or https address without password, query or fragment");
  }
  return url.href.replace(/\/+$/, "");
}

export function timeoutFrom(timeoutMs: number): number {
  if (!(timeoutMs > 0)) throw new RangeError("timeoutMs must be greater than 0");
  return timeoutMs;
}

function fromZero(name: string, value: number): number {
  if (!(value >= 0)) throw new RangeError(`${name} must be 0 or more`);
  return value;
}

function generationChangeFrom(generationChange: GenerationChange): GenerationChange {
  if (!["restart", "raise", "ignore"].includes(generationChange))
    throw new TypeError('generationChange must be "restart", "raise" or "ignore"');
  return generationChange;
}

export function retriesFrom(maxRetries: number): number {
  if (!(maxRetries >= 0 && Number.isInteger(maxRetries)))
    throw new RangeError("maxRetries must be a whole number, 0 or more");
  return maxRetries;
}
