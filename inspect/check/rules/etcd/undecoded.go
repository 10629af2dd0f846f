package etcd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// undecodedRecords finds what kitescope does not understand.
var undecodedRecords = &check.Check{
	ID:       "undecoded-records",
	Title:    "Records exist that kitescope does not understand",
	Severity: check.Info,
	Since:    "0.3",
	Parts:    model.PartAll,
	Doc: `Counts keys that no pattern explains, records that cannot be decoded, and fields that the messages kitescope knows do not have. Information: what they hold is missing from everything
that is shown, and from the other checks. The usual reason is a Milvus newer than this kitescope; a record that cannot be decoded at all may be damaged.`,
	Remedy: "`kitescope get undecoded` lists them with the reason. A newer kitescope may know them; if not, they are worth a report.",
	Run:    runUndecoded,
}

func runUndecoded(p *check.Pass) error {
	if len(p.Undecoded) == 0 {
		return nil
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
		Message: fmt.Sprintf("%s of %s %s not understood, most often: %s", words.Number(len(p.Undecoded)), words.Plural(p.Keys, "key"), words.Agree(len(p.Undecoded), "is", "are"), facts.MostCommon(reasons)),
		Impact:  "What they hold is missing from everything that is shown.",
		Hint:    "kitescope get undecoded",
	}
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		if len(f.Evidence) < facts.MaxObjects {
			f.Evidence = append(f.Evidence, check.Count(why, reasons[why], "etcd"))
		}
	}
	p.Report(f)
	return nil
}

// cutAt cuts the part of a text that differs from record to record.
func cutAt(text, mark string) string {
	before, _, _ := strings.Cut(text, mark)
	return before
}
