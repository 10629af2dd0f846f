package source

import (
	"context"
	"encoding/binary"
	"time"
)

// reserveAhead is how far ahead of its clock Milvus reserves timestamps (RootCoord's allocator, internal/tso/tso.go).
const reserveAhead = 3 * time.Second

// reserveSteps bounds how many reservations are followed back: one is made every few seconds.
const reserveSteps = 64

// allocatorKeys are below a root the keys of the allocator of timestamps: the later one was written by 2.2 and before.
func allocatorKeys(root string) [2]string {
	return [...]string{root + "/kv/gid/timestamp", root + "/kv/tso/timestamp"}
}

// PinBefore is the store as it was at least so long before a snapshot of it. etcd keeps no times; which revision is old enough
// is told by the timestamps that Milvus reserves every few seconds. It is nil where that cannot be known: they are not reserved,
// or history is compacted.
func (s *Etcd) PinBefore(ctx context.Context, of Header, age time.Duration) (Snapshot, error) {
	r, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	for _, key := range allocatorKeys(of.Root) {
		revision, err := r.reservedBefore(ctx, key, of.Revision, age+reserveAhead)
		if err != nil || revision > 0 {
			if err != nil {
				return nil, s.explain(ctx, "read", err)
			}
			of.Revision, of.Taken, of.ByClock = revision, time.Time{}, false
			return &etcdSnapshot{source: s, reader: r, header: of}, nil
		}
	}
	return nil, nil //nolint:nilnil // unknown is no error
}

// reservedBefore is the newest revision at which a reservation was written that is so much older than the newest one, 0 if
// there is none.
func (r *reader) reservedBefore(ctx context.Context, key string, revision int64, age time.Duration) (int64, error) {
	var newest time.Time
	for range reserveSteps {
		p, err := r.rangePage(ctx, rangeRequest{keys: singleKey(key), revision: revision})
		if err != nil {
			return 0, err
		}
		var at time.Time
		var written int64
		err = p.each(func(kv KV) error {
			at, written = reservation(kv.Value), kv.ModRevision
			return nil
		})
		switch {
		case err != nil:
			return 0, err
		case at.IsZero():
			return 0, nil
		case newest.IsZero():
			newest = at
		case newest.Sub(at) >= age:
			return written, nil
		}
		if revision = written - 1; revision <= 0 {
			return 0, nil
		}
	}
	return 0, nil
}

// reservation is the time that a value of the allocator holds: nanoseconds, big-endian. Zero if it holds none.
func reservation(value []byte) time.Time {
	if len(value) != 8 {
		return time.Time{}
	}
	return time.Unix(0, int64(binary.BigEndian.Uint64(value)&(1<<63-1))).UTC()
}
