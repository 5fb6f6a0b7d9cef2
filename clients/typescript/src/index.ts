// The public API. Names that aren't exported here are private and may change.

export type { Bytes } from "./body.js";
export { SoftwareDirectory } from "./client.js";
export {
  ApiConnectionError,
  ApiError,
  ApiTimeoutError,
  AuthenticationError,
  GenerationChangedError,
  GoneError,
  InvalidRequestError,
  InvalidResponseError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
} from "./errors.js";
export type { ErrorDetails } from "./errors.js";
export type { Page, PagePromise, Paging } from "./page.js";
export type { ApiPromise, WithResponse } from "./promise.js";
export type { DownloadOptions, ExportStream } from "./resources/exports.js";
export type {
  ClientOptions,
  Fetch,
  GenerationChange,
  Logger,
  RecordOptions,
  RequestOptions,
  RetryEvent,
  Sleep,
} from "./settings.js";
export type * from "./types.js";
