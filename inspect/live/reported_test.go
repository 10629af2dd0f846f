package live_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/model"
)

const (
	methodConnections  = "GET /api/v1/_cluster/clients"
	methodDependencies = "GET /api/v1/_cluster/dependencies"
	// dependenciesText has the format of common.MQClusterStatus and MetaClusterStatus in getDependencies.
	dependenciesText = `{"metastore":{"health_status":false,"unhealthy_reason":"Not all etcd members are healthy","members_health":[{"endpoint":"http://me:s3cr3t@etcd-0:2379","health":true},
 {"endpoint":"http://etcd-1:2379","health":false,"error":"Active Alarm(s): NOSPACE "},null],"meta_type":"etcd"},
 "mq":{"health_status":true,"unhealthy_reason":"","members_health":[{"endpoint":"kafka-0","health":true}],"mq_type":"kafka"}}`
	connectionsText = `[{"sdk_type":"Python","sdk_version":"2.6.1","local_time":"2026-11-26 01:00:00","user":"ada","host":"web-7","reserved":{"identifier":"461","last_active_time":"2026-11-26 09:49:47.5 +0800 CST m=+7.25","x":"s3cr3t"}},
 {"sdk_type":"Golang","sdk_version":"2.6.0","host":"me:s3cr3t@job-2","reserved":{"identifier":"460","last_active_time":"2026-11-26 01:52:00 +0000 UTC"}},{"reserved":{"last_active_time":"yesterday"}},null]`
)

func wantConnections() []model.Connection {
	return []model.Connection{
		{
			Proxy: 4, ID: "460", SDK: "Golang", Version: "2.6.0", Host: "<redacted>@job-2",
			ActiveAt: time.Date(2026, 11, 26, 1, 52, 0, 0, time.UTC),
		},
		{
			Proxy: 4, ID: "461", SDK: "Python", Version: "2.6.1", Host: "web-7",
			ActiveAt: time.Date(2026, 11, 26, 1, 49, 47, 5e8, time.UTC),
		},
		{Proxy: 4},
	}
}

