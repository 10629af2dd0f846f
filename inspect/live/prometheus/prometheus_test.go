package prometheus

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// queryTime is the time of the responses in testdata, from a Prometheus 2.42 that scraped nine processes of
// Milvus 2.3.5 every 5 s. page-PORT-* are the /metrics of two processes at the oldest and the newest scrape
// of series-PORT.json.
var queryTime = time.Unix(1795675751, 0).UTC()

func file(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	if !strings.HasSuffix(name, ".gz") {
		return b
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err == nil {
		b, err = io.ReadAll(z)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// recorded serves the responses of that Prometheus. Of the other instances, one does not respond, one fails,
// and the rest have no data.
func recorded(t *testing.T, seen func(*http.Request)) string {
	t.Helper()
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if seen != nil {
			seen(r)
		}
		query := r.FormValue("query")
		switch {
		case r.Method != http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case r.URL.Path == "/api/v1/metadata":
			_, _ = w.Write(file(t, "metadata.json.gz"))
		case strings.Contains(query, "count_over_time"):
			_, _ = w.Write(file(t, "instances.json"))
		case strings.Contains(query, ":19103"):
			_, _ = w.Write(file(t, "series-19103.json.gz"))
		case strings.Contains(query, ":19105"):
			_, _ = w.Write(file(t, "series-19105.json.gz"))
		case strings.Contains(query, ":19106"):
			<-over
		case strings.Contains(query, ":19107"):
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w,
				`{"status":"error","errorType":"execution","error":"query processing would load too many\nsamples"}`)
		default:
			_, _ = io.WriteString(w, `{"status":"success","data":{"resultType":"matrix","result":[]}}`)
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(over) })
	return s.URL
}

func cluster(nodes ...model.NodeID) *model.Cluster {
	var p model.Parts
	for _, n := range nodes {
		p.Sessions = append(p.Sessions, &model.Session{Role: "proxy", Node: n})
	}
	return model.Build(p)
}

// TestPagesAreThoseOfProcesses checks that the text that Prometheus scraped is reconstructed: families, types,
// labels, values.
func TestPagesAreThoseOfProcesses(t *testing.T) {
	s, err := open(Options{URL: recorded(t, nil), Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	kinds := s.metadata(t.Context())
	if len(kinds) < 50 {
		t.Fatalf("%d types are told", len(kinds))
	}
	for _, port := range []string{"19103", "19105"} {
		for _, told := range []bool{true, false} {
			if s.kinds = kinds; !told {
				s.kinds = nil // before 2.15
			}
			pages, err := s.pages(t.Context(),
				&instance{name: "127.0.0.1:" + port, job: "milvus", interval: 5 * time.Second}, queryTime)
			if err != nil || len(pages) != 2 || pages[0].at.Sub(pages[1].at) < 10*time.Second {
				t.Fatalf("%s: %d pages, %v", port, len(pages), err)
			}
			for i, name := range []string{"newest", "oldest"} {
				want, err := live.ParseMetrics(bytes.NewReader(file(t, "page-"+port+"-"+name+".txt.gz")), pages[i].at)
				if err != nil {
					t.Fatal(err)
				}
				withoutEmpty(want)
				got, err := live.ParseMetrics(bytes.NewReader(pages[i].text), pages[i].at)
				if err != nil {
					t.Fatal(err)
				}
				diff := cmp.Diff(want, got, cmpopts.EquateNaNs(),
					cmpopts.SortSlices(func(a, b model.Series) bool { return order(&a) < order(&b) }),
					cmp.Comparer(func(a, b model.MetricKind) bool { return told && a == b || !told && similar(a, b) }))
				if diff != "" {
					t.Errorf("%s %s, types told: %v (-want +got):\n%s", port, name, told, diff)
				}
			}
		}
	}
}

// withoutEmpty removes empty labels, because Prometheus treats them as missing.
func withoutEmpty(m *model.Metrics) {
	for _, f := range m.Families {
		for i := range f.Series {
			f.Series[i].Labels = slices.DeleteFunc(slices.Clone(f.Series[i].Labels), func(l model.Pair) bool {
				return l.Value == ""
			})
		}
	}
}

// similar reports whether kinds are equal except for differences that no name shows.
func similar(a, b model.MetricKind) bool {
	plain := func(k model.MetricKind) bool { return k != model.MetricHistogram && k != model.MetricSummary }
	return a == b || plain(a) && plain(b)
}

func order(s *model.Series) string {
	var b strings.Builder
	for _, l := range s.Labels {
		b.WriteString(l.Key + "=" + l.Value + ",")
	}
	return b.String()
}

// TestScrapesAreNoRules checks that alerts and rules, which have the labels of a process and other times, are
// not taken for scrapes, and that a failed scrape has no data.
func TestScrapesAreNoRules(t *testing.T) {
	at := func(seconds int, values ...string) (list []sample) {
		for i, v := range values {
			list = append(list, sample{time.Unix(int64(seconds+15*i), 0).UTC(), v})
		}
		return list
	}
	named := func(name string, values []sample) series {
		return series{Metric: map[string]string{"__name__": name, "instance": "i", "job": "j"}, Values: values}
	}
	own := []series{
		named("milvus_x", at(115, "1", "2")), named("job:milvus_x:rate5m", at(103, "1", "1", "1", "1")),
		named("ALERTS", at(99, "1", "1", "1", "1")),
	}
	for name, all := range map[string][]series{
		"by up": append([]series{named("up", at(100, "0", "1", "1", "0"))}, own...), "without": own,
	} {
		pages := (&server{}).texts(all)
		if len(pages) != 2 || pages[0].at.Unix() != 130 || pages[1].at.Unix() != 115 ||
			string(pages[0].text) != "# TYPE milvus_x untyped\nmilvus_x 2\n" {
			t.Errorf("%s: %d pages: %+v", name, len(pages), pages)
		}
	}
}

// TestRead checks that processes are identified by their own metrics, at two times, and that one that cannot be
// read affects only itself.
func TestRead(t *testing.T) {
	t.Parallel()
	var auth sync.Map
	place := strings.Replace(recorded(t, func(r *http.Request) { auth.Store(r.Header.Get("Authorization"), true) }),
		"http://", "http://reader:geheim@", 1)
	r, gaps, err := Read(t.Context(), Options{URL: place, Timeout: time.Second}, cluster(9), queryTime)
	if err != nil {
		t.Fatal(err)
	}
	sent := []any{}
	auth.Range(func(k, _ any) bool { sent = append(sent, k); return true })
	if !slices.Equal(sent, []any{"Basic cmVhZGVyOmdlaGVpbQ=="}) || strings.Contains(r.Location, "geheim") ||
		strings.Contains(r.Location, "reader") {
		t.Errorf("authorization %q, location %q", sent, r.Location)
	}
	if len(r.Processes) != 1 || len(r.LiveNode("proxy", 9).Process.Metrics.Families) < 50 {
		t.Fatalf("%d processes", len(r.Processes))
	}
	p := r.Processes[0]
	if span := p.Metrics.At.Sub(p.Before.At); span < 14*time.Second || span > 16*time.Second {
		t.Errorf("the scrapes are %v apart", span)
	}
	silent := 0
	for _, g := range gaps {
		if strings.Contains(g.Reason, "no response within 1s") {
			silent++
		}
		if strings.Contains(g.Where+g.Reason, "geheim") {
			t.Errorf("a password in %v", g)
		}
	}
	if silent != 1 || len(gaps) != 7 {
		t.Errorf("gaps: %v", gaps)
	}
	if r, _, err = Read(t.Context(), Options{URL: place, Timeout: time.Second}, cluster(), queryTime); err != nil ||
		len(r.Processes) != 2 {
		t.Errorf("without a cluster: %d processes, %v", len(r.Processes), err)
	}
}

// TestWarnings checks that a response with any number of warnings is decoded.
func TestWarnings(t *testing.T) {
	warnings := `"warnings":["` + strings.Repeat(`a series has a bucket too many","`, 20_000) + `"]`
	for _, body := range []string{
		`{"status":"success",` + warnings + `,"data":{"result":[]}}`,
		`{"status":"success","data":{"result":[]},` + warnings + `}`,
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, body)
		}))
		_, gaps, err := Read(t.Context(), Options{URL: s.URL}, cluster(9), queryTime)
		s.Close()
		if err != nil || len(gaps) != 1 || !strings.Contains(gaps[0].Reason, "no Milvus series") {
			t.Errorf("%v, %v", gaps, err)
		}
	}
}

