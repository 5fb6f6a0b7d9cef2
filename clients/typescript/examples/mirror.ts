// Keeps a copy of the directory in a file: one line for its generation, then one product a line, by id.
//
//   node mirror.ts FILE [SECONDS]
//
// With SECONDS it looks again after each pause. The first time it downloads the exports; later it gets the products that
// changed one by one, or the exports again if many did or the server doesn't have the copy's generation any more. The file is
// replaced when the new one is whole, so the mirror can be killed at any time.

import { readFile, rename, writeFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { type Change, GenerationChangedError, GoneError, NotFoundError, SoftwareDirectory } from "software-directory";

/** The most changed products that are got one by one. */
const MAX_SINGLE = 100;

/** What the mirror keeps of a product: members that an export and the API have alike. */
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
  // All parts of a copy are of one generation, or it begins again.
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

/** Fails if an answer is of another generation than the copy that is made. */
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
      // A download has the ids as they are in the file.
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

/** The next copy, and how it was made. */
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
      console.log(`${how}: ${newer.products.size} products of generation ${newer.generation}`);
    }
    copy = newer;
    if (seconds === undefined) break;
    await pause(Number(seconds) * 1000);
  } catch (error) {
    // The directory changed meanwhile: begin again, with the copy as it is.
    const moved = error instanceof Moved || error instanceof GenerationChangedError || error instanceof NotFoundError;
    if (!moved) throw error;
    await pause(100);
  }
}
