// MiniSearch behind Fastify, as their documentation shows them: all words required, the top ten
// and the count.
//
//   node server.mjs EXPORT
import { readFileSync } from "node:fs";
import Fastify from "fastify";
import MiniSearch from "minisearch";

const { software } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const index = new MiniSearch({
  fields: ["name", "tagline", "description"],
  storeFields: ["id", "name", "tagline", "description"],
});
index.addAll(software);

const app = Fastify();
app.get("/search", async (request) => {
  const found = index.search(request.query.q, { combineWith: "AND" });
  return { data: found.slice(0, 10), total: found.length };
});
const address = await app.listen({ host: "127.0.0.1", port: 0 });
console.log(`Listening on ${address}`);
