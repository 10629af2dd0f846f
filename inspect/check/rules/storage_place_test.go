package rules_test

import (
	"strings"
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// TestStoragePlace checks that a hint has the storage location of the configuration, in the syntax of --storage,
// without credentials and quoted as one shell word.
func TestStoragePlace(t *testing.T) {
	for name, x := range map[string]struct {
		settings map[string]string
		want     string
	}{
		"nothing told": {nil, "kitescope diagnose --storage PLACE"},
		"local": {
			map[string]string{
				"common.storageType": "local", "localStorage.path": "/var/lib/milvus/data", "minio.bucketName": "b",
			},
			"kitescope diagnose --storage /var/lib/milvus/data",
		},
		"a bucket": {
			map[string]string{
				"common.storageType": "remote", "minio.address": "10.0.0.9", "minio.port": "9000",
				"minio.bucketName": "milvus", "minio.accessKeyID": "me", "minio.secretAccessKey": "hunter2",
				"minio.useSSL": "false",
			},
			"kitescope diagnose --storage 's3://milvus?endpoint=10.0.0.9:9000&tls=false'",
		},
		"a bucket over TLS": {
			map[string]string{
				"minio.address": "https://me:hunter2@minio.example/", "minio.port": "443", "minio.bucketName": "milvus",
				"minio.useSSL": "true", "minio.region": "eu-1",
			},
			"kitescope diagnose --storage 's3://milvus?endpoint=minio.example:443&region=eu-1'",
		},
		"a folder that is a command": {
			map[string]string{"common.storageType": "local", "localStorage.path": "/data;id"},
			"kitescope diagnose --storage '/data;id'",
		},
	} {
		p := rulestest.FactsOf(x.settings)
		if command := string(check.FindFiles(p).Command); command != x.want || strings.Contains(command, "hunter2") {
			t.Errorf("%s: %q, want %q", name, command, x.want)
		}
		p.Cluster = p.WithStorage(&model.Storage{Location: "/data"})
		if step := check.FindFiles(p); step != (check.Step{}) {
			t.Errorf("%s: the storage was examined, and what to do is %v", name, step)
		}
	}
}
