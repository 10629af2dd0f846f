package rules

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// indexTooNew reports index files that query nodes cannot read.
var indexTooNew = &check.Check{
	ID:       "index-too-new",
	Title:    "Index files have a version that query nodes cannot read",
	Severity: check.Error,
	Symptoms: []string{check.SearchesFail, check.LoadsHang, check.AfterUpgrade},
	Starts:   "node_joined | index_built",
	Parts:    model.PartObjects | model.PartSegments | model.PartSegmentIndexes | model.PartSessions,
	Doc: `After a rollback from 2.4.1 to 2.3.15, loads fail with "channel not available" (Milvus issue 33242). The
check compares the version of each finished index file with the readable range in query nodes' sessions
(` + "`IndexEngineVersion`" + `, Milvus 2.3 and later). Error if a file is outside the range of any registered query
node: that node cannot load the segment. Only a warning if ` + "`dataCoord.targetVecIndexVersion`" + ` sets that
version: nodes can read more than they report as current.

It happens when a newer Milvus has built indexes and an older one runs again, or while only some query nodes are
upgraded. Not judged: nodes without a range, stopping nodes and dropped segments.`,
	Remedy: `Upgrade all query nodes to the version that wrote the files. To stay with the older version, drop the
index and create it again before the collection is loaded: the older version builds it then. The collection cannot be
searched meanwhile.`,
	Run: runIndexTooNew,
}

func runIndexTooNew(p *check.Pass) {
	var readers []*model.Session
	for _, s := range p.Sessions {
		if s.Role == "querynode" && s.IndexEngine.Current > 0 && !s.Stopping {
			readers = append(readers, s)
		}
	}
	if len(readers) == 0 {
		p.Skip("no query node reports which index versions it can read")
		return
	}
	lowest, highest := readers[0], readers[0]
	for _, s := range readers {
		if s.IndexEngine.Current < lowest.IndexEngine.Current {
			lowest = s
		}
		if s.IndexEngine.Minimal > highest.IndexEngine.Minimal {
			highest = s
		}
	}
	for _, x := range p.Collections {
		if !x.Dropped() {
			judgeEngine(p, x, lowest, highest)
		}
	}
}

// judgeEngine reports index files of a collection that are too new for lowest or too old for highest.
func judgeEngine(p *check.Pass, x *model.Collection, lowest, highest *model.Session) {
	f := check.Finding{Severity: check.Error, Object: facts.RefCollection(p.Cluster, x.ID)}
	var version int32
	var reader *model.Session
	var index model.IndexID
	segments, rows := 0, int64(0)
	if d := p.DigestOf(x.ID); d.NewestEngine <= lowest.IndexEngine.Current &&
		(d.OldestEngine < 0 || d.OldestEngine >= highest.IndexEngine.Minimal) {
		return
	}
	for _, s := range p.SegmentsOf(x.ID) {
		if !s.State.Healthy() {
			continue
		}
		for i := range s.Indexes {
			r := &s.Indexes[i]
			if !facts.HasFiles(r) {
				continue
			}
			switch {
			case r.EngineVersion > lowest.IndexEngine.Current:
				reader = lowest
			case r.EngineVersion < highest.IndexEngine.Minimal:
				reader = highest
			default:
				continue
			}
			version, index = r.EngineVersion, r.Index
			segments, rows = segments+1, rows+s.Rows
			if len(f.Objects) < facts.MaxObjects {
				f.Objects = append(f.Objects, facts.RefSegment(s.ID))
			}
			break
		}
	}
	if segments == 0 {
		return
	}
	f.Objects = append(f.Objects, facts.RefNode(reader.Role, reader.Node))
	f.Message = fmt.Sprintf("%s of %s, %s rows, %s index files of version %d, but %s cannot read them: it reads %d "+
		"to %d",
		words.Plural(segments, "segment"), facts.CollectionLabel(p.Cluster, x.ID), words.Number(rows),
		words.Agree(segments, "has", "have"), version, reader.Name(), reader.IndexEngine.Minimal,
		reader.IndexEngine.Current)
	f.Evidence = []check.Evidence{
		check.Fact("version of the files", strconv.Itoa(int(version)), "etcd"),
		check.Fact("versions read by "+reader.Name(),
			fmt.Sprintf("%d to %d", reader.IndexEngine.Minimal, reader.IndexEngine.Current), "etcd"),
		check.Fact("Milvus version of "+reader.Name(), reader.Version, "etcd"),
	}
	if wanted := p.SettingCount("dataCoord.targetVecIndexVersion", -1, facts.DataCoords()...); version >
		reader.IndexEngine.Current && int64(version) <= wanted {
		f.Severity = check.Warning
		f.Message = strings.Replace(f.Message, " cannot read", " may be unable to read", 1)
		f.Evidence = append(f.Evidence,
			check.Fact("dataCoord.targetVecIndexVersion", words.Number(wanted),
				p.SettingSource("dataCoord.targetVecIndexVersion")))
	}
	f.Impact = "The node cannot load these segments: the collection does not load, or its shards are unavailable."
	f.Cost = facts.Ratio(rows, p.Totals().Rows)
	f.Fix = check.Fix(check.Do("upgrade %s to the Milvus version that built the index", reader.Name()).
		Restarting(p.Cluster, 5*time.Minute, "querynode"))
	if i := p.Index(index); i != nil && !i.Deleted {
		f.Fix = append(f.Fix, check.Rebuild(p.Cluster, x, i).
			Does("or, to stay with %s, rebuilds the index with it", reader.Version))
	}
	p.Report(f)
}
