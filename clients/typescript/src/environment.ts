// Platform properties: environment variables, and whether a program may set its user agent.

interface Platform {
  process?: { env?: Record<string, string | undefined>; versions?: { node?: string } };
  Deno?: { env: { get(name: string): string | undefined } };
  document?: unknown;
  navigator?: { userAgent?: string };
}

const platform = globalThis as unknown as Platform;

/** An environment variable; undefined if it's empty, or if the platform has no environment or doesn't allow reading it. */
export function variable(name: string): string | undefined {
  try {
    const { process, Deno } = platform;
    return (process?.env ? process.env[name] : Deno?.env.get(name)) || undefined;
  } catch {
    // Deno without --allow-env.
    return undefined;
  }
}

/** Whether requests may set `user-agent`. On a web page, it would need the server's permission (CORS), like any header. */
export function maySetUserAgent(): boolean {
  const { process, document, navigator } = platform;
  const agent = navigator?.userAgent ?? "";
  return document === undefined && (process?.versions?.node !== undefined || /^(Deno|Cloudflare)/.test(agent));
}
