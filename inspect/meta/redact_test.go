package meta

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/milvus-io/milvus-proto/go-api/v3/schemapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/etcdpb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/meta/metatest"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/internal/redact"
	"kitescope/internal/redact/redacttest"
)

// TestNoSecretSurvives searches everything that a cluster and its keyspace can show, and the contents of a bundle,
// for the known secrets of the constructed clusters.
func TestNoSecretSurvives(t *testing.T) {
	for _, version := range metatest.Versions() {
		kvs := metatest.Cluster(version)
		var raw bytes.Buffer
		for _, kv := range kvs {
			raw.Write(kv.Value)
		}
		redactor := Redactor(testHeader())
		var shown strings.Builder
		for _, kv := range kvs {
			before := bytes.Clone(kv.Value)
			safe, keep := redactor(kv)
			if !keep || !bytes.Equal(before, kv.Value) {
				t.Errorf("%s: dropped or changed in place", kv.Key)
			}
			shown.Write(safe.Value)
		}
		c := loadConstructed(t, version)
		for i := range c.Keyspace.Len() {
			r := c.Keyspace.Record(i)
			fmt.Fprintln(&shown, r.Text, string(r.Raw), r.Problem)
		}
		dump(&shown, reflect.ValueOf(c.Parts), 0)
		secrets := 0
		for _, hidden := range metatest.Secrets() {
			if bytes.Contains(raw.Bytes(), []byte(hidden)) {
				secrets++
			}
			if strings.Contains(shown.String(), hidden) {
				t.Errorf("%s: %q is shown", version, hidden)
			}
		}
		if secrets < 5 {
			t.Errorf("%s: only %d secrets to look for", version, secrets)
		}
	}
}

// dump writes all strings and bytes below a value.
func dump(b *strings.Builder, v reflect.Value, depth int) {
	if depth > 20 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		fmt.Fprintln(b, v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			dump(b, v.Elem(), depth+1)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			dump(b, field, depth+1)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			fmt.Fprintf(b, "%s\n", v.Bytes())
			return
		}
		for i := range v.Len() {
			dump(b, v.Index(i), depth+1)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			dump(b, k, depth+1)
			dump(b, v.MapIndex(k), depth+1)
		}
	default: // numbers
	}
}

func TestRedactorKeepsTheRest(t *testing.T) {
	for _, name := range fixtures() {
		redactor := Redactor(testHeader())
		eachKey(t, name, func(kv source.KV) {
			safe, _ := redactor(kv)
			user := bytes.Contains(kv.Key, []byte("/credential/users/"))
			if changed := !bytes.Equal(safe.Value, kv.Value); changed != user {
				t.Errorf("%s %s: changed %v", name, kv.Key, changed)
			}
			if user && bytes.Contains(safe.Value, []byte("$2a$")) {
				t.Errorf("%s %s: %s", name, kv.Key, safe.Value)
			}
		})
	}
}

