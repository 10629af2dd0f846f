"""The modules of others that pgo.sh tries, and what each is made to do: work of a fixed size, so that the CPU time of two runs
can be compared. What stands in braces is put in: the program, the file for a profile, an empty folder."""
import os
import subprocess
import sys

GITLEAKS = "dir cmd/generate --no-banner --log-level error --exit-code 0"
ROUNDS = 100  # the most runs for profiles: short ones give some thirty samples each
BENCH = "{bin} -test.run=^$ -test.timeout=0 "

# name: what the issue calls it; module and version, "" for a driver of ours that calls one; package with the benchmarks, if it has
# some; what to run, and with a profile.
LOADS = [
    {
        "name": "markdown renderer", "module": "github.com/gomarkdown/markdown@v0.0.0-20260411013819-759bbc3e3207", "package": ".",
        "bench": "^BenchmarkReference$", "times": "250x",
    },
    {
        "name": "JSON codec", "module": "github.com/segmentio/encoding@v0.5.4", "package": "./json",
        "bench": "^Benchmark(CodeMarshal|CodeUnmarshal)$", "times": "60x",
    },
    {
        "name": "another JSON codec", "module": "github.com/goccy/go-json@v0.12.0", "driver": "pgo/json",
        # On one thread, as the collector takes more or less of the others when the machine is busy: without it pairs scatter by 8 %.
        "load": "env GOMAXPROCS=1 {bin} -n 1200", "profile": "env GOMAXPROCS=1 {bin} -n 1200 -cpuprofile {profile}",
    },
    {
        "name": "regexp-heavy tool", "module": "github.com/zricethezav/gitleaks/v8@v8.30.1", "package": ".",
        "load": "{bin} " + GITLEAKS,
        "profile": """sh -c '"{bin}" """ + GITLEAKS + """ --diagnostics cpu --diagnostics-dir "{out}" && mv "{out}/cpu.pprof" "{profile}"'""",
    },
    {
        "name": "png encoder", "module": "github.com/anthonynsimon/bild@v0.14.0", "driver": "pgo/png",
        "load": "{bin} -n 20 -size 512", "profile": "{bin} -n 20 -size 512 -cpuprofile {profile}",
    },
]


def find(name):
    for load in LOADS:
        if load["name"] == name:
            return load
    sys.exit(f"no load named {name}; loads: " + ", ".join(x["name"] for x in LOADS))


def folder(load):
    """The module as it lies in the module cache, which is read-only; of a driver its own folder."""
    if "driver" in load:
        return os.path.join(os.path.dirname(os.path.abspath(__file__)), load["driver"])
    path, version = load["module"].split("@")
    escaped = "".join("!" + c.lower() if c.isupper() else c for c in path)
    cache = subprocess.run(["go", "env", "GOMODCACHE"], check=True, capture_output=True, text=True).stdout.strip()
    at = os.path.join(cache, escaped + "@" + version)
    if not os.path.isdir(at):
        subprocess.run(["go", "mod", "download", load["module"]], check=True, cwd="/", env={**os.environ, "GOWORK": "off"})
    return at


def workdir(load):
    """Where it runs: as go test does, in the folder of the package."""
    return os.path.normpath(os.path.join(folder(load), load.get("package", ".")))


def build(load, to, pgo, *flags):
    """Builds it with the plain go command."""
    words = ["go", "test", "-c", "-vet=off"] if "bench" in load else ["go", "build"]
    words += ["-buildvcs=false", "-pgo=" + pgo, *flags, "-o", to, load.get("package", ".")]
    subprocess.run(words, check=True, cwd=folder(load))


def command(load, profiled):
    """The command line of a run, with its braces."""
    if "bench" in load:
        return f"{BENCH} '-test.bench={load['bench']}' -test.benchtime={load['times']}" + (" -test.cpuprofile={profile}" if profiled else "")
    return load["profile" if profiled else "load"]
