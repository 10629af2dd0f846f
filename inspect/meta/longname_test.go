package meta

import (
	"context"
	"strings"
	"testing"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/schemapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/etcdpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/indexpb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// TestLongNames checks that names of objects, which are written once for each segment, are truncated, and that
// names with different middles stay different. A bundle of 2.5 MB with one name of 1 MB took 3.2 GB for a table of
// segments.
func TestLongNames(t *testing.T) {
	long := func(middle string) string {
		return strings.Repeat("é", 250_000) + middle + strings.Repeat("z", 400_000)
	}
	usual := strings.Repeat("n", 255)
	var kvs []source.KV
	put := func(key string, m proto.Message) {
		value, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		kvs = append(kvs, source.KV{
			Key: []byte("by-dev/meta/" + key), Value: value, ModRevision: int64(len(kvs) + 1), Version: 1,
		})
	}
	for id, name := range map[string]string{"1": long("a"), "2": long("b"), "3": usual} {
		put("root-coord/database/collection-info/1/"+id, &etcdpb.CollectionInfo{
			ID: int64(id[0] - '0'), Schema: &schemapb.CollectionSchema{Name: name},
		})
	}
	put("root-coord/database/db-info/1", &etcdpb.DatabaseInfo{Id: 1, Name: long("")})
	put("root-coord/fields/1/100", &schemapb.FieldSchema{FieldID: 100, Name: long("")})
	put("root-coord/partitions/1/11", &etcdpb.PartitionInfo{PartitionID: 11, CollectionId: 1, PartitionName: long("")})
	put("field-index/1/21", &indexpb.FieldIndex{IndexInfo: &indexpb.IndexInfo{
		CollectionID: 1, FieldID: 100, IndexID: 21, IndexName: long(""),
		IndexParams: []*commonpb.KeyValuePair{{Key: "index_type", Value: long("")}},
	}})
	c, err := Load(context.Background(), newMemory(kvs), Want{Parts: model.PartAll})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Collections) != 3 || len(c.Databases) != 1 || len(c.Partitions) != 1 || len(c.Indexes) != 1 ||
		len(c.Collections[0].Fields) != 1 {
		t.Fatalf("%d collections, %d databases, %d partitions, %d indexes, %d fields", len(c.Collections),
			len(c.Databases), len(c.Partitions), len(c.Indexes), len(c.Collections[0].Fields))
	}
	names := []string{
		c.Collections[0].Name, c.Collections[1].Name, c.Databases[0].Name, c.Partitions[0].Name, c.Indexes[0].Name,
		c.Indexes[0].Type, c.Collections[0].Fields[0].Name,
	}
	for i, name := range names {
		if len(name) > 1<<10 || !strings.HasPrefix(name, "éé") || !strings.HasSuffix(name, "zz") ||
			!strings.Contains(name, "bytes, ") {
			t.Errorf("name %d is %d bytes: %.40q", i, len(name), name)
		}
	}
	if names[0] == names[1] || c.Collections[2].Name != usual {
		t.Error("names that differ became one, or one of 255 bytes was changed")
	}
}
