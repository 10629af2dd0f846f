package live

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus-proto/go-api/v3/schemapb"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/replay/load"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDescribes(t *testing.T) {
	for _, old := range []bool{false, true} {
		p := serve(t, &proxy{old: old})
		target := open(t, "root:secret@"+p.address, Options{Collection: "alias", Dim: 4, Element: dist.Float32})
		want := Description{
			Kind: "milvus", Collection: "items", Field: "vec", KeyField: "id", Dim: 4, Metric: "L2", Index: "HNSW",
			Consistency: "bounded",
		}
		if diff := cmp.Diff(want, target.Description()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if name := target.Name(); name != "milvus://"+p.address+"/items" {
			t.Errorf("its name is %s", name)
		}
	}
}

// TestMilvusDescriptionLimit checks the size limit of descriptions: an empty field takes two bytes, but some
// hundred bytes once decoded.
func TestMilvusDescriptionLimit(t *testing.T) {
	p := serve(t, &proxy{fields: slices.Repeat([]*schemapb.FieldSchema{{}}, 1<<19)})
	_, err := Open(t.Context(), "milvus://"+p.address, Options{Collection: "items"})
	if f, ok := errors.AsType[*FaultError](err); !ok || f.Kind != Garbled ||
		!strings.Contains(f.Reason, "larger than requested") {
		t.Error(err)
	}
}

// TestAsksAsPymilvus compares a request with the requests that three versions of pymilvus built from the same
// vectors, expression and level.
func TestAsksAsPymilvus(t *testing.T) {
	text, err := os.ReadFile("testdata/pymilvus.txt")
	if err != nil {
		t.Fatal(err)
	}
	m := &milvus{o: &Options{Collection: "items", Consistency: "bounded"}, level: commonpb.ConsistencyLevel_Bounded}
	m.desc = Description{Field: "vec", KeyField: "id", Metric: "L2", Index: "HNSW", Dim: 4}
	var rows []float32
	for i := range 12 {
		rows = append(rows, float32(i)/8-1)
	}
	got, err := m.search(&load.Request{
		Vectors: vectors(t, rows...), K: 10, SearchParams: engine.SearchParams{EF: 64},
		Keys: []engine.Key{engine.NumberKey(1), engine.NumberKey(2), engine.NumberKey(30)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for known := range strings.Lines(string(text)) {
		version, encoded, _ := strings.Cut(strings.TrimSpace(known), " ")
		data, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			t.Fatal(err)
		}
		want, mine := new(milvuspb.SearchRequest), proto.CloneOf(got)
		mine.PartitionNames = []string{"p1"} // an argument of pymilvus
		if err := proto.Unmarshal(data, want); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(version, "2.1") { // lacks these fields
			mine.ConsistencyLevel = 0
			mine.SearchParams = slices.DeleteFunc(mine.SearchParams, func(p *commonpb.KeyValuePair) bool {
				return p.GetKey() == "ignore_growing"
			})
		}
		for _, r := range []*milvuspb.SearchRequest{want, mine} {
			slices.SortFunc(r.GetSearchParams(), func(a, b *commonpb.KeyValuePair) int {
				return strings.Compare(a.GetKey(), b.GetKey())
			})
		}
		if diff := cmp.Diff(want, mine, protocmp.Transform()); diff != "" {
			t.Errorf("pymilvus %s (-pymilvus +replay):\n%s", version, diff)
		}
	}
}

func TestAsks(t *testing.T) {
	p := serve(t, &proxy{})
	target := open(t, "root:pa%3Ass@"+p.address, Options{})
	s := session(t, target)
	r := one(t)
	r.Keys, r.Exclude = []engine.Key{engine.NumberKey(-5)}, true
	answer, err := s.Ask(t.Context(), r)
	want := &load.Answer{
		Hits: [][]load.Hit{{{Key: engine.NumberKey(5), Distance: 0.5}, {Key: engine.NumberKey(6), Distance: 1.5}}},
	}
	if diff := cmp.Diff(want, answer); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if p.last.GetDsl() != "id not in [-5]" || !p.last.GetUseDefaultConsistency() ||
		p.last.GetGuaranteeTimestamp() != guaranteeBounded {
		t.Errorf("asked %v", p.last)
	}
	authorization := base64.StdEncoding.EncodeToString([]byte("root:pa:ss"))
	if got := p.headers; !slices.Equal(got.Get("authorization"), []string{authorization}) ||
		!slices.Equal(got.Get("identifier"), []string{"77"}) {
		t.Errorf("sent %v", got)
	}
	r.Keys = []engine.Key{engine.TextKey("x")}
	for name, bad := range map[string]*load.Request{
		"keys of another type": r, "no vectors": {K: 1}, "k of 0": {Vectors: vectors(t, 1, 2, 3, 4)},
		"other dims": {
			Vectors: func() *engine.Vectors { v, _ := engine.NewVectors(dist.Float32, 5, 1); return v }(), K: 1,
		},
		"bits": {Vectors: func() *engine.Vectors { v, _ := engine.NewVectors(dist.Bit, 4, 1); return v }(), K: 1},
	} {
		var f *FaultError
		if _, err := s.Ask(t.Context(), bad); !errors.As(err, &f) || f.Kind != Mismatch {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := p.searches.Load(); n != 1 {
		t.Errorf("%d searches were sent, want 1", n)
	}
}

func TestFiltersOfText(t *testing.T) {
	m := &milvus{desc: Description{KeyField: "name", TextKeys: true}}
	for _, c := range []struct {
		keys    []engine.Key
		exclude bool
		want    string
	}{
		{nil, false, ""},
		{[]engine.Key{}, true, ""},
		{[]engine.Key{}, false, "name in []"},
		{[]engine.Key{engine.TextKey("a"), engine.TextKey(`"] or id > 0`)}, false, `name in ["a","\"] or id > 0"]`},
		{[]engine.Key{engine.TextKey("b\\n\n漢")}, true, `name not in ["b\\n\n漢"]`},
	} {
		if got, err := m.expr(&load.Request{Keys: c.keys, Exclude: c.exclude}); err != nil || got != c.want {
			t.Errorf("%v: %s, %v, want %s", c.keys, got, err, c.want)
		}
	}
	if _, err := m.expr(&load.Request{Keys: []engine.Key{engine.TextKey("\xff")}}); err == nil {
		t.Error("a key that is no UTF-8 has no literal")
	}
}

func TestParamsOfTheIndex(t *testing.T) {
	for index, want := range map[string]string{
		"HNSW": `{"ef":64}`, "IVF_FLAT": `{"nprobe":8}`, "BIN_IVF_FLAT": `{"nprobe":8}`, "FLAT": `{}`, "": `{}`,
		"DISKANN": `{"search_list":64}`,
		"SCANN":   `{"nprobe":8}`, "AUTOINDEX": `{}`, "HNSW_SQ": `{"ef":64}`,
	} {
		m := &milvus{desc: Description{Index: index}}
		if got := m.params(&load.Request{SearchParams: engine.SearchParams{EF: 64, NProbe: 8}}); got != want {
			t.Errorf("%s: %s, want %s", index, got, want)
		}
	}
}

func TestParamsOfSparseVectors(t *testing.T) {
	m := &milvus{desc: Description{Index: "SPARSE_INVERTED_INDEX"}}
	r := &load.Request{
		SearchParams: engine.SearchParams{
			EF: 64, NProbe: 8,
			SparseParams: engine.SparseParams{DropRatio: 0.25, RefineFactor: 3, MaxScoreRatio: 1.5, AvgDL: 90},
		},
	}
	if got, want := m.params(r), `{"dim_max_score_ratio":1.5,"drop_ratio_search":0.25,"refine_factor":3}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestSparseAsPymilvus compares encoded vectors with the encoding of pymilvus 2.5.9 for
// [{3:0.5,7:0.25},{1:2.0,500:1.5,4000000000:0.125}].
func TestSparseAsPymilvus(t *testing.T) {
	want, err := base64.StdEncoding.DecodeString(
		"CjIKAiQwEGgaEAMAAAAAAAA/BwAAAAAAgD4aGAEAAAAAAABA9AEAAAAAwD8AKGvuAAAAPg==",
	)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]byte
	for _, row := range [][]float32{{3, 0.5, 7, 0.25}, {1, 2, 500, 1.5, 4e9, 0.125}} {
		var b []byte
		for i := 0; i < len(row); i += 2 {
			b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, uint32(row[i])),
				math.Float32bits(row[i+1]))
		}
		rows = append(rows, b)
	}
	v, err := engine.JoinSparse(rows)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := placeholders(v); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%x, %v, want %x", got, err, want)
	}
}

func TestOpenRefuses(t *testing.T) {
	server, client := certificates(t)
	mutual := server.Clone()
	mutual.ClientAuth = 2 // tls.RequireAnyClientCert
	plain, inTLS, asking := serve(t, &proxy{}), serve(t, &proxy{}, tlsServer(server)),
		serve(t, &proxy{}, tlsServer(mutual))
	none := serve(t, &proxy{index: []*milvuspb.IndexDescription{}})
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	for _, c := range []struct {
		name, uri string
		o         Options
		kind      Kind
		want      string
	}{
		{"no collection of that name", plain.address, Options{Collection: "x"}, NotFound, "collection x: not found"},
		{"other dims", plain.address, Options{Dim: 5}, Mismatch, "of 4 dims, the log float of 5"},
		{"other elements", plain.address, Options{Dim: 4, Element: dist.Bit}, Mismatch, "the log binary of 4"},
		{"other metric", plain.address, Options{Metric: "ip"}, Mismatch, "has metric L2, not IP"},
		{"no metric", none.address, Options{}, Mismatch, "no index to take the metric from"},
		{"no such field", plain.address, Options{Field: "v2"}, NotFound, "has no field v2"},
		{
			"a field that is no vector", plain.address,
			Options{Field: "vec", KeyField: "k"},
			Mismatch,
			"the primary key of items is id, not k",
		},
		{"consistency", plain.address, Options{Consistency: "perfect"}, Mismatch, "unknown consistency level: perfect"},
		{"two databases", plain.address + "/a", Options{Database: "b"}, Mismatch, "two databases"},
		{"a web server", web.Listener.Addr().String(), Options{}, Garbled, "is not a gRPC server"},
		{"TLS to plain text", plain.address, Options{TLS: client}, Denied, "does not speak TLS"},
		{"plain text to TLS", inTLS.address, Options{}, Garbled, "without a gRPC response"},
		{"a certificate of nobody", inTLS.address, Options{TLS: server}, Denied, "is not valid"},
		{"no certificate of the client", asking.address, Options{TLS: client}, Denied, "certificate required"},
		{"a server that hangs", silentServer(t), Options{Deadline: shortTimeout}, TimedOut, "no response within 300ms"},
		{"nobody there", "127.0.0.1:1", Options{}, Unreachable, "connection refused"},
		{
			"a PostgreSQL that hangs", "postgres://u:secret@" + silentServer(t) + "/d",
			Options{Deadline: shortTimeout},
			TimedOut, "no response within 300ms",
		},
		{"no PostgreSQL", "postgres://u:secret@127.0.0.1:1/d", Options{}, Unreachable, "connection refused"},
	} {
		if c.o.Collection == "" {
			c.o.Collection = "items"
		}
		_, err := Open(t.Context(), c.uri, c.o)
		var f *FaultError
		if !errors.As(err, &f) || f.Kind != c.kind || !strings.Contains(f.Reason, c.want) || f.Hint() == "" ||
			strings.Contains(f.Reason+f.Hint(), "secret") {
			t.Errorf("%s: %+v, want %s %q", c.name, err, c.kind, c.want)
		}
	}
	client.Certificates = server.Certificates
	for _, p := range []*proxy{inTLS, asking} {
		if _, err := session(t, open(t, p.address, Options{TLS: client})).Ask(t.Context(), one(t)); err != nil {
			t.Error(err)
		}
	}
}

func TestInconsistentAnswers(t *testing.T) {
	text := results(nil, nil, 1)
	text.Results.Ids = &schemapb.IDs{IdField: &schemapb.IDs_StrId{StrId: &schemapb.StringArray{Data: []string{"a"}}}}
	text.Results.Topks = []int64{1}
	for name, bad := range map[string]*milvuspb.SearchResults{
		"fewer scores":      results([]int64{2}, []int64{1, 2}, 1),
		"answers to others": results([]int64{1, 1}, []int64{1, 2}, 1, 2),
		"more than k":       results([]int64{11}, make([]int64, 11), make([]float32, 11)...),
		"more than it has":  results([]int64{1 << 60}, []int64{1}, 1),
		"fewer than it has": results([]int64{1}, []int64{1, 2}, 1, 2),
		"below zero":        results([]int64{-1}, []int64{1}, 1),
		"text keys":         text,
	} {
		p := serve(t,
			&proxy{
				answer: func(context.Context, *milvuspb.SearchRequest) (*milvuspb.SearchResults, error) {
					return bad, nil
				},
			})
		var f *FaultError
		if _, err := session(t, open(t, p.address, Options{})).Ask(t.Context(), one(t)); !errors.As(err, &f) ||
			f.Kind != Garbled {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	for _, r := range []*milvuspb.SearchResults{
		results([]int64{1}, []int64{1}, 1), results([]int64{1 << 62, -3}, []int64{1}, 1), {},
	} {
		data, err := proto.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, byte(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, nq byte) {
		r := new(milvuspb.SearchResults)
		if proto.Unmarshal(data, r) != nil {
			return
		}
		v, err := engine.NewVectors(dist.Float32, 4, int(nq%4)+1)
		if err != nil {
			t.Fatal(err)
		}
		s := &milvusSession{m: &milvus{}}
		if err := s.read(r, &load.Request{Vectors: v, K: 5}); err != nil {
			return
		}
		if len(s.answer.Hits) != v.Rows {
			t.Errorf("%d answers to %d vectors", len(s.answer.Hits), v.Rows)
		}
		for _, hits := range s.answer.Hits {
			if len(hits) > 5 {
				t.Errorf("%d hits, asked for 5", len(hits))
			}
		}
	})
}

func TestBounds(t *testing.T) {
	p := serve(t, &proxy{})
	target := open(t, p.address, Options{MaxRequests: 3})
	var sessions []load.Session
	for range 5 {
		sessions = append(sessions, session(t, target))
	}
	sent, refused := 0, 0
	for _, s := range sessions {
		_, err := s.Ask(t.Context(), one(t))
		var f *FaultError
		switch {
		case err == nil:
			sent++
		case errors.As(err, &f) && f.Kind == Bounded:
			refused++
		default:
			t.Error(err)
		}
	}
	if sent != 3 || refused != 2 || p.searches.Load() != 3 {
		t.Errorf("%d were sent, %d refused; the server saw %d", sent, refused, p.searches.Load())
	}
}

func TestDeadlinesAndCancels(t *testing.T) {
	hang := make(chan struct{})
	p := serve(t, &proxy{answer: func(ctx context.Context, _ *milvuspb.SearchRequest) (*milvuspb.SearchResults, error) {
		select {
		case <-ctx.Done():
		case <-hang:
		}
		return nil, ctx.Err()
	}})
	t.Cleanup(func() { close(hang) })
	s := session(t, open(t, p.address, Options{Deadline: shortTimeout}))
	var f *FaultError
	if _, err := s.Ask(t.Context(), one(t)); !errors.As(err, &f) || f.Kind != TimedOut ||
		f.Reason != "no response within 300ms" {
		t.Errorf("its own deadline: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), shortTimeout/6)
	defer cancel()
	if _, err := s.Ask(ctx, one(t)); !errors.As(err, &f) || f.Kind != TimedOut ||
		f.Reason != "no response within the deadline" {
		t.Errorf("the caller's deadline: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(shortTimeout/6, stop)
	if _, err := s.Ask(ctx, one(t)); !errors.Is(err, context.Canceled) ||
		errors.As(err, &f) && f.Kind == TimedOut && errors.Is(err, f) {
		t.Errorf("the caller gave up: %v", err)
	}
}

func TestReconnectsAfterRestart(t *testing.T) {
	p := serve(t, &proxy{})
	s := session(t, open(t, p.address, Options{Deadline: 20 * time.Second}))
	if _, err := s.Ask(t.Context(), one(t)); err != nil {
		t.Fatal(err)
	}
	p.server.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), shortTimeout)
	defer cancel()
	var f *FaultError
	if _, err := s.Ask(ctx, one(t)); !errors.As(err, &f) || f.Kind != Unreachable && f.Kind != TimedOut {
		t.Errorf("while it is down: %v", err)
	}
	p.listen(t, p.address)
	if _, err := s.Ask(t.Context(), one(t)); err != nil {
		t.Errorf("after it came back: %v", err)
	}
}
