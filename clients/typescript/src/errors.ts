// The API's errors, one class for each kind:
//
//   ApiError
//   ├── AuthenticationError     401
//   ├── PermissionDeniedError   403
//   ├── NotFoundError           404
//   ├── GoneError               410
//   ├── RateLimitError          429
//   ├── InvalidRequestError     other 4xx
//   ├── ServerError             5xx
//   ├── InvalidResponseError    a response that isn't from a directory, with any status
//   ├── GenerationChangedError  the directory changed between two pages of an iteration
//   ├── ApiConnectionError      the connection couldn't be made, or broke
//   └── ApiTimeoutError         no complete response in time, or 408
//
// None of these names collide with the platform's, or in the Python client, with Python's.

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
  /** The HTTP status; 0 if there was no complete response. */
  readonly status: number;
  /** The server's code, such as `software_not_found`. If the response had none: `http_<status>`, `invalid_response`,
   * `unexpected_redirect`, `generation_changed`, `connection_error` or `timeout`. More codes may be added. */
  readonly code: string;
  /** The request's id, to quote to the operator: the server's, or the one that the client sent. */
  readonly request_id: string;
  /** Seconds to wait before trying again; present only if the server said so. */
  declare readonly retry_after_seconds?: number;
  /** The problem document (RFC 9457) as the server sent it; present only if it sent one. */
  declare readonly problem?: Problem;
  /** The response's headers, with the key redacted; present only if there was a response. Not enumerable, so printed errors
   * stay short. */
  declare readonly headers?: Headers;
  /** The beginning of the response's body, at most 65 536 characters; present only if it was read. Not enumerable. */
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
    // Members without a value are absent, even to `in` and in JSON.
    if (retry_after_seconds !== undefined) this.retry_after_seconds = retry_after_seconds;
    if (problem) this.problem = problem;
    if (headers) Object.defineProperty(this, "headers", { value: headers });
    if (body !== undefined) Object.defineProperty(this, "body", { value: body });
  }

  /** The invalid parameters and what's wrong with each; empty if that isn't the cause. */
  get errors(): readonly ParameterProblem[] {
    const errors = this.problem?.errors;
    return Array.isArray(errors) ? errors : [];
  }
}

/** 401: the key is missing, unknown or expired. */
export class AuthenticationError extends ApiError {
  override readonly name = "AuthenticationError";
}

/** 403: the key doesn't permit this. */
export class PermissionDeniedError extends ApiError {
  override readonly name = "PermissionDeniedError";
}

/** 404: there is no such record or route. */
export class NotFoundError extends ApiError {
  override readonly name = "NotFoundError";
}

/** 410: the server no longer has the changes since this generation, or never had them. */
export class GoneError extends ApiError {
  override readonly name = "GoneError";
}

/** 429: too many requests; `retry_after_seconds` says how long to wait. */
export class RateLimitError extends ApiError {
  override readonly name = "RateLimitError";
}

/** Other 4xx: the request is wrong; `errors` names the invalid parameters. */
export class InvalidRequestError extends ApiError {
  override readonly name = "InvalidRequestError";
}

/** 5xx: the server, or a proxy in front of it, failed. */
export class ServerError extends ApiError {
  override readonly name = "ServerError";
}

/** A response that isn't an error, but isn't from a directory: an HTML page, an empty body, broken JSON, a redirect. */
export class InvalidResponseError extends ApiError {
  override readonly name = "InvalidResponseError";
}

/** The directory changed between two pages of an iteration, so records could be missing or repeated. */
export class GenerationChangedError extends ApiError {
  override readonly name = "GenerationChangedError";
}

/** There was no connection, or it broke before the response was complete. */
export class ApiConnectionError extends ApiError {
  override readonly name = "ApiConnectionError";
}

/** The response wasn't complete within the timeout (status 0), or the server gave up on a slow request (408). */
export class ApiTimeoutError extends ApiError {
  override readonly name = "ApiTimeoutError";
}

/** The class for an error status. */
export function errorClass(status: number): typeof ApiError {
  if (status === 401) return AuthenticationError;
  if (status === 403) return PermissionDeniedError;
  if (status === 404) return NotFoundError;
  if (status === 408) return ApiTimeoutError;
  if (status === 410) return GoneError;
  if (status === 429) return RateLimitError;
  return status >= 500 ? ServerError : InvalidRequestError;
}