func TestRedactPair(t *testing.T) {
	tests := []struct{ name, value, want string }{
		{"minio.secretAccessKey", "x", redact.Redacted},
		{"minio/accessKeyID", "x", redact.Redacted},
		{"etcd.auth.password", "x", redact.Redacted},
		{"kafka.saslUsername", "x", redact.Redacted},
		{"pulsar.authParams", "token:x", redact.Redacted},
		{"credential.openai.apikey", "x", redact.Redacted},
		{"cipherPlugin.defaultKey", "x", redact.Redacted},
		{"common.security.authorizationEnabled", "true", "true"},
		{"function.secretRequired", "false", "false"},
		{"queryCoord.autoBalance", "false", "false"},
		{"proxy.maxNameLength", "255", "255"},
		{"analyzer_params", `{"tokenizer":"jieba"}`, `{"tokenizer":"jieba"}`},
		{"max_tokens", "512", "512"},
		{"dim", "128", "128"},
		{"params", `{"M":16,"efConstruction":200}`, `{"M":16,"efConstruction":200}`},
		{"spec", `{"api_key":"x","n":1}`, `{"api_key":"<redacted>","n":1}`},
		{
			"spec", `{"a":[{"access_key":"x"}],"big":12345678901234567890}`,
			`{"a":[{"access_key":"<redacted>"}],"big":12345678901234567890}`,
		},
		{"spec", `{"secret":{"a":"x"}}`, `{"secret":"<redacted>"}`},
		{"spec", `{"secret":"x`, redact.Redacted},
		{"url", "s3://ak:sk@host/path", "s3://<redacted>@host/path"},
		{"url", "see http://a:b@c and http://d/e@f", "see http://<redacted>@c and http://d/e@f"},
		{"url", "http://host/path", "http://host/path"},
		{"url", "http://host:9000/path", "http://host:9000/path"},
		{"location", "s3://AKIA:wJal/K7MD@bucket/file", "s3://<redacted>@bucket/file"},
		{"location", "https://h/c/f?sv=1&sig=abc%3D&se=2", "https://h/c/f?sv=1&sig=<redacted>&se=2"},
		{"location", "https://h/f?X-Amz-Signature=abc", "https://h/f?X-Amz-Signature=<redacted>"},
		{"storage", "AccountName=a;AccountKey=abc==;Suffix=core", "AccountName=a;AccountKey=<redacted>;Suffix=core"},
		{"reason", "login failed: password=hunter2, user=bob", "login failed: password=<redacted>, user=bob"},
		{"reason", "authorization=Bearer abc, user=bob", "authorization=<redacted>"},
		{"reason", "no bearer of news", "no bearer of news"},
		{"Authorization", "x", redact.Redacted},
		{"Address", "me:pw@10.0.0.5:53100", "<redacted>@10.0.0.5:53100"},
		{"Address", "10.0.0.5:53100", "10.0.0.5:53100"},
		{"Address", "http://me:pw@h:1", "http://<redacted>@h:1"},
		{"description", "a=b, c == d", "a=b, c == d"},
		{"access_tokens", "x", redact.Redacted},
		{"max_tokens", "512", "512"},
		{"spec", ` {"password":"x"}`, `{"password":"<redacted>"}`},
		{"spec", `["{\"password\":\"x\"}"]`, `["{\"password\":\"<redacted>\"}"]`},
	}
	for _, tt := range tests {
		if got := redact.Pair(tt.name, tt.value); got != tt.want {
			t.Errorf("secret.Pair(%q, %q) = %q, want %q", tt.name, tt.value, got, tt.want)
		}
	}
}

func TestRedactUnknownAndBroken(t *testing.T) {
	field, err := proto.Marshal(&schemapb.FieldSchema{Name: "password", FieldID: 101})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ key, value, want string }{
		{"by-dev/meta/new/thing", "plain", "plain"},
		{"by-dev/meta/new/thing", `{"password":"x","a":1}`, `{"a":1,"password":"<redacted>"}`},
		{"by-dev/meta/new/thing", "binary \x01 secret_key=x", redact.Redacted},
		{"by-dev/meta/new/api_token", "x", redact.Redacted},
		{"by-dev/meta/root-coord/credential/users/bob", "no json $2a$", redact.Redacted},
		{"by-dev/meta/root-coord/credential/users/bob", `"$2a$"`, redact.Redacted},
		{"by-dev/meta/root-coord/credential/users/bob", `["$2a$"]`, redact.Redacted},
		{
			"by-dev/meta/root-coord/credential/users/bob", `{"hash":"$2a$","username":"bob"}`,
			`{"hash":"<redacted>","username":"bob"}`,
		},
		{
			"by-dev/meta/root-coord/credential/users/bob", `{"encrypted_password":"$2a$","encrypted_password":""}`,
			`{"encrypted_password":""}`,
		},
		{
			"by-dev/meta/snapshots/root-coord/credential/users/bob_ts1", `{"encrypted_password":"$2a$"}`,
			`{"encrypted_password":"<redacted>"}`,
		},
		{
			"by-dev/meta/snapshots/root-coord/credential/users/bob", `{"encrypted_password":"$2a$"}`,
			`{"encrypted_password":"<redacted>"}`,
		},
		{"by-dev/meta/datacoord-meta/s/1/2/3", `{"password":"x"}`, `{"password":"<redacted>"}`},
		{"by-dev/meta/datacoord-meta/s/1/2/3", "password x", redact.Redacted},
		{"by-dev/meta/queryCoord-Collection-Target/1", "no zstd, password x", redact.Redacted},
		{"by-dev/meta/session/id", "password x", redact.Redacted},
		{"by-dev/meta/session/id", "17", "17"},
		{
			"by-dev/meta/session/proxy-7", `{"Address":"me:pw@h:1","ServerID":7}`,
			`{"Address":"<redacted>@h:1","ServerID":7}`,
		},
		{
			"by-dev/meta/session/proxy-7", `{"Address":"h:1","HostName":"a@b","ServerID":7}`,
			`{"Address":"h:1","HostName":"a@b","ServerID":7}`,
		},
		{"by-dev/kv/gid/timestamp", "secret: no time", redact.Redacted},
		{"by-dev/meta/root-coord/credential/roles/r", "password x", redact.Redacted},
		{"by-dev/meta/datacoord-meta/channel-removal/v", "removed", "removed"},
		{"by-dev/meta/datacoord-meta/channel-removal/v", "password x", redact.Redacted},
		{"by-dev/config/minio/secretAccessKey", "x", redact.Redacted},
		{"by-dev/config/minio.secretAccessKey", "x", redact.Redacted},
		{"by-dev/config/miniosecretaccesskey", "x", redact.Redacted},
		{"by-dev/config/mq/url", "pulsar://a:b@c", redact.Redacted},
		{"by-dev/config/trace/jaeger/url", "http://a:b@c", "http://<redacted>@c"},
		{"by-dev/meta/root-coord/functions/1/2", "\xff\xff api_key x", redact.Redacted},
		{"by-dev/meta/root-coord/fields/1/101", string(field), string(field)},
	}
	for _, tt := range tests {
		kv, keep := Redactor(testHeader())(source.KV{Key: []byte(tt.key), Value: []byte(tt.value)})
		if string(kv.Value) != tt.want || !keep {
			t.Errorf("%s %q becomes %q, want %q", tt.key, tt.value, kv.Value, tt.want)
		}
	}
}

