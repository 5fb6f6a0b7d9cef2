"""Makes a plan's calls with openapi-python-client's client. Prints each response as its models read it, as a line of JSON."""

import importlib
import json
import pathlib
import re
import sys

folder, address, key, plan = sys.argv[1:]
sys.path.insert(0, folder)
generated = importlib.import_module("software_directory_generated")

client = generated.AuthenticatedClient(base_url=address, token=key)
for call in json.loads(pathlib.Path(plan).read_text()):
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", call["operation"]).lower()
    try:
        operation = importlib.import_module(f"software_directory_generated.api.{call['tag'].lower()}.{name}")
        arguments = {argument["name"]: argument["value"] for argument in call["arguments"]}
        answer = operation.sync_detailed(**arguments, client=client).parsed
        print(json.dumps({"answer": answer.to_dict()}))
    except Exception as error:  # noqa: BLE001 (any refusal is a finding)
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}))
