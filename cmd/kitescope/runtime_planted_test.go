package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/meta/metatest"
	"kitescope/inspect/model"
	"kitescope/internal/redact/redacttest"
)

// secretFakes starts a cluster of 2.6 with a secret in every place that can hold one.
func secretFakes(t *testing.T) *fakes {
	t.Helper()
	answered := 0
	f := startFakes(t, metatest.Cluster("2.6"), func(c *model.Cluster) []live.Record {
		records := plantAnswers(t,
			livetest.Responses(c, livetest.Options{Config: secretConfig(), Metrics: secretMetrics()}))
		for _, r := range records {
			if strings.Contains(string(r.Response)+r.Error, planted) {
				answered++
			}
		}
		return records
	}, recorded.Options{})
	if answered < 20 {
		t.Fatalf("only %d answers hold a secret", answered)
	}
	plantMetadata(t, f)
	return f
}

// secretConfig returns settings with secrets, with keys in the forms that processes report: dotted, folded, and
// from the environment.
func secretConfig() map[string]string {
	config := map[string]string{
		"pulsar.address":   "pulsar://me:s3cr3t-pulsar-url@10.0.0.9:6650",
		"pulsaraddress":    "pulsar://me:s3cr3t-pulsar-url@10.0.0.9:6650",
		"etcd.endpoints":   "http://me:s3cr3t-etcd-url@10.0.0.8:2379",
		"trace.jaeger.url": "http://h/?access_token=s3cr3t-jaeger&x=1",
	}
	for _, key := range []string{
		"etcd.auth.password", "etcdauthpassword", "kafka.saslPassword", "kafkasaslpassword", "kafka.saslUsername",
		"pulsar.authParams", "pulsarauthparams", "trace.otlp.headers", "credential.apikey1.apikey",
		"common.security.defaultRootPassword", "commonsecuritydefaultrootpassword", "minio.accessKeyID",
		"minioaccesskeyid", "cipherPlugin.defaultKey", "etcdctlpassword", "etcdextra", "logsomewhere",
		"miniorootpassword", "minioserviceaccounttoken", "awssecretaccesskey", "commonpassphrase",
		"proxyenvironment", "KAFKA_OPTS",
	} {
		config[key] = planted + "-" + key
	}
	return config
}

var secretMetrics = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteString(plainMetrics)
	for i, p := range redacttest.Plants(plantSeed) {
		fmt.Fprintf(&b, "milvus_note{node_id=\"NODE\",n=\"%d\",header=%q} 3\n", i, p.Text)
	}
	return b.String()
})

const plainMetrics = `# HELP milvus_note The token: s3cr3t-help
# TYPE milvus_note gauge
milvus_note{node_id="NODE",secret_key="s3cr3t-label"} 1
milvus_note{node_id="NODE",url="http://me:s3cr3t-label-url@h",error="password=s3cr3t-label-error"} 2
# TYPE milvus_querynode_segment_num gauge
milvus_querynode_segment_num{node_id="NODE",collection_id="455000000000000100",segment_state="Sealed",api_key="s3cr3t-series"} 1
# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes 1.048576e+09
`

// plantAnswers adds secrets to the responses of processes.
func plantAnswers(t *testing.T, records []live.Record) []live.Record {
	t.Helper()
	for i := range records {
		r := &records[i]
		switch {
		case strings.HasSuffix(r.Method, "Metrics") && strings.HasPrefix(r.Method, "/"):
			plantMetrics(t, r)
		case strings.HasSuffix(r.Method, "/GetDataDistribution") && r.Node == 5:
			r.Response = encoded(t, &querypb.GetDataDistributionResponse{Status: &commonpb.Status{
				Code: 65535,
				Reason: "connect to minio: accessKey=s3cr3t-reason, https://me:s3cr3t-reason-url@host/x, password: " +
					"s3cr3t-reason-word is wrong",
				Detail: "token: s3cr3t-detail", ExtraInfo: map[string]string{"token": "s3cr3t-extra"},
			}})
		case strings.HasSuffix(r.Method, "/GetDataDistribution"):
			plantDistribution(t, r)
		case r.Method == "GET /healthz" && r.Node == 4:
			r.Response, r.Outcome = []byte(
				`{"state":"component querynode is not healthy","password":"s3cr3t-healthz","error":"dial https://me:s3cr3t-healthz-url@h"}`,
			), "not ready"
		case r.Method == "GET /healthz":
			r.Response = []byte("secretAccessKey: s3cr3t-healthz-text")
		case strings.HasSuffix(r.Method, "/CheckBalanceStatus"):
			r.Response, r.Error = nil,
				"UNKNOWN: dial http://me:s3cr3t-call-url@proxy: token: s3cr3t-call, Authorization: Bearer s3cr3t-bearer"
		}
	}
	return records
}

