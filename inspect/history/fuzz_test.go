package history_test

import (
	"testing"

	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"

	"kitescope/inspect/source"
)

// FuzzReader writes, rewrites and deletes keys whose values do not match the keys.
func FuzzReader(f *testing.F) {
	f.Add("session/querynode-4", []byte(`{"ServerID":4,"ServerName":"querynode"}`),
		[]byte(`{"ServerID":5,"ServerName":"querynode","Stopping":true}`))
	f.Add("session/rootcoord", []byte(`{"ServerID":4,"ServerName":"rootcoord"}`), []byte(`null`))
	f.Add("channelwatch/8/"+channel, value(f, watch(datapb.ChannelWatchState_ToWatch, 1)), []byte("\x18\x02"))
	f.Add("datacoord-meta/s/7/70/2", value(f, segment(2, 2, 0)), value(f, segment(2, 6, 5, 1, 2)))
	f.Add("segment-index/7/70/2/5", []byte("\x48\x02"), []byte("\x48\x03"))
	f.Add("root-coord/database/collection-info/1/7", []byte("\x08\x07"), []byte("\xE2\x9B\xBC"))
	f.Add("root-coord/fields/7/100", []byte("\x08\x64"), []byte("\x08\x65"))
	f.Add("root-coord/credential/grantee-id/a1/PrivilegeSearch", []byte("root"), []byte(""))
	f.Add("querycoord-partition-loadinfo/7/70", []byte("\x08\x07"), []byte("\x20\x02"))
	f.Add("streamingcoord-meta/pchannel/p", []byte("\x18\x01"), []byte(""))
	f.Fuzz(func(t *testing.T, key string, first, second []byte) {
		s := begin(t)
		put := func(v []byte) source.Event {
			return source.Event{KV: source.KV{Key: []byte("by-dev/meta/" + key), Value: v}}
		}
		s.write(put(first))
		s.write(put(second))
		s.write(put(second), put(first))
		s.write(deleted(key), deleted(key))
		s.write(put(second))
		h := s.reader.Finish()
		if h.Changes != 7 || h.Revisions != 5 {
			t.Errorf("%d changes in %d revisions", h.Changes, h.Revisions)
		}
		for i := range h.Len() {
			if e := h.Event(i); e.Message == "" || e.Count < 1 || e.Revision > e.Last || e.Object.Resource == "" {
				t.Errorf("an event is %+v", e)
			}
		}
	})
}
