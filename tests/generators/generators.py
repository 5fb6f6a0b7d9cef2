"""The generators: how to run each one, compile its client, and make a plan's calls with it."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

from service import CHECKOUT, Failure

HERE = pathlib.Path(__file__).resolve().parent
WORK = CHECKOUT / ".tools" / "generators"
DOCUMENT = WORK / "openapi.json"
CALLERS = HERE / "callers"
NODE = HERE / "node_modules" / ".bin"
PACKAGE = "software_directory_generated"

OPENAPI_GENERATOR = "7.25.0"
OPENAPI_GENERATOR_SHA256 = "41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae"


def write(document):
    """Writes the document where the generators read it."""
    WORK.mkdir(parents=True, exist_ok=True)
    DOCUMENT.write_text(json.dumps(document, indent=2))


def run(*command, folder=WORK, **environment):
    """Runs a command and returns its output."""
    command = [str(part) for part in command]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "NO_PROXY": "127.0.0.1", **environment}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False,
    )
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)}: exit code {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def fresh(folder):
    """Empties or creates a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


class Generator:
    """A generator and the client that it generates."""

    name: str

    @property
    def folder(self):
        return WORK / self.name

    def generate(self):
        raise NotImplementedError

    def compile(self, plan):
        raise NotImplementedError

    def command(self):
        """The program that makes the calls, without arguments."""
        raise NotImplementedError

    def call(self, server, plan, folder):
        """Runs the caller. Returns its output lines, one for each call in the plan."""
        file = folder / "plan.json"
        file.write_text(json.dumps([{**call, "answer": None} for call in plan.calls]))
        return run(*self.command(), server.address, server.key, file, folder=self.folder).splitlines()


class OpenapiGenerator(Generator):
    """openapi-generator, a Java program."""

    language: str
    options = ()

    @property
    def name(self):
        return f"openapi-generator-{self.language}"

    def generate(self):
        run(
            "java", "-jar", jar(), "generate", "--generator-name", self.language, "--input-spec", DOCUMENT, "--output",
            fresh(self.folder) / "generated", *self.options,
        )


class Python(OpenapiGenerator):
    language = "python"
    options = ("--package-name", PACKAGE)

    def compile(self, plan):
        run(sys.executable, "-m", "compileall", "-q", self.folder / "generated" / PACKAGE)

    def command(self):
        return sys.executable, CALLERS / "openapi_generator.py", self.folder / "generated"


class Go(OpenapiGenerator):
    language = "go"
    # /docs recommends this. Otherwise the client rejects members that a newer server adds.
    options = (
        "--additional-properties", "packageName=generated,withGoMod=false,disallowAdditionalPropertiesIfNotPresent=false",
        "--name-mappings", "additional_properties=Uninterpreted",
    )

    def compile(self, plan):
        (self.folder / "go.mod").write_text("module software-directory.example\n\ngo 1.21\n")
        shutil.copy(CALLERS / "openapi_generator.go", self.folder / "main.go")
        shutil.rmtree(self.folder / "generated" / "test", ignore_errors=True)
        run("go", "build", "-o", "caller", ".", folder=self.folder, GOFLAGS="-mod=mod", GOPROXY="off")

    def command(self):
        return (self.folder / "caller",)


class Java(OpenapiGenerator):
    language = "java"
    # Otherwise an absent list comes back as an empty one.
    options = ("--library", "native", "--additional-properties", "containerDefaultToNull=true")

    def compile(self, plan):
        sources = sorted((self.folder / "generated" / "src" / "main").rglob("*.java"))
        arguments = self.folder / "sources"
        arguments.write_text("\n".join(f'"{path}"' for path in [*sources, CALLERS / "OpenapiGenerator.java"]))
        run("javac", "-nowarn", "-d", self.folder / "classes", "-cp", java_libraries(), f"@{arguments}")

    def command(self):
        path = os.pathsep.join([str(self.folder / "classes"), java_libraries()])
        return "java", "-cp", path, "OpenapiGenerator"


class InNode(Generator):
    """A TypeScript client compiled for Node."""

    caller: str

    def compile(self, plan):
        shutil.copy(CALLERS / f"{self.caller}.ts", self.folder / "caller.ts")
        shutil.copy(HERE / "tsconfig.json", self.folder)
        # Both the compiler and the program look for packages in the parent folders.
        modules = self.folder / "node_modules"
        modules.unlink(missing_ok=True)
        modules.symlink_to(HERE / "node_modules")
        run(NODE / "tsc", "--project", self.folder)

    def command(self):
        return "node", self.folder / "compiled" / "caller.js"


