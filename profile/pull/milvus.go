package pull

import (
	"net/http"
	"strings"
)

// milvusFailure returns a failure that names the Milvus setting that blocks profiles, or nil if no such setting is
// known to be the cause. With one setting, Milvus responds that it requires the root password
// (internal/http/rbac.go: CheckRootAuth). The page is missing if Milvus serves only metrics
// (internal/http/management_mux.go) or if profiles are disabled (internal/http/server.go: Register).
func milvusFailure(t *Target, r *http.Response, message string) *failure {
	switch code := r.StatusCode; {
	case strings.Contains(message, "root credentials"), strings.Contains(message, "only root user"),
		strings.Contains(message, "invalid root password"):
		return newFailure(Denied, "%s%s", r.Status, message).
			withHint("common.security.adminAuthEnabled is true: give root and its password in the URL, " +
				"http://root@host:port, and in KITESCOPE_PROFILE_PASSWORD, or with --header-file")
	case code == http.StatusNotFound && t.Version != "" && !strings.Contains(message, "Unknown profile"):
		return newFailure(NotFound, "%s%s", r.Status, message).
			withHint("set proxy.http.enablePprof to true and common.security.managementMetricsOnly to false in " +
				"milvus.yaml, and restart the process")
	}
	return nil
}
