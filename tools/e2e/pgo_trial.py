"""pgo_trial.py KITESCOPE NAME FOLDER [PAIRS] [SEED]: the same as pgo_hand.py found out, by "kitescope pgo trial".

After it the pairs of the control, the program without PGO against its copy, are compared a dozen at a time: each is a comparison that must
show no difference. Then "pgo verify" has to tell all programs apart. FOLDER has hand.json; the result is FOLDER/trial.json."""
import json
import os
import shutil
import subprocess
import sys
import time

import pgo_loads

SLICES, DOZEN = 5, 12
CPU = "CPU time"
PLAIN, PACKED = "without PGO", "with PGO"
TOOK_IT, DID_NOT = 0, 3


def run_trial(kitescope, load, out, pairs, seed):
    words = [kitescope, "pgo", "trial", "--dir", pgo_loads.folder(load), "-O", out, "--pairs", str(pairs), f"--control={SLICES * DOZEN}",
             "--rounds", str(pgo_loads.ROUNDS), "--seed", str(seed), "-o", "json"]
    if "package" in load:
        words += ["--package", load["package"]]
    if "bench" in load:
        words += ["--bench", load["bench"], "--benchtime", load["times"]]
    else:
        words += ["--load", load["load"], "--profile-load", load["profile"]]
    said = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(said)


def a_a(kitescope, out):
    """Compares the program with its copy, a dozen pairs at a time: how many comparisons show no difference in CPU time, and how many
    in nothing at all."""
    with open(os.path.join(out, "control.jsonl")) as f:
        lines = [(json.loads(line), line) for line in f]
    found = []
    for part in range(SLICES):
        path = os.path.join(out, f"control-{part + 1}.jsonl")
        with open(path, "w") as f:
            for run, line in lines:
                if "pair" not in run or (int(run["pair"]) - 1) // DOZEN == part:  # what has no pair begins a side
                    f.write(line)
        said = subprocess.run([kitescope, "compare", path, "--fail-on", "never", "-o", "json"], check=True, stdout=subprocess.PIPE, text=True).stdout
        items = json.loads(said)["items"]
        shown = [f"{x['of']} {x['metric']}".strip() for x in items if x["verdict"] != "no difference shown"]
        cpu = [x for x in items if x["metric"] == CPU]
        found.append({
            "quiet": not shown, "cpu_quiet": [x["verdict"] for x in cpu] == ["no difference shown"], "shown": shown, "metrics": len(items),
            "pairs": cpu[0]["runs_before"], "cpu_change": cpu[0]["change_percent"], "p": cpu[0].get("p"),
        })
    return found


def verify(kitescope, what, program, profile, want):
    words = [kitescope, "pgo", "verify", program, "--profile", profile, "-o", "json"]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    reason = json.loads(done.stdout)["reason"] if done.stdout else done.stderr.strip()
    if done.returncode != want:
        print(f"  verify of {what}: exit code {done.returncode}, not {want}: {reason}")
    return {"what": what, "right": done.returncode == want, "code": done.returncode, "reason": reason}


def verified(load, kitescope, out, hand):
    """All programs, by their build information; go records none of tests."""
    if "bench" in load:
        return []
    profile, packed = hand["files"]["profile"], os.path.join(out, "default.pgo")
    return [
        verify(kitescope, "without, by hand", hand["files"]["off"], profile, DID_NOT),
        verify(kitescope, "with, by hand", hand["files"]["pgo"], profile, TOOK_IT),
        verify(kitescope, PLAIN, os.path.join(out, "bin", "a", "program"), packed, DID_NOT),
        verify(kitescope, PACKED, os.path.join(out, "bin", "b", "program"), packed, TOOK_IT),
    ]


def main():
    kitescope, load, folder = sys.argv[1], pgo_loads.find(sys.argv[2]), os.path.abspath(sys.argv[3])
    pairs = int(sys.argv[4]) if len(sys.argv) > 4 else 25
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else time.time_ns() % 2**32
    with open(os.path.join(folder, "hand.json")) as f:
        hand = json.load(f)
    out = os.path.join(folder, "trial")
    report = run_trial(kitescope, load, out, pairs, seed)
    cpu = [x for x in report["comparison"]["items"] if x["metric"] == CPU][0]
    same = a_a(kitescope, out)
    binaries = verified(load, kitescope, out, hand)
    sign = {"no difference shown": "none shown"}.get(cpu["verdict"], cpu["verdict"])
    result = {
        "name": load["name"], "seed": seed, "cpu": {k: v for k, v in cpu.items() if not k.startswith("values")}, "sign": sign,
        "verdict": report["verdict"], "effect": report["effect"], "cautions": report["cautions"],
        "agrees": sign == hand["sign"], "a_a": same, "binaries": binaries, "sessions": report["sessions"],
    }
    with open(os.path.join(folder, "trial.json"), "w") as f:
        json.dump(result, f, indent=1)
    shutil.rmtree(os.path.join(out, "bin", "c"), ignore_errors=True)
    print(f"{load['name']}, pgo trial: {cpu['change_percent']:+.2f} % [{cpu['change_percent_low']:+.2f}, {cpu['change_percent_high']:+.2f}], "
          f"p = {cpu['p']:.2g}: {cpu['verdict']}; by hand {hand['sign']}; A/A without a difference: {sum(x['cpu_quiet'] for x in same)} of "
          f"{len(same)}, in no metric {sum(x['quiet'] for x in same)}; verified {sum(x['right'] for x in binaries)} of {len(binaries)}")


if __name__ == "__main__":
    main()
