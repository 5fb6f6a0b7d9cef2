// Keeps a copy of the directory in a file: a line with its generation, then one line per product, sorted by id.
//
//   node mirror.ts FILE [SECONDS]
//
// With SECONDS, it checks for changes again after each pause. The first time, it downloads the exports. Later it fetches
// only the products that changed, or the exports again if many changed or the server no longer knows the copy's
// generation. The file is replaced only once the new one is complete, so the mirror can be killed at any time.

import { readFile, rename, writeFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { type Change, GenerationChangedError, GoneError, NotFoundError, SoftwareDirectory } from "software-directory";

/** Up to this many changed products are fetched one by one. */
const MAX_SINGLE = 100;

/** The members that the mirror keeps: those that are the same in an export and in the API. */
interface Product {
  id: string;
  name: string;
  website: string;
  tagline: string | null;
  vendor: string | null;
  evidence_status: string;
  evidence_checked_on: string | null;
}

interface Copy {
  generation: string;
  products: Map<string, Product>;
}

const directory = new SoftwareDirectory({
  apiKey: process.env["SOFTWARE_DIRECTORY_API_KEY"]!,
  baseUrl: process.env["SOFTWARE_DIRECTORY_URL"]!,
  // All parts of a copy must be from the same generation; otherwise, the copy is started again.
  generationChange: "raise",
});
const [file = "mirror.jsonl", seconds] = process.argv.slice(2);

function keep(record: Omit<Product, "website">, website: string): Product {
  const { id, name, tagline, vendor, evidence_status, evidence_checked_on } = record;
  return {
    id,
    name,
    website,
    tagline: tagline ?? null,
    vendor: vendor ?? null,
    evidence_status,
    evidence_checked_on: evidence_checked_on ?? null,
  };
}

class Moved extends Error {}

/** Throws if a response is from a different generation than the copy in progress. */
function check(response: Response, generation: string): void {
  if (response.headers.get("x-generation") !== generation) throw new Moved();
}

async function byExport(): Promise<Copy> {
  const { to: generation } = await directory.changes.since();
  const products = new Map<string, Product>();
  const exports = await directory.exports.list({ limit: 100 }).withResponse();
  check(exports.response, generation);
  for await (const { id, id_prefix } of exports.data) {
    const { body, response } = await directory.exports.stream(id);
    const document = (await new Response(body).json()) as {
      software?: (Omit<Product, "website"> & { url: string })[];
    };
    check(response, generation);
    for (const record of document.software ?? []) {
      // Ids in a download don't have the export's prefix.
      const product = { ...record, id: (id_prefix ?? "") + record.id };
      products.set(product.id, keep(product, record.url));
    }
  }
  return { generation, products };
}

async function byRecord(copy: Copy, generation: string, changes: Change[]): Promise<Copy> {
  const products = new Map(copy.products);
  for (const { id, change } of changes) {
    if (change === "removed") {
      products.delete(id);
      continue;
    }
    const { data, response } = await directory.software.get(id).withResponse();
    check(response, generation);
    products.set(id, keep(data, data.website));
  }
  return { generation, products };
}

/** The next copy and how it was made. */
async function next(copy: Copy | undefined): Promise<[Copy, string]> {
  if (!copy) return [await byExport(), "by export"];
  try {
    const changes: Change[] = [];
    let generation = copy.generation;
    for await (const page of directory.changes.since(copy.generation).pages()) {
      if (page.pagination.total > MAX_SINGLE) return [await byExport(), "by export"];
      generation = page.to;
      changes.push(...page.data);
    }
    return [await byRecord(copy, generation, changes), "by record"];
  } catch (error) {
    if (error instanceof GoneError) return [await byExport(), "by export"];
    throw error;
  }
}

async function read(): Promise<Copy | undefined> {
  const text = await readFile(file, "utf8").catch(() => "");
  const [head, ...lines] = text.split("\n").filter(Boolean);
  if (!head) return undefined;
  const products = lines.map((line): [string, Product] => [JSON.parse(line).id, JSON.parse(line)]);
  return { generation: JSON.parse(head).generation, products: new Map(products) };
}

async function write({ generation, products }: Copy): Promise<void> {
  const sorted = [...products.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  await writeFile(`${file}.part`, [{ generation }, ...sorted].map((line) => `${JSON.stringify(line)}\n`).join(""));
  await rename(`${file}.part`, file);
}

let copy = await read();
for (;;) {
  try {
    const [newer, how] = await next(copy);
    if (newer.generation !== copy?.generation) {
      await write(newer);
      console.log(`${how}: ${newer.products.size} products from generation ${newer.generation}`);
    }
    copy = newer;
    if (seconds === undefined) break;
    await pause(Number(seconds) * 1000);
  } catch (error) {
    // The directory changed meanwhile. Start again from the old copy.
    const moved = error instanceof Moved || error instanceof GenerationChangedError || error instanceof NotFoundError;
    if (!moved) throw error;
    await pause(100);
  }
}
