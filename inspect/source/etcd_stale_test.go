package source_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
	"kitescope/internal/hints"
)

// TestStaleRead reads an etcd without a quorum: a second voter that never starts leaves one of two members.
func TestStaleRead(t *testing.T) {
	server := sourcetest.StartEtcd(t, nil)
	server.Load(t, []source.KV{
		{Key: []byte("by-dev/meta/session/id"), Value: []byte("7")},
		{Key: []byte("by-dev/meta/root-coord/database/db-info/1"), Value: []byte{}},
	})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := server.Client.MemberAdd(ctx, []string{"http://127.0.0.1:1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := scanAll(ctx, server.Address, false); err == nil {
		t.Error("a read that needs a quorum succeeded without one")
	} else if hint := new(hints.Error); !errors.As(err, &hint) || !strings.Contains(hint.Hint(), "--stale-read") {
		t.Errorf("the error does not say how to go on: %v", err)
	}
	keys, err := scanAll(ctx, server.Address, true)
	if err != nil || keys != 2 {
		t.Errorf("a stale read found %d keys, want 2: %v", keys, err)
	}
}

func scanAll(ctx context.Context, address string, stale bool) (keys int, err error) {
	src, err := source.Open(ctx, "etcd://"+address, source.Options{StaleRead: stale, RequestTimeout: 3 * time.Second})
	if err != nil {
		return 0, err
	}
	defer src.Close()
	snapshot, err := src.Pin(ctx)
	if err != nil {
		return 0, err
	}
	defer snapshot.Close()
	err = snapshot.Scan(ctx, []source.Range{source.Prefix("by-dev/")}, func(source.KV) error {
		keys++
		return nil
	})
	return keys, err
}

// TestReadsAtRevision checks that only the read that finds the revision needs a quorum, and that a member that is
// behind the revision is read again with one.
func TestReadsAtRevision(t *testing.T) {
	server := sourcetest.StartEtcd(t, nil)
	server.Load(t, []source.KV{
		{Key: []byte("by-dev/meta/session/id"), Value: []byte("7")},
		{Key: []byte("by-dev/meta/root-coord/database/db-info/1"), Value: []byte{}},
	})
	for behind, want := range map[int64]int64{0: 1, 2: 2} { // the number of the read at a member that is behind
		var reads, quorum atomic.Int64
		h := sourcetest.StartHostile(t, server.Address, func(h *sourcetest.Hostile) {
			h.Range = func(r *pb.RangeRequest) *pb.RangeResponse {
				if !r.Serializable {
					quorum.Add(1)
				}
				return nil
			}
			h.Fail = func(method string) error {
				if method == pb.KV_Range_FullMethodName && reads.Add(1) == behind {
					return rpctypes.ErrGRPCFutureRev
				}
				return nil
			}
		})
		keys, err := scanAll(t.Context(), h.Address, false)
		if err != nil || keys != 2 || quorum.Load() != want {
			t.Errorf("member behind at read %d: %d keys in %d reads, %d with a quorum, want %d: %v", behind, keys,
				reads.Load(), quorum.Load(), want, err)
		}
	}
}
