// Shared by this language's tests: a scripted fetch, and a client that uses it.

import { SoftwareDirectory } from "software-directory";

export const KEY = "sd_live_test_0123456789abcdef";
export const BASE = "https://directory.example";
export const PAGE = { data: [{ id: "a" }], pagination: { limit: 20, offset: 0, total: 1 } };
/** Ends a test that would wait forever; nothing is measured with it. */
export const timeout = 20_000;

/** A fetch that returns the given responses, one after the other, and records its calls. */
export function scripted(...answers) {
  const calls = [];
  const fetch = async (url, init) => {
    calls.push({ url, init });
    const answer = answers[Math.min(calls.length, answers.length) - 1];
    return typeof answer === "function" ? answer(url, init) : answer.clone();
  };
  return { calls, fetch };
}

export const json = (body, status = 200, headers = {}) => new Response(JSON.stringify(body), { status, headers });
export const record = () => json({ data: { id: "a" } });
export const client = (options) =>
  new SoftwareDirectory({ apiKey: KEY, baseUrl: BASE, sleep: async () => {}, ...options });

/** Rejects when the signal aborts, like the platform's fetch, or never settles if `heed` is false. */
export const hanging =
  (heed) =>
  (_url, { signal }) =>
    new Promise((_, reject) => {
      if (heed) signal.addEventListener("abort", () => reject(signal.reason));
    });
