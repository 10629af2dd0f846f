package live

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/replay/load"
)

// The responses in testdata/opensearch were recorded from real servers. To record them, set
// KITESCOPE_RECORD_OPENSEARCH=host:port. The tests then create their indexes (test_*, replacing existing ones) and
// record the responses. tools/e2e/opensearch.sh starts such a server.
const (
	searchRows = 120
	searchDim  = 8
)

// exchange is a request and the response of a real server.
type exchange struct {
	Method, Path, Body string `json:",omitempty"`
	Status             int
	Answer             json.RawMessage
}

// testVectors returns the vectors of the indexes: floats, or small integers for bytes and bits.
func testVectors(e dist.Element) [][]float64 {
	rng := rand.New(rand.NewPCG(5, uint64(e)))
	rows := make([][]float64, searchRows)
	for i := range rows {
		for range searchDim {
			x := float64(float32(rng.NormFloat64()))
			if e != dist.Float32 {
				x = float64(rng.IntN(256) - 128)
			}
			rows[i] = append(rows[i], x)
		}
	}
	return rows
}

// recording replays the responses of a real server in any order, or records them.
type recording struct {
	t     *testing.T
	real  string
	known []exchange
}

func recorded(t *testing.T, version string) (address string) {
	t.Helper()
	r := &recording{t: t, real: os.Getenv("KITESCOPE_RECORD_OPENSEARCH")}
	path := filepath.Join("testdata", "opensearch", version+".jsonl")
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	if r.real == "" {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var e exchange
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatal(err)
			}
			r.known = append(r.known, e)
		}
		return server.Listener.Addr().String()
	}
	for name, body := range searchIndexes() {
		r.call(http.MethodDelete, "/"+name, "")
		r.call(http.MethodPut, "/"+name, body)
		r.fill(name)
	}
	r.call(http.MethodPost, "/_aliases",
		`{"actions":[{"add":{"indices":["test_l2","test_ip"],"alias":"test_unlike"}},{"add":{"index":"test_l2","alias":"test_alias"}}]}`)
	t.Cleanup(func() {
		var lines bytes.Buffer
		for _, e := range r.known {
			if err := json.NewEncoder(&lines).Encode(e); err != nil {
				t.Error(err)
			}
		}
		if err := os.WriteFile(path, lines.Bytes(), 0o600); err != nil {
			t.Error(err)
		}
	})
	return server.Listener.Addr().String()
}

func (r *recording) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	asked := exchange{Method: request.Method, Path: request.URL.RequestURI(), Body: string(body)}
	at := slices.IndexFunc(r.known, func(e exchange) bool {
		return e.Method == asked.Method && e.Path == asked.Path && sameJSON(e.Body, asked.Body)
	})
	if at < 0 && r.real != "" {
		asked.Status, asked.Answer = r.call(asked.Method, asked.Path, asked.Body)
		r.known, at = append(r.known, asked), len(r.known)
	}
	if at < 0 {
		r.t.Errorf("nobody recorded %s %s %s", asked.Method, asked.Path, asked.Body)
		w.WriteHeader(http.StatusTeapot)
		return
	}
	w.WriteHeader(r.known[at].Status)
	_, _ = w.Write(r.known[at].Answer)
}

// sameJSON reports whether two JSON texts have equal values, regardless of the order of keys.
func sameJSON(a, b string) bool {
	var x, y any
	if a == b || json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return a == b
	}
	return reflect.DeepEqual(x, y)
}

func (r *recording) call(method, path, body string) (int, []byte) {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, "http://"+r.real+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return response.StatusCode, bytes.TrimSpace(text)
}

// searchIndexes returns the definitions of the indexes by name.
func searchIndexes() map[string]string {
	index := func(field string) string {
		return `{"settings":{"index":{"knn":true,"number_of_shards":2,"number_of_replicas":0}},"mappings":{"properties":{` + field +
			`,"num":{"type":"long"},"tag":{"type":"keyword"},"text":{"type":"text"}}}}`
	}
	vector := func(space, more string) string {
		return fmt.Sprintf(`"vec":{"type":"knn_vector","dimension":%d%s,"method":{"name":"hnsw","engine":"lucene","space_type":%q,"parameters":{"m":16,"ef_construction":100}}}`,
			searchDim*map[bool]int{true: 8, false: 1}[space == "hamming"], more, space)
	}
	return map[string]string{
		"test_l2": index(vector("l2", "")), "test_cosine": index(vector("cosinesimil", "")),
		"test_ip":   index(vector("innerproduct", "")),
		"test_byte": index(vector("l2", `,"data_type":"byte"`)),
		"test_bits": index(vector("hamming", `,"data_type":"binary"`)),
		"test_none": index(`"x":{"type":"long"}`),
		"test_two":  index(vector("l2", "") + `,"b":{"properties":{` + vector("l2", "") + `}}`),
	}
}

