package pull_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"kitescope/profile/pull"
)

// TestMilvusRefuses checks that the hint names the setting that blocks profiles, unless the server is not Milvus.
func TestMilvusRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code    int
		said    string
		version string
		want    pull.Outcome
		hint    string
	}{
		"no password": {
			401, `{"msg":"authentication required. Use HTTP Basic Auth with root credentials"}`, "3.0.2", pull.Denied,
			"common.security.adminAuthEnabled is true",
		},
		"another user": {
			403, `{"msg":"only root user can access this endpoint"}`, "", pull.Denied,
			"common.security.adminAuthEnabled is true",
		},
		"no profiles": {
			404, "404 page not found", "2.6.22", pull.NotFound, "common.security.managementMetricsOnly to false",
		},
		"not Milvus":     {404, "404 page not found", "", pull.NotFound, "name the path"},
		"no such":        {404, "Unknown profile", "2.6.22", pull.NotFound, ""},
		"its own secret": {401, "go away", "2.6.22", pull.Denied, "give user and password in the URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.code)
				_, _ = io.WriteString(w, c.said)
			}))
			to := target(t, s.URL)
			to.Version = c.version
			m, err := pull.Run(t.Context(), []pull.Target{to}, pull.Options{Kinds: []pull.Kind{pull.Heap}}, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if e := m.Profiles[0]; e.Outcome != c.want || !strings.Contains(e.Hint, c.hint) ||
				(e.Hint == "") != (c.hint == "") {
				t.Errorf("%s %q, hint %q", e.Outcome, e.Error, e.Hint)
			}
		})
	}
}
