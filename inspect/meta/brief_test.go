package meta

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/milvus-io/milvus-proto/go-api/v3/msgpb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// checkBriefs holds what is read of a segment's record, of that of an index and of a position against all of it: what the full readers
// take is read, and the same.
func checkBriefs(t *testing.T, d *Decoder, value []byte) (taken int) {
	t.Helper()
	var full segmentValue
	x := SegmentBrief{}
	channel, from, ok := briefSegment(value, &x, nil)
	if fastSegment(value, &full) {
		taken++
		want := SegmentBrief{State: full.s.State, Level: full.s.Level, Invisible: full.s.Invisible, Rows: full.s.Rows}
		if diff := cmp.Diff(want, x); !ok || diff != "" || string(channel) != string(full.channel) || !slices.Equal(from, full.compacted) {
			t.Fatalf("%x: %v, channel %q, %q; compacted from %v, %v (-full +brief):\n%s", value, ok, full.channel, channel, full.compacted, from, diff)
		}
	}
	var index model.SegmentIndex
	y := IndexBrief{}
	ok = briefIndex(value, &y)
	if fastSegmentIndex(value, &index) {
		taken++
		if want := (IndexBrief{Index: index.Index, Node: index.Node, State: index.State, FailReason: index.FailReason}); !ok || want != y {
			t.Fatalf("%x is %+v, in brief %v, %+v", value, want, ok, y)
		}
	}
	at, ok := briefPosition(value)
	if want, fast := fastPosition(value); fast && (!ok || at != want) {
		t.Fatalf("%x is of %d, in brief of %d, %v", value, want, at, ok)
	}
	checkDecoded(t, d, value)
	return taken
}

// checkDecoded holds a Decoder against the generated messages: what they take, it takes with the same result.
func checkDecoded(t *testing.T, d *Decoder, value []byte) {
	t.Helper()
	var full segmentValue
	_, err := slowSegment(value, &full)
	got := d.Decode(&source.KV{Key: []byte("by-dev/meta/datacoord-meta/s/1/2/3"), Value: value}, false)
	if x, ok := got.Object.(*SegmentBrief); ok == (got.Problem != "") || !ok && err == nil {
		t.Fatalf("%x: the generated message says %v, the decoder %+v", value, err, got)
	} else if err == nil {
		want := SegmentBrief{
			ID: 3, Collection: 1, State: full.s.State, Level: full.s.Level, Invisible: full.s.Invisible, Rows: full.s.Rows, CompactedFrom: full.compacted,
			VChannel: x.VChannel,
		}
		if len(full.compacted) == 0 {
			want.CompactedFrom = nil
		}
		if diff := cmp.Diff(&want, x); diff != "" || d.VChannels()[x.VChannel] != string(full.channel) {
			t.Fatalf("%x: channel %q, %q (-generated +decoder):\n%s", value, full.channel, d.VChannels()[x.VChannel], diff)
		}
	}
	var index model.SegmentIndex
	_, err = slowSegmentIndex(value, &index)
	got = d.Decode(&source.KV{Key: []byte("by-dev/meta/segment-index/1/2/3/4"), Value: value}, false)
	if x, ok := got.Object.(*IndexBrief); ok == (got.Problem != "") || !ok && err == nil {
		t.Fatalf("%x: the generated message says %v, the decoder %+v", value, err, got)
	} else if err == nil {
		index.Collection, index.Segment, index.Build = 1, 3, 4
		if diff := cmp.Diff(newIndexBrief(&index), x); diff != "" {
			t.Fatalf("%x (-generated +decoder):\n%s", value, diff)
		}
	}
	position := new(msgpb.MsgPosition)
	err = proto.Unmarshal(value, position)
	got = d.Decode(&source.KV{Key: []byte("by-dev/meta/datacoord-meta/channel-cp/by-dev-dml_0_7v1"), Value: value}, false)
	if x, ok := got.Object.(*model.VChannel); err == nil && (!ok || x.Checkpoint.At != model.TSO(position.GetTimestamp())) {
		t.Fatalf("%x: the generated message is of %d, the decoder %+v", value, position.GetTimestamp(), got)
	}
}

func briefDecoder(tb testing.TB) *Decoder {
	tb.Helper()
	d, err := NewDecoder(testHeader())
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func TestBriefsOnFixtures(t *testing.T) {
	t.Parallel()
	d, taken := briefDecoder(t), 0
	for _, name := range fixtures() {
		eachKey(t, name, func(kv source.KV) { taken += checkBriefs(t, d, kv.Value) })
	}
	if taken < 500 {
		t.Errorf("only %d values are a segment or an index", taken)
	}
}

// TestBriefsOnRecords damages records: a byte is changed, is left out, or is the last.
func TestBriefsOnRecords(t *testing.T) {
	t.Parallel()
	random, d := rand.New(rand.NewPCG(1, 2)), briefDecoder(t)
	for _, seed := range segmentSeeds(t) {
		checkBriefs(t, d, seed)
		for range 60 {
			i := random.IntN(len(seed))
			checkBriefs(t, d, seed[:i])
			checkBriefs(t, d, slices.Concat(seed[:i], seed[i+1:]))
			changed := slices.Clone(seed)
			changed[i] = byte(random.Uint32())
			checkBriefs(t, d, changed)
		}
	}
}

func FuzzBriefs(f *testing.F) {
	for _, seed := range segmentSeeds(f) {
		f.Add(seed)
	}
	d := briefDecoder(f)
	f.Fuzz(func(t *testing.T, value []byte) { checkBriefs(t, d, value) })
}
