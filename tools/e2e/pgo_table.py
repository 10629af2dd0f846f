"""pgo_table.py FOLDER [NAME...]: what pgo_hand.py and pgo_trial.py found, as a section of docs/evidence/pgo.md."""
import json
import os
import sys

import pgo_loads


def read(*path):
    with open(os.path.join(*path)) as f:
        return json.load(f)


def chance(p):
    return f"{p:.2g}" if p >= 1e-6 else "< 1e-6"


def work(load):
    if "bench" in load:
        return f"`{load['bench']}`, {load['times']}".replace("|", "\\|")
    return ("a driver of ours, " if "driver" in load else "") + "`" + load["load"].replace("{bin} ", "") + "`"


def row(load, hand, trial):
    cpu, a_a = trial["cpu"], trial["a_a"]
    return " | ".join([
        "", f"{load['name']}: {load['module'].split('@')[0]}", work(load), f"{hand['change']:+.1%}, {hand['sign']}".replace("%", " %"), chance(hand["p"]),
        f"{cpu['change_percent']:+.1f} % ({cpu['change_percent_low']:+.1f} to {cpu['change_percent_high']:+.1f})", trial["sign"],
        "yes" if trial["agrees"] else "**no**", f"{sum(x['cpu_quiet'] for x in a_a)} of {len(a_a)}", f"{sum(x['quiet'] for x in a_a)} of {len(a_a)}", "",
    ]).strip()


def main():
    folder, names = sys.argv[1], sys.argv[2:] or [x["name"] for x in pgo_loads.LOADS]
    found = [(pgo_loads.find(name), read(folder, name, "hand.json"), read(folder, name, "trial.json")) for name in names]
    pairs = sorted({h["pairs"] for _, h, _ in found})
    loads = [h["load_average"][i][0] for _, h, _ in found for i in range(2)]
    machine = found[0][2]["sessions"][0]
    for _, _, t in found:
        for s in t["sessions"]:
            loads += [s[key][0] for key in ("load_average_before", "load_average_after") if s.get(key)]
    every = [x for _, _, t in found for x in t["a_a"]]
    print("| program | workload | by hand | p | `pgo trial` (95% CI) | verdict | same sign | A/A quiet, CPU | A/A quiet, all metrics |")
    print("|---|---|--:|--:|--:|---|---|--:|--:|")
    for x in found:
        print(row(*x))
    quiet, silent = sum(x["cpu_quiet"] for x in every), sum(x["quiet"] for x in every)
    print(f"""
CPU time, {" or ".join(map(str, pairs))} pairs each way; a sign counts from 1% on, at a level of 5%. A/A is the program without PGO against its
copy, {every[0]["pairs"]} pairs at a time: no difference in CPU time in {quiet} of {len(every)} comparisons, and in any metric in {silent}.
Measured on
{machine["cpu"]} with {machine["cores"]} cores and a load average of {min(loads):.0f} to {max(loads):.0f}, with other work running.""")
    wrong = [f"{load['name']}: {x['what']}: {x['reason']}" for load, _, t in found for x in t["binaries"] if not x["right"]]
    for line in wrong:
        print("\n- " + line)


if __name__ == "__main__":
    main()
