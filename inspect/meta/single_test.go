package meta

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// TestDecoder compares the decoded single keys with the cluster that all keys form.
func TestDecoder(t *testing.T) {
	for _, name := range fixtures() {
		t.Run(name, func(t *testing.T) {
			c := loadFixture(t, name, Want{Parts: model.PartAll})
			snap := pinFixture(t, name)
			d, err := NewDecoder(snap.Header())
			if err != nil {
				t.Fatal(err)
			}
			compared := map[string]int{}
			err = snap.Scan(context.Background(), []source.Range{source.Prefix(snap.Header().Root + "/")},
				func(kv source.KV) error {
					single := d.Decode(&kv, false)
					got, want := inCluster(c, single.Object)
					if want == nil {
						return nil
					}
					compared[single.Kind]++
					if diff := cmp.Diff(want, got); diff != "" {
						return fmt.Errorf("%s (-cluster +key):\n%s", kv.Key, diff)
					}
					return nil
				})
			if err != nil {
				t.Error(err)
			}
			for _, kind := range []string{"session", "segment", "collection", "user", "channel-watch", "allocator"} {
				if compared[kind] == 0 {
					t.Errorf("no %s was compared", kind)
				}
			}
			t.Log(compared)
		})
	}
}

// inCluster returns the decoded object of a key and the same object in the cluster, without data of other
// keys. Both are nil if the key has no object of its own.
func inCluster(c *model.Cluster, object any) (got, want any) {
	switch x := object.(type) {
	case *model.Session:
		for _, s := range c.Sessions {
			if s.Key == x.Key {
				return x, s
			}
		}
	case *model.VChannel:
		if full := c.VChannel(x.Name); x.Watched && len(full.OtherWatchers) == 0 {
			return []any{x.Watcher, x.WatchState, x.WatchedAt}, []any{full.Watcher, full.WatchState, full.WatchedAt}
		}
		if full := c.VChannel(x.Name); x.Checkpoint.At > 0 {
			return x.Checkpoint.At, full.Checkpoint.At
		}
	case *model.Allocator:
		return x.At, find(c.Allocators, func(a *model.Allocator) bool { return a.Name == x.Name }).At
	case *model.Database:
		return x, c.Database(x.ID)
	case *model.Collection:
		if full := c.Collection(x.ID); full != nil && full.Key == x.Key {
			alone := *full
			alone.Fields, alone.Functions, alone.AutoID, alone.DynamicField = x.Fields, x.Functions, x.AutoID,
				x.DynamicField
			return x, &alone
		}
	case *model.Partition:
		if p := c.Partition(x.ID); p != nil {
			return x, p
		}
	case *SegmentBrief:
		full := c.Segment(x.ID)
		if len(x.CompactedFrom) == 0 {
			x.CompactedFrom = nil
		}
		return *x, SegmentBrief{
			ID: full.ID, Collection: full.Collection, VChannel: full.VChannel, State: full.State, Level: full.Level,
			Invisible: full.Invisible,
			Rows:      full.Rows, CompactedFrom: full.CompactedFrom,
		}
	case *IndexBrief:
		for _, full := range c.Segment(x.Segment).Indexes {
			if full.Build == x.Build && !full.Legacy {
				return x, newIndexBrief(&full)
			}
		}
	case *model.User:
		return x.Name, find(c.Users, func(u *model.User) bool { return u.Name == x.Name }).Name
	case *model.Replica:
		if r := find(c.Replicas, func(r *model.Replica) bool { return r.ID == x.ID }); r != nil {
			return x, r
		}
	case *model.ResourceGroup:
		return x, find(c.ResourceGroups, func(g *model.ResourceGroup) bool { return g.Name == x.Name })
	case *model.ConfigEntry:
		return x, find(c.Config, func(e *model.ConfigEntry) bool { return e.Name == x.Name })
	}
	return nil, nil
}

func find[T any](list []*T, is func(*T) bool) *T {
	for _, x := range list {
		if is(x) {
			return x
		}
	}
	return nil
}

