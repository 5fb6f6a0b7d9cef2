// Comparisons in plain JavaScript, because some of the runtimes have no assertion library.

/** Throws an error with the message if the condition is false. */
export function expect(condition, message) {
  if (!condition) throw new Error(message);
}

export function expectEqual(actual, expected, what) {
  expect(
    JSON.stringify(actual) === JSON.stringify(expected),
    `${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`,
  );
}

/** Checks that a number is equal, or within `[from, to]`. */
export function expectNumber(actual, expected, what) {
  const [from, to] = Array.isArray(expected) ? expected : [expected, expected];
  expect(actual >= from && actual <= to, `${what}: ${actual} instead of ${JSON.stringify(expected)}`);
}

/** Compares objects by key and arrays element by element, with the same length; everything else must be equal. */
export function expectContains(actual, expected, what) {
  if (typeof expected !== "object" || expected === null) {
    expectEqual(actual, expected, what);
    return;
  }
  expect(
    typeof actual === "object" && actual !== null,
    `${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`,
  );
  if (Array.isArray(expected)) expectEqual(actual.length, expected.length, `${what}.length`);
  for (const [key, value] of Object.entries(expected)) expectContains(actual[key], value, `${what}.${key}`);
}

/** Runs named checks one after the other and returns the result of each. */
export async function report(checks) {
  const results = [];
  for (const { name, run } of checks) {
    try {
      await run();
      results.push({ name });
    } catch (error) {
      results.push({ name, failure: String(error?.stack ?? error) });
    }
  }
  return results;
}