// TestSlowServer checks that processes that were not read because of the total timeout are gaps with that
// reason.
func TestSlowServer(t *testing.T) {
	t.Parallel()
	const every = 250 * time.Millisecond
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.FormValue("query"), "count_over_time") {
			one := `{"metric":{"instance":"a","job":"x"},"value":[1,"20"]}`
			_, _ = io.WriteString(w, `{"status":"success","data":{"result":[`+one+strings.Repeat(","+one, 99)+`]}}`)
			return
		}
		select {
		case <-time.After(every * 4 / 5):
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, `{"status":"success","data":{"result":[]}}`)
	}))
	defer s.Close()
	_, gaps, err := Read(t.Context(), Options{URL: s.URL, Timeout: every}, cluster(9), queryTime)
	if err != nil || len(gaps) != 100 ||
		!strings.Contains(gaps[99].Reason, "too slow to answer for all processes within 3s: raise --node-timeout") {
		t.Errorf("%d gaps, %v, %v", len(gaps), gaps[max(len(gaps)-1, 0):], err)
	}
}

// TestReadOfOthers checks that processes of another cluster are skipped, and that two with the same identity
// are an error.
func TestReadOfOthers(t *testing.T) {
	one := func(instances string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch query := r.FormValue("query"); {
			case strings.Contains(query, "count_over_time"):
				_, _ = io.WriteString(w, `{"status":"success","data":{"resultType":"vector","result":[`+instances+`]}}`)
			case query == "":
				w.WriteHeader(http.StatusNotFound)
			default:
				_, _ = w.Write(file(t, "series-19103.json.gz"))
			}
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	a, b := `{"metric":{"instance":"a:9091","job":"x"},"value":[1,"20"]}`,
		`{"metric":{"instance":"b:9091","job":"x"},"value":[1,"20"]}`
	r, gaps, err := Read(t.Context(), Options{URL: one(a)}, cluster(77), queryTime)
	if err != nil || len(r.Processes) != 0 || len(gaps) != 1 ||
		!strings.Contains(gaps[0].Reason, "1 processes with Milvus metrics") {
		t.Errorf("of another cluster: %v, %v", gaps, err)
	}
	if _, _, err = Read(t.Context(), Options{URL: one(a + "," + b)}, cluster(9), queryTime); err == nil ||
		!strings.Contains(err.Error(), "a:9091 and b:9091 both report proxy-9") {
		t.Errorf("of two clusters: %v", err)
	}
	if r, gaps, err = Read(t.Context(), Options{URL: one("")}, cluster(9), queryTime); err != nil ||
		len(r.Processes) != 0 || len(gaps) != 1 {
		t.Errorf("of none: %v, %v", gaps, err)
	}
}

// TestBadServers checks that a server that is not a Prometheus, or refuses, yields a one-line error without the
// secrets in the URL.
func TestBadServers(t *testing.T) {
	for name, x := range map[string]struct {
		status     int
		body, want string
	}{
		"login page": {200, "<html>log in</html>", "status 200, not an answer of Prometheus"},
		"refused":    {401, "no", "access denied with status 401"},
		"redirect":   {302, "", "status 302"},
		"its error":  {400, `{"status":"error","error":"parse error: \u001b[31munexpected"}`, "parse error: "},
		"secrets": {
			400, `{"status":"error","error":"dial http://u:geheim@x/: password: geheim"}`, "dial http://<redacted>@x/",
		},
		"no data":    {503, `{"data":null,"status":"error","error":"query timed out"}`, "query timed out"},
		"null":       {200, `{"status":"success","data":null}`, "not an answer to the query"},
		"other data": {200, `{"status":"success","data":[1,2]}`, "not an answer to the query"},
		"odd samples": {
			200, `{"status":"success","data":{"result":[{"metric":{"instance":"a"},"value":[1]}]}}`,
			"not an answer to the query",
		},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
			w.WriteHeader(x.status)
			_, _ = io.WriteString(w, x.body)
		}))
		_, _, err := Read(t.Context(), Options{URL: strings.Replace(s.URL, "http://", "http://u:geheim@", 1)},
			cluster(9), queryTime)
		s.Close()
		if err == nil || !strings.Contains(err.Error(), x.want) || strings.ContainsAny(err.Error(), "\x1b\n") ||
			strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range []string{"", "prometheus:9090", "ftp://x", "http://", "http://u:geheim@[::1"} {
		if _, err := Parse(text); err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if where, err := Parse("https://u:geheim@host/prom/?match=a"); err != nil || where != "https://host/prom" {
		t.Errorf("%q, %v", where, err)
	}
}

