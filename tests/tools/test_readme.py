#!/usr/bin/env python3
"""Tests that readme.py runs the right blocks, and fails if a document is wrong."""

import pathlib
import tempfile
import unittest

import readme

# Stands in for the product: `serve` answers every request with the same JSON, and other commands print their arguments.
PRODUCT = """#!/usr/bin/env python3
import http.server, os, sys
if sys.argv[1:] not in ([], ["serve"]):
    print(" ".join(sys.argv[1:]))
    sys.exit(3 if "fail" in sys.argv else 0)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = ('{"path": "%s", "host": "%s", "n": [1, 2, 3]}' % (self.path, self.headers["Host"])).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
host, port = os.environ["SOFTWARE_DIRECTORY_LISTEN"].split(":")
server = http.server.HTTPServer((host, int(port)), Handler)
print("Serving on http://%s:%d" % server.server_address, flush=True)
server.serve_forever()
"""


def fenced(info, text):
    return f"```{info}\n{text}\n```\n"


class Documents(unittest.TestCase):
    def run_document(self, *parts):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            binary = folder / "product"
            binary.write_text(PRODUCT)
            binary.chmod(0o755)
            document = folder / "DOCUMENT.md"
            document.write_text("".join(parts))
            root = folder / "root"
            root.mkdir()
            (root / "file.txt").write_text("from the checkout\n")
            return readme.test(document, root, binary)

    def assert_fails(self, said, *parts):
        with self.assertRaises(readme.Failure) as caught:
            self.run_document(*parts)
        self.assertIn(said, str(caught.exception))

    def test_commands_run_in_a_copy_and_talk_to_the_server_on_its_own_port(self):
        counted = self.run_document(
            fenced("sh", "exit 9"),
            fenced("sh test", "cat file.txt; echo changed > file.txt"),
            fenced("text answer", "from the checkout"),
            fenced("sh test serve", "cargo run --release"),
            fenced("sh test", "curl -s http://127.0.0.1:8080/v1"),
            fenced("json answer", '{"path": "/v1", "host": "127.0.0.1:8080", "n": [1, "…"]}'),
            fenced("sh test", "cargo run --release -- check data\nsoftware-directory keys"),
            fenced("text answer", "check data\nkeys"),
        )
        self.assertEqual(counted, (4, 3))

    def test_a_failing_command_fails(self):
        self.assert_fails("DOCUMENT.md:1: exit code 3", fenced("sh test", "software-directory fail"))
        self.assert_fails("exit code", fenced("sh test", "false\necho hidden"))
        self.assert_fails("exit code", fenced("sh test", "false | cat"))

    def test_a_different_answer_fails(self):
        self.assert_fails("/a is 2, not 1", fenced("sh test", "echo '{\"a\": 2}'"), fenced("json answer", '{"a": 1}'))
        self.assert_fails("the output is", fenced("sh test", "echo b"), fenced("text answer", "a"))
        self.assert_fails("not JSON", fenced("sh test", "echo b"), fenced("json answer", "{}"))

    def test_a_server_that_exits_or_prints_no_address_fails(self):
        self.assert_fails("address", fenced("sh test serve", "echo hello; exit 1"))
        self.assert_fails("isn't ready", fenced("sh test serve", "echo http://127.0.0.1:1; exit 1"))

    def test_a_document_without_marked_blocks_fails(self):
        self.assert_fails("no block is marked", fenced("sh", "true"))

    def test_the_readme_and_all_marked_documents_are_tested(self):
        with tempfile.TemporaryDirectory() as temporary:
            root = pathlib.Path(temporary)
            (root / "docs").mkdir()
            for name, text in [("README.md", ""), ("docs/b.md", fenced("sh test", "true")), ("docs/a.md", fenced("sh", "true"))]:
                (root / name).write_text(text)
            self.assertEqual(readme.documents_of(root), [root / "README.md", root / "docs/b.md"])
            (root / "docs/a.md").write_text(fenced("sh tset", "true"))
            with self.assertRaises(readme.Failure):
                readme.documents_of(root)

    def test_a_misspelled_mark_fails(self):
        self.assert_fails("unknown mark", fenced("sh test", "true"), fenced("sh tests", "true"))
        self.assert_fails("must follow", fenced("json answer", "{}"), fenced("sh test", "true"))
        self.assert_fails("never closed", "```sh test\ntrue\n")


class Answers(unittest.TestCase):
    def test_json_matches_except_where_left_open(self):
        for written, actual in [
            ({"a": 1}, {"a": 1}), ({"a": "…"}, {"a": [1]}), ({"a": 1, "…": "…"}, {"a": 1, "b": 2}), ([1, "…"], [1, 2, 3]),
            ([1, "…"], [1]), ("id-…-x", "id-42-x"), (None, None), ("…", None),
        ]:
            self.assertIsNone(readme.json_difference(written, actual), (written, actual))

    def test_json_that_differs_doesnt_match(self):
        for written, actual in [
            ({"a": 1}, {"a": 1, "b": 2}), ({"a": 1}, {}), ({"a": "…"}, {}), ([1], [1, 2]), ([1, 2, "…"], [1]), (1, True),
            (1, 1.5), ("a…", "ba"), (None, 0), ({}, []), ("1", 1),
        ]:
            self.assertIsNotNone(readme.json_difference(written, actual), (written, actual))

    def test_text_matches_line_by_line_except_where_left_open(self):
        for written, actual in [("a\nb", "a\r\nb\n"), ("a\n…\nd", "a\nb\nc\nd"), ("a …", "a b"), ("a\n…", "a"), ("…\nz", "x\ny\nz")]:
            self.assertIsNone(readme.text_difference(written, actual), (written, actual))
        for written, actual in [("a", "a\nb"), ("a\nb", "a"), ("a\n…\nd", "a\nb"), ("a.c", "abc")]:
            self.assertIsNotNone(readme.text_difference(written, actual), (written, actual))


if __name__ == "__main__":
    unittest.main()
