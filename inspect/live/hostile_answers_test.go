package live_test

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus/pkg/v3/proto/internalpb"
	"google.golang.org/protobuf/encoding/protowire"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

// nested returns a field of a message that is nested depth times.
func nested(field protowire.Number, depth int) []byte {
	var b []byte
	for range depth {
		b = append(protowire.AppendTag(nil, field, protowire.BytesType), protowire.AppendBytes(nil, b)...)
		if len(b) > 8<<20 {
			break
		}
	}
	return b
}

// TestHostileAnswers checks well-formed but malicious responses: the node has an outcome, its neighbors are
// decoded, and every number can be displayed.
func TestHostileAnswers(t *testing.T) {
	said := func(json string) []byte { return encode(t, &milvuspb.GetMetricsResponse{Status: ok, Response: json}) }
	var keys strings.Builder
	for i := range 1_000_000 / 20 {
		fmt.Fprintf(&keys, `"k%d":0,`, i)
	}
	pairs := &internalpb.ShowConfigurationsResponse{Status: ok}
	for i := range 200_000 / 20 {
		pairs.Configuations = append(pairs.Configuations, &commonpb.KeyValuePair{
			Key: "common.x" + strconv.Itoa(i), Value: "\x1b[2J",
		})
	}
	served := smallCluster(t, livetest.Spec{}, livetest.Options{}, recorded.Options{})
	for name, test := range map[string]struct {
		method string
		answer []byte
	}{
		"JSON 100,000 deep": {
			"/GetMetrics", said(strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000)),
		},
		"lists 100,000 deep": {"/GetMetrics", said(strings.Repeat("[", 100_000))},
		"a million keys":     {"/GetMetrics", said("{" + keys.String() + `"z":1}`)},
		"one key a million times": {
			"/GetMetrics", said("{" + strings.Repeat(`"hardware_infos":{},`, 300_000/20) + `"z":1}`),
		},
		"numbers beyond all": {
			"/GetMetrics",
			said(`{"hardware_infos":{"cpu_core_count":1e400,"cpu_core_usage":-1e308,"memory":1e308,"memory_usage":-9223372036854775808}}`),
		},
		"numbers, in texts": {
			"/GetMetrics",
			said(`{"hardware_infos":{"cpu_core_count":"8","cpu_core_usage":null,"memory":{},"memory_usage":[]}}`),
		},
		"negative": {
			"/GetMetrics",
			said(`{"hardware_infos":{"cpu_core_count":-8,"cpu_core_usage":-100,"memory":-1,"memory_usage":-5}}`),
		},
		"escapes in JSON": {
			"/GetMetrics",
			said(`{"name":"\u001b]0;x\u0007","system_info":{"system_version":"\u202e\u0000","deploy_mode":"` +
				strings.Repeat("x", 100_000) + `"}}`),
		},
		"no text": {
			"/GetMetrics", append(encode(t, &milvuspb.GetMetricsResponse{Status: ok}), "\x12\x03\xff\xfe\xfd"...),
		},
		"deep":           {"/GetDataDistribution", nested(1, 20_000)},
		"deep in a list": {"/GetDataDistribution", nested(3, 20_000)},
		"groups": {
			"/GetDataDistribution", bytes.Repeat(protowire.AppendTag(nil, 1000, protowire.StartGroupType), 1<<20/20),
		},
		"unknown fields": {"/GetDataDistribution", bytes.Repeat([]byte{0xf8, 0x3f, 0x01}, 1<<20/20)},
		"many settings":  {"/ShowConfigurations", encode(t, pairs)},
		"an endless status": {
			"/GetComponentStates",
			encode(t,
				&milvuspb.ComponentStates{
					Status: &commonpb.Status{Code: 7, Reason: strings.Repeat("\x1b[2Jx ", 1<<20/20)},
				}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := livetest.Replace(served,
				map[string]string{"querynode-101": livetest.Flood(t, test.method, test.answer, false)})
			r := askLarge(t, c, live.Options{Timeout: unhurried})
			wantNeighbours(t, r)
			n := r.LiveNode("querynode", 101)
			wantShowable(t, reflect.ValueOf(*n), "node", map[uintptr]bool{})
		})
	}
}

