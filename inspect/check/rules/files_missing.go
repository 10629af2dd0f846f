package rules

import (
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// filesMissing reports segments with missing or truncated files in storage.
var filesMissing = &check.Check{
	ID:       "files-missing",
	Title:    "Segment files are missing from storage, or truncated",
	Severity: check.Error,
	Symptoms: []string{check.SearchesFail, check.SearchesStale, check.LoadsHang, check.IndexingHangs},
	Starts:   "segment_dropped segment_removed | segment_compacted index_failed",
	Doc: `A load never progresses because files of a segment were deleted from the bucket. Runs only with
` + "`diagnose --storage PLACE`" + `. The check compares storage with etcd's records of each flushed segment: the number
of insert and delta logs of each field, and the number of files of its finished indexes. Reported: a collection with a
segment whose files are missing, empty, or shorter than written. The length of a log or index file is in its first
bytes: it is a series of events, each with its length. The sizes in etcd cannot be used: up to 2.3 they are those in
memory. Files of storage version 2, and indexes in a single file, do not record their length.

A query node cannot load such a segment. The load reports no reason, and data in memory is lost with the next restart
or move. An index without its files is not rebuilt on its own, because it is finished in etcd.

At most 1,000 folders are listed and 4,000 files opened, for 30 seconds at most: first those of collections being
loaded, of segments that no node serves, and of builds that wait. The rest is reported as left out. Unknown, not ok: a
place that cannot be listed, or has no file of the segments at all (another cluster's, or another folder). Exception:
the place is in the processes' configuration, a bucket by its endpoint or a folder on a machine on which a process
runs. Then everything is lost, and that is reported. For segments of storage version 3 the files named in their
manifest are checked, but not their large values. Index records of 2.1 are not checked.`,
	Remedy: `Find out what removed them: a lifecycle rule of the bucket, a cleanup script, or another Milvus with the
same ` + "`minio.rootPath`" + `, which collects unknown files as garbage. Restore them from a backup or an older version
of the objects. Without one, drop an index and create it again: it is built from the insert logs. Rows of lost insert
logs are gone: insert them again from their source.`,
	Parts: model.PartObjects | model.PartSegments | model.PartIndexes | model.PartLogs | model.PartSegmentIndexes |
		model.PartServing,
	Needs: check.NeedStorage,
	Run:   runFilesMissing,
}

func runFilesMissing(p *check.Pass) {
	s := p.Storage
	if s.Lost && ownStorage(p) {
		reportLostStorage(p)
		return
	}
	if s.Problem != "" {
		p.Skip("storage " + s.Location + ": " + s.Problem)
		return
	}
	for _, x := range s.Unseen {
		p.NoteUnseen(x.What + ": " + x.Reason)
	}
	if left := s.Segments - s.Checked; left > 0 {
		p.NoteUnseen(fmt.Sprintf("files of %s of %s segments: %s", words.Number(left), words.Number(s.Segments),
			s.Limit))
	}
	byCollection := make(map[model.CollectionID][]*model.MissingFiles)
	var order []model.CollectionID
	for i := range s.Missing {
		x := &s.Missing[i]
		if byCollection[x.Collection] == nil {
			order = append(order, x.Collection)
		}
		byCollection[x.Collection] = append(byCollection[x.Collection], x)
	}
	for _, id := range order {
		reportLostFiles(p, id, byCollection[id])
	}
}

// reportLostStorage reports that the cluster's own storage is missing or empty.
func reportLostStorage(p *check.Pass) {
	s := p.Storage
	f := check.Finding{
		Severity: check.Error, Cost: 1,
		Message: fmt.Sprintf("the configured storage %s has lost its files: %s", s.Location, s.Problem),
		Evidence: []check.Evidence{
			check.Fact("storage in the configuration", p.ConfiguredStorage().Place, "configuration of the processes"),
			check.Fact("found there", s.Problem, s.Location),
		},
		Impact: "Nothing can be loaded, and flushes and index builds fail. Data in memory is lost when nodes restart " +
			"or hand it over.",
		Fix: check.Fix(
			check.Do("mount the disk or share again if it is not mounted there").Interrupting(time.Minute, "nothing"),
			check.Do("else restore the files from a backup before any node restarts: until then the nodes still "+
				"serve from memory").
				Interrupting(0, "nothing"),
		),
	}
	if s.Segments > 0 {
		f.Evidence = append(f.Evidence, check.Count("segments with files recorded", s.Segments, "etcd"))
	}
	// Loaded collections come first, because searches need them.
	for _, loaded := range []bool{true, false} {
		for _, c := range p.Collections {
			if !c.Dropped() && (p.LoadState(c.ID) != nil) == loaded && len(f.Objects) < facts.MaxObjects {
				f.Objects = append(f.Objects, facts.RefCollection(p.Cluster, c.ID))
			}
		}
	}
	p.Report(f)
}

// rebuild returns a step that rebuilds the indexes whose files are missing. It rebuilds all of them in one
// step, because no load ends while one is missing.
func rebuild(p *check.Pass, x *model.Collection, list []*model.MissingFiles) check.Step {
	var lost []*model.Index
	var names []string
	for _, m := range list {
		if i := p.Index(m.Index); i != nil && !i.Deleted && !slices.Contains(lost, i) {
			lost, names = append(lost, i), append(names, i.Name)
		}
	}
	if x == nil || len(lost) == 0 {
		return check.Step{}
	}
	return check.Rebuild(p.Cluster, x, lost...).Does("builds %s again from the insert logs", names)
}

// maxMissingShown is the maximum number of places in the evidence.
const maxMissingShown = 12

func reportLostFiles(p *check.Pass, id model.CollectionID, list []*model.MissingFiles) {
	var segments []model.SegmentID
	var kinds []string
	var rows, all int64
	files, cut, logs := 0, 0, false
	for _, x := range list {
		if x.Truncated() {
			cut++
		}
		if !slices.Contains(segments, x.Segment) {
			segments = append(segments, x.Segment)
			if s := p.Segment(x.Segment); s != nil {
				rows += s.Rows
			}
		}
		if !slices.Contains(kinds, x.Kind) {
			kinds = append(kinds, x.Kind)
		}
		files, logs = files+x.Want-x.Found, logs || x.Kind != "index"
	}
	for _, s := range p.SegmentsOf(id) {
		if s.State == model.SegmentFlushed {
			all += s.Rows
		}
	}
	name := facts.CollectionLabel(p.Cluster, id)
	first := list[0]
	f := check.Finding{
		Severity: check.Error, Object: facts.RefCollection(p.Cluster, id),
		Message: fmt.Sprintf("collection %s: %s (%s): segment %s, %s, %s", name,
			lostText(files, cut, len(segments), rows), words.Summarize(kinds), first.Segment, missingText(p, first),
			first.Path),
		Impact: "These segments cannot be loaded: loading the collection hangs, and data in memory is lost when " +
			"nodes restart or hand it over.",
		Fix: check.Fix(
			check.Do("restore the files from a backup or an older version of the objects; do not restart or release "+
				"before").
				Interrupting(0, "nothing"),
			check.Do("find out what removed or cut them: a lifecycle rule, a script, another Milvus with the same "+
				"root path"),
			check.Do("without a backup, insert the rows again from their source").Interrupting(0, "nothing"),
		),
	}
	if !logs {
		f.Fix = check.Fix(
			rebuild(p, p.Collection(id), list),
			check.Do("or restore the files; find out what removed them: a lifecycle rule, a script, another Milvus "+
				"with the same root path").
				Interrupting(0, "nothing"),
		)
	}
	if p.LoadState(id) != nil && all > 0 {
		f.Cost = p.ClusterLoss(min(1, float64(rows)/float64(all)))
	}
	for _, x := range list[:min(len(list), maxMissingShown)] {
		f.Evidence = append(f.Evidence, missingEvidence(p, x))
	}
	f.Objects = append(f.Objects, facts.Refs(segments, facts.RefSegment)...)
	p.Report(f)
}

// lostText returns the extent of the loss, e.g. "2 files of 1 segment (3,000 rows) are missing from storage,
// and files in 3 folders are truncated".
func lostText(files, truncated, segments int, rows int64) string {
	of := " of " + words.Plural(segments, "segment") + " (" + words.Number(rows) + " rows) "
	switch {
	case truncated == 0:
		return words.Plural(files, "file") + of + words.Agree(files, "is", "are") + " missing from storage"
	case files == 0:
		return "files" + of + "are truncated"
	}
	return words.Plural(files, "file") + of + words.Agree(files, "is", "are") + " missing from storage, and files in " +
		words.Plural(truncated, "folder") + " are truncated"
}

// missingEvidence returns the number of files found and expected in one folder as evidence, with the sizes if a file is
// truncated.
func missingEvidence(p *check.Pass, x *model.MissingFiles) check.Evidence {
	format, args := "%s of %s files in %s", []any{check.Digits(x.Found), check.Digits(x.Want), x.Path}
	if x.Truncated() {
		format, args = format+", %s of %s", append(args, check.Bytes(x.Size), check.Bytes(x.Bytes))
	}
	return check.Factf("segment "+x.Segment.String()+", "+missingText(p, x), p.Storage.Location, format, args...)
}

// missingText names the missing files, e.g. "insert log of field vec", "index idx on field vec".
func missingText(p *check.Pass, x *model.MissingFiles) string {
	text := x.Kind
	if i := p.Index(x.Index); i != nil && x.Index != 0 {
		text += " " + i.Name
	}
	if x.Field == 0 {
		return text
	}
	field := x.Field.String()
	if c := p.Collection(x.Collection); c != nil {
		for _, y := range c.Fields {
			if y.ID == x.Field {
				field = y.Name
			}
		}
	}
	return text + " of field " + field
}

// ownStorage reports whether the inspected storage is the cluster's own.
func ownStorage(p *check.Pass) bool {
	return p.ConfiguredStorage().Matches(p.Storage.Location, p.Storage.Local)
}
