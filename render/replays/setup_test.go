package replays

import (
	"testing"

	"kitescope/render"
	"kitescope/replay"
)

// TestSetupText checks that the setup names the server that searched: PostgreSQL is not Milvus, and
// this machine only sent the requests.
func TestSetupText(t *testing.T) {
	for target, want := range map[string]string{
		"engine":                       "as Milvus 2.3.5 · on Zen, 2 cores",
		"":                             "as Milvus 2.3.5 · on Zen, 2 cores",
		"milvus://10.0.0.9:19530/docs": "by Milvus 2.3.5 · queried from Zen, 2 cores",
		"postgres://10.0.0.9:5432/d/t": "by PostgreSQL with pgvector · queried from Zen, 2 cores",
	} {
		s := replay.Setup{Target: target, Milvus: "2.3.5", Machine: replay.Machine{CPU: "Zen", Cores: 2}}
		if got := setupText(&s, &render.ReportOptions{}); got != want {
			t.Errorf("%q: %q, want %q", target, got, want)
		}
	}
}