func (r *recording) fill(name string) {
	e := map[string]dist.Element{"test_byte": dist.Int8, "test_bits": dist.Bit}[name]
	var b strings.Builder
	for i, row := range testVectors(e) {
		vector, _ := json.Marshal(row)
		fmt.Fprintf(&b, `{"index":{"_id":"%d"}}`+"\n"+`{"vec":%s,"num":%d,"tag":"t \"%d\""}`+"\n", i, vector, i*10, i)
	}
	if name == "test_none" {
		return
	}
	if status, text := r.call(http.MethodPost, "/"+name+"/_bulk?refresh=true", b.String()); status != http.StatusOK ||
		!bytes.Contains(text, []byte(`"errors":false`)) {
		r.t.Fatalf("%s: %s", name, text)
	}
}

// trueDistance computes a distance in Milvus's convention in double precision.
func trueDistance(metric string, a, b []float64) (d float64) {
	var aa, bb float64
	for i := range a {
		aa, bb = aa+a[i]*a[i], bb+b[i]*b[i]
		switch metric {
		case "L2":
			d += (a[i] - b[i]) * (a[i] - b[i])
		case "HAMMING":
			for x := uint8(int8(a[i])) ^ uint8(int8(b[i])); x > 0; x &= x - 1 {
				d++
			}
		default:
			d += a[i] * b[i]
		}
	}
	if metric == "COSINE" {
		d /= math.Sqrt(aa * bb)
	}
	return d
}

// queryOf returns rows as the vectors of a request.
func queryOf(t *testing.T, e dist.Element, rows ...[]float64) *engine.Vectors {
	t.Helper()
	v, err := engine.NewVectors(e, searchDim*map[bool]int{true: 8, false: 1}[e == dist.Bit], len(rows))
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		for j, x := range row {
			if e == dist.Float32 {
				binary.LittleEndian.PutUint32(v.Row(i)[4*j:], math.Float32bits(float32(x)))
			} else {
				v.Row(i)[j] = byte(int8(x))
			}
		}
	}
	return v
}

// TestOpenSearchSearch compares answers of a server that searches every row with distances in double
// precision.
func TestOpenSearchSearch(t *testing.T) {
	for _, version := range searchVersions() {
		address := recorded(t, version)
		for name, want := range map[string]struct {
			metric string
			e      dist.Element
		}{
			"test_l2": {"L2", dist.Float32}, "test_cosine": {"COSINE", dist.Float32}, "test_ip": {"IP", dist.Float32},
			"test_byte": {"L2", dist.Int8}, "test_bits": {"HAMMING", dist.Bit},
		} {
			rows := testVectors(want.e)
			queries := queryOf(t, want.e, rows[7], scaled(rows[20], rows[21], want.e), rows[3])
			for _, key := range []string{"", "num", "tag"} {
				target, err := Open(t.Context(), "opensearch://"+address+"/"+name, Options{
					NumberKeys: key != "tag", KeyField: key, Dim: queries.Dim, Element: want.e,
				})
				if err != nil {
					t.Errorf("%s %s: %v", version, name, err)
					continue
				}
				if d := target.Description(); d.Metric != want.metric || d.Index != "hnsw" {
					t.Errorf("%s %s: described as %+v", version, name, d)
				}
				if s := target.Server(); !s.SingleProcess(nil) || s.Address != address {
					t.Errorf("%s: its server is %+v", version, s)
				}
				for _, filter := range [][]int{nil, {7, 3, 5, 100, 1000}} {
					for _, exclude := range []bool{false, true}[:1+min(len(filter), 1)] {
						checkAnswers(t, target, key, want.metric, rows, queries, filter, exclude)
					}
				}
			}
		}
	}
}

