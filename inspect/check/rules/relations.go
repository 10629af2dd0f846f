package rules

import (
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/shellquote"
	"kitescope/internal/words"
)

// remnant is a kind of records whose owners are gone. Such records are harmless apart from the space that they
// take.
type remnant struct {
	// record names one record, e.g. "index record". owners describes the missing owners, e.g. "of segments that are
	// gone".
	record, owners string
	// parts are the ranges of metadata that have to be read in full.
	parts model.Part
	// visit reports each record, or each group of count records, with its size in storage in bytes.
	visit func(p *check.Pass, report func(ref model.Ref, count int, bytes int64))
	// list returns the command that lists them.
	list func() shellquote.Command
}

// Thresholds of remnants.
const (
	// orphanBytes is the minimum size in storage for a warning.
	orphanBytes = 1 << 30
	// orphanTaskAfter is the time that Milvus gets to end the tasks of a dropped collection. orphanStatsAfter
	// is the time it gets to remove statistics.
	orphanTaskAfter, orphanStatsAfter = time.Hour, 24 * time.Hour
)

// orphanRecords reports records whose owner is gone.
var orphanRecords = &check.Check{
	ID:       "orphan-records",
	Title:    "Records remain of objects that are gone",
	Severity: check.Warning,
	Symptoms: []string{check.EtcdSlow, check.StorageGrows, check.Leftovers},
	Starts: "collection_dropped partition_dropped segment_removed index_dropped user_dropped role_dropped | " +
		"segment_created segment_dropped index_created task_created task_changed config_changed",
	Parts: model.PartObjects,
	Doc: `A collection is gone, but its records are still in etcd. The check looks for records whose owner has no
record:

- segments that are not dropped, of a collection or partition (Milvus issues 19675, 45533); log files of a segment;
- index records (` + "`segment-index/`" + `) of a segment or of an index definition (49585), definitions of a
  collection;
- fields, partitions and functions of a collection (28496), vchannels that a streaming node would recover, targets of
  QueryCoord;
- tasks of a collection, an hour after they began, and statistics of a clustering compaction after a day;
- members and privileges of a role or user;
- logs of Woodpecker with the name prefix of this cluster's pchannels, without a pchannel
  (` + "`rootCoord.dmlChannelNum`" + ` was lowered).

Info; warning if at least 1 GiB of storage belongs to them: garbage collection takes only dropped segments.

Not reported: collections that are being dropped, records that are dropped or marked deleted and wait for garbage
collection, and snapshots, which are backups. Not judged: a range that was not read in full.`,
	Remedy: `No action needed for queries. Make sure that the owner is really gone, not renamed or in another
database. Then delete the records by hand with Milvus stopped, after an etcd snapshot
(` + "`etcdctl snapshot save FILE`" + `); such a write cannot be undone. kitescope only reads.`,
	Run: func(p *check.Pass) {
		reportRemnants(p, "They take up storage and keys, and nothing uses them.", orphans())
	},
	Whole: true,
}

// checkpointStaleDropped reports channel records of dropped collections. It is a check of its own because most
// clusters have some.
var checkpointStaleDropped = &check.Check{
	ID:       "checkpoint-stale-dropped",
	Title:    "Dropped collections left stale checkpoints",
	Severity: check.Info,
	Symptoms: []string{check.EtcdSlow, check.Leftovers},
	Starts:   "collection_dropped",
	Parts:    model.PartObjects | model.PartChannels,
	Doc: `Tools, and Milvus's own metric of checkpoint lag, show channels of dropped collections as falling behind
(issue 31506). The check looks for checkpoints (` + "`datacoord-meta/channel-cp/`" + `) and removal marks
(` + "`channel-removal/`" + `) of vchannels whose collection is dropped, being dropped, or gone. Info only: garbage
collection removes them with the collection's last segment, hours later. Those of collections that never held a
segment stay for good (Milvus issue 34545). They cost little.

Not counted: those that Milvus 2.6 marks with the maximum timestamp.`,
	Remedy: orphanRecords.Remedy,
	Run: func(p *check.Pass) {
		reportRemnants(p, "None for queries. Checkpoint lag metrics that include them are misleading.",
			[]remnant{staleCheckpoints()})
	},
	Whole: true,
}

