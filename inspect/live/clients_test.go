package live_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

const methodClients = "GET /api/v1/_telemetry/clients?include_metrics=true"

// clientsText has the format of ClientTelemetryResponse of Milvus 3.0.
const clientsText = `{"clients":[
 {"client_id":"5e0f","client_info":{"sdk_type":"Python","sdk_version":"3.0.1","local_time":"x","user":"ada","host":"web-7","reserved":{"client_id":"5e0f","command_replies":"[{\"payload\":\"1999\"}]"}},
  "last_heartbeat_time":1795658987000,"status":"active","databases":["shop"],
  "metrics":[{"operation":"Search","global":{"request_count":40,"success_count":39,"error_count":1,"avg_latency_ms":12.5,"p99_latency_ms":180,"max_latency_ms":412.5}},
   {"operation":"Insert","global":{"request_count":3,"avg_latency_ms":8},"collection_metrics":{"orders":{"request_count":2,"avg_latency_ms":7,"p99_latency_ms":9,"max_latency_ms":9},"idle":{}}},
   {"operation":"Query","global":{}}],"command_replies":[{"command_id":"c","payload":"1999"}]},
 {"client_id":"legacy:web-8:1f","last_heartbeat_time":1,"status":"inactive","databases":["a","b"],"metrics":[{"operation":"Delete","global":{"request_count":1,"avg_latency_ms":1e300,"p99_latency_ms":-1,"max_latency_ms":1e300}}]},
 null],"aggregated":{"request_count":43}}`

func clientsRecord(text string) live.Record {
	return live.Record{
		Role: "proxy", Node: 4, Address: "10.1.0.5:9091", Method: methodClients, Response: []byte(text),
		Outcome: "answered", At: slowAsked,
	}
}

func wantClients() []model.SlowRequest {
	ms := func(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
	return []model.SlowRequest{
		{
			Source: model.FromClient, Node: 4, Database: "shop", Type: "Search", SDK: "Python-3.0.1", Client: "web-7",
			Requests: 40, Mean: ms(12.5), P99: ms(180), Took: ms(412.5),
		},
		{
			Source: model.FromClient, Node: 4, Database: "shop", Collection: "orders", Type: "Insert",
			SDK: "Python-3.0.1", Client: "web-7", Requests: 2, Mean: ms(7), P99: ms(9), Took: ms(9),
		},
		{Source: model.FromClient, Node: 4, Type: "Delete", Client: "legacy:web-8:1f", Requests: 1},
	}
}

// TestClients checks that client reports become their slowest calls, also from the stored record, which holds
// no user and no reply to a command.
func TestClients(t *testing.T) {
	record := clientsRecord(clientsText)
	if diff := cmp.Diff(wantClients(), decode(record).SlowRequests()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	kept := live.Redact(record)
	if diff := cmp.Diff(wantClients(), decode(kept).SlowRequests()); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	for _, personal := range []string{"ada", "1999"} {
		if strings.Contains(string(kept.Response), personal) {
			t.Errorf("%s is kept: %s", personal, kept.Response)
		}
	}
}

// TestClientsHostile checks that an invalid list is reported and not stored.
func TestClientsHostile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text    string
		outcome model.Outcome
		reason  string
	}{
		"none":         {`{"clients":[]}`, model.Answered, ""},
		"a login page": {"\n<!DOCTYPE html>Password:", model.Garbled, "an HTML page"},
		"nothing":      {" ", model.Garbled, "empty"},
		"a list":       {"[]", model.Garbled, "not a list of clients"},
		"another":      {`{"error":"denied"}`, model.Failed, "denied"},
		"cut":          {clientsText[:200], model.Garbled, "not a list of clients"},
		"other types":  {`{"clients":[{"client_id":7}]}`, model.Garbled, "not a list of clients"},
		"huge":         {`{"clients":[` + strings.Repeat("{},", 400_000) + `{}]}`, model.TooLarge, "memory"},
	} {
		for _, record := range []live.Record{clientsRecord(c.text), live.Redact(clientsRecord(c.text))} {
			r := decode(record)
			call := r.Processes[0].Calls[0]
			if call.Outcome != c.outcome || !strings.Contains(call.Reason, c.reason) || len(r.SlowRequests()) != 0 {
				t.Errorf("%s: %s %q, %d known", name, call.Outcome, call.Reason, len(r.SlowRequests()))
			}
		}
	}
	many := strings.Repeat(`{"metrics":[{"operation":"Query","global":{"request_count":1,"max_latency_ms":5}}]},`, 1200)
	r := decode(clientsRecord(`{"clients":[` + strings.TrimSuffix(many, ",") + `]}`))
	if n := len(r.SlowRequests()); n != 1000 || len(r.Skipped) != 1 || !strings.Contains(r.Skipped[0].Reason, "1000") {
		t.Errorf("%d known, noted %+v", n, r.Skipped)
	}
}

func FuzzClients(f *testing.F) {
	for _, text := range []string{
		clientsText, `{"clients":[]}`, "<html>", `{"clients":[{"metrics":[{"collection_metrics":{"a":null}}]}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		record := clientsRecord(string(text))
		got, kept := decode(record).SlowRequests(), decode(live.Redact(record)).SlowRequests()
		if diff := cmp.Diff(got, kept); diff != "" {
			t.Errorf("kept (-got +kept):\n%s", diff)
		}
	})
}
