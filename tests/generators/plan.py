"""The calls that each generated client makes, derived from the document, with the service's responses."""

import json
import urllib.parse

from service import ADDED, CHECKOUT, Failure

PAGE = 100
# A search whose response contains everything that a search can report.
HIGHLIGHTED = {"q": "safety management", "highlight": True, "limit": PAGE}
# An export's lists, and the member by which their records are recognised in responses.
MEMBERS = {"software": "id", "reviews": "id", "categories": "name", "glossary": "term"}


def plain(value):
    """Removes the added member, and null members, which some clients omit when they serialise a record."""
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items() if member is not None and name != ADDED}
    return [plain(item) for item in value] if isinstance(value, list) else value


class Plan:
    """Calls with their responses."""

    def __init__(self, document, get):
        self.document, self.get, self.calls = document, get, []
        operations = {path: item["get"] for path, item in document["paths"].items()}
        lists = {path: operation for path, operation in operations.items() if "{" not in path}
        self.ids = {path: self.page_through(path, operation) for path, operation in lists.items()}
        for path, operation in operations.items():
            if "{" in path:
                # If there's no list for a path, its id is a product's.
                ids = self.ids.get(path.partition("/{")[0]) or self.ids["/v1/software"]
                for identifier in ids:
                    self.call(path, operation, {"id": identifier})
            examples = simple_examples(operation)
            if "since" in examples:
                # A server that has only just started doesn't know any earlier generation.
                examples["since"] = self.call(path, operation, {})["to"]
            if all(p["name"] in examples for p in operation.get("parameters", []) if p.get("required")):
                self.call(path, operation, examples)

    def page_through(self, path, operation):
        """Reads all pages of a list, and returns the ids on them."""
        parameters = {parameter["name"] for parameter in operation.get("parameters", [])}
        needed = {p["name"]: p["example"] for p in operation.get("parameters", []) if p.get("required")}
        if "offset" not in parameters:
            self.call(path, operation, needed)
            return []
        ids, offset, total = [], 0, 1
        while offset < total:
            answer = self.call(path, operation, {**needed, "limit": PAGE, "offset": offset})
            ids += [item["id"] for item in answer["data"] if "id" in item]
            offset, total = offset + PAGE, answer["pagination"]["total"]
        if "highlight" in parameters:
            self.call(path, operation, HIGHLIGHTED)
        return ids

    def call(self, path, operation, values):
        """Adds a call and returns the service's response."""
        parameters = operation.get("parameters", [])
        arguments = [
            {"name": p["name"], "in": p["in"], "value": values[p["name"]]} for p in parameters if p["name"] in values
        ]
        url, query = path, []
        for argument in arguments:
            text = json.dumps(argument["value"]) if isinstance(argument["value"], bool) else str(argument["value"])
            if argument["in"] == "path":
                url = url.replace(f"{{{argument['name']}}}", urllib.parse.quote(text, safe=""))
            else:
                query.append((argument["name"], text))
        url += f"?{urllib.parse.urlencode(query)}" if query else ""
        if earlier := next((call for call in self.calls if call["url"] == url), None):
            return earlier["answer"]
        schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
        answers = schema["$ref"].rpartition("/")[2] if "$ref" in schema else None
        answer = self.get(url)
        self.calls.append({
            "operation": operation["operationId"], "tag": operation["tags"][0], "path": path, "url": url,
            "parameters": [parameter["name"] for parameter in parameters], "arguments": arguments,
            "answers": answers, "answer": answer,
        })
        return answer

    def needs_all_bundled(self):
        """Raises an error if the calls miss any record in the bundled exports."""
        for kind, member in MEMBERS.items():
            answers = [call["answer"] for call in self.calls if call["path"].startswith(f"/v1/{kind}")]
            lists = [answer["data"] for answer in answers if isinstance(answer["data"], list)]
            found = {record.get(member) for data in lists for record in data}
            for file in [*sorted((CHECKOUT / "data").glob("*.json")), CHECKOUT / "demo" / "demo.json"]:
                wanted = {record[member] for record in json.loads(file.read_text()).get(kind, [])}
                if wanted - found:
                    raise Failure(f"no call returns these {kind} from {file.name}: {sorted(wanted - found)}")

    def summary(self):
        """Describes the plan."""
        operations = {call["operation"] for call in self.calls}
        records = {(call["path"], id) for call in self.calls for id in self.ids.get(call["path"], [])}
        return f"{len(self.calls)} calls to {len(operations)} operations; {len(records)} records in lists"


def simple_examples(operation):
    """Examples for parameters that are written the same way in every language: strings, numbers, flags."""
    examples = {}
    for parameter in operation.get("parameters", []):
        schema = parameter["schema"]
        if "example" in parameter and schema["type"] != "array" and not {"enum", "format"} & set(schema):
            examples[parameter["name"]] = parameter["example"]
    return examples