func staleCheckpoints() remnant {
	return remnant{
		record: "channel record", owners: "of collections that are dropped", parts: model.PartChannels,
		visit: func(p *check.Pass, report func(model.Ref, int, int64)) {
			seen := map[model.CollectionID]bool{}
			for _, v := range p.VChannels {
				x := p.Collection(v.Collection)
				marked := v.Checkpoint.At == model.MaxTSO || v.Checkpoint.At == 0 && v.Removal == ""
				if x != nil && !x.Dropped() || v.Collection == 0 || marked {
					continue
				}
				if x != nil && !seen[x.ID] {
					seen[x.ID] = true
					report(facts.RefCollection(p.Cluster, x.ID), 0, 0)
				}
				report(facts.RefVChannel(v.Name), 1, 0)
			}
		},
		list: func() shellquote.Command { return check.Kitescope("get vchannels").Arg("collection=") },
	}
}

// gone reports whether a record names a collection without a record.
func gone(p *check.Pass, id model.CollectionID) bool { return id != 0 && p.Collection(id) == nil }

func orphans() []remnant { //nolint:funlen // a table of rows
	const segments = model.PartSegments
	getOrphans := func() shellquote.Command { return check.Kitescope("get orphans --sort -size_bytes") }
	getSegments := func() shellquote.Command {
		return check.Kitescope("get segments").Arg("state!=Dropped", "collection=")
	}
	return append(orphansOfCollections(), []remnant{
		{
			record: "segment", owners: "of collections that are gone", parts: segments, list: getSegments,
			visit: func(p *check.Pass, report func(model.Ref, int, int64)) {
				for _, id := range p.SegmentOwners() {
					if p.Collection(id) == nil {
						reportSegments(p.SegmentsOf(id), report)
					}
				}
			},
		},
		{
			record: "segment", owners: "of partitions that are gone", parts: segments,
			visit: func(p *check.Pass, report func(model.Ref, int, int64)) {
				for _, x := range p.Existing() {
					if list := p.SegmentsIn(x.ID, facts.StrayPartitionSegs); len(list) > 0 {
						report(facts.RefCollection(p.Cluster, x.ID), 0, 0)
						reportSegments(list, report)
					}
				}
			},
			list: func() shellquote.Command {
				return check.Kitescope("get segments").Arg("state!=Dropped", "partition=")
			},
		},
		{
			record: "log file", owners: "of segments that are gone", parts: segments | model.PartLogs, list: getOrphans,
			visit: func(p *check.Pass, report func(model.Ref, int, int64)) {
				for _, s := range p.Orphans {
					files := 0
					for i := range s.Logs {
						files += int(s.Logs[i].Files)
					}
					if len(s.Logs) > 0 {
						report(model.Ref{Resource: "orphans", ID: s.ID.String()}, files, s.Bytes)
					}
				}
			},
		},
		{
			record: "index record", owners: "of segments that are gone", parts: segments | model.PartSegmentIndexes,
			list: getOrphans,
			visit: func(p *check.Pass, report func(model.Ref, int, int64)) {
				for _, s := range p.Orphans {
					if len(s.Indexes) > 0 && !s.Indexes[0].Legacy {
						report(model.Ref{Resource: "orphans", ID: s.ID.String()}, len(s.Indexes), 0)
					}
				}
			},
		},
		{
			record: "segment", owners: "with index records of definitions that are gone",
			parts: segments | model.PartIndexes | model.PartSegmentIndexes,
			visit: func(p *check.Pass, report func(model.Ref, int, int64)) {
				for _, x := range p.Collections {
					for _, s := range p.SegmentsIn(x.ID, facts.StrayIndexSegs) {
						report(facts.RefSegment(s.ID), 1, 0)
					}
				}
			},
			list: func() shellquote.Command { return check.Kitescope("get segment-indexes").Arg("index=") },
		},
		{
			record: "log", owners: "of pchannels that are gone", parts: model.PartServing | model.PartChannels,
			visit: orphanLogs,
			list:  func() shellquote.Command { return check.Kitescope("get queue-topics") },
		},
		{
			record: "role membership", owners: "of users or roles that are gone", parts: model.PartUsers,
			visit: func(p *check.Pass, report func(model.Ref, int, int64)) {
				recorded := recordedRoles(p)
				for _, u := range p.Users {
					for _, r := range u.Roles {
						if u.Unrecorded || !recorded[r] {
							report(model.Ref{Resource: "users", ID: u.Name, Name: u.Name}, 1, 0)
						}
					}
				}
			},
			list: func() shellquote.Command { return check.Kitescope("get users") },
		},
		{
			record: "privilege", owners: "of roles that are gone", parts: model.PartUsers,
			visit: func(p *check.Pass, report func(model.Ref, int, int64)) {
				recorded := recordedRoles(p)
				for _, g := range p.Grants {
					if !recorded[g.Role] {
						report(model.Ref{Resource: "grants", ID: g.Path(), Name: g.Role + " " + g.Privilege}, 1, 0)
					}
				}
			},
			list: func() shellquote.Command { return check.Kitescope("get grants") },
		},
	}...)
}

