package layout

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"kitescope/engine/manifest"
	"kitescope/engine/segment"
	"kitescope/inspect/model"
	"kitescope/internal/words"
	"kitescope/replay"
)

// files sets the files of all segments. The records of the segments name the logs in one of three ways: 2.1 has
// whole paths in the segment's own record; 2.2 and later have a record per field, with a path (early 2.2) or only
// the log's id. Paths are built from the ids as Milvus does (internal/metastore/kv/binlog, binlog.go;
// pkg/util/metautil, binlog.go):
//
//	ROOT/insert_log/COLLECTION/PARTITION/SEGMENT/FIELD/LOG      FIELD is a column group under storage version 2
//	ROOT/delta_log/COLLECTION/PARTITION/SEGMENT/LOG
//	ROOT/index_files/BUILD/VERSION/PARTITION/SEGMENT            a folder
//	ROOT/index_v1/COLLECTION/PARTITION/SEGMENT/BUILD/VERSION    since 3.0, if the record has this layout
//
// Under storage version 3 a manifest names the logs. It is read together with the storage (engine/manifest).
func (b *builder) files() {
	if b.Keyspace == nil {
		b.note("the cluster was read without its segment records: names of insert and delta logs are unknown")
	}
	logs := make(map[model.SegmentID]*logs, len(b.segments))
	roots := make(map[string]int)
	for _, id := range sortedKeys(b.segments) {
		logs[id] = b.logsOf(b.segmentOf(id), roots)
	}
	for _, rec := range b.levelZero {
		logs[rec.ID] = b.logsOf(rec, roots)
	}
	b.l.Root = b.chooseRoot(roots)
	nameless := 0
	for _, id := range sortedKeys(b.segments) {
		s, rec := b.segments[id], b.segmentOf(id)
		s.Files = b.filesOf(rec, logs[id])
		if s.State != replay.Growing && !s.Files.HasLogs() {
			nameless++
		}
	}
	for _, rec := range b.levelZero {
		if logs[rec.ID].manifest != "" {
			b.note("the deletes of L0 segment %s are not read: it has storage version 3", rec.ID)
		}
		if l := logs[rec.ID]; len(l.delta) > 0 {
			b.l.L0 = append(b.l.L0, replay.Deletes{
				Segment: int64(rec.ID), Partition: int64(rec.Partition), Channel: rec.VChannel, Files: b.names(l.delta),
			})
		}
	}
	if nameless > 0 && b.Keyspace != nil {
		b.note("%s without insert logs in the metadata",
			words.Count(nameless, "sealed segment is", "sealed segments are"))
	}
}

// logs holds the names of a segment's logs in its records, without the root: they start with insert_log or
// delta_log.
type logs struct {
	insert   map[int64][]string
	delta    []string
	manifest string
}

// fieldLogs is a datapb.FieldBinlog as the records encode it.
type fieldLogs struct {
	Field int64 `json:"fieldID,string"`
	Logs  []struct {
		Path string `json:"log_path"`
		ID   int64  `json:"logID,string"`
	} `json:"binlogs"`
}

// logsOf reads a segment's records. If a segment has logs of the same kind both inline and in separate records,
// e.g. after an upgrade, the inline logs take precedence, as in Milvus (datacoord/kv_catalog.go: applyBinlogInfo).
// roots counts the prefixes of log paths.
func (b *builder) logsOf(rec *model.Segment, roots map[string]int) *logs {
	l := &logs{insert: make(map[int64][]string), manifest: b.manifestOf(rec, roots)}
	if rec == nil || l.manifest != "" || b.Keyspace == nil {
		return l
	}
	var inline struct {
		Insert []fieldLogs `json:"binlogs"`
		Delta  []fieldLogs `json:"deltalogs"`
	}
	keyed := inline
	for _, key := range b.Keyspace.ObjectKeys("segments", rec.ID.String()) {
		i, ok := b.Keyspace.Find(key)
		if !ok {
			continue
		}
		var into any
		var one fieldLogs
		kind := b.Keyspace.Info(i).Kind
		switch kind {
		case "segment":
			into = &inline
		case "binlog", "deltalog":
			into = &one
		default:
			continue
		}
		text := b.Keyspace.Record(i).Text
		if text == "" { // a record without delta logs has an empty value
			continue
		}
		if err := json.Unmarshal([]byte(text), into); err != nil {
			b.note("segment %s: record %s is not understood", rec.ID, key)
			continue
		}
		switch kind {
		case "binlog":
			one.Field, _ = strconv.ParseInt(path.Base(key), 10, 64) // the key takes precedence, as in inspect
			keyed.Insert = append(keyed.Insert, one)
		case "deltalog":
			keyed.Delta = append(keyed.Delta, one)
		}
	}
	if len(inline.Insert) == 0 {
		inline.Insert = keyed.Insert
	}
	if len(inline.Delta) == 0 {
		inline.Delta = keyed.Delta
	}
	prefix := fmt.Sprintf("%d/%d/%d/", rec.Collection, rec.Partition, rec.ID)
	for _, f := range inline.Insert {
		if names := f.names(fmt.Sprintf("insert_log/%s%d/", prefix, f.Field), roots); len(names) > 0 {
			l.insert[f.Field] = append(l.insert[f.Field], names...)
			slices.SortFunc(l.insert[f.Field], byLog)
		}
	}
	for _, f := range inline.Delta {
		l.delta = append(l.delta, f.names("delta_log/"+prefix, roots)...)
	}
	slices.SortFunc(l.delta, byLog)
	return l
}