// searchVersions returns the versions with recorded responses; in recording mode, the version that is recorded.
func searchVersions() []string {
	if only := os.Getenv("KITESCOPE_RECORD_VERSION"); only != "" {
		return []string{only}
	}
	return []string{"2.19.6"}
}

// scaled returns a query that differs from every row.
func scaled(a, b []float64, e dist.Element) []float64 {
	if e != dist.Float32 {
		return append(slices.Clone(a[:4]), b[4:]...)
	}
	sum := make([]float64, len(a))
	for i := range a {
		sum[i] = float64(float32(a[i] + b[i]))
	}
	return sum
}

func checkAnswers(
	t *testing.T, target Target, key, metric string, rows [][]float64, queries *engine.Vectors, filter []int,
	exclude bool,
) {
	t.Helper()
	keyOf := func(row int) engine.Key {
		switch key {
		case "":
			return engine.NumberKey(int64(row))
		case "num":
			return engine.NumberKey(int64(row) * 10)
		}
		return engine.TextKey(fmt.Sprintf("t \"%d\"", row))
	}
	r := &load.Request{Vectors: queries, K: 6, SearchParams: engine.SearchParams{EF: searchRows}, Exclude: exclude}
	for _, row := range filter {
		r.Keys = append(r.Keys, keyOf(row))
	}
	answer, err := session(t, target).Ask(t.Context(), r)
	if err != nil {
		t.Errorf("%s: %v", target.Name(), err)
		return
	}
	for q := range queries.Rows {
		query := elementsOf(queries, q)
		var allowed []int
		for row := range rows {
			if filter == nil || slices.Contains(filter, row) != exclude {
				allowed = append(allowed, row)
			}
		}
		slices.SortFunc(allowed, func(a, b int) int {
			x, y := trueDistance(metric, query, rows[a]), trueDistance(metric, query, rows[b])
			if metric == "IP" || metric == "COSINE" {
				x, y = y, x
			}
			return cmp.Compare(x, y)
		})
		allowed = allowed[:min(len(allowed), r.K)]
		got := answer.Hits[q]
		if len(got) != len(allowed) {
			t.Errorf("%s %s: %d hits, want %d", target.Name(), key, len(got), len(allowed))
			continue
		}
		for i, row := range allowed {
			want := trueDistance(metric, query, rows[row])
			off := math.Abs(float64(got[i].Distance) - want)
			tie := math.Abs(want-trueDistance(metric, query, rows[allowed[max(i-1, 0)]])) < 1e-6 ||
				i+1 < len(allowed) && want == trueDistance(metric, query, rows[allowed[i+1]])
			if got[i].Key != keyOf(row) && (i == 0 || !tie) && metric != "HAMMING" || off > 1e-6*(1+math.Abs(want)) {
				t.Errorf("%s %s query %d hit %d: %v %v, want %v %v", target.Name(), key, q, i, got[i].Key,
					got[i].Distance, keyOf(row), want)
			}
		}
	}
}

func elementsOf(v *engine.Vectors, row int) (out []float64) {
	for j := range searchDim {
		if v.Element == dist.Float32 {
			out = append(out, float64(math.Float32frombits(binary.LittleEndian.Uint32(v.Row(row)[4*j:]))))
		} else {
			out = append(out, float64(int8(v.Row(row)[j])))
		}
	}
	return out
}

