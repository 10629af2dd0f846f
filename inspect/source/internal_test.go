package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"

	"kitescope/internal/hints"
)

func TestRangeSets(t *testing.T) {
	merged := mergeRanges([]Range{
		{"m", "p"}, {"", "b"}, {"a", "c"}, {"x", "x"}, {"p", "q"}, {"z", "y"}, {"t", ""}, {"u", "v"},
	})
	want := []Range{{"", "c"}, {"m", "q"}, {"t", ""}}
	if diff := cmp.Diff(want, merged); diff != "" {
		t.Errorf("mergeRanges (-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		r             Range
		inside, other []Range
	}{
		{Range{"", ""}, want, []Range{{"c", "m"}, {"q", "t"}}},
		{Range{"d", "e"}, nil, []Range{{"d", "e"}}},
		{Range{"b", "n"}, []Range{{"b", "c"}, {"m", "n"}}, []Range{{"c", "m"}}},
		{Range{"z", ""}, []Range{{"z", ""}}, nil},
	} {
		if diff := cmp.Diff(c.inside, intersect(c.r, merged)); diff != "" {
			t.Errorf("intersect %v (-want +got):\n%s", c.r, diff)
		}
		if diff := cmp.Diff(c.other, subtract(c.r, merged)); diff != "" {
			t.Errorf("subtract %v (-want +got):\n%s", c.r, diff)
		}
	}
}

// TestMatcher compares matcher with a linear search.
func TestMatcher(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	word := func() string {
		b := make([]byte, r.IntN(5))
		for i := range b {
			b[i] = "ab/0\xff"[r.IntN(5)]
		}
		return "p/" + string(b)
	}
	for range 2000 {
		var ranges []Range
		for range r.IntN(4) {
			next := Range{word(), word()}
			if r.IntN(8) == 0 {
				next.To = ""
			}
			if r.IntN(3) == 0 {
				next = Prefix(word())
			}
			ranges = append(ranges, next)
		}
		m := newMatcher(ranges)
		for range 30 {
			key := []byte(word())
			if r.IntN(10) == 0 {
				key = []byte("q")
			}
			want := slices.ContainsFunc(ranges, func(r Range) bool { return r.Contains(key) })
			if got := m.match(key); got != want {
				t.Fatalf("match %q in %q = %v, shared %q", key, ranges, got, m.shared)
			}
		}
	}
}

func TestRangeString(t *testing.T) {
	for r, want := range map[Range]string{
		Prefix("a/"):             `keys under "a/"`,
		{From: "a", To: "c"}:     `keys ["a", "c")`,
		{From: "a"}:              `keys from "a"`,
		{From: "a", To: "a\x00"}: `key "a"`,
	} {
		if got := r.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestRootOf(t *testing.T) {
	for key, want := range map[string]string{
		"by-dev/meta/session/id":                                "by-dev/meta",
		"by-dev/meta/session/idx":                               "",
		"by-dev/meta/root-coord/x":                              "by-dev/meta",
		"by-dev/meta/snapshots/root-coord/database/db-info/1_t": "by-dev/meta",
		"/a/b/meta/datacoord-meta/s/1/2/3":                      "/a/b/meta",
		"meta/root-coord/x":                                     "",
		"root-coord/x":                                          "",
		"by-dev/kv/gid/timestamp":                               "",
		"registry/session/web":                                  "",
		"by-dev/meta/snapshots/other":                           "",
	} {
		got := ""
		if r, _, ok := rootOf(key); ok {
			got = r.String()
		}
		if got != want {
			t.Errorf("rootOf %q = %q, want %q", key, got, want)
		}
	}
}

// TestAfter searches a store with thousands of directories without a root.
func TestAfter(t *testing.T) {
	keys := []string{"zz/prod/meta/session/id"}
	for i := range 5000 {
		keys = append(keys, fmt.Sprintf("registry/pods/ns%d/pod%d", i%70, i), fmt.Sprintf("flat/%d", i))
	}
	slices.Sort(keys)
	children := map[string]int{}
	from, steps := "", 0
	var last string
	for ; steps < maxSeeks; steps++ {
		i, _ := slices.BinarySearch(keys, from)
		if i == len(keys) {
			break
		}
		last = keys[i]
		next := nextPosition(last, children)
		if next <= last {
			t.Fatalf("after %q is %q", last, next)
		}
		from = next
	}
	if last != keys[len(keys)-1] || steps > 100 {
		t.Errorf("%d steps, ended at %q", steps, last)
	}
}

func TestParseEtcd(t *testing.T) {
	for from, want := range map[string]etcdAddress{
		"etcd://h":                    {hosts: []string{"h:2379"}},
		"etcd://h:1/by-dev":           {hosts: []string{"h:1"}, root: "by-dev"},
		"etcd://h:1/by-dev/meta/":     {hosts: []string{"h:1"}, root: "by-dev/meta"},
		"etcd://h:1//slash":           {hosts: []string{"h:1"}, root: "/slash"},
		"etcds://a:1,b,[::1]:3/r":     {tls: true, hosts: []string{"a:1", "b:2379", "[::1]:3"}, root: "r"},
		"etcd://[fe80::1]":            {hosts: []string{"[fe80::1]:2379"}},
		"etcd://::1":                  {hosts: []string{"[::1]:2379"}},
		"etcd://some%20one@h:1/a%2Fb": {hosts: []string{"h:1"}, user: "some one", root: "a/b"},
	} {
		got, err := parseEtcd(from)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(etcdAddress{})); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", from, err, diff)
		}
	}
	a, _ := parseEtcd("etcds://me@a:1,b:2/r/m")
	if got := a.location(); got != "etcds://a:1,b:2/r/m" {
		t.Errorf("location %q", got)
	}
	if diff := cmp.Diff([]string{"https://a:1", "https://b:2"}, a.endpoints()); diff != "" {
		t.Errorf("endpoints (-want +got):\n%s", diff)
	}
}

func TestSeenKeys(t *testing.T) {
	var seen seenKeys
	hasher := newKeyHasher()
	for range 2 {
		fresh := 0
		for i := range 20_000 {
			if seen.add(hasher.sum(fmt.Appendf(nil, "key %d", i))) {
				fresh++
			}
		}
		if fresh != 20_000 && fresh != 0 || seen.used != 20_000 {
			t.Errorf("%d new of 20000, %d in all", fresh, seen.used)
		}
	}
}

// rangeResponse returns a response of etcd with all fields.
func rangeResponse() *pb.RangeResponse {
	resp := &pb.RangeResponse{
		Header: &pb.ResponseHeader{ClusterId: 1, MemberId: 2, Revision: 533816, RaftTerm: 4}, More: true, Count: 99,
	}
	for i := range 50 {
		resp.Kvs = append(resp.Kvs, &mvccpb.KeyValue{
			Key: fmt.Appendf(nil, "key/%03d", i), Value: bytes.Repeat([]byte{byte(i)}, i*7%300),
			CreateRevision: int64(i), ModRevision: int64(i * 3), Version: 1, Lease: int64(i % 2 * -1),
		})
	}
	return resp
}

func TestPage(t *testing.T) {
	want := rangeResponse()
	b, err := proto.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		p, err := parsePage(b)
		if err != nil {
			t.Fatal(err)
		}
		if p.revision != 533816 || !p.more || p.keys != 50 || p.lastKey != "key/049" {
			t.Fatalf("page %+v", p)
		}
		i := 0
		err = p.each(func(kv KV) error {
			w := want.Kvs[i]
			i++
			if !bytes.Equal(kv.Key, w.Key) || !bytes.Equal(kv.Value, w.Value) ||
				kv.CreateRevision != w.CreateRevision ||
				kv.ModRevision != w.ModRevision || kv.Version != w.Version || kv.Lease != w.Lease {
				return fmt.Errorf("key %d is %+v", i, kv)
			}
			return nil
		})
		if err != nil || i != 50 {
			t.Fatalf("%d keys, %v", i, err)
		}
		cut := b[:1+r.IntN(len(b)-1)]
		if p, err := parsePage(cut); err == nil && p.keys == 50 && p.more {
			t.Fatalf("an answer cut at %d of %d passes", len(cut), len(b))
		}
	}
}