func FuzzRedact(f *testing.F) {
	for _, version := range metatest.Versions() {
		for _, kv := range metatest.Cluster(version) {
			f.Add(kv.Key, kv.Value)
		}
	}
	redactor := Redactor(testHeader())
	f.Fuzz(func(t *testing.T, key, value []byte) {
		once, _ := redactor(source.KV{Key: key, Value: value})
		twice, _ := redactor(once)
		if !bytes.Equal(once.Value, twice.Value) {
			t.Fatalf("%q %q becomes %q, then %q", key, value, once.Value, twice.Value)
		}
	})
}

// TestExternalSpecIsRedacted checks that storage keys in the spec of an external collection are redacted.
func TestExternalSpecIsRedacted(t *testing.T) {
	h := testHeader()
	found := false
	for _, kv := range metatest.Cluster("3.0") {
		if !bytes.Contains(kv.Value, []byte("planted-in-a-spec")) {
			continue
		}
		found = true
		if safe, _ := Redactor(h)(kv); bytes.Contains(safe.Value, []byte("planted-in-a-spec")) {
			t.Errorf("%s: %q", kv.Key, safe.Value)
		}
	}
	if !found {
		t.Error("no job has a spec")
	}
}

// TestSettingsAreKnownOrRedacted checks that no kind of secret in a dynamic setting is shown or stored, under any
// name.
func TestSettingsAreKnownOrRedacted(t *testing.T) {
	var kvs []source.KV
	plants := redacttest.Plants(3)
	add := func(key, value string) {
		kvs = append(kvs, source.KV{
			Key: []byte("by-dev/" + key), Value: []byte(value), ModRevision: int64(len(kvs) + 1),
		})
	}
	for i, p := range plants {
		add(fmt.Sprintf("config/x/plain%d", i), p.Secret) // without any hint that it is a secret
		add(fmt.Sprintf("config/x/setting%d", i), p.Text)
		add(fmt.Sprintf("meta/unknown/%d", i), p.Text)
		add(fmt.Sprintf("meta/session/proxy-%d", i),
			fmt.Sprintf(`{"ServerID":%d,"ServerName":"proxy","Address":"h:1","Version":%q}`, i, "2.3.5 "+p.Text))
	}
	add("config/x/password=sesame/y", "1")
	add("config/minio/rootPath", strings.Repeat("x", 1<<20))
	for key, value := range map[string]string{
		"kafka.brokerList": "u:sesame@h:9092", "minio.address": "h:9000", "queryCoord/autoBalance": "false",
		"x/size": "2 GB",
	} {
		add("config/"+key, value)
	}
	c := loadMemory(t, newMemory(kvs), Want{Parts: model.PartAll, Records: true})
	var shown strings.Builder
	dump(&shown, reflect.ValueOf(c.Parts), 0)
	for i := range c.Keyspace.Len() {
		r := c.Keyspace.Record(i)
		fmt.Fprintln(&shown, r.Key, r.Text, string(r.Raw), r.Problem)
	}
	redactor := Redactor(testHeader())
	for _, kv := range kvs {
		if safe, keep := redactor(kv); keep {
			fmt.Fprintf(&shown, "%s %s\n", safe.Key, safe.Value)
		}
	}
	for _, p := range append(plants, redacttest.Plant{Kind: "key or broker", Secret: "sesame"}) {
		if at := strings.Index(shown.String(), p.Secret); at >= 0 {
			t.Errorf("%s is shown: %q", p.Kind, shown.String()[max(0, at-100):at+len(p.Secret)])
		}
	}
	values := map[string]string{}
	for _, x := range c.Config {
		if values[x.Name] = x.Value; len(x.Value) > maxSetting {
			t.Errorf("%s has %d bytes", x.Name, len(x.Value))
		}
	}
	for key, want := range map[string]string{
		"kafka.brokerList": "<redacted>@h:9092", "minio.address": "h:9000", "queryCoord/autoBalance": "false",
		"x/size": "2 GB",
	} {
		if values[key] != want {
			t.Errorf("%s is shown as %q, want %q", key, values[key], want)
		}
	}
	c = loadMemory(t,
		newMemory(
			[]source.KV{{Key: []byte("by-dev/config/x/own"), Value: []byte("text, token=sesame"), ModRevision: 1}},
		), Want{Parts: model.PartConfig, UnknownSettings: true})
	if got := c.Config[0].Value; got != "text, token=<redacted>" {
		t.Errorf("an unknown setting that was asked for is shown as %q", got)
	}
}