// TestConnections checks that connected clients are decoded, also from the stored record, which holds no user.
func TestConnections(t *testing.T) {
	record := pageRecord("proxy", 4, methodConnections, connectionsText)
	kept := live.Redact(record)
	for name, r := range map[string]live.Record{"asked": record, "kept": kept} {
		if diff := cmp.Diff(wantConnections(), decode(r).Connections()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, personal := range []string{"ada", "s3cr3t", "local_time"} {
		if strings.Contains(string(kept.Response), personal) {
			t.Errorf("%s is kept: %s", personal, kept.Response)
		}
	}
	// The real message, encoded by encoding/json as in a proxy.
	text, err := json.Marshal([]*commonpb.ClientInfo{{
		SdkType: "Java", SdkVersion: "3", Host: "h", User: "u",
		Reserved: map[string]string{"identifier": "7", "last_active_time": time.Unix(1795658987, 0).UTC().String()},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := []model.Connection{
		{Proxy: 4, ID: "7", SDK: "Java", Version: "3", Host: "h", ActiveAt: time.Unix(1795658987, 0).UTC()},
	}
	if diff := cmp.Diff(want, decode(pageRecord("proxy", 4, methodConnections, string(text))).Connections()); diff !=
		"" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	many := "[" + strings.Repeat("{},", 10_500) + "{}]"
	for _, r := range []live.Record{
		pageRecord("proxy", 4, methodConnections, many), live.Redact(pageRecord("proxy", 4, methodConnections, many)),
	} {
		if got := decode(r); len(got.Connections()) != 10_000 || len(got.Skipped) != 1 {
			t.Errorf("%d connections, noted %v", len(got.Connections()), got.Skipped)
		}
	}
	if got := decode(pageRecord("proxy", 4, methodConnections, "[]")).Processes[0].Connections; got == nil ||
		len(got) != 0 {
		t.Errorf("none: %v", got)
	}
}

// TestDependencies checks the state of etcd and the queue as seen by a proxy. A kind of queue that it does not
// check is unknown, whatever it reports.
func TestDependencies(t *testing.T) {
	want := []model.Dependency{
		{Proxy: 4, Kind: "metadata store", Type: "etcd", Healthy: model.No, Reason: "Not all etcd members are healthy"},
		{Proxy: 4, Kind: "metadata store", Type: "etcd", Member: "http://<redacted>@etcd-0:2379", Healthy: model.Yes},
		{
			Proxy: 4, Kind: "metadata store", Type: "etcd", Member: "http://etcd-1:2379", Healthy: model.No,
			Reason: "Active Alarm(s): NOSPACE",
		},
		{Proxy: 4, Kind: "message queue", Type: "kafka", Healthy: model.Yes},
		{Proxy: 4, Kind: "message queue", Type: "kafka", Member: "kafka-0", Healthy: model.Yes},
	}
	record := pageRecord("proxy", 4, methodDependencies, dependenciesText)
	kept := live.Redact(record)
	for name, r := range map[string]live.Record{"asked": record, "kept": kept} {
		if diff := cmp.Diff(want, decode(r).Dependencies()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if strings.Contains(string(kept.Response), "s3cr3t") {
		t.Errorf("kept: %s", kept.Response)
	}
	for _, queue := range []string{"default", "woodpecker", "rocksmq", ""} {
		text := fmt.Sprintf(`{"mq":{"health_status":%v,"unhealthy_reason":"","members_health":null,"mq_type":%q}}`,
			queue == "rocksmq", queue)
		got := decode(pageRecord("proxy", 4, methodDependencies, text)).Dependencies()
		if len(got) != 1 || got[0].Healthy != model.Unknown || got[0].Type != queue {
			t.Errorf("%s: %+v", queue, got)
		}
	}
}

// TestReportedHostile checks that invalid responses are reported and not stored.
func TestReportedHostile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text    string
		outcome model.Outcome
	}{
		"a page":      {"<html>", model.Garbled},
		"nothing":     {"", model.Garbled},
		"an error":    {`{"msg":"no"}`, model.Failed},
		"other types": {`{"mq":[],"metastore":7}`, model.Garbled},
		"strings":     {`"x"`, model.Garbled},
		"huge":        {`[` + strings.Repeat("{},", 400_000) + `{}]`, model.TooLarge},
	} {
		for _, method := range []string{methodConnections, methodDependencies} {
			for _, r := range []live.Record{
				pageRecord("proxy", 4, method, c.text), live.Redact(pageRecord("proxy", 4, method, c.text)),
			} {
				got := decode(r)
				if call := got.Processes[0].Calls[0]; call.Outcome != c.outcome || call.Reason == "" ||
					got.Connections() != nil || got.Dependencies() != nil {
					t.Errorf("%s of %s: %s %q", name, method, call.Outcome, call.Reason)
				}
			}
		}
	}
}

// TestDependenciesOfPulsar checks that a proxy that would make a Pulsar broker write is not queried.
func TestDependenciesOfPulsar(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		configs string
		asked   bool
	}{
		"kafka":                      {`{"mq.type":"kafka"}`, true},
		"default":                    {`{"mq.type":"default[FileSource]","mqtype":"default[FileSource]"}`, true},
		"pulsar":                     {`{"mq.type":"pulsar[FileSource]"}`, false},
		"pulsar, by the environment": {`{"mq.type":"kafka[FileSource]","mqtype":"Pulsar[EnvironmentSource]"}`, false},
		"unknown":                    {`<html>`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, c.configs) }
			r := askPages(t, time.Minute, answer, http.NotFound)
			if got := len(r.Dependencies()) > 0; got != c.asked || len(r.Connections()) != 3 {
				t.Errorf("asked %v, %d connections; skipped %v", got, len(r.Connections()), r.Skipped)
			}
			told := false
			for _, s := range r.Skipped {
				told = told ||
					strings.HasPrefix(s.What, "dependencies reported by proxy-4") &&
						strings.Contains(s.Reason, "Pulsar")
			}
			if told == c.asked {
				t.Errorf("skipped %v", r.Skipped)
			}
		})
	}
	c := livetest.Cluster(livetest.Spec{QueryNodes: 1, Collections: 1, Version: "2.5.4"})
	for i, size := range []int{8, 40} {
		c.VChannels[0].Checkpoint.Message = make([]byte, size)
		if got := live.WritesToPulsar(c, ""); (got != "") != (i == 1) {
			t.Errorf("message ids of %d bytes: %q", size, got)
		}
	}
}

// FuzzReported checks that no response causes a panic and that the stored record decodes to the same.
func FuzzReported(f *testing.F) {
	for _, text := range []string{
		connectionsText, dependenciesText, "[]", "{}", "<html>", `{"msg":"no"}`, `[null]`,
		`{"mq":{"members_health":[null]}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, method := range []string{methodConnections, methodDependencies} {
			r := pageRecord("proxy", 4, method, string(text))
			got, kept := decode(r), live.Redact(r)
			same := decode(kept)
			if diff := cmp.Diff(got.Connections(), same.Connections()) +
				cmp.Diff(got.Dependencies(), same.Dependencies()); diff != "" {
				t.Errorf("kept (-asked +kept):\n%s", diff)
			}
			if diff := cmp.Diff(kept, live.Redact(kept)); diff != "" {
				t.Errorf("redacted twice (-once +twice):\n%s", diff)
			}
		}
	})
}

// TestReportedOnlyWhereWanted checks that dependencies are queried only if requested, and at most once a
// minute, because a proxy opens connections of its own for them.
func TestReportedOnlyWhereWanted(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := map[string]int{}
	configs := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"mq.type":"kafka"}`) }
	c, opts := servePages(t, configs, http.NotFound, func(path string) {
		mu.Lock()
		defer mu.Unlock()
		asked[path]++
	})
	now := time.Now()
	opts.Now = func() time.Time { return now }
	for _, wanted := range []bool{false, true} {
		opts.ProxyReports, opts.Levels = wanted, wanted
		client, err := live.Open(opts)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		for _, wait := range []time.Duration{0, 25 * time.Second, 25 * time.Second, 2 * time.Minute} {
			now = now.Add(wait)
			r, err := client.Ask(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(r.Connections()) == 3 && len(r.Dependencies()) > 0; got != wanted {
				t.Errorf("wanted %v, after %v: %d clients, %d dependencies; %+v", wanted, wait, len(r.Connections()),
					len(r.Dependencies()), r.Skipped)
			}
		}
		mu.Lock()
		for _, path := range []string{"/api/v1/_cluster/clients", "/api/v1/_cluster/dependencies"} {
			if want := map[bool]int{true: 2}[wanted]; asked[path] != want {
				t.Errorf("wanted %v: %s was asked for %d times, want %d", wanted, path, asked[path], want)
			}
		}
		if levels := asked["/log/level"]; (levels > 0) != wanted {
			t.Errorf("wanted %v: log levels were asked for %d times", wanted, levels)
		}
		mu.Unlock()
	}
}