// orphansOfCollections returns the other kinds of records whose collection is gone.
func orphansOfCollections() []remnant {
	remains := func(of string, count func(*model.Remains) int) remnant {
		return remnant{
			record: of, parts: model.PartObjects,
			visit: func(p *check.Pass, report func(model.Ref, int, int64)) {
				for _, x := range p.Remains {
					report(facts.RefCollection(p.Cluster, x.Collection), count(x), 0)
				}
			},
			list: func() shellquote.Command { return check.Kitescope("get keys").Arg("key~root-coord/" + of + "s/") },
		}
	}
	list := []remnant{
		{
			record: "index definition", parts: model.PartIndexes,
			visit: func(p *check.Pass, report func(model.Ref, int, int64)) {
				for _, x := range p.Indexes {
					if gone(p, x.Collection) && !x.Deleted {
						report(facts.RefIndex(x), 1, 0)
					}
				}
			},
			list: func() shellquote.Command { return check.Kitescope("get indexes").Arg("collection=") },
		},
		remains("field", func(x *model.Remains) int { return x.Fields }),
		remains("partition", func(x *model.Remains) int { return x.Partitions }),
		remains("function", func(x *model.Remains) int { return x.Functions }),
		{
			record: "recoverable vchannel", parts: model.PartChannels,
			visit: func(p *check.Pass, report func(model.Ref, int, int64)) {
				for _, v := range p.VChannels {
					if v.State == "Normal" && gone(p, v.Collection) {
						report(facts.RefVChannel(v.Name), 1, 0)
					}
				}
			},
			list: func() shellquote.Command { return check.Kitescope("get vchannels").Arg("collection=") },
		},
		{
			record: "target", parts: model.PartChannels,
			visit: func(p *check.Pass, report func(model.Ref, int, int64)) {
				for _, t := range p.Targets {
					if gone(p, t.Collection) {
						report(facts.RefCollection(p.Cluster, t.Collection), 1, 0)
					}
				}
			},
			list: func() shellquote.Command { return check.Kitescope("get targets").Arg("collection=") },
		},
	}
	list = append(list, lateOrphans()...)
	for i := range list {
		list[i].owners = "of collections that are gone"
	}
	return list
}

