package rules_test

import (
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// TestLostStorage checks that a storage without any of the files counts as lost only if it is the cluster's
// own: a bucket with the configured endpoint, or a folder on a machine on which a process runs.
func TestLostStorage(t *testing.T) {
	local := map[string]string{"common.storageType": "local", "localStorage.path": "/var/lib/milvus"}
	bucket := map[string]string{
		"common.storageType": "remote", "minio.address": "10.0.0.9", "minio.port": "9000", "minio.bucketName": "milvus",
		"minio.useSSL": "false", "minio.rootPath": "files",
	}
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
		"another folder of the bucket": {
			bucket, "s3://milvus/backup?tls=false&endpoint=10.0.0.9:9000", false, false,
		},
		"the root path of the bucket":   {bucket, "s3://milvus/files/?tls=false&endpoint=10.0.0.9:9000", false, true},
		"another bucket":                {bucket, "s3://copy?endpoint=10.0.0.9:9000&tls=false", true, false},
		"a folder in place of a bucket": {bucket, "/var/lib/milvus", true, false},
		"nothing told":                  {nil, "/var/lib/milvus", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := rulestest.FactsOf(x.settings)
			c := p.WithStorage(&model.Storage{
				Location: x.place, Local: x.here, Lost: true, Problem: "there is no such folder", Segments: 3,
			})
			r := check.Run(c, time.Unix(0, 0), []*check.Check{rulestest.ByID("files-missing")})
			if lost := len(r.Findings) == 1 && r.Findings[0].Severity == check.Error; lost != x.lost {
				t.Errorf("%+v", r.Findings)
			}
			if !x.lost &&
				(r.Results[0].Status != check.Skipped ||
					!strings.Contains(r.Results[0].Reason, "there is no such folder")) {
				t.Errorf("%+v, want it unknown", r.Results[0])
			}
		})
	}
}
