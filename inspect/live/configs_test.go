package live_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

const (
	methodConfigs = "GET /api/v1/_cluster/configs"
	configGet     = "GET /management/config/get"
	// configsText has the format of GetConfigsView in Milvus's getConfigs, but sorted, with keys from every
	// source.
	configsText = `{"PATH":"/usr/bin[EnvironmentSource]","common.security.defaultrootpassword":"s3cr3t-root[FileSource]","datacoord.enablecompaction":"false[FileSource]",
 "datacoordenablecompaction":"false[EtcdSource]","etcd.auth.password":"s3cr3t-etcd[EnvironmentSource]","etcd.auth.username":"root[FileSource]","etcd.ssl.tlskey":"/milvus/key.pem[FileSource]",
 "etcdauthpassword":"s3cr3t-etcd[EnvironmentSource]","gone.key":"x[FileSource]","homedirectory":"/home/s3cr3t-env[EnvironmentSource]","kafka.saslpassword":"s3cr3t-sasl[FileSource]",
 "kafka.ssl.tlskeypassword":"s3cr3t-tls[FileSource]","minio.secretaccesskey":"s3cr3t-minio[FileSource]","miniosecretaccesskey":"s3cr3t-minio[FileSource]",
 "pulsar.address":"pulsar://me:s3cr3t-url@host:6650[FileSource]","pulsar.authparams":"{\"token\":\"s3cr3t-pulsar\"}[FileSource]","querycoord.balancer":"ScoreBasedBalancer[FileSource]",
 "querycoord.removed":"TOMB_VAULE[RuntimeSource]","trace.otlp.headers":"{\"authorization\":\"s3cr3t-otlp\"}[FileSource]"}`
	// keysText has the format of HandleGetConfig.
	keysText = `{"configs":[{"key":"dataCoord.gc.dropTolerance","value":"10800","source":"FileSource"},{"key":"queryCoord.autoBalance","value":"false","source":"EtcdSource"},
 {"key":"queryCoord.autoHandoff","error":"key not found: queryCoord.autoHandoff"},{"key":"minio.secretAccessKey","value":"s3cr3t-minio"},null]}`
)

func pageRecord(role string, node model.NodeID, method, text string) live.Record {
	return live.Record{
		Role: role, Node: node, Address: "10.1.0.5:9091", Method: method, Response: []byte(text), Outcome: "answered",
		At: slowAsked,
	}
}

func keysMethod() string { return configGet + "?keys=" + strings.Join(model.CoordinatorKeys(), ",") }

// TestConfigs checks that a proxy's whole configuration is decoded with each key once, also from the stored
// record, without secrets and without the environment.
func TestConfigs(t *testing.T) {
	want := &model.Config{
		Values: map[string]string{
			"commonsecuritydefaultrootpassword": "<redacted>", "datacoordenablecompaction": "false",
			"etcdauthpassword": "<redacted>", "etcdauthusername": "root",
			"etcdssltlskey": "/milvus/key.pem", "kafkasaslpassword": "<redacted>",
			"kafkassltlskeypassword": "<redacted>", "miniosecretaccesskey": "<redacted>",
			"pulsaraddress": "pulsar://<redacted>@host:6650", "pulsarauthparams": "<redacted>",
			"querycoordbalancer": "ScoreBasedBalancer", "traceotlpheaders": "<redacted>",
		},
		Names: map[string]string{
			"commonsecuritydefaultrootpassword": "common.security.defaultrootpassword",
			"datacoordenablecompaction":         "datacoord.enablecompaction",
			"etcdauthpassword":                  "etcd.auth.password", "etcdauthusername": "etcd.auth.username",
			"etcdssltlskey": "etcd.ssl.tlskey", "kafkasaslpassword": "kafka.saslpassword",
			"kafkassltlskeypassword": "kafka.ssl.tlskeypassword", "miniosecretaccesskey": "minio.secretaccesskey",
			"pulsaraddress":    "pulsar.address",
			"pulsarauthparams": "pulsar.authparams", "querycoordbalancer": "querycoord.balancer",
			"traceotlpheaders": "trace.otlp.headers",
		},
	}
	record := pageRecord("proxy", 4, methodConfigs, configsText)
	kept := live.Redact(record)
	for name, r := range map[string]live.Record{"asked": record, "kept": kept, "kept twice": live.Redact(kept)} {
		p := decode(r).Processes[0]
		if diff := cmp.Diff(want, p.Config); diff != "" || p.ConfigOf != "proxy-4" {
			t.Errorf("%s, of %q (-want +got):\n%s", name, p.ConfigOf, diff)
		}
	}
	if strings.Contains(string(kept.Response), "s3cr3t") || strings.Contains(string(kept.Response), "PATH") {
		t.Errorf("kept: %s", kept.Response)
	}
	older := strings.NewReplacer("[FileSource]", "", "[EnvironmentSource]", "", "[EtcdSource]", "", "[RuntimeSource]",
		"").Replace(configsText)
	if diff := cmp.Diff(want, decode(pageRecord("proxy", 4, methodConfigs, older)).Processes[0].Config); diff != "" {
		t.Errorf("without sources (-want +got):\n%s", diff)
	}
}