// TestOpenSearchRefusals checks the errors of real servers for requests that they reject.
func TestOpenSearchRefusals(t *testing.T) {
	for _, version := range searchVersions() {
		address := recorded(t, version+"-refusals")
		for _, c := range []struct {
			index string
			o     Options
			kind  Kind
			want  string
		}{
			{"test_nothing", Options{}, NotFound, "index test_nothing: not found: no such index [test_nothing]"},
			{"test_none", Options{}, Mismatch, "index test_none: no knn_vector field"},
			{"test_two", Options{}, Mismatch, "several vector fields: b.vec, vec"},
			{"test_l2", Options{Field: "num"}, Mismatch, "field num has type long"},
			{"test_l2", Options{Field: "v2"}, NotFound, "no field v2"},
			{"test_l2", Options{KeyField: "text"}, Mismatch, "key field text has type text"},
			{"test_l2", Options{KeyField: "k"}, NotFound, "no key field k"},
			{"test_l2", Options{Metric: "ip"}, Mismatch, "field vec: its metric is L2, not IP"},
			{"test_l2", Options{Dim: 5}, Mismatch, "vectors of 8 dims, the log float of 5"},
			{
				"test_unlike",
				Options{},
				Mismatch,
				"the indexes of test_unlike differ in their vectors: test_ip and test_l2",
			},
			{"test_l2", Options{Collection: "other"}, Mismatch, "two collections are named: test_l2 and other"},
			{"Upper", Options{}, Mismatch, "Upper is not the name of an index"},
			{"_all", Options{}, Mismatch, "_all is not the name of an index"},
			{"test_l2*", Options{}, Mismatch, "is not the name of an index"},
			{"test_l2?pretty=true", Options{}, Mismatch, "unknown parameter of the target's address: pretty"},
			{"test_l2?tls=maybe", Options{}, Mismatch, "neither true, false nor skip-verify"},
			{"test_l2?ca=x", Options{}, Mismatch, "ca without tls=true"},
			{"test_l2?tls=true&ca=/nowhere", Options{}, Mismatch, "cannot be read: /nowhere"},
			{"test_l2?tls=true", Options{}, Denied, "does not speak TLS"},
		} {
			target, err := Open(t.Context(), "opensearch://u:sesame@"+address+"/"+c.index, c.o)
			var f *FaultError
			if err == nil || !errors.As(err, &f) || f.Kind != c.kind || !strings.Contains(f.Reason, c.want) ||
				f.Hint() == "" || strings.Contains(f.Reason+f.Hint(), "sesame") {
				t.Errorf("%s: %v, %+v; want %s: %s", c.index, target, err, c.kind, c.want)
			}
		}
		target, err := Open(t.Context(), "opensearch://"+address, Options{Expected: "test_alias", MaxRequests: 2})
		if err != nil {
			t.Fatal(err)
		}
		if target.Name() != "opensearch://"+address+"/test_alias" {
			t.Errorf("its name is %s", target.Name())
		}
		s := session(t, target)
		v := queryOf(t, dist.Float32, testVectors(dist.Float32)[0])
		for _, c := range []struct {
			r    load.Request
			kind Kind
			want string
		}{
			{load.Request{Vectors: v, K: 10, Expr: "a > 1"}, Mismatch, "not sent: the filter is a Milvus expression"},
			{
				load.Request{Vectors: queryOf(t, dist.Float32, []float64{math.NaN()}), K: 10},
				Mismatch,
				"a value that is not a number",
			},
			{load.Request{Vectors: v, K: 20000}, Failed, "refused: [knn] requires k to be in the range (0, #]"},
			{load.Request{Vectors: v, K: 10}, Bounded, "not sent: request limit reached"},
		} {
			var f *FaultError
			if _, err := s.Ask(t.Context(), &c.r); !errors.As(err, &f) || f.Kind != c.kind ||
				!strings.Contains(f.Reason, c.want) {
				t.Errorf("%+v, want %s", err, c.want)
			}
		}
	}
}

