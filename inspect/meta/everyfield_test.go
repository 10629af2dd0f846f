package meta

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/etcdpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"kitescope/inspect/meta/legacypb"
	"kitescope/inspect/meta/metatest"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/inspect/view"
)

// TestEveryField changes each field of each decoded message of the constructed clusters, one at a time, and checks
// that a column or description of an object changes. A field without an effect must be in testdata/unread.txt,
// with the reason. Lists of raw records do not count, because they show all fields.
func TestEveryField(t *testing.T) {
	if testing.Short() {
		t.Skip("loads thousands of clusters")
	}
	found := make(map[string]bool) // whether the field is shown
	probed := make(map[kindID]bool)
	for _, version := range slices.Backward(metatest.Versions()) {
		kvs := newMemory(metatest.Cluster(version)).kvs
		at := slices.DeleteFunc(largestOfKinds(kvs), func(at int) bool {
			k, err := newGrammar(testHeader()).parse(kvs[at].Key)
			return err != nil || probed[k.kind]
		})
		if version == "3.0" { // storage version 3 has a different record
			at = append(at, manifestSegment(t, kvs))
		}
		probe(t, kvs, at, found, probed)
	}
	// 2.1 has fields, partitions and indexes inside its collections, and kinds of its own. Woodpecker's client
	// wrote its own metadata.
	var old []source.KV
	eachKey(t, "standalone-2.1.0", func(kv source.KV) {
		kv.Key, kv.Value = slices.Clone(kv.Key), slices.Clone(kv.Value)
		old = append(old, kv)
	})
	newest := newMemory(metatest.Cluster("3.0")).kvs
	for _, kvs := range [][]source.KV{
		old, slices.Concat(newest, outsideKeys(t)), slices.Concat(newest, outsideKeys(t), rareKeys(t)),
	} {
		var rest []int // all values of their kinds, because e.g. little is shown of a damaged log
		for at, kv := range kvs {
			k, err := newGrammar(testHeader()).parse(kv.Key)
			if err != nil || probed[k.kind] || len(kv.Value) == 0 {
				continue
			}
			if row := newGrammar(testHeader()).kinds[k.kind]; row.message != nil && row.enc == encProto &&
				proto.Unmarshal(kv.Value, row.message()) == nil {
				rest = append(rest, at)
			}
		}
		probe(t, kvs, rest, found, probed)
	}
	for _, row := range kinds() {
		if row.message != nil && !probed[row.id] {
			t.Errorf("no cluster here has a %s, so none of its fields was changed", row.name)
		}
	}
	var unread []string
	for name, read := range found {
		if !read {
			unread = append(unread, name)
		}
	}
	slices.Sort(unread)
	checkUnread(t, unread, found)
}

// largestOfKinds returns the positions of the largest value of each kind of message.
func largestOfKinds(kvs []source.KV) []int {
	largest := make(map[kindID]int)
	for at, kv := range kvs {
		k, err := newGrammar(testHeader()).parse(kv.Key)
		if err != nil {
			continue
		}
		row := newGrammar(testHeader()).kinds[k.kind]
		if row.message == nil || row.enc != encProto && row.enc != encZstdProto || len(kv.Value) == 0 {
			continue
		}
		if old, ok := largest[k.kind]; !ok || len(kv.Value) > len(kvs[old].Value) {
			largest[k.kind] = at
		}
	}
	return slices.Collect(maps.Values(largest))
}

// probe changes the fields of some values of a cluster.
func probe(t *testing.T, kvs []source.KV, at []int, found map[string]bool, probed map[kindID]bool) {
	t.Helper()
	s, err := newClusterBuilder(t.Context(), newMemory(slices.Clone(kvs)), Want{Parts: model.PartAll})
	if err != nil {
		t.Fatal(err)
	}
	g := newGrammar(testHeader())
	for _, at := range at {
		k, err := g.parse(kvs[at].Key)
		if err != nil {
			t.Fatal(err)
		}
		probed[k.kind] = true
		row := g.kinds[k.kind]
		m, value := row.message(), kvs[at].Value
		packed := row.enc == encZstdProto
		if packed {
			if value, err = inflate(value); err != nil {
				t.Fatal(err)
			}
		}
		if err := proto.Unmarshal(value, m); err != nil {
			t.Fatal(err)
		}
		p := &prober{t: t, builder: s, kv: kvs[at], root: m, packed: packed, found: found}
		p.message(m.ProtoReflect(), nil)
		p.load()
	}
}

