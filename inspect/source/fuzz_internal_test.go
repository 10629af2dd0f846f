package source

import (
	"bytes"
	"math/rand/v2"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"
)

// FuzzPage compares the walk over an answer's buffers with the generated decoder.
func FuzzPage(f *testing.F) {
	b, err := proto.Marshal(rangeResponse())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b, uint64(1))
	f.Add(b[:100], uint64(2))
	f.Add([]byte{0x12, 0x02, 0x0a, 0x00}, uint64(3))
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		var want pb.RangeResponse
		valid := proto.Unmarshal(b, &want) == nil
		// What no encoder writes (groups, a field twice) may be refused.
		valid = valid && len(want.ProtoReflect().GetUnknown()) == 0 && proto.Size(&want) == len(b)
		for _, kv := range want.Kvs {
			valid = valid && len(kv.Key) > 0
		}
		p, err := newPage(chop(b, rand.New(rand.NewPCG(seed, 1))))
		i := 0
		if err == nil {
			err = p.each(func(kv KV) error {
				if valid && (!bytes.Equal(kv.Key, want.Kvs[i].Key) || !bytes.Equal(kv.Value, want.Kvs[i].Value) ||
					kv.ModRevision != want.Kvs[i].ModRevision || kv.Lease != want.Kvs[i].Lease) {
					t.Errorf("key %d is %+v, want %v", i, kv, want.Kvs[i])
				}
				i++
				return nil
			})
		}
		if valid && err != nil {
			t.Errorf("refuses what the generated decoder takes: %v", err)
		}
		if valid && (i != len(want.Kvs) || p.more != want.More || p.revision != want.Header.GetRevision()) {
			t.Errorf("%d of %d keys, more %v of %v, revision %d of %d", i, len(want.Kvs), p.more, want.More, p.revision, want.Header.GetRevision())
		}
	})
}