// TestOpenSearchInvalidResponses checks responses that real servers do not send.
func TestOpenSearchInvalidResponses(t *testing.T) {
	mapping := `{"i":{"mappings":{"properties":{"v":{"type":"knn_vector","dimension":8,"method":{"name":"hnsw","engine":"lucene","space_type":"l2"}}}}}}`
	var status int
	var answer string
	wait := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case user != "u" || password != "sesame":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/":
			_, _ = io.WriteString(w, `{"version":{"number":"2.11.0","distribution":"opensearch"}}`)
		case r.URL.Path == "/_cluster/health":
			w.WriteHeader(http.StatusForbidden)
		case r.Method == http.MethodGet:
			_, _ = io.WriteString(w, mapping)
		default:
			if answer == "wait" {
				<-wait
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, answer)
		}
	}))
	defer server.Close()
	defer close(wait)
	address := server.Listener.Addr().String()
	var f *FaultError
	if _, err := Open(t.Context(), "opensearch://u:wrong@"+address+"/i", Options{}); !errors.As(err, &f) ||
		f.Kind != Denied || strings.Contains(f.Reason+f.Hint(), "wrong") {
		t.Errorf("a wrong password: %+v", err)
	}
	target, err := Open(t.Context(), "opensearch://u:sesame@"+address+"/i", Options{
		Deadline: shortTimeout, NumberKeys: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if target.Server().SingleProcess(nil) {
		t.Error("a server that does not tell its nodes has one")
	}
	s := session(t, target)
	r := &load.Request{
		Vectors: queryOf(t, dist.Float32, testVectors(dist.Float32)[0]), K: 2,
		SearchParams: engine.SearchParams{EF: 40},
	}
	if body, err := target.(*openSearch).query(r, r.Vectors.Row(0)); err != nil ||
		!strings.Contains(string(body), `"k":40`) || strings.Contains(string(body), "ef_search") {
		t.Errorf("2.11 knows no ef_search: %s, %v", body, err)
	}
	hit := func(id, score string) string {
		return `{"hits":{"hits":[{"_id":"` + id + `","_score":` + score + `}]}}`
	}
	for _, c := range []struct {
		status int
		answer string
		kind   Kind
		want   string
	}{
		{200, hit("1", "0.5"), 0, ""},
		{200, hit("1", "1.5"), Garbled, "a score that the metric L2 does not have"},
		{200, hit("1", "0"), Garbled, "a score that"},
		{200, hit("1", "null"), Garbled, "a hit without a score"},
		{200, hit("x", "0.5"), Mismatch, "_id of i is not a whole number in every document"},
		{200, `{"hits":{"hits":[{},{},{}]}}`, Garbled, "more hits than requested"},
		{200, `{"timed_out":true}`, TimedOut, "gave up"},
		{200, `{"_shards":{"failed":1}}`, Failed, "failed on some shards"},
		{200, `<html>`, Garbled, "does not respond like OpenSearch"},
		{200, strings.Repeat(" ", 2<<20), Garbled, "sent more than a response can have"},
		{
			404, `{"error":{"root_cause":[{"type":"index_not_found_exception","reason":"no such index [i]"}]}}`,
			NotFound, "no such index [i]",
		},
		{404, `nothing`, Garbled, "does not respond like OpenSearch"},
		{
			403,
			`{"error":{"type":"security_exception","reason":"no permissions for [indices:data/read/search]\n and User [name=u]"}}`,
			Denied, "denied: no permissions for",
		},
		{
			429,
			`{"error":{"type":"circuit_breaking_exception","reason":"[parent] Data too large, data for [x] would be [123456789/117mb]"}}`,
			Limited, "would be [#/117mb]",
		},
		{
			503, `{"error":{"root_cause":[],"type":"search_phase_execution_exception","reason":"all shards failed"}}`,
			Unreachable, "unavailable: all shards failed",
		},
		{504, ``, TimedOut, "HTTP Gateway Timeout"},
		{302, ``, Garbled, "redirects to another address"},
		{500, `{"error":"Internal"}`, Failed, "refused: Internal"},
		{200, "wait", TimedOut, "no response within 300ms"},
	} {
		status, answer = c.status, c.answer
		got, err := s.Ask(t.Context(), r)
		if c.want == "" {
			if err != nil || len(got.Hits) != 1 || got.Hits[0][0] != (load.Hit{Key: engine.NumberKey(1), Distance: 1}) {
				t.Errorf("%s: %+v, %v", c.answer, got, err)
			}
			continue
		}
		if !errors.As(err, &f) || f.Kind != c.kind || !strings.Contains(f.Reason, c.want) ||
			strings.ContainsAny(f.Reason, "\n") || strings.Contains(f.Reason, "sesame") {
			t.Errorf("%d %.60s: %+v, want %s: %s", c.status, c.answer, err, c.kind, c.want)
		}
	}
}

func TestOpenSearchUnsupportedFields(t *testing.T) {
	for mapping, want := range map[string]string{
		`{"type":"knn_vector","model_id":"m"}`: "its index uses a trained model",
		`{"type":"knn_vector","dimension":8,"method":{"name":"hnsw","engine":"lucene","space_type":"linf"}}`:                 "its space_type cannot be compared: linf",
		`{"type":"knn_vector","dimension":8,"space_type":"cosinesimil"}`:                                                     "the scores of engine (default)",
		`{"type":"knn_vector","dimension":8,"method":{"name":"hnsw","engine":"nmslib","space_type":"l2"}}`:                   "the scores of engine nmslib",
		`{"type":"knn_vector","dimension":8,"data_type":"half","method":{"name":"hnsw","engine":"faiss","space_type":"l2"}}`: "vectors that cannot be replayed: half of 8 dims",
		`{"type":"knn_vector","dimension":0,"method":{"name":"hnsw","engine":"lucene"}}`:                                     "of 0 dims",
	} {
		var f openSearchMapping
		if err := json.Unmarshal([]byte(mapping), &f); err != nil {
			t.Fatal(err)
		}
		if err := (&openSearch{o: &Options{}}).describeVectors(&Description{}, &f); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", mapping, err, want)
		}
	}
	d := Description{}
	f := openSearchMapping{
		Dimension: 8, Method: &openSearchMethod{Name: "ivf", Engine: "faiss", SpaceType: "innerproduct"},
	}
	if err := (&openSearch{o: &Options{}}).describeVectors(&d, &f); err != nil || d.Metric != "IP" || d.Index != "ivf" {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestFromScore converts distances to scores as Lucene computes them, in float32, and back.
func TestFromScore(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		d := float32(math.Exp(rng.NormFloat64() * 8))
		p := float32(rng.NormFloat64() * 100)
		c := float32(rng.Float64()*2 - 1)
		inner := 1 / (1 - p)
		if p >= 0 {
			inner = p + 1
		}
		for _, x := range []struct {
			metric      string
			score, want float32
		}{{"L2", 1 / (1 + d), d}, {"COSINE", max((1+c)/2, 0), c}, {"IP", inner, p}} {
			got, ok := fromScore(x.metric, x.score)
			if off := math.Abs(float64(got - x.want)); !ok || off > 3e-7*(1+math.Abs(float64(x.want))) {
				t.Fatalf("%s: %v comes back as %v, %v", x.metric, x.want, got, ok)
			}
		}
	}
	for bits := range 4097 {
		if got, ok := fromScore("HAMMING", 1/(1+float32(bits))); !ok || got != float32(bits) {
			t.Fatalf("%d bits come back as %v", bits, got)
		}
	}
	for _, metric := range []string{"L2", "COSINE", "IP", "HAMMING", "JACCARD"} {
		for _, score := range []float32{float32(math.NaN()), -1, float32(math.Inf(1))} {
			if _, ok := fromScore(metric, score); ok {
				t.Errorf("%s has the score %v", metric, score)
			}
		}
	}
}

func TestOpenSearchReadOnly(t *testing.T) {
	for _, c := range []struct {
		method, path string
		want         bool
	}{
		{"POST", "/i/_search?x=y", true},
		{"GET", "/i/_mapping", true},
		{"GET", "/", true},
		{"GET", "/_cluster/health", true},
		{"PUT", "/i/_search", false},
		{"POST", "/i/_bulk", false},
		{"POST", "/i/_doc?a=/_search", false},
		{"DELETE", "/i/_mapping", false},
		{"POST", "/i/_mapping", false},
		{"GET", "/i/_delete_by_query", false},
	} {
		if got := readsOnly(c.method, c.path); got != c.want {
			t.Errorf("%s %s: %v", c.method, c.path, got)
		}
	}
	r := newOpenSearchReads(&address{host: "127.0.0.1:1"}, &Options{Deadline: time.Second}, nil)
	if err := r.get(t.Context(), http.MethodDelete, "/i", nil, 1, nil); err == nil ||
		!strings.Contains(err.Error(), "not a read") {
		t.Errorf("it would delete: %v", err)
	}
}

func FuzzOpenSearchMapping(f *testing.F) {
	f.Add([]byte(
		`{"vec":{"type":"knn_vector","dimension":4,"method":{"engine":"lucene","space_type":"l2","name":"hnsw","parameters":{"m":16}}}}`,
	))
	f.Add([]byte(`{"a":{"properties":{"b":{"type":"knn_vector","dimension":-1}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var fields map[string]openSearchMapping
		if json.Unmarshal(text, &fields) != nil {
			return
		}
		d := Description{KeyField: openSearchID}
		if err := (&openSearch{o: &Options{}}).describeFields(&d, fields); err == nil &&
			(d.Dim < 1 || d.Metric == "" || d.Field == "") {
			t.Errorf("%s: described as %+v", text, d)
		}
	})
}