// lateOrphans returns the kinds of records that Milvus itself ends or removes some time after their collection
// is dropped.
func lateOrphans() []remnant {
	return []remnant{
		{
			record: "task", parts: model.PartTasks,
			visit: func(p *check.Pass, report func(model.Ref, int, int64)) {
				for _, t := range p.Tasks {
					if gone(p, t.Collection) && p.OlderThan(t.StartedAt, orphanTaskAfter, true) {
						report(facts.RefTask(t), 1, 0)
					}
				}
			},
			list: func() shellquote.Command { return check.Kitescope("get tasks --sort started_at") },
		},
		{
			record: "statistics record", parts: model.PartTasks,
			visit: func(p *check.Pass, report func(model.Ref, int, int64)) {
				for _, x := range p.PartitionStats {
					if gone(p, x.Collection) && p.OlderThan(x.CommittedAt, orphanStatsAfter, true) {
						id := x.Collection.String() + "/" + x.Partition.String() + "/" + x.VChannel + "/" +
							strconv.FormatInt(x.Version, 10)
						report(model.Ref{Resource: "partition-stats", ID: id}, 1, 0)
					}
				}
			},
			list: func() shellquote.Command { return check.Kitescope("get partition-stats").Arg("collection=") },
		},
	}
}

// recordedRoles returns the roles that have a record.
func recordedRoles(p *check.Pass) map[string]bool {
	recorded := map[string]bool{}
	for _, r := range p.Roles {
		recorded[r.Name] = !r.Unrecorded
	}
	return recorded
}

func reportSegments(list []*model.Segment, report func(model.Ref, int, int64)) {
	for _, s := range list {
		if s.State.Healthy() {
			report(facts.RefSegment(s.ID), 1, s.Bytes)
		}
	}
}

// orphanLogs reports Woodpecker's logs without a pchannel. It skips logs with other prefixes than the cluster's
// pchannels, because they belong to another Milvus that shares the etcd.
func orphanLogs(p *check.Pass, report func(model.Ref, int, int64)) {
	if p.Woodpecker == nil {
		return
	}
	ours := map[string]bool{}
	for _, x := range p.PChannels {
		if i := strings.LastIndexByte(x.Name, '_'); i > 0 && x.Streaming {
			ours[x.Name[:i+1]] = true
		}
	}
	for _, l := range p.Woodpecker.Logs {
		if i := strings.LastIndexByte(l.Name, '_'); i >= 0 && ours[l.Name[:i+1]] && p.PChannel(l.Name) == nil {
			report(refTopic(l.Name), 1, l.Retained().Bytes)
		}
	}
}

// reportRemnants reports remnants of the given kinds as one finding.
func reportRemnants(p *check.Pass, impact string, kinds []remnant) {
	f := check.Finding{Severity: check.Info, Impact: impact}
	var parts []string
	var all int64
	for _, k := range kinds {
		if !p.Loaded.Has(k.parts) {
			p.NoteUnseen(k.record + "s " + k.owners + ": the metadata could not be read")
			continue
		}
		n, bytes, first := 0, int64(0), ""
		k.visit(p, func(ref model.Ref, count int, size int64) {
			n, bytes = n+count, bytes+size
			if len(f.Objects) < facts.MaxObjects {
				f.Objects = append(f.Objects, ref)
			}
			if first == "" && count > 0 {
				first = ref.ID
			}
		})
		if n == 0 {
			continue
		}
		text, name := words.Plural(n, k.record), k.record+"s "+k.owners
		f.Evidence = append(f.Evidence, check.Count(name, n, "etcd"), check.Fact("first of these", first, "etcd"))
		if bytes > 0 {
			text += " (" + words.Bytes(bytes) + ")"
			f.Evidence = append(f.Evidence, check.Size("bytes of "+name, bytes, "etcd"))
		}
		parts, all = append(parts, text+" "+k.owners), all+bytes
		f.Fix = append(f.Fix, check.Shell(k.list()).Does("lists these; no action is needed for queries"))
	}
	if len(parts) == 0 {
		return
	}
	f.Message = "left over: " + words.Summarize(parts)
	if all >= orphanBytes {
		f.Severity = check.Warning
		f.Fix = append(f.Fix,
			check.Do("delete records by hand only with Milvus stopped and a snapshot of etcd saved: this cannot be "+
				"undone").
				Interrupting(0, "all requests while it is stopped"))
	}
	p.Report(f)
}
