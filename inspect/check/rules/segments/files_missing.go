package segments

import (
	"fmt"
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// filesMissing finds segments of which files are not in storage.
var filesMissing = &check.Check{
	ID:       "files-missing",
	Title:    "Files of segments are not in storage, or are cut",
	Severity: check.Error,
	Since:    "0.9",
	Doc: `Looks only where ` + "`diagnose --storage PLACE`" + ` says where the files are. Held against what is there is what etcd says of each flushed segment: how many insert and delta logs it has of each field, and how many files its finished
indexes have. A finding is a collection with a segment of which files are missing, are empty, or are shorter than they were written. That a log or an index file says in its first bytes: it is a row of events, each with its length. The
sizes in etcd are no measure: up to 2.3 they are those in memory. The files of storage version 2, and indexes in a single file, do not say it.

A query node cannot load such a segment: a load does not get on, and says no reason; what is in memory is lost with the next restart or move. An index without its files is not built again by itself, as etcd says that it is finished.

The files of at most 1,000 folders are looked for, and 4,000 files opened, for 30 seconds at most: first of collections that are being loaded, of segments that no node serves, of builds that wait; what was left out is said. A place that cannot be listed, or has no
file of the segments at all (another cluster's, or another folder), is unknown, not well: unless it is the place that the processes' configuration names, a bucket by its endpoint, a folder on a machine on which one of them runs. Then all is lost, and that is the finding. Segments of storage version 3 and index records of 2.1 are not looked for.`,
	Remedy: `Find out who removed them: a lifecycle rule of the bucket, a cleaning script, another Milvus with the same ` + "`minio.rootPath`" + `, which collects what it does not know as garbage. Bring them back from a copy or an older version of the
objects. Without one: of an index, drop it and create it again, as it is built of the insert logs; of insert logs, the rows are lost: insert them again from their source.`,
	Parts: model.PartObjects | model.PartSegments | model.PartIndexes | model.PartLogs | model.PartSegmentIndexes | model.PartServing,
	Needs: check.NeedStorage,
	Run:   runFilesMissing,
}

func runFilesMissing(p *check.Pass) error {
	s := p.Storage
	if s.Lost && ownStorage(p) {
		reportLostStorage(p)
		return nil
	}
	if s.Problem != "" {
		return p.Skip("storage " + s.Location + ": " + s.Problem)
	}
	for _, x := range s.Unseen {
		p.Unseen(x.What + ": " + x.Reason)
	}
	if left := s.Segments - s.Looked; left > 0 {
		p.Unseen(fmt.Sprintf("files of %s of %s segments: %s", words.Number(left), words.Number(s.Segments), s.Limit))
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
	return nil
}

// reportLostStorage reports that the cluster's own storage is gone, or empty.
func reportLostStorage(p *check.Pass) {
	s := p.Storage
	f := check.Finding{
		Severity: check.Error, Cost: 1,
		Message:  fmt.Sprintf("the storage %s, which the processes' configuration names, has lost its files: %s", s.Location, s.Problem),
		Evidence: []check.Evidence{check.Fact("storage in the configuration", p.OwnStorage().Place, "configuration of the processes"), check.Fact("looked into", s.Problem, s.Location)},
		Impact:   "Nothing can be loaded; what nodes have in memory is gone when they restart or hand it over; flushes and index builds fail.",
		Hint:     check.Advise("see whether the disk or share is mounted there, or who removed the files; bring them back from a copy before any node restarts"),
	}
	if s.Segments > 0 {
		f.Evidence = append(f.Evidence, check.Count("segments whose files should be there", s.Segments, "etcd"))
	}
	// Loaded collections first: they are what searches need.
	for _, loaded := range []bool{true, false} {
		for _, c := range p.Collections {
			if !c.Dropped() && (p.LoadState(c.ID) != nil) == loaded && len(f.Objects) < facts.MaxObjects {
				f.Objects = append(f.Objects, facts.RefCollection(p.Cluster, c.ID))
			}
		}
	}
	p.Report(f)
}

// maxMissingShown is how many places are evidence.
const maxMissingShown = 12

func reportLostFiles(p *check.Pass, id model.CollectionID, list []*model.MissingFiles) {
	var segments []model.SegmentID
	var kinds []string
	var rows, all int64
	files, cut, logs := 0, 0, false
	for _, x := range list {
		if x.Cut() {
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
		Message: fmt.Sprintf("collection %s: %s (%s): segment %s, %s, %s", name, lostText(files, cut, len(segments), rows), words.Few(kinds), first.Segment, whatIsMissing(p, first), first.Path),
		Impact:  "These segments cannot be loaded: a load of the collection does not get on, and what nodes have in memory is gone when they restart or hand it over.",
		Hint:    check.Advise("bring the files back from a copy or an older version of the objects; see who removed them: a lifecycle rule, a script, another Milvus with the same root path"),
	}
	if !logs {
		f.Hint = check.Advise("bring the files back; or build the index again from the insert logs: drop it and create it again, which needs the collection %s released", name)
	}
	if p.LoadState(id) != nil && all > 0 {
		f.Cost = p.Losing(min(1, float64(rows)/float64(all)))
	}
	for _, x := range list[:min(len(list), maxMissingShown)] {
		f.Evidence = append(f.Evidence, missing(p, x))
	}
	for _, s := range segments[:min(len(segments), facts.MaxObjects)] {
		f.Objects = append(f.Objects, facts.RefSegment(s))
	}
	p.Report(f)
}

// lostText is "2 files of 1 segment, 3,000 rows, are not in storage, and files in 3 folders are cut".
func lostText(files, cut, segments int, rows int64) string {
	of := " of " + words.Plural(segments, "segment") + ", " + words.Number(rows) + " rows, "
	switch {
	case cut == 0:
		return words.Plural(files, "file") + of + "are not in storage"
	case files == 0:
		return "files" + of + "are cut: shorter than they were written"
	}
	return words.Plural(files, "file") + of + "are not in storage, and files in " + words.Plural(cut, "folder") + " are cut"
}

// missing is what there is of what should be.
func missing(p *check.Pass, x *model.MissingFiles) check.Evidence {
	format, args := "%s of %s files in %s", []any{check.Digits(x.Found), check.Digits(x.Want), x.Path}
	if x.Cut() {
		format, args = format+", %s of %s", append(args, check.Bytes(x.Size), check.Bytes(x.Bytes))
	}
	return check.Measured("segment "+x.Segment.String()+", "+whatIsMissing(p, x), p.Storage.Location, format, args...)
}

// whatIsMissing is "insert log of field vec", "index idx on field vec".
func whatIsMissing(p *check.Pass, x *model.MissingFiles) string {
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

// ownStorage reports whether the place that was looked into is the cluster's own.
func ownStorage(p *check.Pass) bool { return p.OwnStorage().Is(p.Storage.Location, p.Storage.Here) }
