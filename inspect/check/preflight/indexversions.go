package preflight

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

var indexVersions = rule{
	back: true,
	Check: check.Check{
		ID:       "upgrade-index-versions",
		Title:    "The old version may be unable to read index files",
		Severity: check.Error,
		Since:    since,
		Parts:    model.PartObjects | model.PartSegments | model.PartSegmentIndexes | model.PartSessions,
		Doc: `Looks at the version of each finished vector index file. Milvus reads files of all older versions, and none of a newer one: nodes of 2.3.15 could not load
what 2.4.1 had built, "channel not available" (Milvus issue 33242). Files of version 10 and later are an error for every collection when going back below 3.0 (` + "`dataCoord.targetVecIndexVersion`" + `,
knowhere pull request 1494). Which of the versions below that an older release reads is told by its own query nodes alone, in their sessions (2.3 and
later): there it is info, with the version of the files.`,
		Remedy: `Before going back drop and create the index again with ` + "`dataCoord.targetVecIndexVersion`" + ` set to what the old version reads.`,
	},
	run: runIndexVersions,
}

// firstOf3 is the version of vector index files that only 3.0 and later read.
const firstOf3 = 10

func runIndexVersions(p *check.Pass, plan Plan) error {
	if !plan.To.Release.Before(plan.From.Release) {
		return nil
	}
	files, highest := 0, int32(0)
	for _, x := range p.Collections {
		if x.Dropped() {
			continue
		}
		segments, rows, newest := 0, int64(0), int32(0)
		for _, s := range p.SegmentsOf(x.ID) {
			for i := range s.Indexes {
				r := &s.Indexes[i]
				if !s.State.Healthy() || !facts.HasFiles(r) {
					continue
				}
				files, highest = files+1, max(highest, r.EngineVersion)
				if r.EngineVersion >= firstOf3 && plan.loses(release(3, 0)) {
					segments, rows, newest = segments+1, rows+s.Rows, max(newest, r.EngineVersion)
					break
				}
			}
		}
		if segments > 0 {
			reportUnreadable(p, plan, x, segments, rows, newest)
		}
	}
	if highest > 0 && highest < firstOf3 {
		p.Report(check.Finding{
			Severity: check.Info, Message: fmt.Sprintf("%s up to version %d; whether %s reads that is not known", words.Plural(files, "index file"), highest, plan.To),
			Evidence: []check.Evidence{check.Count("newest version of a file", highest, "etcd")},
			Impact:   "Segments with files that are too new cannot be loaded.",
			Fix:      check.Fix(check.Do("start one query node of %s beside the others, and read in its session which versions it reads, before the rest goes back", plan.To.String())),
		})
	}
	return nil
}

func reportUnreadable(p *check.Pass, plan Plan, x *model.Collection, segments int, rows int64, newest int32) {
	p.Report(check.Finding{
		Severity: check.Error, Object: facts.RefCollection(p.Cluster, x.ID),
		Message: fmt.Sprintf("%s of %s, %s rows, %s index files of version %d: %s cannot read them", words.Plural(segments, "segment"), facts.CollectionLabel(p.Cluster, x.ID),
			words.Number(rows), words.Agree(segments, "has", "have"), newest, plan.To),
		Evidence: []check.Evidence{check.Count("newest version of a file", newest, "etcd"), check.Count("first that only 3.0 reads", firstOf3, "knowhere")},
		Impact:   "Nodes cannot load these segments: the collection does not load.",
		Cost:     facts.Part(rows, p.Totals().Rows),
		Fix:      check.Fix(check.Do("before going back set dataCoord.targetVecIndexVersion to 9 or less, and drop and create the indexes of %s again", x.Name)),
	})
}