func encoded(t *testing.T, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func plantMetrics(t *testing.T, r *live.Record) {
	t.Helper()
	answer, document := new(milvuspb.GetMetricsResponse), map[string]any{}
	if proto.Unmarshal(r.Response, answer) != nil || json.Unmarshal([]byte(answer.GetResponse()), &document) != nil {
		t.Fatalf("%s: not made by livetest", r.Method)
	}
	document["error_reason"] = "password=s3cr3t-metrics-reason"
	document["system_configurations"] = map[string]any{
		"minio_secret_key": "s3cr3t-metrics", "etcd": map[string]any{"password": "s3cr3t-metrics-nested"},
	}
	document["system_info"].(map[string]any)["build_version"] = "2.6.1 of https://me:s3cr3t-metrics-url@h"
	document["hardware_infos"].(map[string]any)["error"] = `{"token":"s3cr3t-metrics-json"}`
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	answer.Response = string(text)
	r.Response = encoded(t, answer)
}

func plantDistribution(t *testing.T, r *live.Record) {
	t.Helper()
	d := new(querypb.GetDataDistributionResponse)
	if err := proto.Unmarshal(r.Response, d); err != nil {
		t.Fatal(err)
	}
	for _, s := range d.GetSegments() {
		for _, x := range s.GetIndexInfo() {
			x.IndexParams = append(x.IndexParams, &commonpb.KeyValuePair{Key: "apiKey", Value: "s3cr3t-index"})
			x.IndexFilePaths = []string{"s3://me:s3cr3t-path@bucket/x"}
		}
	}
	r.Response = encoded(t, d)
}

// plantMetadata adds secrets to sessions and dynamic configuration. metatest adds the others.
func plantMetadata(t *testing.T, f *fakes) {
	t.Helper()
	f.editSession(t, "querynode-4", func(s map[string]any) {
		s["ServerLabels"] = map[string]any{
			"password": "s3cr3t-session", "note": "https://me:s3cr3t-session-url@h/?token=s3cr3t-session-query",
		}
		s["HostName"] = "http://me:s3cr3t-host@host-4"
	})
	labels := map[string]string{}
	for i, p := range redacttest.Plants(plantSeed) {
		labels[fmt.Sprintf("label%d", i)] = p.Text
		for key, value := range map[string]string{
			"config/own/plain%d": p.Secret, "config/own/setting%d": p.Text, "config/knowhere/text%d": p.Text,
			"meta/of-another/program%d": p.Text,
		} {
			for range 2 { // the first write becomes an old revision
				if _, err := f.etcd.Client.Put(t.Context(), fmt.Sprintf("by-dev/"+key, i), value); err != nil {
					t.Fatal(err)
				}
				value += " "
			}
		}
	}
	f.editSession(t, "querynode-5", func(s map[string]any) {
		s["ServerLabels"], s["Version"] = labels, "2.6.1 password=s3cr3t-version"
	})
	session := `{"ServerID":77,"ServerName":"proxy","Address":"me:s3cr3t-address@127.0.0.1:1","Version":"2.6.1"}`
	for key, value := range map[string]string{
		"meta/session/proxy-77": session, "config/kafka/saslPassword": "s3cr3t-dynamic",
		"config/minio.secretAccessKey": "s3cr3t-dynamic-dotted",
		"config/miniosecretaccesskey":  "s3cr3t-dynamic-folded",
		"config/pulsar/address":        "pulsar://me:s3cr3t-dynamic-url@h:6650",
		"config/trace/jaeger/url":      "http://h/?sig=s3cr3t-dynamic-query",
		"config/some/json":             `{"a":{"secret":"s3cr3t-dynamic-json"}}`,
	} {
		if _, err := f.etcd.Client.Put(t.Context(), "by-dev/"+key, value); err != nil {
			t.Fatal(err)
		}
	}
}
