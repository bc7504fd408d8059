# SPDX-License-Identifier: MIT
"""What the checks of GPU traces share, whichever vendor's."""

import glob
import gzip
import json


def read(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8")
    with opened as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield json.loads(line)
            except ValueError as error:
                raise SystemExit(f"{path}:{number}: not JSON: {error}: {line[:200]}")


def traces(pattern):
    return sorted(f for f in glob.glob(pattern) if f.endswith((".pfw", ".pfw.gz")))


class Check:
    """Collects problems. `inside_categories`: every event of these lies wholly inside the region that issued it, without
    any tolerance."""

    def __init__(self, inside_categories, call_categories):
        self.problems = []
        self.inside_categories, self.call_categories = inside_categories, call_categories

    def that(self, good, text):
        if not good:
            self.problems.append(text)

    def shape(self, event):
        self.that(event.get("name"), f"no name: {event}")
        self.that(event["ts"] >= 0 and event["dur"] >= 0, f"negative time: {event}")

    def inside(self, region, events):
        begin, end = region["ts"], region["ts"] + region["dur"]
        for event in events:
            if event["cat"] not in self.inside_categories:
                continue
            first, last = event["ts"], event["ts"] + event["dur"]
            self.that(
                begin <= first and last <= end,
                f"{event['cat']} {event['name']} at {first - begin}..{last - begin} of the region's 0..{end - begin}",
            )

    def launches(self, events, kernel_category):
        """Each kernel has the API call that launched it: same correlation id, and it does not start before it."""
        calls = {e["args"]["correlation_id"]: e for e in events if e["cat"] in self.call_categories}
        for event in events:
            if event["cat"] == kernel_category:
                call = calls.get(event["args"]["correlation_id"])
                self.that(call is not None, f"kernel without its launch: {event}")
                self.that(call is None or call["ts"] <= event["ts"], f"kernel before its launch: {event}")

    def forked_children(self, lines):
        children = [r for r in lines if r.get("name") == "CHILD"]
        self.that(len(children) == 2, f"{len(children)} of 2 forked children recorded their region")

    def result(self, files, vendor, events):
        """Exit status; prints problems and counts."""
        for text in self.problems[:20]:
            print(text)
        found = sorted({event["cat"] for event in events})
        counts = {c: sum(e["cat"] == c for e in events) for c in found}
        print(f"{len(files)} traces, {len(events)} {vendor} events, {len(self.problems)} problems: {counts}")
        return 1 if self.problems else 0
