// When to retry, and how long to wait first.

import { type ApiError, ApiConnectionError, ApiTimeoutError } from "./errors.js";

/** The longest delay that timers support. Beyond it, they fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function isWorthRetrying(error: ApiError): boolean {
  return (
    error.status === 429 ||
    // 501: the directory never offers this.
    (error.status >= 500 && error.status !== 501) ||
    error instanceof ApiConnectionError ||
    // This includes 408.
    error instanceof ApiTimeoutError
  );
}

/** Seconds to wait before a retry (0 is the first): half a second, doubling each time up to eight, minus up to half of it at
 * random, so clients that failed together don't all retry together. */
export function backoffSeconds(retry: number): number {
  return Math.min(8, 0.5 * 2 ** retry) * (0.5 + Math.random() / 2);
}

/** The seconds in a `Retry-After` header, or undefined if it can't be parsed. */
export function retryAfterSeconds(headers: Headers): number | undefined {
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+$/.test(text)) return Number(text);
  // Only parses what ends like an HTTP date, because engines accept almost anything as a date, even "1.5".
  const then = /GMT$/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(then)) return undefined;
  // Prefers the server's clock, if the response includes it, because the local one may be wrong.
  const now = Date.parse(headers.get("date") ?? "") || Date.now();
  return Math.max(0, Math.ceil((then - now) / 1000));
}

export function startTimer(milliseconds: number, then: () => void): ReturnType<typeof setTimeout> {
  return setTimeout(then, Math.min(milliseconds, LONGEST_TIMER_MS));
}

/** Waits. Rejects with the signal's reason as soon as it aborts. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = startTimer(milliseconds, () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    });
    signal?.addEventListener("abort", stop, { once: true });
  });
}