// TestAnswersAreBounded checks that JSON that decodes to many times its bytes, and endless responses, end soon
// and take little memory.
func TestAnswersAreBounded(t *testing.T) {
	instance := `{"metric":{"instance":"a","job":"x"},"value":[1,"20"]}`
	for name, x := range map[string]struct{ begin, again string }{
		"series":   {`{"status":"success","data":{"result":[{}`, `,{}`},
		"samples":  {`{"status":"success","data":{"result":[{"values":[[1,""]`, `,[1,""]`},
		"labels":   {`{"status":"success","data":{"result":[{"metric":{"":""`, `,"":""`},
		"text":     {`{"status":"success","data":{"result":[{"metric":{"a":"`, `aaaaaaaa`},
		"members":  {`{"a":1`, `,"a":1`},
		"problems": {`{"status":"error","error":"`, `problem`},
		"blanks":   {` `, `    `},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.FormValue("query"), "count_over_time") {
				_, _ = io.WriteString(w, `{"status":"success","data":{"result":[`+instance+`]}}`)
				return
			}
			_, _ = io.WriteString(w, x.begin)
			for chunk := []byte(strings.Repeat(x.again, 8<<10)); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		_, gaps, err := Read(t.Context(), Options{URL: s.URL, Timeout: 3 * time.Second}, cluster(9), queryTime)
		runtime.ReadMemStats(&after)
		s.Close()
		if took, got := time.Since(start), after.Sys-before.Sys; err != nil || len(gaps) != 1 ||
			took > 15*time.Second || got > 1<<29 {
			t.Errorf("%s: %v, %d MiB, gaps %v, %v", name, took, got>>20, gaps, err)
		}
	}
}