// TestConfigKeys checks that single keys of a MixCoord are added to its own configuration, in any order of the
// responses, and that keys that were not requested are ignored.
func TestConfigKeys(t *testing.T) {
	own := configuration(t, "rootcoord.maxpartitionnum", "1024", "common.gracefultime", "5000")
	own.Role, own.Node = "mixcoord", 1
	keys := pageRecord("mixcoord", 1, keysMethod(), keysText)
	want := map[string]string{
		"rootcoordmaxpartitionnum": "1024", "commongracefultime": "5000", "datacoordgcdroptolerance": "10800",
		"querycoordautobalance": "false",
	}
	for name, records := range map[string][]live.Record{
		"after": {own, keys}, "before": {keys, own}, "kept": {live.Redact(keys), live.Redact(own)},
	} {
		r := decode(records...)
		n := r.LiveNode("mixcoord", 1)
		if diff := cmp.Diff(want, n.Config.Values); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if call := r.Processes[0].Calls[0]; call.Method != configGet || call.Outcome != model.Answered {
			t.Errorf("%s: %+v", name, call)
		}
	}
	if kept := live.Redact(keys); strings.Contains(string(kept.Response), "s3cr3t") {
		t.Errorf("kept: %s", kept.Response)
	}
}

// TestConfigsFill checks that keys that MixCoord does not report come from a proxy's configuration, and dynamic
// keys before that, or that the reason is reported.
func TestConfigsFill(t *testing.T) {
	own := configuration(t, "rootcoord.maxpartitionnum", "1024")
	own.Role, own.Node = "mixcoord", 1
	c := model.Build(model.Parts{Config: []*model.ConfigEntry{{Name: "dataCoord/enableCompaction", Value: "true"}}})
	c = c.WithRuntime(decode(own, pageRecord("proxy", 4, methodConfigs, configsText)))
	for key, want := range map[string]model.Setting{
		"queryCoord.balancer":        {Value: "ScoreBasedBalancer", From: "configuration of proxy-4"},
		"dataCoord.enableCompaction": {Value: "true", From: "dynamic configuration"},
		"rootCoord.maxPartitionNum":  {Value: "1024", From: "mixcoord-1"},
		"queryCoord.removed":         {},
	} {
		if got, ok := c.Setting(key, "querycoord", "mixcoord"); got != want || ok != (want != model.Setting{}) {
			t.Errorf("%s: %+v %v, want %+v", key, got, ok, want)
		}
	}
	if got, ok := c.Setting("queryCoord.balancer", "querynode"); ok {
		t.Errorf("of query nodes: %+v", got)
	}
}

