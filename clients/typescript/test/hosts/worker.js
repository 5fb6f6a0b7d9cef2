// The suite as a worker: any request runs it and gets the results.

import * as sdk from "../../dist/esm/index.js";
import { report } from "../suite/check.js";
import { conformanceChecks } from "../suite/conformance.js";
import { directoryChecks } from "../suite/directory.js";
import document from "./cases.json";

export default {
  async fetch(_request, { CONFIG: config }) {
    const results = await report([
      ...conformanceChecks({ ...config, sdk, document }),
      ...directoryChecks({ ...config, sdk }),
    ]);
    return Response.json({ results });
  },
};
