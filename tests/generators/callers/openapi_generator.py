"""Makes a plan's calls with openapi-generator's Python client. Prints each response as its models read it, as a line of JSON."""

import json
import pathlib
import re
import sys

folder, address, key, plan = sys.argv[1:]
sys.path.insert(0, folder)
import software_directory_generated as generated  # noqa: E402 (the folder is an argument)

client = generated.ApiClient(generated.Configuration(host=address, access_token=key))
for call in json.loads(pathlib.Path(plan).read_text()):
    api = getattr(generated, f"{call['tag']}Api")(client)
    operation = getattr(api, re.sub(r"(?<!^)(?=[A-Z])", "_", call["operation"]).lower())
    try:
        answer = operation(**{argument["name"]: argument["value"] for argument in call["arguments"]})
        print(json.dumps({"answer": answer.to_dict() if hasattr(answer, "to_dict") else answer}))
    except Exception as error:  # noqa: BLE001 (any refusal is a finding)
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}))