func TestPageCodec(t *testing.T) {
	codec := wireCodec{}
	out, err := codec.Marshal(&pb.RangeRequest{Key: []byte("k"), Limit: 3})
	if err != nil || codec.Name() != "proto" {
		t.Fatal(err)
	}
	var req pb.RangeRequest
	if err := proto.Unmarshal(out.Materialize(), &req); err != nil || string(req.Key) != "k" || req.Limit != 3 {
		t.Errorf("request %v, %v", &req, err)
	}
	if _, err := codec.Marshal("no message"); err == nil {
		t.Error("a string is encoded")
	}
	if err := codec.Unmarshal(out, new(int)); err == nil {
		t.Error("a number is decoded into")
	}
}

func TestGapList(t *testing.T) {
	var l gapList
	for i := range 100 {
		l.add(&pageError{uint64(i), "it is cut off"})
		l.add(&pageError{1, "it is cut off"})
	}
	l.put(Gap{Where: "end", Reason: "other"})
	gaps := l.list()
	if len(gaps) != maxGaps+2 {
		t.Errorf("%d gaps", len(gaps))
	}
	last := map[string]int64{}
	for _, g := range gaps {
		last[g.Where] = g.Count
	}
	if last[furtherPlaces] != 80 {
		t.Errorf("gaps %v", gaps)
	}
}

