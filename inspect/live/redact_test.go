package live_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"
	"google.golang.org/protobuf/encoding/protowire"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// planted holds secrets. Each secret is planted in several places.
var planted = []string{"hunter2", "AKIAEXAMPLE", "s3cr3t/with/slashes", "ey.token.value"}

// plant returns records of every kind with secrets in them.
func plant(t testing.TB) []live.Record {
	t.Helper()
	var records []live.Record
	for _, s := range planted {
		status := &commonpb.Status{
			Code:   65535,
			Reason: "connect to minio: accessKey=" + s + ", https://me:" + s + "@host/x, password: " + s + " is wrong",
			Detail: "token: " + s, ExtraInfo: map[string]string{"token": s},
		}
		distribution := distribution26(nil)
		distribution.Segments[0].IndexInfo = map[int64]*querypb.FieldIndexInfo{
			1: {
				IndexFilePaths: []string{"s3://me:" + s + "@bucket/x"},
				IndexParams:    []*commonpb.KeyValuePair{{Key: "apiKey", Value: s}},
			},
		}
		distribution.ProtoReflect().
			SetUnknown(protowire.AppendString(protowire.AppendTag(nil, 99, protowire.BytesType), "password="+s))
		system := `{"id":5,"name":"token=` + s + `","system_info":{"build_version":"https://me:` + s +
			`@x"},"system_configurations":{"minio_secret_key":"` + s +
			`","password":"` + s + `"},"quota_metrics":{"Rms":[{"Label":"password=` + s + `","Rate":1}]}}`
		text := "# HELP x The token: " + s + "\n# TYPE x gauge\nx{secret_key=\"" + s +
			"\",node_id=\"5\"} 1\nx{url=\"http://me:" + s + "@h\",error=\"password=" + s +
			"\"} 2\nbroken password=" + s + " {\ngood{node_id=\"5\"} 3\n"
		get := live.Record{Role: "querynode", Node: 5, Address: "10.0.0.5:9091", Outcome: "answered"}
		metrics, healthz, sick := get, get, get
		metrics.Method, metrics.Response = "GET /metrics", []byte(text)
		healthz.Method, healthz.Response = "GET /healthz",
			[]byte(`{"state":"x","password":"`+s+`","error":"dial https://me:`+s+`@h"}`)
		sick.Method, sick.Response, sick.Error, sick.Outcome = "GET /healthz", []byte("secretAccessKey: "+s),
			"500: token = "+s+" token="+s, "not ready"
		unknown := live.Record{
			Role: "querynode", Node: 5, Method: "/milvus.proto.query.QueryNode/ShowSecrets", Outcome: "answered",
			Request: []byte(s), Response: []byte(s),
		}
		garbled := unknown
		garbled.Method = inQueryNode + "GetDataDistribution"
		records = append(records,
			configuration(t, "minio.secretaccesskey", s, "minioaccesskeyid", s, "minio.accesskeyid", s, "secretenv", s,
				"AWS_SECRET", s, "logname", s, "etcdctlpassword", s,
				"etcd.auth.password", s, "pulsar.address", "pulsar://me:"+s+"@h", "kafka.saslpassword", s,
				"trace.otlp.headers", s, "common.storagetype", "remote"),
			answered(t, "querynode-5", inQueryNode+"GetDataDistribution", nil, distribution),
			answered(t, "querynode-5", inQueryNode+"GetDataDistribution", nil,
				&querypb.GetDataDistributionResponse{Status: status}),
			answered(t, "querynode-5", inQueryNode+"GetMetrics",
				&milvuspb.GetMetricsRequest{Request: `{"metric_type":"system_info","token":"` + s + `"}`},
				&milvuspb.GetMetricsResponse{Status: ok, Response: system}),
			answered(t, "querycoord-1", inQueryCoord+"GetShardLeaders",
				&querypb.GetShardLeadersRequest{CollectionID: 7},
				&querypb.GetShardLeadersResponse{Status: &commonpb.Status{Code: 503, Reason: "password=" + s}}),
			live.Record{
				Role: "querynode", Node: 5, Address: "me:" + s + "@h:1", Method: inQueryNode + "GetComponentStates",
				Error: "UNAVAILABLE: dial http://me:" + s + "@proxy: token: " + s,
			},
			metrics, healthz, sick, unknown, garbled,
			live.Record{
				Role: "kafka", Method: live.MethodKafka, Outcome: "denied", Error: "saslPassword=" + s,
				Response: []byte(`{"password":"` + s + `","topics":[{"name":"t","end":1}]}`),
			},
			live.Record{Method: "message queue", Outcome: "not asked", Error: "token=" + s},
		)
	}
	return records
}

// holdsSecret returns a planted secret, or one of the fixtures, that a text holds.
func holdsSecret(text string) string {
	for _, s := range append([]string{"minioadmin"}, planted...) {
		if strings.Contains(text, s) {
			return s
		}
	}
	return ""
}