// manifestSegment returns the position of the segment with a manifest.
func manifestSegment(t *testing.T, kvs []source.KV) int {
	t.Helper()
	at := slices.IndexFunc(kvs, func(kv source.KV) bool {
		m := new(datapb.SegmentInfo)
		return bytes.Contains(kv.Key, []byte("/datacoord-meta/s/")) && proto.Unmarshal(kv.Value, m) == nil &&
			m.GetManifestPath() != ""
	})
	if at < 0 {
		t.Fatal("no segment has a manifest")
	}
	return at
}

// checkUnread compares the unread fields with the list of reasons. A line is "message.field reason" or "message.*
// reason".
func checkUnread(t *testing.T, unread []string, found map[string]bool) {
	t.Helper()
	text, err := os.ReadFile("testdata/unread.txt")
	if err != nil {
		t.Fatal(err)
	}
	reasons := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		name, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if reasons[name] = false; len(reason) < 10 {
			t.Errorf("%s: no reason", name)
		}
	}
	for _, name := range unread {
		all := name[:strings.LastIndexByte(name, '.')] + ".*"
		switch {
		case hasKey(reasons, name):
			reasons[name] = true
		case hasKey(reasons, all):
			reasons[all] = true
		default:
			t.Errorf("%s is in no column, and not in testdata/unread.txt with a reason", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		if !reasons[name] {
			t.Errorf("testdata/unread.txt: %s is read (%v), or is no field", name, found[name])
		}
	}
}

func hasKey(m map[string]bool, key string) bool {
	_, ok := m[key]
	return ok
}

// prober changes the fields of a value in a cluster.
type prober struct {
	t       *testing.T
	builder *clusterBuilder
	kv      source.KV
	root    proto.Message
	// packed means that the value is compressed.
	packed bool
	found  map[string]bool
	// shownBefore is the rendered text of the cluster in before.
	before      *model.Cluster
	shownBefore []string
}

// message changes the fields of a message inside root. around are the names of the enclosing messages.
func (p *prober) message(m protoreflect.Message, around []protoreflect.FullName) {
	name := m.Descriptor().FullName()
	if len(around) > 4 || slices.Contains(around, name) {
		return
	}
	around = append(slices.Clone(around), name)
	before := p.load()
	for i := range m.Descriptor().Fields().Len() {
		fd := m.Descriptor().Fields().Get(i)
		full := string(name) + "." + string(fd.Name())
		old := m.Get(fd)
		switch {
		case fd.IsMap():
			p.container(m, fd, full, before)
			continue
		case fd.IsList() && fd.Message() != nil, fd.Message() != nil:
			p.inner(m, fd, full, before, around)
			continue
		case fd.IsList():
			p.container(m, fd, full, before)
			continue
		}
		saved := proto.Clone(m.Interface())
		m.Set(fd, otherValue(fd, old))
		p.note(full, before)
		restore(m, saved) // setting one member of a oneof clears the others
	}
	if !p.same(before, p.load()) {
		p.t.Fatalf("%s: the cluster is another one though nothing changed", name)
	}
}

func restore(m protoreflect.Message, saved proto.Message) {
	proto.Reset(m.Interface())
	proto.Merge(m.Interface(), saved)
}

// container adds an entry to a map or to a list of scalars.
func (p *prober) container(
	m protoreflect.Message, fd protoreflect.FieldDescriptor, full string, before *model.Cluster,
) {
	saved := proto.Clone(m.Interface())
	if fd.IsMap() {
		value := m.Mutable(fd).Map().NewValue()
		if fd.MapValue().Message() == nil {
			value = otherValue(fd.MapValue(), fd.MapValue().Default())
		}
		m.Mutable(fd).Map().Set(otherValue(fd.MapKey(), fd.MapKey().Default()).MapKey(), value)
	} else {
		m.Mutable(fd).List().Append(otherValue(fd, fd.Default()))
	}
	p.note(full, before)
	restore(m, saved)
	if fd.IsList() && m.Get(fd).List().Len() > 0 { // a list that is parallel to another is cut to the other's length
		m.Mutable(fd).List().Set(0, otherValue(fd, fd.Default()))
		p.note(full, before)
		restore(m, saved)
	}
}

// inner probes a message in a field. The field is read if adding it, or changing anything in it, has an effect.
func (p *prober) inner(
	m protoreflect.Message, fd protoreflect.FieldDescriptor, full string, before *model.Cluster,
	around []protoreflect.FullName,
) {
	had, saved := m.Has(fd), proto.Clone(m.Interface())
	var in protoreflect.Message
	switch {
	case fd.IsList() && m.Get(fd).List().Len() > 0:
		in = m.Get(fd).List().Get(0).Message()
	case fd.IsList():
		in = m.Mutable(fd).List().AppendMutable().Message()
	default:
		in = m.Mutable(fd).Message()
	}
	if !had {
		p.note(full, before)
	}
	p.message(in, around)
	empty := p.load()
	fill(in, 3)
	p.found[full] = p.found[full] || !p.same(empty, p.load()) || had && p.removalMatters(m, fd, before)
	restore(m, saved)
}

// removalMatters reports whether removing a field changes the Cluster.
func (p *prober) removalMatters(m protoreflect.Message, fd protoreflect.FieldDescriptor, before *model.Cluster) bool {
	saved := m.Get(fd)
	m.Clear(fd)
	changed := !p.same(before, p.load())
	m.Set(fd, saved)
	return changed
}

// fill sets the scalar fields of a message and of its nested messages.
func fill(m protoreflect.Message, depth int) {
	for i := range m.Descriptor().Fields().Len() {
		fd := m.Descriptor().Fields().Get(i)
		switch {
		case fd.IsMap():
		case fd.Message() == nil && !fd.IsList():
			m.Set(fd, otherValue(fd, m.Get(fd)))
		case depth == 0 || fd.Message() == nil:
		case fd.IsList():
			fill(m.Mutable(fd).List().AppendMutable().Message(), depth-1)
		default:
			fill(m.Mutable(fd).Message(), depth-1)
		}
	}
}

func (p *prober) note(full string, before *model.Cluster) {
	if !p.found[full] {
		p.found[full] = !p.same(before, p.load())
	}
}

func (p *prober) load() *model.Cluster {
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(p.root)
	if err != nil {
		p.t.Fatal(err)
	}
	if p.packed {
		value = deflate(p.t, value)
	}
	kv := p.kv
	kv.Value = value
	p.builder.state.put(kv, false)
	p.builder.dirty = true
	return p.builder.build()
}

// same compares columns and descriptions. It compares the parts first, because most fields are read into the
// Cluster or not at all.
func (p *prober) same(before, b *model.Cluster) bool {
	if sameParts(before, b) {
		return true
	}
	if p.before != before {
		p.before, p.shownBefore = before, shownOf(before)
	}
	return slices.Equal(p.shownBefore, shownOf(b))
}

func sameParts(a, b *model.Cluster) bool {
	x, y := reflect.ValueOf(a.Parts), reflect.ValueOf(b.Parts)
	for i := range x.NumField() {
		f := x.Type().Field(i)
		if f.Name == "Origin" || f.Name == "Keyspace" {
			continue
		}
		if !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			return false
		}
	}
	return true
}