// TestPagesHostile checks that every bad response to a page leaves it unknown, with a reason and within bounds.
// It runs for two pages with the same reasons.
func TestPagesHostile(t *testing.T) {
	t.Parallel()
	text := func(code int, s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, s)
		}
	}
	packed := func(labelled bool, fill func(io.Writer)) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if labelled {
				w.Header().Set("Content-Encoding", "gzip")
			}
			z := gzip.NewWriter(w)
			fill(z)
			_ = z.Close()
		}
	}
	endless := func(w io.Writer) {
		piece := []byte(strings.Repeat(" ", 1<<20))
		for range 1 << 10 { // 1 GiB
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}
	for name, c := range map[string]struct {
		answer  http.HandlerFunc
		outcome model.Outcome
		reason  string
	}{
		"404": {http.NotFound, model.Unimplemented, "common.security.managementMetricsOnly"},
		"401": {
			text(401, `{"msg":"authentication required. Use HTTP Basic Auth with root credentials"}`), model.Denied,
			"common.security.adminAuthEnabled is true",
		},
		"401, a user": {text(401, `{"msg":"who are you"}`), model.Denied, "who are you"},
		"403": {
			text(403, `{"msg":"only root user can access this endpoint"}`), model.Denied,
			"common.security.adminAuthEnabled is true",
		},
		"500": {text(500, `{"message":"boom"}`), model.NotReady, "boom"},
		"a redirect": {
			func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
			model.Failed, "302",
		},
		"a login page": {text(200, "<!DOCTYPE html><title>Sign in</title>"), model.Garbled, "an HTML page"},
		"nothing":      {text(200, ""), model.Garbled, "empty"},
		"an error in": {
			text(200, `{"code":1800,"message":"user hasn't authenticated"}`), model.Failed,
			"user hasn't authenticated (code 1800)",
		},
		"another error": {text(200, `{"msg":"failed: dial http://me:s3cr3t@etcd"}`), model.Failed, "failed: dial"},
		"a list":        {text(200, "[]"), model.Garbled, "is not"},
		"half":          {text(200, `{"configs":[{"key":"dataCoord.gc`), model.Garbled, "is not"},
		"other types":   {text(200, `{"configs":7}`), model.Garbled, "is not"},
		"bytes":         {packed(false, func(w io.Writer) { _, _ = io.WriteString(w, "{}") }), model.Garbled, "is not"},
		"1 GiB": {
			func(w http.ResponseWriter, _ *http.Request) { endless(w) }, model.TooLarge, "larger than the limit",
		},
		"1 GiB, packed": {packed(true, endless), model.TooLarge, "larger than the limit"},
		"many objects":  {text(200, `{"configs":[`+strings.Repeat("{},", 400_000)+`{}]}`), model.TooLarge, ""},
		"silence": {
			func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, model.TimedOut, "no response within",
		},
		"slow": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, "{")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(50 * time.Millisecond)
			}
		}, model.TimedOut, ""},
		"hangs up": {func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			_ = conn.Close()
		}, model.CutOff, "closed the connection"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			patience := time.Minute // decompression takes long on a busy machine
			if c.outcome == model.TimedOut {
				patience = 2 * time.Second
			}
			r := askPages(t, patience, c.answer, c.answer)
			for _, method := range []string{methodConfigs, configGet} {
				call := pageCall(t, r, method)
				if call.Outcome != c.outcome || !strings.Contains(call.Reason, c.reason) ||
					strings.Contains(call.Reason, "s3cr3t") {
					t.Errorf("%s: %s (%s), want %s (%s)", method, call.Outcome, call.Reason, c.outcome, c.reason)
				}
			}
			if p := r.LiveNode("proxy", 4).Process; p.Metrics == nil || p.Config != nil {
				t.Errorf("metrics %v, config %v", p.Metrics != nil, p.Config)
			}
			if n := r.LiveNode("mixcoord", 1); n.Config.HasComponent("dataCoord") {
				t.Errorf("config %v", n.Config)
			}
		})
	}
	t.Run("all is well", func(t *testing.T) {
		t.Parallel()
		r := askPages(t, time.Minute, packed(true, func(w io.Writer) { _, _ = io.WriteString(w, configsText) }),
			text(200, keysText))
		if p := r.LiveNode("proxy", 4).Process; p.Config == nil ||
			p.Config.Values["querycoordbalancer"] != "ScoreBasedBalancer" {
			t.Errorf("of the proxy: %+v", p.Config)
		}
		for _, n := range []*model.LiveNode{r.LiveNode("proxy", 4), r.LiveNode("mixcoord", 1)} {
			if n.Process.LogLevel != "debug" {
				t.Errorf("%s logs at %q", n.Name(), n.Process.LogLevel)
			}
		}
		if want := (&model.GarbageCollector{
			Paused: true, Remaining: 50 * time.Minute, Reporter: "mixcoord-1",
		}); !cmp.Equal(r.Collector, want) {
			t.Errorf("collector %+v", r.Collector)
		}
		if r.StreamingBalance == nil || *r.StreamingBalance ||
			!cmp.Equal(r.StreamingNodeStates, []model.NodeState{
				{Node: 8, State: "active"}, {Node: 9, State: "suspended"},
			}) {
			t.Errorf("streaming nodes: balance %v, %+v", r.StreamingBalance, r.StreamingNodeStates)
		}
		if n := r.LiveNode("mixcoord", 1); n.Config.Values["datacoordgcdroptolerance"] != "10800" {
			t.Errorf("of MixCoord: %+v", n.Config)
		}
	})
}

