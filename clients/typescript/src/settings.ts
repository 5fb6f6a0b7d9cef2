// The options of a client and of a call, checked once, before anything is sent.

import { variable } from "./environment.js";
import type { ApiError } from "./errors.js";
import { pause } from "./retry.js";

/** Sends one request, like the platform's `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Waits so many milliseconds; rejects as soon as the signal aborts. */
export type Sleep = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

/** What iteration over a list does when the directory changes between two pages. */
export type GenerationChange = "restart" | "raise" | "ignore";

/** Takes the lines of the log; `console` is one. */
export interface Logger {
  /** Called before each attempt. */
  debug?(message: string): void;
  /** Called before each wait for another attempt. */
  info?(message: string): void;
  /** Called when an iteration begins again because the directory changed. */
  warn?(message: string): void;
}

/** A wait for another attempt. */
export interface RetryEvent {
  /** The number of the attempt that failed, from 1. */
  attempt: number;
  wait_seconds: number;
  /** What the attempt failed with. */
  error: ApiError;
  request_id: string;
  url: string;
}

export interface ClientOptions {
  /** The API key. It goes into the `Authorization` header and nowhere else. Default: the variable
   * `SOFTWARE_DIRECTORY_API_KEY` of the environment, where there is one. */
  apiKey?: string | undefined;
  /** Where the directory is, such as `https://directory.example`. A path in front of `/v1` is kept. Default: the variable
   * `SOFTWARE_DIRECTORY_URL` of the environment, where there is one. */
  baseUrl?: string | URL | undefined;
  /** The function that sends requests; by default the platform's `fetch`. */
  fetch?: Fetch | undefined;
  /** Longest time that one attempt may take, from the request to the last byte of the body. Default 30 000. */
  timeoutMs?: number | undefined;
  /** How often a failed request is tried again. Default 2. */
  maxRetries?: number | undefined;
  /** Longest `Retry-After` that is waited for. After a longer one the error is thrown at once. Default 60. */
  maxRetryAfterSeconds?: number | undefined;
  /** What iteration over items does when the directory changes (the `X-Generation` header of a page differs from that of
   * the first). `restart`: begins the list again and leaves out the records that were given already, by `id`, three times at
   * most; `raise`: throws a `GenerationChangedError`, as iteration over pages does with either; `ignore`: goes on. Default
   * `restart`. */
  generationChange?: GenerationChange | undefined;
  /** Bytes of answers that are cached, by URL. A repeated call is then revalidated (`If-None-Match`) and costs no quota if
   * nothing changed. Downloads aren't cached. Default 0: no cache. */
  cacheMaxBytes?: number | undefined;
  /** Where the client logs; nowhere by default. The key is in no line. */
  logger?: Logger | undefined;
  /** Called before each wait for another attempt. What it throws ends the call. */
  onRetry?: ((event: RetryEvent) => void) | undefined;
  /** How to wait between attempts; for tests that must not wait. */
  sleep?: Sleep | undefined;
}

export interface RequestOptions {
  /** Cancels the request, the reading of its body and the wait between attempts; the call rejects with its reason. */
  signal?: AbortSignal | undefined;
  /** This call's timeout of an attempt, instead of the client's. */
  timeoutMs?: number | undefined;
  /** This call's number of retries, instead of the client's. */
  maxRetries?: number | undefined;
  /** Further headers. They replace the client's own, except `authorization`. */
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Further query parameters, for example of a newer server; those of the operation's are replaced. */
  query?: Readonly<Record<string, unknown>> | undefined;
}

export interface RecordOptions extends RequestOptions {
  /** The language of the record's texts, a tag such as `de`. A text that isn't in it is in the record's own. */
  lang?: string | null | undefined;
}

export interface Settings {
  apiKey: string;
  /** Without a slash at its end. */
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
  const apiKey = options.apiKey ?? needed("apiKey", "SOFTWARE_DIRECTORY_API_KEY");
  // Checked here, because the platform's complaint about a bad header value would repeat the value.
  if (typeof apiKey !== "string" || !/^[!-~]+$/.test(apiKey)) {
    throw new TypeError("apiKey must be an API key: printable ASCII without spaces or line breaks");
  }
  return {
    apiKey,
    baseUrl: baseUrlFrom(options.baseUrl ?? needed("baseUrl", "SOFTWARE_DIRECTORY_URL")),
    // Looked up at each call and called without an object: browsers insist on it, and what replaces it in tests is seen.
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

function needed(option: string, name: string): string {
  const value = variable(name);
  if (value === undefined) throw new TypeError(`${option} is missing; pass it, or set ${name} in the environment`);
  return value;
}

function baseUrlFrom(given: string | URL): string {
  let url: URL | undefined;
  try {
    url = new URL(given);
  } catch {
    // Reported below, without the text: it may hold a password.
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
