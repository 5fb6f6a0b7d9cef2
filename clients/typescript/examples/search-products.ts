// Searches, with matches highlighted and the number of hits per category.

import { SoftwareDirectory } from "software-directory";

const directory = new SoftwareDirectory({
  apiKey: process.env["SOFTWARE_DIRECTORY_API_KEY"]!,
  baseUrl: process.env["SOFTWARE_DIRECTORY_URL"]!,
});

const page = await directory.search.products({ q: "permit to work", facets: ["category"], highlight: true, limit: 5 });
for (const hit of page.data) console.log(hit.score.toFixed(2), hit.highlights?.[0]?.html ?? hit.name);
for (const { label, count } of page.facets?.["category"] ?? []) console.log(`${count} in ${label}`);
console.log(`${page.pagination.total} products; not found: ${page.query.dropped.join(", ") || "nothing"}`);