// shownOf returns the columns and the description of every object, except the lists of keys and of their bytes.
func shownOf(c *model.Cluster) []string {
	// The targets did not respond, so metadata that is merged with runtime data is in the same tables.
	env := view.NewEnv(c.WithRuntime(model.BuildRuntime(model.RuntimeParts{
		Kind: "recording", Targets: []model.CurrentTarget{},
	})), model.TSO(metatest.TSO).Time().Add(time.Hour))
	var list []string
	for _, r := range view.Resources {
		if r.Keyspace || slices.Contains([]string{"etcd-usage", "etcd-prefixes", "history", "keys"}, r.Name) {
			continue
		}
		rows := r.Table(env)
		for row := range rows.Len() {
			for column := range r.Columns {
				list = append(list, fmt.Sprint(r.Name, row, r.Columns[column].Name, rows.Cell(row, column)))
			}
			d := rows.Describe(row)
			for _, section := range d.Sections {
				list = append(list, section.Title, section.Note)
				for i := range section.Grid.Len() {
					for column := range section.Grid.Columns {
						list = append(list, fmt.Sprint(section.Grid.Cell(i, column)))
					}
				}
			}
		}
	}
	return list
}

// otherValue returns a scalar that differs from old.
func otherValue(fd protoreflect.FieldDescriptor, old protoreflect.Value) protoreflect.Value {
	if fd.IsList() {
		old = protoreflect.Value{}
	}
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(!old.IsValid() || !old.Bool())
	case protoreflect.EnumKind:
		values := fd.Enum().Values()
		for i := range values.Len() {
			if n := values.Get(values.Len() - 1 - i).Number(); !old.IsValid() || n != old.Enum() {
				return protoreflect.ValueOfEnum(n)
			}
		}
		return protoreflect.ValueOfEnum(1)
	case protoreflect.StringKind:
		if strings.HasSuffix(string(fd.Name()), "_time") { // the format of import jobs
			return protoreflect.ValueOfString("2026-09-20T10:00:00Z")
		}
		return protoreflect.ValueOfString("probed")
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte("probed"))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(17.5)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(17.5)
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(1717)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(1717)
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(455171717171717171)
	default:
		return protoreflect.ValueOfInt64(455171717171717171)
	}
}

