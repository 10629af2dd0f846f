package preflight

import (
	"fmt"
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

var indexVersions = rule{
	back: true,
	Check: check.Check{
		ID:       "upgrade-index-versions",
		Title:    "The old version may not read index files",
		Severity: check.Error,
		Parts: model.PartObjects | model.PartIndexes | model.PartSegments | model.PartSegmentIndexes |
			model.PartSessions,
		Doc: `Error for each collection with index files that the old version cannot load:

- below 3.0: vector version 10 or later (` + "`dataCoord.targetVecIndexVersion`" + `, knowhere pull request 1494).
  Milvus reads files up to its own version: 2.3.15 could not load files of 2.4.1, "channel not available" (Milvus
  issue 33242).
- scalar version 4 below 3.0, 3 below 2.6.12 (2.6.12 to 2.6.17 not examined), 2 below 2.6 (pkg/common at 2.5.14,
  2.6.0, 2.6.11, 2.6.22 and 3.0.1), 1 below 2.5 (Milvus issue 39203).
- below 3.0: collection-rooted files (` + "`index_v1/`" + `, ` + "`dataCoord.index.storePathVersion`" + `); their
  collection never became serviceable (Milvus issue 51788).

Info for vector versions below 10: only query nodes of the old release (2.3 and later) report in their sessions which
versions they read.`,
		Remedy: `Before the rollback, set ` + "`dataCoord.targetVecIndexVersion`" + `,
` + "`dataCoord.targetScalarIndexVersion`" + ` and ` + "`dataCoord.index.storePathVersion`" + ` to values that the old
version reads, then drop and recreate the index.`,
	},
	run: runIndexVersions,
}

// firstOf3 is the first version of vector index files that only 3.0 and later read.
const firstOf3 = 10

// indexFormat is a format of index files that releases before first cannot read.
type indexFormat struct {
	first  Version
	what   string
	source string
	// has reports whether a record has that format. Records have a vector and a scalar version, whatever their
	// index is. vector and scalar report which kind the index may be; both are true if its definition is unknown.
	has func(r *model.SegmentIndex, vector, scalar bool) bool
	// key is the setting of the version of new files; most is its greatest value that avoids this format.
	key  string
	most int32
}

func indexFormats() []indexFormat {
	scalarForm := func(first Version, version int32, source string) indexFormat {
		return indexFormat{
			first: first, what: fmt.Sprintf("scalar index files of version %d", version), source: source,
			key: "dataCoord.targetScalarIndexVersion", most: version - 1,
			has: func(r *model.SegmentIndex, _, scalar bool) bool {
				return scalar && (r.ScalarVersion == version || version == newestScalar && r.ScalarVersion > version)
			},
		}
	}
	return []indexFormat{
		{
			first: Version{release(3, 0), 0}, what: fmt.Sprintf("vector index files of version %d or later", firstOf3),
			source: "knowhere pull request 1494",
			key:    "dataCoord.targetVecIndexVersion", most: firstOf3 - 1,
			has: func(r *model.SegmentIndex, vector, _ bool) bool { return vector && r.EngineVersion >= firstOf3 },
		},
		{
			first: Version{release(3, 0), 0}, what: "collection-rooted index files (index_v1)",
			source: "issue 51788, pkg/util/paramtable of 3.0.1", key: "dataCoord.index.storePathVersion",
			has: func(r *model.SegmentIndex, _, _ bool) bool { return r.ByCollection },
		},
		scalarForm(Version{release(3, 0), 0}, newestScalar, "pkg/common of 2.6.22 and 3.0.1"),
		scalarForm(Version{release(2, 6), 12}, 3, "pkg/common of 2.6.11 and 2.6.22"),
		scalarForm(Version{release(2, 6), 0}, 2, "pkg/common of 2.5.14 and 2.6.0"),
		scalarForm(Version{release(2, 5), 0}, 1, "issue 39203"),
	}
}

// newestScalar is the newest known version of scalar index files (3.0.1).
const newestScalar = 4

func runIndexVersions(p *check.Pass, plan Plan) {
	if !plan.To.Before(plan.From) {
		return
	}
	files, highest := 0, int32(0)
	for _, x := range p.Collections {
		if x.Dropped() {
			continue
		}
		of := indexesOf(p, x)
		for _, s := range p.SegmentsOf(x.ID) {
			for i := range s.Indexes {
				r := &s.Indexes[i]
				if vector, _ := of.possibleKinds(r); vector && s.State.Healthy() && facts.HasFiles(r) {
					files, highest = files+1, max(highest, r.EngineVersion)
				}
			}
		}
		judgeIndexes(p, plan, x, of)
	}
	if highest > 0 && highest < firstOf3 && plan.To.Release.Before(plan.From.Release) {
		p.Report(check.Finding{
			Severity: check.Info,
			Message: fmt.Sprintf("%s up to version %d; unknown whether %s can read them",
				words.Plural(files, "vector index file"), highest, plan.To),
			Evidence: []check.Evidence{check.Count("newest file version", highest, "etcd")},
			Impact:   "Segments with files that are too new cannot be loaded.",
			Fix: check.Fix(check.Do("before the rollback, start an extra query node of %s "+
				"and check which versions its session lists",
				plan.To.String())),
		})
	}
}

// indexKinds maps the indexes of a collection to whether they are on a vector field. Indexes without a definition are
// missing.
type indexKinds map[model.IndexID]bool

func indexesOf(p *check.Pass, x *model.Collection) indexKinds {
	of := indexKinds{}
	for _, index := range p.IndexesOf(x.ID) {
		if f := x.Field(index.Field); f != nil {
			of[index.ID] = f.Vector()
		}
	}
	return of
}

func (k indexKinds) possibleKinds(r *model.SegmentIndex) (vector, scalar bool) {
	is, known := k[r.Index]
	return is || !known, !is || !known
}

// has reports whether a segment has index files of a format.
func (k indexKinds) has(s *model.Segment, form *indexFormat) bool {
	for i := range s.Indexes {
		r := &s.Indexes[i]
		if vector, scalar := k.possibleKinds(r); facts.HasFiles(r) && form.has(r, vector, scalar) {
			return true
		}
	}
	return false
}

// judgeIndexes reports the indexes of a collection that the old version cannot read, as one finding for all
// formats.
func judgeIndexes(p *check.Pass, plan Plan, x *model.Collection, byIndex indexKinds) {
	f := check.Finding{
		Severity: check.Error, Object: facts.RefCollection(p.Cluster, x.ID),
		Impact: "Nodes cannot load these segments: the collection does not load.",
	}
	var forms []indexFormat
	var what []string
	for _, form := range indexFormats() {
		if !plan.loses(form.first) {
			continue
		}
		found := p.CountSegments(x.ID, func(s *model.Segment) bool { return byIndex.has(s, &form) })
		if found.Segments == 0 {
			continue
		}
		forms, what = append(forms, form), append(what, form.what)
		f.Evidence = append(f.Evidence, check.Count("segments with "+form.what, found.Segments, "etcd"),
			check.Fact("first version that reads them", form.first.since(), form.source))
	}
	if len(forms) == 0 {
		return
	}
	all := p.CountSegments(x.ID, func(s *model.Segment) bool {
		return slices.ContainsFunc(forms, func(form indexFormat) bool { return byIndex.has(s, &form) })
	})
	f.Objects, f.Cost = all.Objects, facts.Ratio(all.Rows, p.Totals().Rows)
	f.Message = fmt.Sprintf("%s of %s, %s rows, %s %s: %s cannot read them", words.Plural(all.Segments, "segment"),
		facts.CollectionLabel(p.Cluster, x.ID),
		words.Number(all.Rows), words.Agree(all.Segments, "has", "have"), words.List("and", what...), plan.To)
	f.Fix = check.Fix(append(oldFormatSteps(plan, forms),
		check.Do("drop and recreate the indexes of %s before the rollback", x.Name))...)
	p.Report(f)
}

// oldFormatSteps returns the settings of the running version that make new files readable by the old one. If a setting
// has several formats, the oldest decides.
func oldFormatSteps(plan Plan, forms []indexFormat) (steps []check.Step) {
	for i, form := range forms {
		older := slices.ContainsFunc(forms[i+1:], func(f indexFormat) bool { return f.key == form.key })
		if !older && hasKey(plan.From.Release, form.key) {
			steps = append(steps, check.Do("set %s to %d or less", form.key, form.most))
		}
	}
	return steps
}