func TestRecords(t *testing.T) {
	want := KV{Key: []byte("k"), Value: []byte{}, CreateRevision: 1, ModRevision: 1 << 62, Version: 3, Lease: -9}
	b := appendRecord(appendRecord(nil, want), want)
	n := 0
	err := eachRecord(b, func(kv KV) error {
		n++
		if diff := cmp.Diff(want, kv); diff != "" {
			t.Errorf("record (-want +got):\n%s", diff)
		}
		return nil
	})
	if err != nil || n != 2 {
		t.Errorf("%d records, %v", n, err)
	}
	for cut := 1; cut < len(b); cut++ {
		if err := eachRecord(b[:cut], func(KV) error { return nil }); cut != len(b)/2 && !errors.Is(err, errBadRecord) {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
}

func TestKeyValueWithTwoKeys(t *testing.T) {
	b := []byte("\x0a\x01a\x0a\x01b")
	if kv, err := parseKeyValue(b); !errors.Is(err, errNoKeyValue) {
		t.Errorf("key %q, %v", kv.Key, err)
	}
}

func TestFrames(t *testing.T) {
	in := strings.NewReader(
		"\x03\x00\x00\x00\x00\x00\x00\x00abc\x00\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00ab",
	)
	f := &frames{r: newFrameReader(in), meter: newMeter(Limits{}, "in")}
	got := map[int]string{}
	for i := range 4 {
		b, err := f.next()
		if got[i] = string(b); err != nil {
			got[i] = err.Error()
		}
	}
	want := map[int]string{0: "abc", 1: "", 2: io.ErrUnexpectedEOF.Error(), 3: io.EOF.Error()}
	if !maps.Equal(got, want) {
		t.Errorf("frames %v, want %v", got, want)
	}
}

func TestSecretsInAddresses(t *testing.T) {
	for _, from := range []string{
		"etcd://root:hunter2@host:2379/by-dev", "etcd://root:hun/ter2@host:2379/by-dev", "etcds://a:b/hunter2@h",
		"etcd://root:hunter2/@host", "etcd://root:hunter2@a/b@host:1",
	} {
		_, err := parseEtcd(from)
		if err == nil || strings.Contains(err.Error(), "ter2") || !strings.Contains(err.Error(), "password") {
			t.Errorf("%s: %v", from, err)
		}
		for _, scheme := range []string{"http", "https", "ETCD", "s3"} {
			_, rest, _ := strings.Cut(from, "://")
			_, err := Open(t.Context(), scheme+"://"+rest, Options{})
			known, ok := errors.AsType[*hints.Error](err)
			if !ok || strings.Contains(err.Error()+known.Hint(), "ter2") ||
				strings.Contains(err.Error()+known.Hint(), "hun") {
				t.Errorf("%s://%s: %v", scheme, rest, err)
			}
		}
	}
	if a, err := parseEtcd("etcd://host:2379/by@dev"); err == nil {
		t.Errorf("host:2379/by@dev may hide a password, and is %+v", a)
	}
	if a, err := parseEtcd("etcd://host:2379/by%40dev"); err != nil || a.root != "by@dev" {
		t.Errorf("a root with an escaped @: %+v, %v", a, err)
	}
}

func TestGapsOfSeveralPasses(t *testing.T) {
	var l gapList
	for pass := range 2 {
		for i := range int64(maxGaps + 10) {
			l.put(Gap{Where: fmt.Sprint("page ", i), Reason: "damaged", Count: i + int64(pass)})
		}
		l.put(Gap{Where: "records", Reason: "odd", Count: 5 - int64(pass)})
	}
	got := l.list()
	if len(got) != maxGaps+2 || got[3].Count != 4 || got[maxGaps+1].Count != 5 {
		t.Errorf("gaps %v", got)
	}
	var want int64
	for i := maxGaps; i < maxGaps+10; i++ {
		want += int64(i)
	}
	if further := got[maxGaps]; further.Where != furtherPlaces || further.Count != want {
		t.Errorf("further gaps %+v, want %d", further, want)
	}
}
