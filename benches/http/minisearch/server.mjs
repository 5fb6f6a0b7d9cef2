// MiniSearch behind Fastify, as their documentation shows them: all words, the best ten and the count.
//   node server.mjs EXPORT [typo]
import { readFileSync } from "node:fs";
import Fastify from "fastify";
import MiniSearch from "minisearch";

const [file, typo] = process.argv.slice(2);
const { software } = JSON.parse(readFileSync(file, "utf8"));
const index = new MiniSearch({
  fields: ["name", "tagline", "description"],
  storeFields: ["id", "name", "tagline", "description"],
});
index.addAll(software);
const options = { combineWith: "AND", ...(typo ? { fuzzy: 0.2, prefix: true } : {}) };

const app = Fastify();
app.get("/search", async (request) => {
  const found = index.search(request.query.q, options);
  return { data: found.slice(0, 10), total: found.length };
});
const address = await app.listen({ host: "127.0.0.1", port: 0 });
console.log(`Listening on ${address}`);