// manifestOf returns the name of a segment's manifest, "" if it has none or the record is invalid.
func (b *builder) manifestOf(rec *model.Segment, roots map[string]int) string {
	if rec == nil || rec.Details == nil || rec.Details.ManifestPath == "" {
		return ""
	}
	place, err := manifest.ParsePlace(rec.Details.ManifestPath)
	if err != nil {
		b.note("segment %s: %v", rec.ID, err)
		return ""
	}
	roots[place.Root]++
	return place.Name("")
}

// names returns the names of the logs: from their paths, or from their ids below a folder.
func (f *fieldLogs) names(folder string, roots map[string]int) (list []string) {
	for _, x := range f.Logs {
		switch before, name := split(x.Path); {
		case name != "":
			roots[before]++
			list = append(list, name)
		case x.ID > 0:
			list = append(list, folder+strconv.FormatInt(x.ID, 10))
		}
	}
	return list
}

// split splits a path into the root and Milvus's own part. name is "" if there is no such part, or if the path is
// not clean or contains "..".
func split(full string) (root, name string) {
	if path.Clean(full) != full {
		return "", ""
	}
	steps := strings.Split(full, "/")
	for i, s := range steps {
		if s == ".." {
			return "", ""
		}
		if s == "insert_log" || s == "delta_log" || s == "index_files" || s == "index_v1" {
			return strings.Join(steps[:i], "/"), strings.Join(steps[i:], "/")
		}
	}
	return "", ""
}

// byLog compares logs by their ids, which is the order of their rows.
func byLog(x, y string) int {
	a, _ := strconv.ParseInt(path.Base(x), 10, 64)
	c, _ := strconv.ParseInt(path.Base(y), 10, 64)
	return cmp.Or(cmp.Compare(a, c), strings.Compare(x, y))
}

// chooseRoot returns the most frequent root of log paths, or the configuration's if there are no paths. An absolute
// root is the folder of local storage, and names are relative to it.
func (b *builder) chooseRoot(roots map[string]int) string {
	best, count := "", 0
	for _, root := range sortedKeys(roots) {
		if roots[root] > count {
			best, count = root, roots[root]
		}
	}
	if len(roots) > 1 {
		b.note("log paths have %d different prefixes; looking for files under %q", len(roots), best)
	}
	switch {
	case count == 0:
		return b.root()
	case strings.HasPrefix(best, "/"):
		if b.l.Storage.Folder == "" && b.l.Storage.Kind != "remote" {
			b.l.Storage.Folder = best
		}
		return ""
	}
	return best
}

func (b *builder) names(list []string) []string {
	out := make([]string, len(list))
	for i, name := range list {
		out[i] = path.Join(b.l.Root, name)
	}
	return out
}

// filesOf returns the files of a segment, nil if the metadata names none.
func (b *builder) filesOf(rec *model.Segment, l *logs) *segment.Files {
	if rec == nil {
		return nil
	}
	f := &segment.Files{
		Collection: int64(rec.Collection), Partition: int64(rec.Partition), Segment: int64(rec.ID),
		Insert: make(map[int64][]string, len(l.insert)),
		Delta:  b.names(l.delta), Indexes: b.names(b.indexFolders(rec)),
	}
	if rec.Details != nil {
		f.CommitAt = uint64(rec.Details.CommitAt)
	}
	for field, list := range l.insert {
		f.Insert[field] = b.names(list)
	}
	if l.manifest != "" {
		f.Manifest = path.Join(b.l.Root, l.manifest)
	}
	if !f.HasLogs() && len(f.Delta) == 0 && len(f.Indexes) == 0 {
		return nil
	}
	return f
}

// indexFolders returns the folders of the field's finished indexes: first those that a node has loaded, then the
// newest.
func (b *builder) indexFolders(rec *model.Segment) (list []string) {
	loaded := make(map[model.BuildID]bool)
	for _, s := range b.Runtime.Served(rec.ID) {
		if s.Sealed != nil {
			for _, x := range s.Sealed.Indexes {
				loaded[x.Build] = true
			}
		}
	}
	var found []*model.SegmentIndex
	for i := range rec.Indexes {
		if x := &rec.Indexes[i]; b.ofField(x) && x.State == model.IndexFinished && x.Files > 0 {
			found = append(found, x)
		}
	}
	slices.SortStableFunc(found, func(x, y *model.SegmentIndex) int {
		if loaded[x.Build] != loaded[y.Build] {
			if loaded[x.Build] {
				return -1
			}
			return 1
		}
		return cmp.Or(-cmp.Compare(x.Build, y.Build), -cmp.Compare(x.Version, y.Version))
	})
	for _, x := range found {
		list = append(list, x.Folder(rec.Partition, rec.ID))
	}
	return list
}