func inflate(value []byte) ([]byte, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.DecodeAll(value, nil)
}

func deflate(t *testing.T, value []byte) []byte {
	t.Helper()
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	return e.EncodeAll(value, nil)
}

// rareKeys returns records of kinds that no cluster here has.
func rareKeys(t *testing.T) (list []source.KV) {
	t.Helper()
	for _, x := range []struct {
		key string
		m   proto.Message
	}{
		{"by-dev/meta/root-coord/collection-alias/latest21", &etcdpb.CollectionInfo{ID: metatest.Docs}},
		{
			"by-dev/meta/root-coord/aliases/latest22",
			&etcdpb.AliasInfo{AliasName: "latest22", CollectionId: metatest.Docs},
		},
		{"by-dev/meta/queryCoord-unsubscribeChannelInfo/7", &querypb.UnsubscribeChannelInfo{NodeID: 7}},
		{
			"by-dev/meta/importtask/9",
			&legacypb.ImportTaskInfo{
				CollectionId: metatest.Docs, Infos: []*legacypb.ImportInfo{{Key: "backup", Value: "true"}},
			},
		},
		{
			"by-dev/meta/streamingnode-meta/wal/by-dev-rootcoord-dml_0/salvage-checkpoint/east",
			&commonpb.ReplicateCheckpoint{
				ClusterId: "east", Pchannel: "by-dev-rootcoord-dml_0", TimeTick: metatest.TSO,
			},
		},
		{"woodpecker/cleaning/1/1", &legacypb.SegmentCleanupStatus{LogId: 1, SegmentId: 1}},
		{"woodpecker/quorums/3", &legacypb.QuorumInfo{Id: 3}},
	} {
		value, err := proto.Marshal(x.m)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, source.KV{
			Key: []byte(x.key), Value: value, CreateRevision: 5000, ModRevision: 5000, Version: 1,
		})
	}
	return list
}
