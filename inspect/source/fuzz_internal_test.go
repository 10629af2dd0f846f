package source

import (
	"bytes"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"
)

// FuzzPage compares page with the generated decoder.
func FuzzPage(f *testing.F) {
	b, err := proto.Marshal(rangeResponse())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:100])
	f.Add([]byte{0x12, 0x02, 0x0a, 0x00})
	f.Add([]byte{0x12, 3, 0x0a, 1, 'k'}) // a record with only a key
	// an unknown field before a known one
	f.Add([]byte{0x12, 11, 0x0a, 1, 'k', 0xfd, 0x0f, 1, 2, 3, 4, 0x10, 5, 0x20, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		var want pb.RangeResponse
		valid := decode(b, &want)
		// etcd counts the keys of a page and of the following ones.
		valid = valid && want.Count >= int64(len(want.Kvs)) && want.More == (want.Count > int64(len(want.Kvs)))
		for _, kv := range want.Kvs {
			valid = valid && len(kv.Key) > 0
		}
		p, err := parsePage(b)
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
			t.Errorf("%d of %d keys, more %v of %v, revision %d of %d", i, len(want.Kvs), p.more, want.More, p.revision,
				want.Header.GetRevision())
		}
	})
}

// decode decodes a message and reports whether etcd can have encoded it as b. Unknown fields, groups, duplicate
// fields, and record fields out of order may be rejected.
func decode(b []byte, m proto.Message) bool {
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(b, m); err != nil {
		return false
	}
	again, err := proto.Marshal(m)
	return err == nil && bytes.Equal(again, b)
}

// FuzzWatch compares the decoder of watch messages with the generated decoder.
func FuzzWatch(f *testing.F) {
	kv := &mvccpb.KeyValue{
		Key: []byte("by-dev/meta/session/id"), Value: []byte("7"), CreateRevision: 3, ModRevision: 9, Version: 2,
		Lease: 4,
	}
	for _, m := range []*pb.WatchResponse{
		{
			Header: &pb.ResponseHeader{Revision: 9}, Fragment: true,
			Events: []*mvccpb.Event{{Kv: kv}, {Type: mvccpb.Event_DELETE, Kv: kv}},
		},
		{Header: &pb.ResponseHeader{Revision: 9}, Canceled: true, CompactRevision: 5, CancelReason: "gone"},
		{Created: true, Events: []*mvccpb.Event{{}}},
	} {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var want pb.WatchResponse
		valid := decode(b, &want)
		whole := true
		for _, e := range want.Events {
			whole = whole && len(e.GetKv().GetKey()) > 0 && e.Kv.ModRevision > 0 &&
				(e.Type == mvccpb.Event_PUT || e.Type == mvccpb.Event_DELETE)
		}
		m, err := parseWatch(b)
		if valid && err != nil {
			t.Fatalf("refuses what the generated decoder takes: %v", err)
		}
		i := 0
		err = m.each(func(e Event) error {
			if valid && i < len(want.Events) &&
				(!bytes.Equal(e.Key, want.Events[i].Kv.Key) ||
					e.Deleted != (want.Events[i].Type == mvccpb.Event_DELETE)) {
				t.Errorf("event %d is %+v, want %v", i, e, want.Events[i])
			}
			i++
			return nil
		})
		if valid && whole && (err != nil || i != len(want.Events)) || valid && !whole && err == nil {
			t.Errorf("%d of %d events, %v", i, len(want.Events), err)
		}
		if valid &&
			(m.revision != want.Header.GetRevision() || m.compacted != want.CompactRevision ||
				m.canceled != want.Canceled ||
				m.created != want.Created || m.fragment != want.Fragment || m.reason != want.CancelReason) {
			t.Errorf("%+v, want %v", m, &want)
		}
	})
}