func TestNoSecretIsKept(t *testing.T) {
	records := append(plant(t), t7Records(t)...)
	cleaned := 0
	for _, r := range records {
		var b bytes.Buffer
		if err := live.WriteRecord(&b, live.Redact(r)); err != nil {
			t.Fatal(err)
		}
		kept := live.Redact(r)
		for where, text := range map[string]string{
			"response": string(kept.Response), "request": string(kept.Request), "error": kept.Error,
			"address": kept.Address, "line": b.String(),
		} {
			if s := holdsSecret(text); s != "" {
				t.Errorf("%s: the %s still holds %s:\n%q", r.Method, where, s, text)
			}
		}
		if holdsSecret(string(r.Response)+r.Error) != "" {
			cleaned++
		}
	}
	if cleaned < 40 {
		t.Errorf("only %d records held a secret to begin with", cleaned)
	}
}

// TestNoSecretIsDecoded checks that neither redacted nor unredacted records, as in recordings by other
// programs, bring a secret into a Runtime.
func TestNoSecretIsDecoded(t *testing.T) {
	for _, redact := range []bool{false, true} {
		d := live.NewDecoder()
		for _, r := range append(plant(t), t7Records(t)...) {
			if redact {
				r = live.Redact(r)
			}
			d.Add(r)
		}
		count := 0
		walkStrings(reflect.ValueOf(d.Runtime("recording", "")), func(text string) {
			count++
			if s := holdsSecret(text); s != "" {
				t.Errorf("redacted %v: the runtime holds %s: %q", redact, s, text)
			}
		})
		if count < 2000 {
			t.Errorf("the walk found only %d strings", count)
		}
	}
}

// walkStrings visits every string reachable from v, including map keys.
func walkStrings(v reflect.Value, visit func(string)) {
	seen := map[uintptr]bool{}
	var walk func(reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			visit(v.String())
		case reflect.Pointer:
			if !v.IsNil() && !seen[v.Pointer()] {
				seen[v.Pointer()] = true
				walk(v.Elem())
			}
		case reflect.Interface:
			walk(v.Elem())
		case reflect.Struct:
			for _, field := range v.Fields() {
				walk(field)
			}
		case reflect.Slice, reflect.Array:
			if v.Type().Elem().Kind() == reflect.Uint8 {
				visit(fmt.Sprint(v))
				return
			}
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Map:
			for it := v.MapRange(); it.Next(); {
				walk(it.Key())
				walk(it.Value())
			}
		default: // numbers
		}
	}
	walk(v)
}

func t7Records(t testing.TB) []live.Record {
	t.Helper()
	var records []live.Record
	add := func(r live.Record) { records = append(records, r) }
	for _, path := range []string{capture("t7", "runtime.jsonl.gz"), capture("t7", "metrics")} {
		if _, err := live.ReadFile(path, add); err != nil {
			t.Fatal(err)
		}
	}
	return records
}

// TestRedactedStatus checks that the text of a status is redacted and its codes stay.
func TestRedactedStatus(t *testing.T) {
	r := live.Redact(answered(t, "querynode-5", inQueryNode+"GetDataDistribution", nil,
		&querypb.GetDataDistributionResponse{
			Status: &commonpb.Status{
				Code: 904, Reason: "node not match[expectedNodeID=9], token: abc, see http://u:p@h/x",
			},
		}))
	n := decode(r).LiveNode("querynode", 5)
	if want := "another process has this address now: node not match[expectedNodeID=9], token: <redacted>, see " +
		"http://<redacted>@h/x"; n.Outcome != model.Stale || n.Reason != want {
		t.Errorf("%s %q", n.Outcome, n.Reason)
	}
}

func TestRecordsRoundTrip(t *testing.T) {
	want := []live.Record{
		{
			Role: "proxy", Node: 3, Address: "a<b>&:1", Method: "/x/y", Request: []byte{1, 0}, Response: []byte("\xff"),
			Outcome: "answered", At: time.Unix(5, 7).UTC(), Took: 3,
		},
		{Role: "querynode", Node: 470591703512190589, Method: "GET /metrics", Error: "x"},
		{Method: "message queue", Outcome: "not asked", Error: "why"},
	}
	var plain bytes.Buffer
	for _, r := range want {
		if err := live.WriteRecord(&plain, r); err != nil {
			t.Fatal(err)
		}
	}
	var zipped, packed bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(plain.Bytes())
	_ = z.Close()
	zs, _ := zstd.NewWriter(&packed)
	_, _ = zs.Write(plain.Bytes())
	_ = zs.Close()
	for name, text := range map[string][]byte{"plain": plain.Bytes(), "gzip": zipped.Bytes(), "zstd": packed.Bytes()} {
		var got []live.Record
		if err := live.ReadRecords(bytes.NewReader(text),
			func(r live.Record) error { got = append(got, r); return nil }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}

	// A truncated file is reported, with either compression.
	for name, text := range map[string][]byte{"gzip": zipped.Bytes(), "zstd": packed.Bytes()} {
		if err := live.ReadRecords(bytes.NewReader(text[:len(text)-6]), func(live.Record) error { return nil }); err ==
			nil {
			t.Errorf("%s: the cut was not seen", name)
		}
	}
	stop := errors.New("enough")
	if err := live.ReadRecords(&plain, func(live.Record) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("yield's error: %v", err)
	}
}