// TestNamesAreNoSecrets checks that names and addresses that begin like tokens are not redacted, stored or dialed
// differently.
func TestNamesAreNoSecrets(t *testing.T) {
	encode := func(m proto.Message) string {
		value, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return string(value)
	}
	var kvs []source.KV
	for _, kv := range [][2]string{
		{
			"meta/root-coord/database/collection-info/1/1",
			encode(&etcdpb.CollectionInfo{ID: 1, Schema: &schemapb.CollectionSchema{
				Name: "AKIAIOSFODNN7EXAMPLE", Description: "basic HNSW index",
			}}),
		},
		{
			"meta/root-coord/database/aliases/1/hf_current_embeddings",
			encode(&etcdpb.AliasInfo{AliasName: "hf_current_embeddings", CollectionId: 1, DbId: 1}),
		},
		{"meta/root-coord/credential/roles/token=" + strings.Repeat("Zq9", 10), ""},
		{
			"meta/session/querynode-7",
			`{"ServerID":7,"ServerName":"querynode","Address":"sk-prod-milvus-querynode-0.milvus:21123","HostName":"AKIAIOSFODNN7EXAMPLE"}`,
		},
		{"config/minio/bucketName", "ASIA-SOUTHEAST-milvus-data"},
	} {
		kvs = append(kvs, source.KV{
			Key: []byte("by-dev/" + kv[0]), Value: []byte(kv[1]), ModRevision: int64(len(kvs) + 1),
		})
	}
	redactor := Redactor(testHeader())
	for _, kv := range kvs {
		if safe, keep := redactor(kv); !keep || !bytes.Equal(safe.Value, kv.Value) {
			t.Errorf("%s is kept (%v) as %q, want %q", kv.Key, keep, safe.Value, kv.Value)
		}
	}
	c := loadMemory(t, newMemory(kvs), Want{Parts: model.PartAll, Records: true})
	got := []string{
		c.Collections[0].Name, c.Collections[0].Description, c.Aliases[0].Name, c.Sessions[0].Address,
		c.Sessions[0].HostName, c.Config[0].Value,
	}
	want := []string{
		"AKIAIOSFODNN7EXAMPLE", "basic HNSW index", "hf_current_embeddings", "sk-prod-milvus-querynode-0.milvus:21123",
		"AKIAIOSFODNN7EXAMPLE", "ASIA-SOUTHEAST-milvus-data",
	}
	for _, kv := range kvs {
		if i, ok := c.Keyspace.Find(string(kv.Key)); !ok || c.Keyspace.Info(i).Key != string(kv.Key) {
			t.Errorf("%s is not shown", kv.Key)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("read as %q, want %q", got, want)
	}
}