// askPages queries a cluster of 2.6 whose proxy and MixCoord serve the given pages of configurations.
func askPages(t *testing.T, patience time.Duration, configs, keys http.HandlerFunc) *model.Runtime {
	t.Helper()
	c, opts := servePages(t, configs, keys, func(string) {})
	opts.Timeout = patience
	return ask(t, c, opts)
}

// servePages serves the pages of a cluster of 2.6.22, and returns it with the options to query it. It calls
// seen with each path.
func servePages(t *testing.T, configs, keys http.HandlerFunc, seen func(path string)) (*model.Cluster, live.Options) {
	t.Helper()
	serve := func(role, node string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen(r.URL.Path)
			switch r.URL.Path {
			case "/metrics":
				fmt.Fprintf(w, "# TYPE milvus_num_node gauge\nmilvus_num_node{node_id=%q,role_name=%q} 1\n", node, role)
			case "/healthz":
				fmt.Fprint(w, "OK")
			case "/log/level":
				fmt.Fprintln(w, `{"level":"debug"}`)
			case "/api/v1/_cluster/slow_query":
				fmt.Fprint(w, "[]")
			case "/management/data_gc":
				fmt.Fprint(w, `{"msg":"OK","status":"suspended","time_remaining_seconds":3000}`)
			case "/management/streaming/balance/status":
				fmt.Fprint(w, `{"msg":"OK","status":"suspended"}`)
			case "/management/streaming/nodes":
				fmt.Fprint(w,
					`{"msg":"OK","nodeInfos":[{"ID":9,"address":"10.0.0.9:22222","state":"suspended"},{"ID":8,"address":"10.0.0.8:22222","state":"active"}]}`)
			case "/api/v1/_cluster/clients":
				fmt.Fprint(w, connectionsText)
			case "/api/v1/_cluster/dependencies":
				fmt.Fprint(w, dependenciesText)
			case "/api/v1/_cluster/configs":
				configs(w, r)
			case "/management/config/get":
				keys(w, r)
			case "*":
				// the preface of HTTP/2: a gRPC client of another test dials a port that was reused for this server
			default:
				t.Errorf("%s was asked for", r.URL)
			}
		}))
		t.Cleanup(server.Close)
		return server.Listener.Addr().String()
	}
	c := livetest.Cluster(livetest.Spec{QueryNodes: 1, Version: "2.6.22"})
	answers := livetest.Responses(c, livetest.Options{})
	var own string
	for i := range answers {
		if r := &answers[i]; r.Role == "mixcoord" && strings.HasSuffix(r.Method, "/ShowConfigurations") {
			r.Response = configuration(t, "commonmetricsport", "9092", "rootcoord.maxpartitionnum", "1024").Response
			own = r.Address
		}
	}
	c = livetest.Serve(t, c, answers, recorded.Options{})
	opts := live.Options{
		ProxyReports: true, Levels: true, MetricsPort: 9091, Timeout: time.Minute, MaxResponse: 2 << 20,
	}
	was := ask(t, c, opts).LiveNode("mixcoord", 1).Process
	if was == nil {
		t.Fatalf("the process of MixCoord at %s is unknown", own)
	}
	opts.Map = map[string]string{"127.0.0.1:9091": serve("proxy", "4"), was.Address: serve("mixcoord", "1")}
	return c, opts
}

