package objects

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// orphanBinlogs finds log keys without a segment.
var orphanBinlogs = &check.Check{
	ID:       "orphan-binlogs",
	Title:    "Keys of binlogs exist without their segment's record",
	Severity: check.Warning,
	Since:    "0.3",
	Parts:    model.PartObjects | model.PartSegments | model.PartLogs,
	Doc: `Looks for keys of binlogs, delta logs and stats logs of segments that have no record: a write, or a garbage collection, that was cut off. Information, and a
warning from 1 GiB on. DataCoord reads those keys at each start and cannot use them; the files they name are deleted by the collector's scan of object storage.`,
	Remedy: `None is needed for queries. ` + "`kitescope get orphans`" + ` lists them. They can be deleted by hand with Milvus stopped and a snapshot of etcd saved first (` + "`etcdctl snapshot save FILE`" + `); such a write
cannot be taken back. kitescope only reads.`,
	Run: runOrphanBinlogs,
}

func runOrphanBinlogs(p *check.Pass) error {
	if !p.Whole() {
		return nil
	}
	segments, files := 0, int64(0)
	var bytes int64
	var objects []model.Ref
	for _, s := range p.Orphans {
		if len(s.Logs) == 0 {
			continue
		}
		segments++
		bytes += s.Bytes
		for i := range s.Logs {
			files += int64(s.Logs[i].Files)
		}
		if len(objects) < facts.MaxObjects {
			objects = append(objects, model.Ref{Resource: "orphans", ID: s.ID.String()})
		}
	}
	if segments == 0 {
		return nil
	}
	f := check.Finding{
		Severity: check.Info, Objects: objects,
		Message:  fmt.Sprintf("%s of logs, %s, %s to %s without a record", words.Plural(files, "file"), words.Bytes(bytes), words.Agree(files, "belongs", "belong"), words.Plural(segments, "segment")),
		Evidence: []check.Evidence{check.Count("segments without a record", segments, "etcd"), check.Count("log files", files, "etcd"), check.Size("bytes", bytes, "etcd")},
		Impact:   "Storage and keys that nothing uses.",
		Hint:     "nothing has to be done for queries; see them: kitescope get orphans",
	}
	if bytes >= orphanBytes {
		f.Severity = check.Warning
	}
	p.Report(f)
	return nil
}
