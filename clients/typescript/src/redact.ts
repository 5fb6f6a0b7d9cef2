// Removes the key from the texts of errors and their causes, also where a server echoes it.

export type Redact = (text: string) => string;

export function redactor(apiKey: string): Redact {
  return (text) => text.replaceAll(apiKey, "***");
}

/** A copy of what a `fetch` threw, reduced to its texts: an injected one may have tied the request's headers to it. */
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

/** Why, in a few words: the innermost reason is the one that helps ("connect ECONNREFUSED …" under "fetch failed"). */
export function reason(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause === undefined ? cause.message : `${cause.message}: ${reason(cause.cause)}`;
}
