// Makes a plan's calls with @hey-api/openapi-ts' client, which validates each response with its Zod schemas. Prints each
// response as a line of JSON.
import { readFileSync } from "node:fs";
import * as sdk from "./generated/index";
import { client } from "./generated/client.gen";

interface Call {
  operation: string;
  arguments: { name: string; in: "path" | "query"; value: unknown }[];
}

const [address, key, plan] = process.argv.slice(2) as [string, string, string];
client.setConfig({ baseUrl: address, auth: key, throwOnError: true });
const operations = sdk as unknown as Record<string, (options: object) => Promise<{ data: unknown }>>;
// Zod reads 64-bit integers as bigint, but the directory's integers all fit in a number exactly.
const plain = (_: string, value: unknown) => (typeof value === "bigint" ? Number(value) : value);

async function main() {
  for (const call of JSON.parse(readFileSync(plan, "utf8")) as Call[]) {
    // If an operation has no parameters, Zod rejects even an empty object.
    const options: Record<string, Record<string, unknown>> = {};
    for (const { name, in: place, value } of call.arguments) (options[place] ??= {})[name] = value;
    try {
      const { data } = await operations[call.operation]!(options);
      console.log(JSON.stringify({ answer: data }, plain));
    } catch (error) {
      console.log(JSON.stringify({ error: error instanceof Error ? error.message : JSON.stringify(error) }));
    }
  }
}
void main();
