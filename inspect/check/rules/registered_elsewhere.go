package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// registeredElsewhere reports processes that run under another root path.
var registeredElsewhere = &check.Check{
	ID:       "registered-elsewhere",
	Title:    "A process runs under a root path that holds no cluster",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "node_left | node_lost config_changed",
	Parts:    model.PartSessions,
	Needs:    check.NeedEtcd,
	Doc: `A process with a wrong ` + "`etcd.rootPath`" + ` runs but gets no work. The check looks for sessions in the
same etcd under another root without metadata of collections or segments, and without a coordinator. Not reported:
leftover keys ` + "`session/id`" + `, and a root with a coordinator, because that cluster is starting.

Other roots are searched when kitescope opens a live etcd without ` + "`--root`" + `.`,
	Remedy: `Set ` + "`etcd.rootPath`" + ` (` + "`ETCD_ROOTPATH`" + `) and ` + "`etcd.metaSubPath`" +
		` of that process to
the values of the others, and restart it.`,
	Run: runRegisteredElsewhere,
}

func runRegisteredElsewhere(p *check.Pass) {
	sessions := make(map[string][]string) // by root path
	var roots []string
	for _, key := range p.Etcd.Elsewhere {
		root, name, _ := strings.Cut(key, "/session/")
		if sessions[root] == nil {
			roots = append(roots, root)
		}
		sessions[root] = append(sessions[root], name)
	}
	for _, root := range roots {
		names := sessions[root]
		if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "coord") }) {
			continue
		}
		first := root + "/session/" + names[0]
		p.Report(check.Finding{
			Severity: check.Warning, Object: model.Ref{Resource: "keys", ID: first, Name: first},
			Message: fmt.Sprintf("%s %s registered under %s, which holds no cluster", words.Summarize(names),
				words.Agree(len(names), "is", "are"), root),
			Evidence: []check.Evidence{
				check.Fact("registered under "+root, words.Summarize(names), "etcd"),
				check.Fact("root of this cluster", p.Origin.Root+"/"+p.Origin.MetaPath, "etcd"),
			},
			Impact: words.Agree(len(names), "It runs", "They run") + " without work: no coordinator knows " +
				words.Agree(len(names), "it.", "them."),
			Fix: check.Fix(
				check.Shell(check.Etcdctl("get").Arg(first)).Does("prints its session, with its address and host name"),
				check.Do("set etcd.rootPath to %s and etcd.metaSubPath to %s in its configuration, and restart it",
					p.Origin.Root, p.Origin.MetaPath).
					Interrupting(2*time.Minute, "nothing"),
			),
		})
	}
}
