// The errors of the API, one class for each kind:
//
//   ApiError
//   ├── AuthenticationError     401
//   ├── PermissionDeniedError   403
//   ├── NotFoundError           404
//   ├── GoneError               410
//   ├── RateLimitError          429
//   ├── InvalidRequestError     other 4xx
//   ├── ServerError             5xx
//   ├── InvalidResponseError    an answer that isn't the directory's, with any status
//   ├── GenerationChangedError  the directory changed between two pages of an iteration
//   ├── ApiConnectionError      no connection, or one that broke
//   └── ApiTimeoutError         no whole answer in time, or 408
//
// Names don't collide with those of the platform or, in the sister client, of Python.

import type { ParameterProblem, Problem } from "./types.js";

export interface ErrorDetails {
  status: number;
  code: string;
  request_id: string;
  retry_after_seconds?: number | undefined;
  problem?: Problem | undefined;
  headers?: Headers | undefined;
  body?: string | undefined;
  cause?: unknown;
}

/** A request that failed. */
export class ApiError extends Error {
  override readonly name: string = "ApiError";
  /** The HTTP status; 0 if no whole answer came. */
  readonly status: number;
  /** The server's code, such as `software_not_found`. If the answer had none: `http_<status>`, `invalid_response`,
   * `unexpected_redirect`, `generation_changed`, `connection_error` or `timeout`. Further codes may come. */
  readonly code: string;
  /** The request's id, to quote to the operator: the server's, or the one that the client sent. */
  readonly request_id: string;
  /** Seconds to wait before trying again; there only if the server named a wait. */
  declare readonly retry_after_seconds?: number;
  /** The error document (RFC 9457) as the server sent it; there only if it sent one. */
  declare readonly problem?: Problem;
  /** The headers of the response, without the key; there only if one came. Not enumerable: printed errors stay short. */
  declare readonly headers?: Headers;
  /** The beginning of the response's body, 65 536 characters at most; there only if it was read. Not enumerable. */
  declare readonly body?: string;

  constructor(message: string, details: ErrorDetails) {
    const { status, code, request_id, retry_after_seconds, problem, headers, body, cause } = details;
    super(
      `${message} (status ${status}, code ${code}, request id ${request_id})`,
      cause === undefined ? undefined : { cause },
    );
    this.status = status;
    this.code = code;
    this.request_id = request_id;
    // Members without a value are absent, so that `in` and JSON agree with them.
    if (retry_after_seconds !== undefined) this.retry_after_seconds = retry_after_seconds;
    if (problem) this.problem = problem;
    if (headers) Object.defineProperty(this, "headers", { value: headers });
    if (body !== undefined) Object.defineProperty(this, "body", { value: body });
  }

  /** What is wrong with which parameter; empty if that isn't what is wrong. */
  get errors(): readonly ParameterProblem[] {
    const errors = this.problem?.errors;
    return Array.isArray(errors) ? errors : [];
  }
}

/** 401: the key is missing, unknown or expired. */
export class AuthenticationError extends ApiError {
  override readonly name = "AuthenticationError";
}

/** 403: the key doesn't permit it. */
export class PermissionDeniedError extends ApiError {
  override readonly name = "PermissionDeniedError";
}

/** 404: there is no such thing. */
export class NotFoundError extends ApiError {
  override readonly name = "NotFoundError";
}

/** 410: the server doesn't have the changes since this generation, or not any more. */
export class GoneError extends ApiError {
  override readonly name = "GoneError";
}

/** 429: too many requests; `retry_after_seconds` is the wait. */
export class RateLimitError extends ApiError {
  override readonly name = "RateLimitError";
}

/** Another 4xx: the request must change; `errors` names the parameter. */
export class InvalidRequestError extends ApiError {
  override readonly name = "InvalidRequestError";
}

/** 5xx: the server or a proxy before it failed. */
export class ServerError extends ApiError {
  override readonly name = "ServerError";
}

/** An answer of no error that isn't the directory's: a page of HTML, an empty body, broken JSON, a redirect. */
export class InvalidResponseError extends ApiError {
  override readonly name = "InvalidResponseError";
}

/** The directory changed between two pages of an iteration, so that records could be missing or come twice. */
export class GenerationChangedError extends ApiError {
  override readonly name = "GenerationChangedError";
}

/** No connection, or one that broke before the whole answer was there. */
export class ApiConnectionError extends ApiError {
  override readonly name = "ApiConnectionError";
}

/** The whole answer didn't come within the timeout (status 0), or the server waited too long for the request (408). */
export class ApiTimeoutError extends ApiError {
  override readonly name = "ApiTimeoutError";
}

/** The class for a status that is an error. */
export function errorClass(status: number): typeof ApiError {
  if (status === 401) return AuthenticationError;
  if (status === 403) return PermissionDeniedError;
  if (status === 404) return NotFoundError;
  if (status === 408) return ApiTimeoutError;
  if (status === 410) return GoneError;
  if (status === 429) return RateLimitError;
  return status >= 500 ? ServerError : InvalidRequestError;
}