// FuzzSeries checks that live can read the texts that are built from any response of a server.
func FuzzSeries(f *testing.F) {
	f.Add([]byte(
		`[{"metric":{"__name__":"a_bucket","le":"1","x":"\"\n\\"},"values":[[1,"2"],[3.5,"+Inf"]]},{"metric":{"__name__":"a_sum"},"values":[[1,"NaN"]]}]`,
	))
	f.Add([]byte(
		`[{"metric":{"__name__":"milvus_x","instance":"i","exported_instance":"j","exported_y":"1","y":"2"},"values":[[1,"2"]]}]`,
	))
	f.Add([]byte(
		`[{"metric":{"__name__":"s","quantile":"0.5","le":"2"},"values":[[1,"2"]]},{"metric":{"__name__":"s_count"},"values":[[1,"2"]]}]`,
	))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := newResponseDecoder(io.MultiReader(strings.NewReader(`{"result":`), bytes.NewReader(text),
			strings.NewReader("}"))).series()
		if err != nil {
			return
		}
		s := &server{kinds: map[string]string{"s": "summary", "c": "counter", "h": "histogram"}}
		for _, p := range s.texts(list) {
			if len(p.text) == 0 {
				continue
			}
			if m, err := live.ParseMetrics(bytes.NewReader(p.text), p.at); err != nil && len(m.Families) > 0 {
				t.Errorf("%v in\n%s", err, p.text)
			}
		}
	})
}
