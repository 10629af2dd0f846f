package source_test

import (
	"encoding/binary"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"kitescope/inspect/source"
)

// frame appends one frame of a birdwatcher backup.
func frame(b, content []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(content)))
	return append(b, content...)
}

func bytesField(b []byte, num protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
}

func varintField(b []byte, num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}

// backupV1 returns a backup in the format that birdwatcher wrote before December 2022. No capture exists, so it
// follows states/etcd_backup.go of birdwatcher at the parent of commit 1b01725.
func backupV1(keys []source.KV) []byte {
	h := varintField(nil, 1, 1)
	h = bytesField(h, 2, []byte("by-dev"))
	h = bytesField(h, 3, []byte("meta"))
	h = varintField(h, 4, uint64(len(keys)))
	out := frame(nil, h)
	for _, kv := range keys {
		out = frame(out, bytesField(bytesField(nil, 1, kv.Key), 2, kv.Value))
	}
	return out
}

// TestBadRecordsAreCounted checks that records without a key, or with a duplicate key, are counted once each
// and that only the first ones are named. The first record of a key is used.
func TestBadRecordsAreCounted(t *testing.T) {
	keys := []source.KV{{Key: []byte("by-dev/meta/session/id"), Value: []byte("first")}, {Key: []byte("by-dev/meta/a")}}
	content := append(backupV1(keys), make([]byte, 8*1000)...)
	for i := range 500 {
		content = frame(content, bytesField(bytesField(nil, 1, keys[i%2].Key), 2, []byte("again")))
	}
	src := open(t, store(t, "file", content), source.Options{})
	defer func() { _ = src.Close() }()
	snap, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for pass := range 2 {
		got, err := collect(t.Context(), snap)
		if err != nil || len(got) != 2 || got["by-dev/meta/session/id"] != "first" {
			t.Fatal(got, err)
		}
		total := int64(0)
		for _, g := range snap.Gaps() {
			total += g.Count
		}
		if total != 1500 || len(snap.Gaps()) > 50 {
			t.Errorf("pass %d: %d records in %d gaps", pass, total, len(snap.Gaps()))
		}
	}
}
