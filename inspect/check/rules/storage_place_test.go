package rules_test

import (
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// passOf are the facts of a cluster whose query node tells a configuration.
func factsOf(settings map[string]string) *facts.Facts {
	config := &model.Config{Values: make(map[string]string), Names: make(map[string]string)}
	for key, value := range settings {
		config.Values[model.FoldConfigKey(key)], config.Names[model.FoldConfigKey(key)] = value, key
	}
	node := &model.LiveNode{Role: "querynode", Node: 1, Config: config}
	c := model.Build(model.Parts{Loaded: model.PartAll}).WithRuntime(model.BuildRuntime(model.RuntimeParts{Nodes: []*model.LiveNode{node}}))
	return &facts.Facts{Cluster: c}
}

// TestStoragePlace: a hint names the very place that the configuration does, as --storage takes it, without credentials, and as one word of a shell.
func TestStoragePlace(t *testing.T) {
	for name, x := range map[string]struct {
		settings map[string]string
		want     string
	}{
		"nothing told": {nil, "kitescope diagnose --storage PLACE"},
		"local":        {map[string]string{"common.storageType": "local", "localStorage.path": "/var/lib/milvus/data", "minio.bucketName": "b"}, "kitescope diagnose --storage /var/lib/milvus/data"},
		"a bucket": {
			map[string]string{"common.storageType": "remote", "minio.address": "10.0.0.9", "minio.port": "9000", "minio.bucketName": "milvus", "minio.accessKeyID": "me", "minio.secretAccessKey": "hunter2", "minio.useSSL": "false"},
			"kitescope diagnose --storage 's3://milvus?endpoint=10.0.0.9:9000&tls=false'",
		},
		"a bucket over TLS": {
			map[string]string{"minio.address": "https://me:hunter2@minio.example/", "minio.port": "443", "minio.bucketName": "milvus", "minio.useSSL": "true", "minio.region": "eu-1"},
			"kitescope diagnose --storage 's3://milvus?endpoint=minio.example:443&region=eu-1'",
		},
		"a folder that is a command": {map[string]string{"common.storageType": "local", "localStorage.path": "/data;id"}, "kitescope diagnose --storage '/data;id'"},
	} {
		p := factsOf(x.settings)
		if command := string(check.FindFiles(p).Command); command != x.want || strings.Contains(command, "hunter2") {
			t.Errorf("%s: %q, want %q", name, command, x.want)
		}
		p.Cluster = p.WithStorage(&model.Storage{Location: "/data"})
		if step := check.FindFiles(p); step != (check.Step{}) {
			t.Errorf("%s: the storage was examined, and what to do is %v", name, step)
		}
	}
}

// TestLostStorage: a storage without any of the files is lost only if it is the cluster's own: a bucket by its endpoint, a folder on a
// machine on which a process runs.
func TestLostStorage(t *testing.T) {
	local := map[string]string{"common.storageType": "local", "localStorage.path": "/var/lib/milvus"}
	bucket := map[string]string{"common.storageType": "remote", "minio.address": "10.0.0.9", "minio.port": "9000", "minio.bucketName": "milvus", "minio.useSSL": "false", "minio.rootPath": "files"}
	for name, x := range map[string]struct {
		settings map[string]string
		place    string
		here     bool
		lost     bool
	}{
		"the folder":                          {local, "/var/lib/milvus/", true, true},
		"the folder, seen from elsewhere":     {local, "/var/lib/milvus", false, false},
		"another folder":                      {local, "/mnt/copy", true, false},
		"the bucket":                          {bucket, "s3://milvus?tls=false&endpoint=10.0.0.9:9000", false, true},
		"the bucket's name at another server": {bucket, "s3://milvus?tls=false&endpoint=127.0.0.1:9000", true, false},
		"another folder of the bucket":        {bucket, "s3://milvus/backup?tls=false&endpoint=10.0.0.9:9000", false, false},
		"the root path of the bucket":         {bucket, "s3://milvus/files/?tls=false&endpoint=10.0.0.9:9000", false, true},
		"another bucket":                      {bucket, "s3://copy?endpoint=10.0.0.9:9000&tls=false", true, false},
		"a folder in place of a bucket":       {bucket, "/var/lib/milvus", true, false},
		"nothing told":                        {nil, "/var/lib/milvus", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := factsOf(x.settings)
			c := p.WithStorage(&model.Storage{Location: x.place, Here: x.here, Lost: true, Problem: "there is no such folder", Segments: 3})
			r := check.Run(c, time.Unix(0, 0), []*check.Check{named("files-missing")})
			if lost := len(r.Findings) == 1 && r.Findings[0].Severity == check.Error; lost != x.lost {
				t.Errorf("%+v", r.Findings)
			}
			if !x.lost && (r.Results[0].Status != check.Skipped || !strings.Contains(r.Results[0].Reason, "there is no such folder")) {
				t.Errorf("%+v, want it unknown", r.Results[0])
			}
		})
	}
}
