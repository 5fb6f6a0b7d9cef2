// The shape of the directory's responses. A proxy's page with status 200 isn't a result.

import { type Bytes, ERROR_BODY_LENGTH } from "./body.js";
import { type ApiError, type ErrorDetails, errorClass, InvalidResponseError } from "./errors.js";
import type { Redact } from "./redact.js";
import { retryAfterSeconds } from "./retry.js";
import type { Pagination, Problem } from "./types.js";

/** Extracts the result from a body, or returns undefined if it isn't from a directory. */
export type Read<Result> = (body: Bytes, response: Response, requestId: string) => Result | undefined;

/** The members that all lists have. */
export interface ListBody {
  data: unknown[];
  pagination: Pagination;
}

/** The record in `{"data": {…}}`, with all its members. */
export function readRecord<Result>(bytes: Bytes): Result | undefined {
  const body = objectFrom(textOf(bytes));
  return isObject(body?.data) ? (body.data as Result) : undefined;
}

/** `{"data": […], "pagination": {…}}`, with all its other members. */
export function readList<Body extends ListBody>(bytes: Bytes): Body | undefined {
  const body = objectFrom(textOf(bytes));
  const pagination = body?.pagination;
  return Array.isArray(body?.data) &&
    isObject(pagination) &&
    Number.isInteger(pagination.offset) &&
    Number.isInteger(pagination.total)
    ? (body as unknown as Body)
    : undefined;
}

/** Whether the body is a JSON or NDJSON document. */
export function isDocument({ headers }: Response): boolean {
  return /json/.test(headers.get("content-type") ?? "");
}

/** The error for a response with an error status. `text` is its body, or empty if it couldn't be read. */
export function errorFromAnswer(response: Response, text: string, sentId: string, redact: Redact): ApiError {
  const { status } = response;
  const body = objectFrom(redact(text));
  const problem = typeof body?.code === "string" && body.code ? (body as unknown as Problem) : undefined;
  const seconds = retryAfterSeconds(response.headers) ?? problem?.retry_after_seconds;
  const message = problem ? (problem.detail ?? problem.title) : "The response isn't from the directory itself";
  return new (errorClass(status))(String(message), {
    ...heardOf(response, redact, text),
    status,
    code: problem?.code ?? `http_${status}`,
    request_id: (typeof problem?.request_id === "string" && problem.request_id) || idOf(response, sentId),
    retry_after_seconds: typeof seconds === "number" && seconds >= 0 ? seconds : undefined,
    problem,
  });
}

/** A response's headers and the beginning of its body, for its error. */
export function heardOf(response: Response, redact: Redact, text?: string): Pick<ErrorDetails, "headers" | "body"> {
  const headers = new Headers();
  response.headers.forEach((value, name) => headers.append(name, redact(value)));
  return { headers, body: text === undefined ? undefined : redact(text).slice(0, ERROR_BODY_LENGTH) };
}

/** The error for a response that is neither a result nor an error from the directory. `bytes` is its body, if it was read. */
export function invalidResponse(response: Response, sentId: string, redact: Redact, bytes?: Bytes): ApiError {
  const { status, type } = response;
  // A browser hides a redirect's status if it was told not to follow it.
  const redirect = type === "opaqueredirect" || (status >= 300 && status < 400 && status !== 304);
  return new InvalidResponseError(
    redirect
      ? "The server sent a redirect, which isn't followed; check baseUrl"
      : "The response isn't from a directory; check baseUrl and any proxy",
    {
      // A character takes at most four bytes.
      ...heardOf(response, redact, bytes && textOf(bytes.subarray(0, 4 * ERROR_BODY_LENGTH + 1024))),
      status,
      code: redirect ? "unexpected_redirect" : "invalid_response",
      request_id: idOf(response, sentId),
    },
  );
}

/** The request id that the server stated, or else the one that was sent. */
export function idOf(response: Response, sentId: string): string {
  return response.headers.get("x-request-id") || sentId;
}

function textOf(bytes: Bytes): string {
  return new TextDecoder().decode(bytes);
}

function objectFrom(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
