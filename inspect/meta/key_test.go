package meta

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/source"
)

func testHeader() source.Header { return source.Header{Root: "by-dev", MetaPath: "meta"} }

func TestParseKey(t *testing.T) {
	tests := []struct {
		key  string
		kind kindID
		ids  []int64
		name string
	}{
		{"by-dev/meta/session/id", kindSessionID, nil, ""},
		{"by-dev/meta/session/rootcoord", kindSession, nil, "rootcoord"},
		{"by-dev/meta/session/querynode-12", kindSession, nil, "querynode-12"},
		{"by-dev/meta/root-coord/database/collection-info/1/470", kindCollection, []int64{1, 470}, ""},
		{"by-dev/meta/root-coord/collection/470", kindCollection22, []int64{470}, ""},
		{"by-dev/meta/datacoord-meta/s/1/-1/3", kindSegment, []int64{1, -1, 3}, ""},
		{"by-dev/meta/datacoord-meta/binlog/1/2/3/100", kindBinlog, []int64{1, 2, 3, 100}, ""},
		{"by-dev/meta/datacoord-meta/predicate-deltalog/1/2/3/predicate", kindPredicateDeltalog, []int64{1, 2, 3}, ""},
		{
			"by-dev/meta/channelwatch/-9223372036854775808/by-dev-rootcoord-dml_0_1v0", kindChannelWatch,
			[]int64{-1 << 63},
			"by-dev-rootcoord-dml_0_1v0",
		},
		{"by-dev/meta/streamingnode-meta/wal/p1/vchannel/v1", kindWALVChannel, nil, "p1"},
		{"by-dev/meta/streamingnode-meta/wal/p1/vchannel/v1/schema/100", kindWALSchema, []int64{100}, "p1"},
		{"by-dev/meta/queryview/qv/1/2/3/4/5/6", kindQueryView, []int64{1, 2, 3, 4, 5, 6}, "queryview"},
		{"by-dev/kv/gid/timestamp", kindAllocator, nil, "gid/timestamp"},
		{"by-dev/config/queryCoord/autoBalance", kindConfig, nil, "queryCoord/autoBalance"},
		{"by-dev/meta/snapshots/root-coord/fields/1/0_ts470590763645272071", kindField, []int64{1, 0}, ""},
	}
	g := newGrammar(testHeader())
	for _, tt := range tests {
		k, err := g.parse([]byte(tt.key))
		if err != nil {
			t.Errorf("%s: %v", tt.key, err)
			continue
		}
		if k.kind != tt.kind || k.name() != tt.name {
			t.Errorf("%s: kind %d name %q, want %d %q", tt.key, k.kind, k.name(), tt.kind, tt.name)
		}
		if diff := cmp.Diff(tt.ids, append([]int64(nil), k.ids[:len(tt.ids)]...)); diff != "" {
			t.Errorf("%s: ids\n%s", tt.key, diff)
		}
		if got := string(g.format(k)); got != tt.key {
			t.Errorf("format gives %s, want %s", got, tt.key)
		}
	}
}

func TestParseKeyErrors(t *testing.T) {
	tests := map[string]string{
		"by-dev/meta/datacoord-meta/s/1/2/abc":                    `segment key with "abc" where the segment id belongs`,
		"by-dev/meta/datacoord-meta/s/1/02/3":                     `segment key with "02" where the partition id belongs`,
		"by-dev/meta/datacoord-meta/s/1/2":                        "unknown key",
		"by-dev/meta/datacoord-meta/s/1/2/3/4":                    "unknown key",
		"by-dev/meta/nothing":                                     "unknown key",
		"by-dev/meta/":                                            "unknown key",
		"other/meta/session/id":                                   "unknown key",
		"by-dev/meta/snapshots/root-coord/x_ts12":                 "unknown key",
		"by-dev/meta/snapshots/root-coord/fields/1/2":             "history key without a timestamp",
		"by-dev/meta/snapshots/root-coord/fields/1/2_tsxx":        `history key with "xx" where a timestamp belongs`,
		"by-dev/meta/field-index/1/99999999999999999999":          `index key with "99999999999999999999" where the index id belongs`,
		"by-dev/meta/root-coord/partitions/9223372036854775808/1": `partition key with "9223372036854775808" where the collection id belongs`,
	}
	g := newGrammar(testHeader())
	for key, want := range tests {
		if _, err := g.parse([]byte(key)); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", key, err, want)
		}
	}
}

func FuzzParseKey(f *testing.F) {
	for _, k := range Kinds() {
		f.Add([]byte("by-dev/meta/" + k.Pattern))
	}
	f.Add([]byte("by-dev/meta/datacoord-meta/s/1/-1/3"))
	f.Add([]byte("by-dev/meta/snapshots/root-coord/fields/1/0_ts470590763645272071"))
	f.Add([]byte("by-dev/kv/gid/timestamp"))
	g := newGrammar(testHeader())
	f.Fuzz(func(t *testing.T, key []byte) {
		k, err := g.parse(key)
		if err != nil {
			return
		}
		again, err := g.parse(g.format(k))
		if err != nil {
			t.Fatalf("%q does not parse after format: %v", key, err)
		}
		if diff := cmp.Diff(k, again, cmp.AllowUnexported(keyParts{})); diff != "" {
			t.Fatalf("%q changes:\n%s", key, diff)
		}
	})
}

func TestKindsAreComplete(t *testing.T) {
	seen := make(map[kindID]bool)
	for _, k := range kinds() {
		if seen[k.id] {
			t.Errorf("kind %d (%s) is listed twice", k.id, k.name)
		}
		seen[k.id] = true
		if k.part == 0 {
			t.Errorf("kind %s belongs to no part", k.name)
		}
		if (k.enc == encProto || k.enc == encZstdProto) != (k.message != nil) {
			t.Errorf("kind %s: encoding %s with message %v", k.name, k.enc, k.message != nil)
		}
	}
	for id := kindUnknown + 1; id < kindCount; id++ {
		if !seen[id] {
			t.Errorf("kind %d is not in the table", id)
		}
	}
}

// TestLeadingID compares leadingID with parsing digit by digit.
func TestLeadingID(t *testing.T) {
	t.Parallel()
	check := func(text string) {
		t.Helper()
		id, size := leadingID([]byte(text))
		want, digits := anyLeadingID([]byte(text))
		if id != want || size != digits {
			t.Fatalf("%q begins with %d of %d bytes, not %d of %d", text, id, size, want, digits)
		}
	}
	random := rand.New(rand.NewPCG(5, 6))
	const letters = "0123456789012345678901234567890123456789/-:a\xf9\xff"
	for range 20_000 {
		b := make([]byte, random.IntN(26))
		for i := range b {
			b[i] = letters[random.IntN(40)]
		}
		if len(b) > 0 && random.IntN(2) == 0 {
			b[random.IntN(len(b))] = letters[random.IntN(len(letters))]
		}
		check(string(b))
	}
	for _, text := range []string{
		"", "0", "00", "-", "-0", "-1", "9223372036854775807", "9223372036854775808", "999999999999999999",
		"999999999999999999/1", "100000000000000000000", "123456789", "12345678", "1234567812345678",
	} {
		check(text)
	}
}
