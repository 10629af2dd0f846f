package live_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/internalpb"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

func configuration(t testing.TB, pairs ...string) live.Record {
	t.Helper()
	m := &internalpb.ShowConfigurationsResponse{Status: ok}
	for i := 0; i < len(pairs); i += 2 {
		m.Configuations = append(m.Configuations, &commonpb.KeyValuePair{Key: pairs[i], Value: pairs[i+1]})
	}
	return answered(t, "querynode-5", inQueryNode+"ShowConfigurations", &internalpb.ShowConfigurationsRequest{}, m)
}

func TestConfigKeepsEachKeyOnce(t *testing.T) {
	r := decode(configuration(t,
		"common.gracefultime", "5000", "commongracefultime", "7000", // folded: Milvus looks up this one
		"commonsecurityauthorizationenabled", "true", "common.security.authorizationenabled", "false",
		"querynode.port", "21123", "commonmetricsport", "9091",
		"minio.secretaccesskey", "hunter2", "miniosecretaccesskey", "hunter2", "minio.useiam", "true",
		"pulsar.address", "pulsar://me:hunter2@host:6650",
	))
	want := &model.Config{
		Values: map[string]string{
			"commongracefultime": "7000", "commonsecurityauthorizationenabled": "true", "querynodeport": "21123",
			"commonmetricsport":    "9091",
			"miniosecretaccesskey": "<redacted>", "miniouseiam": "true",
			"pulsaraddress": "pulsar://<redacted>@host:6650",
		},
		Names: map[string]string{
			"commongracefultime":                 "common.gracefultime",
			"commonsecurityauthorizationenabled": "common.security.authorizationenabled",
			"querynodeport":                      "querynode.port", "miniosecretaccesskey": "minio.secretaccesskey",
			"miniouseiam": "minio.useiam", "pulsaraddress": "pulsar.address",
		},
	}
	if diff := cmp.Diff(want, r.LiveNode("querynode", 5).Config); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	if len(r.Skipped) > 0 {
		t.Errorf("nothing is foreign here: %v", r.Skipped)
	}
}

// TestForeignKeys checks that environment variables in a response are dropped.
func TestForeignKeys(t *testing.T) {
	foreign := []string{
		"etcdctlapi", "etcdport", "kafkaport", "logname", "commonfoo", "COMMON_FOO", "common_foo", "PATH", "path",
		"miniorootpassword", "tracestate", "proxypassword", "grpcgoloseverity", "querynodeservicehost",
		"querynodeserviceportgrpc", "querynodeport21123tcpaddr", "my.own.key", "aws.secret", "metastoreurl",
		"common.", "common..x", "etcd.a b", "kafka.<script>", "", ".", "common",
	}
	known := []string{
		"etcd.rootpath", "etcdrootpath", "commonmetricsport", "QueryNode.Port", "querynode.scheduler.cpuratio",
		"querynodeschedulercpuratio", "quotaandlimitsdmlenabled", "streaming.walbalancer.triggerinterval",
		"woodpecker.meta.prefix", "autoindex.params.build", "proxy.accesslog.formatters.base.format", "rocksmqpath",
		"mq.type", "rootcoord.dmlchannelnum",
	}
	var pairs []string
	values := map[string]string{}
	for i, key := range append(append([]string{}, foreign...), known...) {
		values[key] = strconv.Itoa(1000 + i)
		pairs = append(pairs, key, values[key])
	}
	record := configuration(t, pairs...)
	r := decode(record)
	c := r.LiveNode("querynode", 5).Config
	for _, key := range known {
		if v, ok := c.Get(key); !ok || v != values[key] && v != values[model.FoldConfigKey(key)] {
			t.Errorf("%s is missing: %q", key, v)
		}
	}
	for key, v := range c.Values {
		for _, f := range foreign {
			if v == values[f] {
				t.Errorf("%q came in as %s", f, key)
			}
		}
	}
	want := []model.Skipped{
		{
			What:   "foreign configuration keys",
			Reason: "26 keys that 1 processes echo from their environment are not Milvus's",
		},
	}
	if diff := cmp.Diff(want, r.Skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	kept := decode(live.Redact(record))
	if diff := cmp.Diff(c, kept.LiveNode("querynode", 5).Config); diff != "" || len(kept.Skipped) > 0 {
		t.Errorf("redacted: skipped %v, config (-want +got):\n%s", kept.Skipped, diff)
	}
}

// TestRecordedConfig checks that all keys of a real process are kept except those of its environment.
func TestRecordedConfig(t *testing.T) {
	r := t7(t)
	c := r.LiveNode("querynode", 10).Config
	for key, want := range map[string]string{
		"common.storageType": "local", "queryNode.scheduler.cpuRatio": "10", "common.metricsPort": "20171",
		"minio.accessKeyID":     "<redacted>",
		"minio.secretAccessKey": "<redacted>", "etcd.rootPath": "by-dev", "quotaAndLimits.dml.enabled": "false",
	} {
		if got, ok := c.Get(key); !ok || got != want {
			t.Errorf("%s = %q, want %q", key, got, want)
		}
	}
	for _, key := range []string{"etcdport", "kafkaport", "etcdctlapi"} {
		for _, n := range r.Nodes {
			if v, ok := n.Config.Get(key); ok {
				t.Errorf("%s has %s = %q, a variable of its environment", n.Name(), key, v)
			}
		}
	}
	// 374 keys: 169 twice, 35 of the query node's own once, and the metrics port; two are foreign.
	if len(c.Values) != 204 || len(c.Names) != 203 {
		t.Errorf("%d keys, %d with a dotted name", len(c.Values), len(c.Names))
	}
	if got := c.Name("querynodeschedulercpuratio"); got != "querynode.scheduler.cpuratio" {
		t.Errorf("dotted name %q", got)
	}
}
