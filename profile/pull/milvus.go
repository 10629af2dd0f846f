package pull

import (
	"net/http"
	"strings"
)

// ofMilvus returns a failure that names the Milvus setting that blocks profiles, or nil if no such setting is
// known to be the cause. With one setting, Milvus responds that it requires the root password
// (internal/http/rbac.go: CheckRootAuth). The page is missing if Milvus serves only metrics
// (internal/http/management_mux.go) or if profiles are disabled (internal/http/server.go: Register).
func ofMilvus(t *Target, r *http.Response, said string) *failure {
	switch code := r.StatusCode; {
	case strings.Contains(said, "root credentials"), strings.Contains(said, "only root user"), strings.Contains(said, "invalid root password"):
		return failed(Denied, "%s%s", r.Status, said).
			hinted("common.security.adminAuthEnabled is true: give root and its password in the URL, http://root@host:port, and in KITESCOPE_PROFILE_PASSWORD, or with --header-file")
	case code == http.StatusNotFound && t.Version != "" && !strings.Contains(said, "Unknown profile"):
		return failed(NotFound, "%s%s", r.Status, said).
			hinted("set proxy.http.enablePprof to true and common.security.managementMetricsOnly to false in milvus.yaml, and restart the process")
	}
	return nil
}
