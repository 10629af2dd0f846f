package rules

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// orphanBinlogs finds log keys without a segment.
var orphanBinlogs = &check.Check{
	ID:       "orphan-binlogs",
	Title:    "Binlog keys exist without a record of their segment",
	Severity: check.Warning,
	Symptoms: []string{check.EtcdSlow, check.StorageGrows, check.Leftovers},
	Starts:   "segment_removed collection_dropped | segment_dropped",
	Parts:    model.PartObjects | model.PartSegments | model.PartLogs,
	Doc: `Looks for keys of binlogs, delta logs and stats logs of segments without a record: an interrupted write or garbage collection. Info, and a warning
from 1 GiB. DataCoord reads those keys at each start and cannot use them. The collector's scan of object storage deletes the files they name.`,
	Remedy: `No action needed for queries. ` + "`kitescope get orphans`" + ` lists them. They can be deleted by hand with Milvus stopped, after an etcd snapshot
(` + "`etcdctl snapshot save FILE`" + `); such a write cannot be undone. kitescope only reads.`,
	Run:   runOrphanBinlogs,
	Whole: true,
}

func runOrphanBinlogs(p *check.Pass) {
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
		return
	}
	f := check.Finding{
		Severity: check.Info, Objects: objects,
		Message:  fmt.Sprintf("%s (%s) %s to %s without a record", words.Plural(files, "log file"), words.Bytes(bytes), words.Agree(files, "belongs", "belong"), words.Plural(segments, "segment")),
		Evidence: []check.Evidence{check.Count("segments without a record", segments, "etcd"), check.Count("log files", files, "etcd"), check.Size("bytes", bytes, "etcd")},
		Impact:   "They take up storage and keys, and nothing uses them.",
		Fix:      check.Fix(check.Shell(check.Kitescope("get orphans --sort -size_bytes")).Does("lists them, largest first; no action is needed for queries")),
	}
	if bytes >= orphanBytes {
		f.Severity = check.Warning
	}
	p.Report(f)
}
