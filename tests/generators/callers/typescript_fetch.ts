// Makes a plan's calls with openapi-generator's typescript-fetch client. Prints each response as its models read it and write
// it back, as a line of JSON.
import { readFileSync } from "node:fs";
import * as generated from "./generated/index";

interface Call {
  operation: string;
  tag: string;
  answers: string | null;
  arguments: { name: string; value: unknown }[];
}

const [address, key, plan] = process.argv.slice(2) as [string, string, string];
const configuration = new generated.Configuration({ basePath: address, accessToken: key });
const all = generated as unknown as Record<string, any>;
const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

async function main() {
  for (const call of JSON.parse(readFileSync(plan, "utf8")) as Call[]) {
    const values = Object.fromEntries(call.arguments.map(({ name, value }) => [camel(name), value]));
    try {
      const api = new all[`${call.tag}Api`](configuration);
      const answer = await api[call.operation](values);
      const written = call.answers === null ? answer : all[`${call.answers}ToJSON`](answer);
      console.log(JSON.stringify({ answer: written }));
    } catch (error) {
      console.log(JSON.stringify({ error: String(error) }));
    }
  }
}
void main();