// TestHostilePages is the same for /metrics.
func TestHostilePages(t *testing.T) {
	const good = "# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes 1000\n"
	var labels, families, nodes strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&labels, "l%d=\"x\",", i)
	}
	for i := range 150_000 / 20 {
		fmt.Fprintf(&families, "f%d 1\n", i)
	}
	for i := range 100_000 / 20 {
		fmt.Fprintf(&nodes, "milvus_num_node{role_name=\"querynode\",node_id=\"%d\"} 1\n", 5000+i)
	}
	c := smallCluster(t, livetest.Spec{}, livetest.Options{}, recorded.Options{})
	was := ask(t, c, live.Options{}).LiveNode("querynode", 101).Process.Address
	for name, text := range map[string]string{
		"names of others":    nodes.String() + good,
		"a line without end": good + strings.Repeat("x", 30<<20/20),
		"a name without end": good + strings.Repeat("x", 60<<10) + " 1\n",
		"numbers beyond all": "process_cpu_seconds_total 1e400\nprocess_resident_memory_bytes -1e308\ngo_goroutines " +
			"9999999999999999999999\nprocess_start_time_seconds 1e308\n",
		"less than nothing": "process_cpu_seconds_total -5\nprocess_resident_memory_bytes -1\n" +
			"process_start_time_seconds -1e18\nmilvus_querynode_entity_num{node_id=\"101\"} -7\n",
		"no numbers": "process_cpu_seconds_total NaN\nprocess_resident_memory_bytes +Inf\n" +
			"process_start_time_seconds -Inf\n",
		"far times": "process_cpu_seconds_total 1 9223372036854775807\nprocess_resident_memory_bytes 5 " +
			"-9223372036854775808\n",
		"labels twice":      "x{a=\"1\",a=\"2\"} 1\n" + good,
		"series twice":      strings.Repeat("process_cpu_seconds_total 1\n", 1000) + good,
		"types twice":       "# TYPE x counter\nx 1\n# TYPE x gauge\nx 2\n" + good,
		"escapes":           "x{a=\"\x1b]0;owned\x07\\n\\\"\"} 1\n" + "y{node_id=\"\xff\xfe\"} 2\n" + good,
		"a thousand labels": "x{" + labels.String() + "} 1\n" + good,
		"families":          families.String(),
		"no end of a label": "x{a=\"" + strings.Repeat("y", 60<<10) + "\n" + good,
		"buckets": "# TYPE h histogram\n" + strings.Repeat("h_bucket{le=\"1\"} 1\n", 500_000/20) +
			"h_sum -1e308\nh_count -5\n",
		"a histogram of what": "# TYPE h histogram\nh_count 1e300\nh_sum NaN\n# TYPE s summary\ns{quantile=\"x\"} 1\n" +
			"s_count -1\n",
		"NUL": strings.Repeat("\x00", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			page := "127.0.0.1:" + strconv.Itoa(livetest.Page(t, http.StatusOK, []byte(text)))
			r := askLarge(t, c, live.Options{Timeout: unhurried, Map: map[string]string{was: page}})
			wantNeighbours(t, r)
			n := r.LiveNode("querynode", 101)
			wantShowable(t, reflect.ValueOf(*n), "node", map[uintptr]bool{})
			if len(r.Nodes) > 2*len(c.Sessions) {
				t.Errorf("%d nodes are known of %d sessions", len(r.Nodes), len(c.Sessions))
			}
		})
	}
}

func wantNeighbours(t *testing.T, r *model.Runtime) {
	t.Helper()
	for _, id := range []model.NodeID{100, 102} {
		if n := r.LiveNode("querynode", id); n.Distribution == nil || n.Config == nil || n.Process == nil ||
			n.Process.Metrics == nil {
			t.Errorf("%s: %s (%s)", n.Name(), n.Outcome, n.Reason)
		}
	}
}

// wantShowable visits all results: reasons hold no control characters, and no number is infinite or NaN.
func wantShowable(t *testing.T, v reflect.Value, path string, seen map[uintptr]bool) {
	t.Helper()
	switch v.Kind() { //nolint:exhaustive // what cannot be wrong is passed over
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() || v.Kind() == reflect.Pointer && seen[v.Pointer()] {
			return
		}
		if v.Kind() == reflect.Pointer {
			seen[v.Pointer()] = true
		}
		wantShowable(t, v.Elem(), path, seen)
	case reflect.Struct:
		for i := range v.NumField() {
			wantShowable(t, v.Field(i), path+"."+v.Type().Field(i).Name, seen)
		}
	case reflect.Slice, reflect.Array:
		for i := range min(v.Len(), 1000) {
			wantShowable(t, v.Index(i), path, seen)
		}
	case reflect.Map:
		for k, n := v.MapRange(), 0; k.Next() && n < 1000; n++ {
			wantShowable(t, k.Key(), path, seen)
			wantShowable(t, k.Value(), path+"."+fmt.Sprint(k.Key()), seen)
		}
	case reflect.Float64:
		untold := strings.HasSuffix(path, ".Series.Count") || strings.HasSuffix(path, ".Series.Value")
		if f := v.Float(); math.IsNaN(f) && !untold || math.IsInf(f, 0) {
			t.Errorf("%s is %v", path, f)
		}
	case reflect.String:
		text := v.String()
		if !utf8.ValidString(text) {
			t.Errorf("%s is %q", path, text)
		}
		if strings.HasSuffix(path, "Reason") {
			for _, c := range text {
				if !unicode.IsGraphic(c) {
					t.Errorf("%s is %q", path, text)
					break
				}
			}
		}
	}
}
