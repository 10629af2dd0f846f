package metatest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/source"
)

// Root and MetaPath are the etcd root and the metadata path of all constructed clusters.
const (
	Root     = "by-dev"
	MetaPath = "meta"
)

// Ids of the constructed clusters.
const (
	Docs      = int64(455000000000000100) // collection "docs" of database "default", 2 shards, loaded
	Docs0     = Docs + 1                  // its partition "_default"
	DocsNews  = Docs + 2                  // its partition "news"
	Items     = int64(455000000000000200) // collection "items" of database "shop", 1 shard, not loaded
	Items0    = Items + 1                 // its partition "_default"
	Shop      = int64(455000000000000300) // database "shop"
	Index     = int64(455000000000000400) // index on the vector field of docs
	Flushed   = int64(455000000000001001) // segment of docs, indexed
	Growing   = int64(455000000000001002) // segment of docs
	LevelZero = int64(455000000000001003) // L0 segment of docs: deletes only
	Compacted = int64(455000000000001004) // dropped segment that Flushed came from
	Stored    = int64(455000000000001005) // segment of items, without index
	TSO       = uint64(455000000000000000)
)

// VChannels returns the vchannels of docs and items.
func VChannels() (docs0, docs1, items string) {
	return fmt.Sprintf("by-dev-rootcoord-dml_0_%dv0", Docs), fmt.Sprintf("by-dev-rootcoord-dml_1_%dv1", Docs),
		fmt.Sprintf("by-dev-rootcoord-dml_2_%dv0", Items)
}

// Secrets returns the secrets that the clusters hold in various places. They must not be in anything that is shown
// or stored.
func Secrets() []string {
	return []string{
		"s3cr3t-minio", "s3cr3t-token", "s3cr3t-apikey", "s3cr3t-cipher", "s3cr3t-import", "s3cr3t-broadcast",
		"s3cr3t-schema", "s3cr3t-url", "$2a$10$s3cr3thashs3cr3thashs3",
	}
}

// Versions returns the versions that Cluster supports.
func Versions() []string { return []string{"2.4", "2.5", "2.6", "3.0"} }

// Cluster returns the sorted keys of a constructed cluster, nil for a version that is not in Versions.
func Cluster(version string) []source.KV {
	b := &builder{version: version}
	b.catalog()
	b.segments()
	b.access()
	switch version {
	case "2.4":
		b.v24()
	case "2.5":
		b.v24()
		b.v25()
	case "2.6":
		b.v24()
		b.v25()
		b.v26()
	case "3.0":
		b.v24()
		b.v25()
		b.v26()
		b.v30()
	default:
		return nil
	}
	slices.SortFunc(b.kvs, func(x, y source.KV) int { return bytes.Compare(x.Key, y.Key) })
	return b.kvs
}

// builder collects keys. It panics if a record cannot be marshalled, because that is a bug in this package.
type builder struct {
	version string
	kvs     []source.KV
}

func (b *builder) atLeast(version string) bool { return b.version >= version }

func (b *builder) raw(key string, value []byte) {
	n := int64(len(b.kvs) + 10)
	b.kvs = append(b.kvs, source.KV{
		Key: []byte(Root + "/" + key), Value: value, CreateRevision: n, ModRevision: n, Version: 1,
	})
}

func (b *builder) text(key, value string) { b.raw(MetaPath+"/"+key, []byte(value)) }

func (b *builder) put(m proto.Message, format string, args ...any) {
	b.raw(MetaPath+"/"+fmt.Sprintf(format, args...), marshal(m))
}

func (b *builder) zstd(m proto.Message, format string, args ...any) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	b.raw(MetaPath+"/"+fmt.Sprintf(format, args...), encoder.EncodeAll(marshal(m), nil))
}

func (b *builder) json(value any, key string) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	b.text(key, string(text))
}

func (b *builder) time(key string, t time.Time) {
	b.raw(key, binary.BigEndian.AppendUint64(nil, uint64(t.UnixNano())))
}

func marshal(m proto.Message) []byte {
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic(err)
	}
	return value
}

// session is the JSON of a session.
type session struct {
	ServerID           int64
	ServerName         string
	Address            string
	Exclusive          bool `json:",omitempty"`
	Stopping           bool `json:",omitempty"`
	TriggerKill        bool
	Version            string
	IndexEngineVersion map[string]int32  `json:",omitempty"`
	LeaseID            int64             `json:",omitempty"`
	HostName           string            `json:",omitempty"`
	ServerLabels       map[string]string `json:",omitempty"`
}

// node registers a process. change, if not nil, modifies its session.
func (b *builder) node(key, role string, id int64, change func(*session)) {
	s := session{
		ServerID: id, ServerName: role, Address: fmt.Sprintf("10.0.0.%d:53100", id), TriggerKill: true,
		Version: b.version + ".1",
		LeaseID: 7000 + id, HostName: fmt.Sprintf("%s-%d", role, id),
	}
	if change != nil {
		change(&s)
	}
	b.json(s, "session/"+key)
}
