"""replay_table.py FOLDER [DOCUMENT]: what replay.sh measured, as tables; between the marks of DOCUMENT, if one is named."""
import json
import os
import statistics
import sys

SITUATIONS = [
    ("growing", "growing rows indexed"),
    ("idle", "idle nodes balanced"),
    ("index", "IVF_FLAT to HNSW"),
    ("node", "a node added and balanced"),
    ("ef", "ef 64 to 256"),
    ("merge", "24 segments merged"),
]
BEGIN, END = "<!-- replay.sh: begin -->", "<!-- replay.sh: end -->"


def read(*path):
    with open(os.path.join(*path)) as f:
        return json.load(f)


def figure(x):
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def rows(folder):
    """One for each situation and number of sessions: what was measured before and after, and what was predicted."""
    for name, title in SITUATIONS:
        if not os.path.exists(os.path.join(folder, name, "live-after.json")):
            continue
        before, after = (read(folder, name, f + ".json") for f in ("live-before", "live-after"))
        for was in before["points"]:
            sessions = was["plan"]["sessions"]
            now = next(p for p in after["points"] if p["plan"]["sessions"] == sessions)
            whatif = read(folder, name, f"whatif-{sessions}.json")
            base = next(p for p in whatif["check"]["live"] if p["sessions"] == sessions)
            yield title, sessions, was["qps"], base["predicted_qps"], now["qps"], now["qps"] / was["qps"], whatif["others"][0]["at_load"]


def table(folder):
    list_ = list(rows(folder))
    machine = read(folder, next(n for n, _ in SITUATIONS if os.path.isdir(os.path.join(folder, n))), "live-before.json")["setup"]["machine"]
    lines = [
        f"Measured on {machine['cores']} cores of {machine['cpu']}.", "",
        "| change | sessions | before | simulated | after | measured gain | predicted | error | predicted range | in range |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    errors, inside = [], 0
    for title, sessions, was, simulated, now, gain, g in list_:
        off, holds = g["gain"] / gain - 1, g["low"] <= gain <= g["high"]
        errors.append(abs(off))
        inside += holds
        lines.append(f"| {title} | {sessions} | {figure(was)} | {figure(simulated)} | {figure(now)} | {gain:.2f} | {g['gain']:.2f} | {off:+.0%} | "
                     f"{g['low']:.2f} to {g['high']:.2f} | {'yes' if holds else '**no**'} |")
    lines += ["", f"{len(errors)} gains: median error {statistics.median(errors):.0%}, maximum {max(errors):.0%}; "
              f"{sum(e <= 0.25 for e in errors)} within 25%, {inside} in the predicted range."]
    return "\n".join(lines)


def main():
    text = table(sys.argv[1])
    print(text)
    if len(sys.argv) > 2:
        with open(sys.argv[2]) as f:
            document = f.read()
        head, rest = document.split(BEGIN)
        with open(sys.argv[2], "w") as f:
            f.write(head + BEGIN + "\n" + text + "\n" + END + rest.split(END)[1])


main()
