// When a failed attempt is worth another, and how long to wait for it.

import { type ApiError, ApiConnectionError, ApiTimeoutError } from "./errors.js";

/** The longest delay that timers can count; beyond it they fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function isWorthRetrying(error: ApiError): boolean {
  return (
    error.status === 429 ||
    error.status >= 500 ||
    error instanceof ApiConnectionError ||
    // 408 is one of these.
    error instanceof ApiTimeoutError
  );
}

/** Seconds to wait before attempt `retry` (0 is the first retry): half a second, doubled each time up to eight, of which a
 * random half is left out so that clients that failed together don't come back together. */
export function backoffSeconds(retry: number): number {
  return Math.min(8, 0.5 * 2 ** retry) * (0.5 + Math.random() / 2);
}

/** Seconds of a `Retry-After` header, or undefined if it can't be parsed. */
export function retryAfterSeconds(headers: Headers): number | undefined {
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+$/.test(text)) return Number(text);
  // Only what ends like an HTTP date: engines take a lot for a date, "1.5" among it.
  const then = /GMT$/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(then)) return undefined;
  // The server's clock where the response has it, because the caller's may be wrong.
  const now = Date.parse(headers.get("date") ?? "") || Date.now();
  return Math.max(0, Math.ceil((then - now) / 1000));
}

export function startTimer(milliseconds: number, then: () => void): ReturnType<typeof setTimeout> {
  return setTimeout(then, Math.min(milliseconds, LONGEST_TIMER_MS));
}

/** Waits; rejects with the signal's reason as soon as it aborts. */
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
