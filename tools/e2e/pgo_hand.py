"""pgo_hand.py NAME FOLDER [PAIRS] [SEED]: what PGO does to a program, found out without kitescope.

Builds it twice with the go command, with a profile of its own taking, runs both in pairs in random order, and tests the CPU time
that the kernel counted for each with a Wilcoxon test written down here. The result is FOLDER/hand.json."""
import json
import math
import os
import random
import shlex
import statistics
import subprocess
import sys
import time

import pgo_loads

SAMPLES = 2000
EFFECT, LEVEL = 0.01, 0.05


def start(load, binary, profile=None, out=None):
    """Runs the load once: CPU seconds of it and all that it started."""
    places = {"{bin}": binary, "{profile}": profile or "", "{out}": out or ""}
    words = shlex.split(pgo_loads.command(load, profile is not None))
    for place, value in places.items():
        words = [w.replace(place, value) for w in words]
    child = subprocess.Popen(words, cwd=pgo_loads.workdir(load), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{words} ended with {child.returncode}: {said.decode(errors='replace')[-2000:]}")
    return usage.ru_utime + usage.ru_stime


def take_profile(load, binary, folder, name):
    """Profiles runs until there are samples enough, and merges them with the go command."""
    files, samples = [], 0
    while samples < SAMPLES and len(files) < pgo_loads.ROUNDS:
        path = os.path.join(folder, f"{name}-{len(files):02d}.pprof")
        out = os.path.join(folder, "out")
        os.makedirs(out, exist_ok=True)
        start(load, binary, path, out)
        files.append(path)
        raw = subprocess.run(["go", "tool", "pprof", "-raw", path], check=True, capture_output=True, text=True).stdout
        body = raw.split("samples/count", 1)[1].split("Locations", 1)[0]
        samples += sum(int(line.split()[0]) for line in body.splitlines()[1:] if line.split()[:1] and line.split()[0].isdigit())
    merged = os.path.join(folder, name + ".pb.gz")
    with open(merged, "wb") as f:
        subprocess.run(["go", "tool", "pprof", "-proto", *files], check=True, stdout=f, stderr=subprocess.DEVNULL)
    return merged, samples


def wilcoxon(differences):
    """The p value of the signed-rank test, two-sided and exact: of all ways to give the ranks a sign, ties sharing their ranks."""
    kept = [d for d in differences if d != 0]
    order = sorted(kept, key=abs)
    ranks, i = [], 0  # doubled, so that shared ones are whole
    while i < len(order):
        j = i
        while j < len(order) and abs(order[j]) == abs(order[i]):
            j += 1
        ranks += [i + 1 + j] * (j - i)
        i = j
    ways = {0: 1}
    for r in ranks:
        more = dict(ways)
        for total, n in ways.items():
            more[total + r] = more.get(total + r, 0) + n
        ways = more
    plus = sum(r for r, d in zip(ranks, order) if d > 0)
    middle = sum(ranks) / 2
    as_far = sum(n for total, n in ways.items() if abs(total - middle) >= abs(plus - middle))
    return as_far / 2 ** len(ranks)


def sign(change, p):
    if p >= LEVEL or abs(change) < EFFECT:
        return "none shown"
    return "worse" if change > 0 else "better"


def main():
    load, folder = pgo_loads.find(sys.argv[1]), os.path.abspath(sys.argv[2])
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 25
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else time.time_ns()
    os.makedirs(folder, exist_ok=True)
    rng = random.Random(seed)
    off, on = os.path.join(folder, "off"), os.path.join(folder, "pgo")
    pgo_loads.build(load, off, "off")
    profile, samples = take_profile(load, off, folder, "before")
    pgo_loads.build(load, on, profile)
    took = {off: [], on: []}
    before = os.getloadavg()
    for binary in (off, on):
        start(load, binary)
    for _ in range(pairs):
        for binary in rng.sample([off, on], 2):
            took[binary].append(start(load, binary))
    ratios = [b / a for a, b in zip(took[off], took[on])]
    change = statistics.median(ratios) - 1
    p = wilcoxon([math.log(r) for r in ratios])
    result = {
        "name": load["name"], "module": load["module"], "pairs": pairs, "seed": seed, "samples": samples, "change": change, "p": p,
        "sign": sign(change, p), "off": took[off], "pgo": took[on], "load_average": [before, os.getloadavg()],
        "files": {"off": off, "pgo": on, "profile": profile},
    }
    with open(os.path.join(folder, "hand.json"), "w") as f:
        json.dump(result, f, indent=1)
    print(f"{load['name']}, by hand: {change:+.2%}, p = {p:.2g}, {pairs} pairs, {statistics.median(took[off]):.2f} s each: {result['sign']}")


if __name__ == "__main__":
    main()