func pageCall(t *testing.T, r *model.Runtime, method string) model.Call {
	t.Helper()
	for _, p := range r.Processes {
		for _, call := range p.Calls {
			if call.Method == method {
				return call
			}
		}
	}
	t.Errorf("%s was not asked", method)
	return model.Call{}
}

// FuzzConfigs checks that no response causes a panic, that the stored record decodes to the same, and that it
// holds no named secret.
func FuzzConfigs(f *testing.F) {
	for _, text := range []string{
		configsText, keysText, "{}", "<html>", `{"msg":"no"}`, `{"datacoord.x":"1[FileSource]"}`,
		`{"configs":[{"key":"dataCoord.gc.interval"}]}`, `{"configs":[]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, r := range []live.Record{
			pageRecord("proxy", 4, methodConfigs, string(text)), pageRecord("mixcoord", 1, keysMethod(), string(text)),
		} {
			kept := live.Redact(r)
			own := configuration(t, "rootcoord.x", "1")
			own.Role, own.Node = "mixcoord", 1
			got, same := decode(own, r), decode(own, kept)
			if diff := cmp.Diff(got.Processes[len(got.Processes)-1].Config,
				same.Processes[len(same.Processes)-1].Config); diff != "" {
				t.Errorf("kept (-asked +kept):\n%s", diff)
			}
			if diff := cmp.Diff(got.LiveNode("mixcoord", 1).Config, same.LiveNode("mixcoord", 1).Config); diff != "" {
				t.Errorf("kept (-asked +kept):\n%s", diff)
			}
			if diff := cmp.Diff(kept, live.Redact(kept)); diff != "" {
				t.Errorf("redacted twice (-once +twice):\n%s", diff)
			}
		}
	})
}

// TestPagesReplayed checks that recorded pages are served and decode to the same.
func TestPagesReplayed(t *testing.T) {
	t.Parallel()
	c := livetest.Cluster(livetest.Spec{QueryNodes: 1, Version: "2.6.22"})
	answers := livetest.Responses(c, livetest.Options{})
	for i := range answers {
		switch r := &answers[i]; {
		case r.Role != "mixcoord":
		case strings.HasSuffix(r.Method, "/ShowConfigurations"):
			r.Response = configuration(t, "commonmetricsport", "9091", "rootcoord.maxpartitionnum", "1024").Response
		case r.Method == "GET /metrics":
			page := *r
			page.Method, page.Response = keysMethod(), []byte(keysText)
			answers = append(answers, live.Redact(page))
		}
	}
	var kept []live.Record
	r := ask(t, livetest.Serve(t, c, answers, recorded.Options{}),
		live.Options{Keep: func(r live.Record) { kept = append(kept, r) }})
	for name, r := range map[string]*model.Runtime{"asked": r, "kept": decode(kept...)} {
		if got := r.LiveNode("mixcoord", 1).Config; got.Values["datacoordgcdroptolerance"] != "10800" ||
			got.Names["datacoordgcdroptolerance"] != "datacoord.gc.droptolerance" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
