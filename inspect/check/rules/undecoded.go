package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// undecodedRecords finds keys, records and fields that kitescope cannot decode.
var undecodedRecords = &check.Check{
	ID:       "undecoded-records",
	Title:    "Records that kitescope cannot decode",
	Severity: check.Info,
	Symptoms: []string{check.AfterUpgrade},
	Starts:   "node_joined | node_changed",
	Parts:    model.PartAll,
	Doc: `Usually a Milvus newer than this kitescope wrote the records. The check counts keys that match no known
pattern, records that cannot be decoded, and unknown fields. Info: their content is missing from everything shown and
from the other checks. A record that cannot be decoded at all may be damaged.`,
	Remedy: `List them with the reason: ` + "`kitescope get undecoded`" + `. A newer kitescope may decode them; if not,
please report them.`,
	Run: runUndecoded,
}

func runUndecoded(p *check.Pass) {
	if len(p.Undecoded) == 0 {
		return
	}
	reasons := make(map[string]int)
	var objects []model.Ref
	for _, u := range p.Undecoded {
		reasons[cutAt(u.Reason, ": proto:")]++
		if len(objects) < facts.MaxObjects {
			objects = append(objects, model.Ref{Resource: "undecoded", ID: u.Key + ": " + u.Reason, Name: u.Key})
		}
	}
	f := check.Finding{
		Severity: check.Info, Objects: objects,
		Message: fmt.Sprintf("%s of %s cannot be decoded, most often: %s", words.Number(len(p.Undecoded)),
			words.Plural(p.Keys, "key"), facts.MostCommon(reasons)),
		Impact: "Their content is missing from everything shown.",
		Fix: check.Fix(
			check.Shell(check.Kitescope("get undecoded")).Does("lists them with the reason"),
			check.Do("try a newer kitescope, and report what it cannot decode either"),
		),
	}
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		if len(f.Evidence) < facts.MaxObjects {
			f.Evidence = append(f.Evidence, check.Count(why, reasons[why], "etcd"))
		}
	}
	p.Report(f)
}

// cutAt returns the text before mark, without the part that differs between records.
func cutAt(text, mark string) string {
	before, _, _ := strings.Cut(text, mark)
	return before
}
