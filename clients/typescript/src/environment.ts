// Properties of the platform: environment variables, and whether a program may set its user agent.

interface Platform {
  process?: { env?: Record<string, string | undefined>; versions?: { node?: string } };
  Deno?: { env: { get(name: string): string | undefined } };
  document?: unknown;
  navigator?: { userAgent?: string };
}

const platform = globalThis as unknown as Platform;

/** A variable of the environment; undefined if it is empty, or where there is no environment or no permission to read it. */
export function variable(name: string): string | undefined {
  try {
    const { process, Deno } = platform;
    return (process?.env ? process.env[name] : Deno?.env.get(name)) || undefined;
  } catch {
    // Deno without --allow-env.
    return undefined;
  }
}

/** Whether requests may have a `user-agent`. On a page it would need the server's permission (CORS), as any header would. */
export function maySetUserAgent(): boolean {
  const { process, document, navigator } = platform;
  const agent = navigator?.userAgent ?? "";
  return document === undefined && (process?.versions?.node !== undefined || /^(Deno|Cloudflare)/.test(agent));
}
