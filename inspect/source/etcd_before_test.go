package source_test

import (
	"context"
	"encoding/binary"
	"strconv"
	"testing"
	"time"

	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// TestPinBefore reads an etcd as it was a while ago: by the timestamps that Milvus reserves, a reservation every three seconds.
func TestPinBefore(t *testing.T) {
	for _, key := range []string{"by-dev/kv/gid/timestamp", "by-dev/kv/tso/timestamp"} {
		server := sourcetest.StartEtcd(t, nil)
		put := func(key, value string) int64 {
			t.Helper()
			r, err := server.Client.Put(t.Context(), key, value)
			if err != nil {
				t.Fatal(err)
			}
			return r.Header.Revision
		}
		put("by-dev/meta/session/id", "1")
		start := time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
		for i := range 20 { // one minute
			put(key, string(binary.BigEndian.AppendUint64(nil, uint64(start.Add(time.Duration(i)*3*time.Second).UnixNano()))))
			put("by-dev/config/x", strconv.Itoa(i))
		}
		src := openEtcd(t, "etcd://"+server.Address, source.Options{})
		pin := func() source.Header {
			snap, err := src.Pin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer snap.Close()
			return snap.Header()
		}
		value := func(s source.Snapshot) (text string) {
			if err := s.Scan(t.Context(), []source.Range{source.Prefix("by-dev/config/")}, func(kv source.KV) error {
				text = string(kv.Value)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			return text
		}
		now := pin()
		for _, test := range []struct {
			age  time.Duration
			want string
		}{
			{0, "17"}, {time.Second, "16"}, {10 * time.Second, "13"}, {45 * time.Second, "2"}, // reserved is 3 s ahead: so much older, to be sure
		} {
			before, err := src.PinBefore(t.Context(), now, test.age)
			if err != nil || before == nil {
				t.Fatalf("%s: %s before: %v, %v", key, test.age, before, err)
			}
			if got := value(before); got != test.want {
				t.Errorf("%s: %s before, the key was %s, want %s", key, test.age, got, test.want)
			}
		}
		if before, err := src.PinBefore(t.Context(), now, time.Hour); err != nil || before != nil {
			t.Errorf("%s: an hour before the first reservation: %v, %v", key, before, err)
		}
		if _, err := server.Client.Compact(context.Background(), now.Revision); err != nil {
			t.Fatal(err)
		}
		if before, err := src.PinBefore(t.Context(), now, 10*time.Second); before != nil {
			t.Errorf("%s: history is compacted: %v, %v", key, before, err)
		}
	}
}