class TypescriptFetch(InNode, OpenapiGenerator):
    language = "typescript-fetch"
    caller = "typescript_fetch"


class HeyApi(InNode):
    name = "hey-api"
    caller = "hey_api"

    def generate(self):
        config = fresh(self.folder) / "openapi-ts.config.mjs"
        config.write_text("export default " + json.dumps({
            "input": str(DOCUMENT), "output": str(self.folder / "generated"),
            "plugins": ["@hey-api/client-fetch", "zod", {"name": "@hey-api/sdk", "validator": True}],
        }))
        run(NODE / "openapi-ts", "--file", config)


class OpenapiTypescript(InNode):
    name = "openapi-typescript"
    caller = "openapi_typescript"

    def generate(self):
        run(NODE / "openapi-typescript", DOCUMENT, "--output", fresh(self.folder) / "generated" / "schema.d.ts")

    def compile(self, plan):
        typed = [
            f"export const answer{number}: paths[{json.dumps(call['path'])}]"
            f'["get"]["responses"][200]["content"]["application/json"] = {json.dumps(call["answer"])};\n'
            for number, call in enumerate(plan.calls)
        ]
        head = 'import type { paths } from "./generated/schema";\n'
        (self.folder / "answers.ts").write_text(head + "".join(typed))
        super().compile(plan)


class OpenapiPythonClient(Generator):
    name = "openapi-python-client"

    def generate(self):
        program = pathlib.Path(sys.executable).with_name("openapi-python-client")
        config = fresh(self.folder) / "config.json"
        config.write_text(json.dumps({"post_hooks": []}))
        document = self.folder / "openapi.json"
        document.write_text(json.dumps(self.without_clash(json.loads(DOCUMENT.read_text()))))
        run(
            program, "generate", "--path", document, "--meta", "none", "--config", config, "--fail-on-warning",
            "--output-path", self.folder / PACKAGE, folder=self.folder,
        )

    @staticmethod
    def without_clash(document):
        """The document, changed as recommended in /docs. A model that accepts unknown members keeps them under the name
        `additional_properties`, which is already a property here, and no setting renames it.
        """
        for schema in document["components"]["schemas"].values():
            if "additional_properties" in schema.get("properties", {}):
                schema["additionalProperties"] = False
        return document

    def compile(self, plan):
        run(sys.executable, "-m", "compileall", "-q", self.folder / PACKAGE)

    def command(self):
        return sys.executable, CALLERS / "openapi_python_client.py", self.folder


ALL = (Python, Go, TypescriptFetch, Java, OpenapiPythonClient, HeyApi, OpenapiTypescript)

def choose(names):
    """The generators with these names, or all of them."""
    generators = [generator for generator in (kind() for kind in ALL) if not names or generator.name in names]
    unknown = set(names) - {generator.name for generator in generators}
    if unknown:
        raise Failure(f"no generator {', '.join(sorted(unknown))}; choose from {', '.join(kind().name for kind in ALL)}")
    return generators


def jar():
    """openapi-generator from Maven Central, verified against a known hash."""
    path = WORK / f"openapi-generator-cli-{OPENAPI_GENERATOR}.jar"
    if not path.exists():
        copy("org.openapitools:openapi-generator-cli:" + OPENAPI_GENERATOR)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != OPENAPI_GENERATOR_SHA256:
        raise Failure(f"{path} has the SHA-256 {digest} instead of {OPENAPI_GENERATOR_SHA256}; delete it and try again")
    return path


def copy(artifact):
    run("mvn", "--quiet", "--batch-mode", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={WORK}")


def java_libraries():
    """The class path with the Java client's libraries. java/pom.xml pins their versions."""
    folder = WORK / "java-libraries"
    pom = HERE / "java" / "pom.xml"
    stamp = folder / "pom.xml"
    if not stamp.exists() or stamp.read_text() != pom.read_text():
        fresh(folder)
        run("mvn", "--quiet", "--batch-mode", "--file", pom, "dependency:copy-dependencies", f"-DoutputDirectory={folder}")
        shutil.copy(pom, stamp)
    return os.pathsep.join(str(path) for path in sorted(folder.glob("*.jar")))
