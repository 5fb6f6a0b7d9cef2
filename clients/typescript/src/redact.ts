// Removes the key from error messages and their causes, even if a server echoes it.

export type Redact = (text: string) => string;

export function redactor(apiKey: string | undefined): Redact {
  return (text) => (apiKey === undefined ? text : text.replaceAll(apiKey, "***"));
}

/** A copy of what a `fetch` threw, reduced to strings, since an injected `fetch` may have attached the request's headers. */
export function redactCause(cause: unknown, redact: Redact): unknown {
  if (!(cause instanceof Error)) return redact(String(cause));
  const inner =
    cause.cause === undefined || cause.cause === cause ? undefined : { cause: redactCause(cause.cause, redact) };
  const copy: Error & { code?: string } = new Error(redact(cause.message), inner);
  copy.name = redact(String(cause.name));
  if (cause.stack) copy.stack = redact(cause.stack);
  const { code } = cause as { code?: unknown };
  if (typeof code === "string") copy.code = redact(code);
  return copy;
}

/** The messages of an error and its causes; the innermost is the helpful one ("fetch failed: connect ECONNREFUSED …"). */
export function reason(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause === undefined ? cause.message : `${cause.message}: ${reason(cause.cause)}`;
}