// TestDecoderDeleted checks keys that were deleted or hold RootCoord's tombstone.
func TestDecoderDeleted(t *testing.T) {
	d, err := NewDecoder(source.Header{Root: "by-dev", MetaPath: "meta"})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]DecodedKey{
		"by-dev/meta/datacoord-meta/s/1/2/3": {
			Kind: "segment", Deleted: true, Object: &SegmentBrief{Collection: 1, ID: 3},
		},
		"by-dev/meta/segment-index/1/2/3/4": {
			Kind: "segment-index", Deleted: true, Object: &IndexBrief{Collection: 1, Segment: 3, Build: 4},
		},
		"by-dev/meta/session/querynode-4":                    {Kind: "session", Deleted: true},
		"by-dev/meta/root-coord/fields/7/100":                {Kind: "field", Deleted: true, Collection: 7},
		"by-dev/meta/snapshots/root-coord/fields/7/100_ts42": {Kind: "history", Deleted: true},
		"by-dev/meta/channelwatch/8/by-dev-dml_0_7v1": {
			Kind: "channel-watch", Deleted: true,
			Object: &model.VChannel{
				Name: "by-dev-dml_0_7v1", PChannel: "by-dev-dml_0", Collection: 7, Shard: -1, Watcher: 8,
			},
		},
		"by-dev/meta/no/such/key": {Deleted: true, Problem: "unknown key"},
		"by-dev/meta/datacoord-meta/channel-cp/by-dev-dml_0_7v1": {
			Kind: "channel-checkpoint", Deleted: true,
			Object: &model.VChannel{Name: "by-dev-dml_0_7v1", PChannel: "by-dev-dml_0", Collection: 7, Shard: -1},
		},
	} {
		got := *d.Decode(&source.KV{Key: []byte(key)}, true)
		got.Key = ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
	mark := source.KV{Key: []byte("by-dev/meta/root-coord/fields/7/100"), Value: []byte("\xE2\x9B\xBC")}
	if got := d.Decode(&mark, false); !got.Deleted || got.Object != nil {
		t.Errorf("RootCoord's mark of what was dropped is %+v", got)
	}
	broken := source.KV{Key: []byte("by-dev/meta/datacoord-meta/s/1/2/3"), Value: []byte("\xff\xff")}
	if got := d.Decode(&broken, false); got.Object != nil || got.Problem == "" {
		t.Errorf("a broken record is %+v", got)
	}
}

// TestDecoderSecrets decodes records with secrets in them.
func TestDecoderSecrets(t *testing.T) {
	d, err := NewDecoder(source.Header{Root: "by-dev", MetaPath: "meta"})
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{
		"by-dev/config/minio/secretAccessKey":               "hunter2",
		"by-dev/config/mysql/url":                           "tcp://root:hunter2@db:3306",
		"by-dev/meta/root-coord/credential/users/root":      `{"username":"root","encrypted_password":"hunter2"}`,
		"by-dev/meta/session/querynode-4":                   `{"ServerID":4,"ServerName":"querynode","Address":"user:hunter2@h:1","ServerLabels":{"token":"hunter2"}}`,
		"by-dev/meta/root-coord/credential/grantee-id/a/P":  "root",
		"by-dev/meta/streamingcoord-meta/broadcast-task/12": "hunter2",
	} {
		text := fmt.Sprintf("%+v",
			reflect.Indirect(
				reflect.ValueOf(d.Decode(&source.KV{Key: []byte(key), Value: []byte(value)}, false).Object),
			))
		if strings.Contains(text, "hunter2") {
			t.Errorf("%s tells its secret: %s", key, text)
		}
	}
}

// FuzzDecoder decodes values that do not match their keys.
func FuzzDecoder(f *testing.F) {
	f.Add("datacoord-meta/s/1/2/3", []byte("\x08\x03\x30\x05"))
	f.Add("channelwatch/8/by-dev-rootcoord-dml_0_7v0", []byte("\x18\x02"))
	f.Add("session/querynode-4", []byte(`{"ServerID":4}`))
	f.Add("root-coord/database/collection-info/1/7", []byte("\x08\x07"))
	f.Add("indexes/9", []byte("\x08\x09"))
	d, err := NewDecoder(source.Header{Root: "by-dev", MetaPath: "meta"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		kv := source.KV{Key: []byte("by-dev/meta/" + key), Value: value}
		if got := d.Decode(&kv, false); got.Deleted && !isTombstone(value) {
			t.Errorf("%q is gone", key)
		}
		d.Decode(&kv, true)
	})
}
