// Makes a plan's calls with openapi-fetch and the types from openapi-typescript. Prints each response as a line of JSON. In
// answers.ts, which check.py writes, the compiler checks that the responses have these types.
import { readFileSync } from "node:fs";
import createClient from "openapi-fetch";
import type { components, paths } from "./generated/schema";

interface Call {
  path: string;
  arguments: { name: string; in: "path" | "query"; value: unknown }[];
}

const [address, key, plan] = process.argv.slice(2) as [string, string, string];
const client = createClient<paths>({ baseUrl: address, headers: { Authorization: `Bearer ${key}` } });

/** A typed call, as programs would write it. */
export async function product(id: string): Promise<components["schemas"]["SoftwareDetail"] | undefined> {
  const { data } = await client.GET("/v1/software/{id}", { params: { path: { id } } });
  return data?.data;
}

async function main() {
  for (const call of JSON.parse(readFileSync(plan, "utf8")) as Call[]) {
    const of = (place: string) =>
      Object.fromEntries(call.arguments.filter((one) => one.in === place).map(({ name, value }) => [name, value]));
    const params = { path: of("path"), query: of("query") };
    const { data, error } = await client.GET(call.path as "/v1/software", { params } as Record<string, unknown>);
    console.log(JSON.stringify(data === undefined ? { error: JSON.stringify(error) } : { answer: data }));
  }
}
void main();
