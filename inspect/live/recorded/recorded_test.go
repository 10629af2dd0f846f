package recorded_test

import (
	"context"
	"io"
	"math"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus/pkg/v3/proto/internalpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/live"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

const (
	address      = "10.0.0.7:21123"
	distribution = "/milvus.proto.query.QueryNode/GetDataDistribution"
	config       = "/milvus.proto.query.QueryNode/ShowConfigurations"
	states       = "/milvus.proto.query.QueryNode/GetComponentStates"
	metrics      = "/milvus.proto.query.QueryNode/GetMetrics"
)

func marshal(t *testing.T, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func records(t *testing.T) []live.Record {
	t.Helper()
	record := func(method string, request, response proto.Message) live.Record {
		return live.Record{
			Role: "querynode", Node: 7, Address: address, Method: method, Request: marshal(t, request),
			Response: marshal(t, response),
		}
	}
	base := &commonpb.MsgBase{TargetID: 7}
	return []live.Record{
		record(distribution, &querypb.GetDataDistributionRequest{Base: base}, &querypb.GetDataDistributionResponse{
			Status: &commonpb.Status{}, NodeID: 7,
		}),
		record(states, &milvuspb.GetComponentStatesRequest{},
			&milvuspb.ComponentStates{State: &milvuspb.ComponentInfo{NodeID: 7}}),
		record(config, &internalpb.ShowConfigurationsRequest{Base: base},
			&internalpb.ShowConfigurationsResponse{Configuations: []*commonpb.KeyValuePair{
				{Key: "commonmetricsport", Value: "9091"},
				{Key: "common.metricsPort", Value: "9091"},
				{Key: "kafka.brokerList", Value: "10.0.0.9:9092"},
				{Key: "a", Value: "9091"},
			}}),
		{
			Role: "querynode", Node: 7, Address: address, Method: metrics,
			Request: marshal(t, &milvuspb.GetMetricsRequest{Base: base}),
			Error:   "UNIMPLEMENTED: unknown method GetMetrics",
		},
		{Role: "querynode", Node: 7, Address: "10.0.0.7:9091", Method: "GET /metrics", Response: []byte("first 1\n")},
		{Role: "querynode", Node: 7, Address: "10.0.0.7:9091", Method: "GET /metrics", Response: []byte("second 2\n")},
		{
			Role: "querynode", Node: 8, Address: "10.0.0.8:21123", Method: states, Outcome: "refused",
			Error: "connection refused",
		},
		{
			Role: "querynode", Node: 9, Address: "10.0.0.9:21123", Method: states, Outcome: "timed out",
			Error: "no response within 5s",
		},
		{Method: "message queue", Outcome: "not asked", Error: "whatever"},
	}
}

func start(t *testing.T, opts recorded.Options) *recorded.Servers {
	t.Helper()
	s, err := recorded.Start(records(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func dial(t *testing.T, s *recorded.Servers, address string) *grpc.ClientConn {
	t.Helper()
	at, ok := s.Address(address)
	if !ok {
		t.Fatalf("nothing is served for %s", address)
	}
	conn, err := grpc.NewClient(at, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestAnswers(t *testing.T) {
	s := start(t, recorded.Options{Cluster: "by-dev"})
	conn := dial(t, s, address)
	ask := func(id int64, pairs ...string) (*querypb.GetDataDistributionResponse, error) {
		r := new(querypb.GetDataDistributionResponse)
		ctx := metadata.AppendToOutgoingContext(t.Context(), pairs...)
		// Its base may hold more than the recorded one: it is not part of the key.
		err := conn.Invoke(ctx, distribution,
			&querypb.GetDataDistributionRequest{Base: &commonpb.MsgBase{TargetID: id, MsgID: 99}}, r)
		return r, err
	}
	if r, err := ask(7, "Cluster", "by-dev", "ServerID", "7"); err != nil || r.GetNodeID() != 7 {
		t.Errorf("%v, %v", r, err)
	}
	if r, err := ask(99); err != nil || r.GetStatus().GetCode() != 904 ||
		r.GetStatus().GetReason() != "node not match[expectedNodeID=7][actualNodeID=99]" || r.GetNodeID() != 0 {
		t.Errorf("another node: %v, %v", r, err)
	}
	for _, test := range []struct {
		pairs []string
		want  string
	}{
		{[]string{"ServerID", "77"}, "node not match[expectedNodeID=77][actualNodeID=7]"},
		{[]string{"Cluster", "nope"}, "cross cluster routing[expectedCluster=by-dev][actualCluster=nope]"},
	} {
		if _, err := ask(7, test.pairs...); status.Code(err) != codes.Unknown ||
			status.Convert(err).Message() != test.want {
			t.Errorf("%v: %v, want %s", test.pairs, err, test.want)
		}
	}
	// Neither the recorded request nor a recorded method.
	err := conn.Invoke(t.Context(), distribution,
		&querypb.GetDataDistributionRequest{Base: &commonpb.MsgBase{TargetID: 7}, LastUpdateTs: 5},
		new(querypb.GetDataDistributionResponse))
	if status.Code(err) != codes.NotFound {
		t.Errorf("another question: %v", err)
	}
	for method, want := range map[string]string{
		metrics:                                "unknown method GetMetrics",
		"/milvus.proto.query.QueryNode/Search": "unknown method Search for service milvus.proto.query.QueryNode",
		"/milvus.proto.data.DataCoord/GetFlushState":          "unknown service milvus.proto.data.DataCoord",
		"/milvus.proto.query.QueryNode/ReleaseCollection/but": "unknown service milvus.proto.query.QueryNode/ReleaseCollection",
	} {
		err := conn.Invoke(t.Context(), method, &milvuspb.GetMetricsRequest{Base: &commonpb.MsgBase{TargetID: 7}},
			new(milvuspb.GetMetricsResponse))
		if status.Code(err) != codes.Unimplemented || status.Convert(err).Message() != want {
			t.Errorf("%s: %v, want %s", method, err, want)
		}
	}
}

func get(t *testing.T, url string) (string, int) {
	t.Helper()
	response, err := http.Get(url) //nolint:gosec // of our own server
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body), response.StatusCode
}

// TestNoOtherAddresses checks that the configuration names the servers of the recording, and not the recorded
// addresses, at which other programs may listen here.
func TestNoOtherAddresses(t *testing.T) {
	s := start(t, recorded.Options{})
	r := new(internalpb.ShowConfigurationsResponse)
	if err := dial(t, s, address).Invoke(t.Context(), config,
		&internalpb.ShowConfigurationsRequest{Base: &commonpb.MsgBase{TargetID: 7}}, r); err != nil {
		t.Fatal(err)
	}
	web, ok := s.Address("10.0.0.7:9091")
	_, port, _ := net.SplitHostPort(web)
	told := map[string]string{}
	for _, pair := range r.GetConfiguations() {
		told[pair.GetKey()] = pair.GetValue()
	}
	if !ok || told["commonmetricsport"] != port || told["common.metricsPort"] != port || told["a"] != "9091" {
		t.Errorf("configuration %v, HTTP server at %s", told, web)
	}
	if broker := told["kafka.brokerList"]; !strings.HasPrefix(broker, "127.0.0.1:") {
		t.Errorf("broker %s", broker)
	} else if conn, err := net.Dial("tcp", broker); err != nil {
		t.Errorf("broker: %v", err)
	} else {
		_ = conn.Close()
	}
	for i, want := range []string{"first 1\n", "second 2\n", "second 2\n"} {
		if text, code := get(t, "http://"+web+"/metrics"); text != want || code != http.StatusOK {
			t.Errorf("scrape %d: %d %q, want %q", i, code, text, want)
		}
	}
	if _, code := get(t, "http://"+web+"/debug/pprof/"); code != http.StatusNotFound {
		t.Errorf("a page that was not recorded: %d", code)
	}
}

func TestFailuresReplayed(t *testing.T) {
	s := start(t, recorded.Options{})
	for at, want := range map[string]codes.Code{
		"10.0.0.8:21123": codes.Unavailable, "10.0.0.9:21123": codes.DeadlineExceeded,
	} {
		patience := time.Minute // a refusal may take long on a busy machine
		if want == codes.DeadlineExceeded {
			patience = 300 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		err := dial(t, s, at).Invoke(ctx, states, &milvuspb.GetComponentStatesRequest{}, new(milvuspb.ComponentStates))
		cancel()
		if status.Code(err) != want {
			t.Errorf("%s: %v, want %s", at, err, want)
		}
	}
	if _, ok := s.Address("10.9.9.9:1"); ok {
		t.Error("an address that was not recorded is served")
	}
}

// TestCPUOverAnHour checks that a client that uses the servers' clock gets the recorded rate for the whole
// time, whether the clock runs or is frozen, and from two scrapes or one.
func TestCPUOverAnHour(t *testing.T) {
	const rate = 50.0 / 1800
	recordedAt := time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)
	// 1,800 s before: start
	text := "# TYPE x gauge\nprocess_cpu_seconds_total 50\nprocess_start_time_seconds 1.7951616e+09\nother 3\n"
	for name, runs := range map[string]float64{"the clock goes": 1, "the clock stands": 0} {
		t.Run(name, func(t *testing.T) {
			var passed time.Duration
			now := func() time.Time { return recordedAt.Add(time.Duration(runs * float64(passed))) }
			s, err := recorded.Start([]live.Record{
				{Role: "querynode", Node: 7, Address: address, Method: states},
				{Role: "querynode", Node: 7, Address: "10.0.0.7:9091", Method: "GET /metrics", Response: []byte(text)},
			}, recorded.Options{Recorded: recordedAt, Now: now})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			web, _ := s.Address("10.0.0.7:9091")
			var before *model.Metrics
			for ; passed <= time.Hour; passed += 5 * time.Minute {
				body, _ := get(t, "http://"+web+"/metrics")
				m, err := live.ParseMetrics(strings.NewReader(body), now())
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range []*model.Process{{Metrics: m}, {Metrics: m, Before: before}} {
					if cores, _, ok := p.CPU(); !ok || math.Abs(cores-rate) > 1e-9 {
						t.Errorf("after %s it uses %v cores, recorded were %v", passed, cores, rate)
					}
				}
				if !strings.Contains(body, "\nother 3\n") || !strings.Contains(body, "1.7951616e+09") {
					t.Errorf("served is %q", body)
				}
				before = m
			}
		})
	}
}

func TestCloseEndsEverything(t *testing.T) {
	before := runtime.NumGoroutine()
	s, err := recorded.Start(records(t), recorded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// TestCloseWithOpenConnections checks that pending calls and idle connections do not block Close.
func TestCloseWithOpenConnections(t *testing.T) {
	before := runtime.NumGoroutine()
	silent := live.Record{
		Role: "querynode", Node: 7, Address: "10.0.0.7:9099", Method: "GET /metrics", Outcome: "timed out",
		Error: "no response within 5s",
	}
	s, err := recorded.Start(append(records(t), silent), recorded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	conn := dial(t, s, "10.0.0.9:21123")
	web, _ := s.Address("10.0.0.7:9099")
	ended := make(chan error, 2)
	go func() {
		ended <- conn.Invoke(t.Context(), states, &milvuspb.GetComponentStatesRequest{}, new(milvuspb.ComponentStates))
	}()
	go func() {
		response, err := http.Get("http://" + web + "/metrics") //nolint:gosec // of our own server
		if err == nil {
			_ = response.Body.Close()
		}
		ended <- err
	}()
	idle, err := net.Dial("tcp", web)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	select {
	case err := <-ended:
		t.Fatalf("an answer that never came when it was recorded: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	closed := make(chan struct{})
	go func() {
		s.Close()
		s.Close() // a second Close is harmless
		close(closed)
	}()
	for range 2 {
		select {
		case err := <-ended:
			if err == nil {
				t.Error("an answer came from a server that was closed")
			}
		case <-time.After(5 * time.Second):
			t.Fatal("a call outlives its server")
		}
	}
	<-closed
	_ = conn.Close()
	http.DefaultClient.CloseIdleConnections()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// TestPageFailuresReplayed checks that failures of an HTTP server in the recording are replayed.
func TestPageFailuresReplayed(t *testing.T) {
	page := func(outcome, body string) live.Record {
		return live.Record{
			Role: "querynode", Node: 7, Address: "10.0.0.7:9091", Method: "GET /metrics", Outcome: outcome,
			Error: outcome, Response: []byte(body),
		}
	}
	for outcome, want := range map[string]int{
		"answered": http.StatusOK, "not ready": http.StatusInternalServerError, "denied": http.StatusForbidden,
		"unimplemented": http.StatusNotFound,
		"not asked":     http.StatusNotFound, "failed": http.StatusBadRequest, "refused": 0, "unreachable": 0,
	} {
		s, err := recorded.Start(append(records(t)[:4:4], page(outcome, "x 1\n")), recorded.Options{})
		if err != nil {
			t.Fatal(err)
		}
		web, _ := s.Address("10.0.0.7:9091")
		response, err := http.Get("http://" + web + "/metrics") //nolint:gosec // of our own server
		got := 0
		if err == nil {
			got = response.StatusCode
			_ = response.Body.Close()
		}
		if got != want {
			t.Errorf("%s: %d, want %d (%v)", outcome, got, want, err)
		}
		s.Close()
	}
}

func TestNothingRecorded(t *testing.T) {
	for name, list := range map[string][]live.Record{
		"empty":      nil,
		"notes only": {{Method: "message queue", Outcome: model.NotAsked.String()}},
		"no address": {{Role: "querynode", Node: 7, Address: "nonsense", Method: states}},
	} {
		if s, err := recorded.Start(list, recorded.Options{}); err == nil {
			s.Close()
			t.Errorf("%s: servers started", name)
		}
	}
}
