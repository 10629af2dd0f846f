package pgo

import (
	"fmt"
	"slices"
	"strings"
)

// knownRisk is a call whose inlining has hurt programs.
type knownRisk struct {
	id string
	// caller is "" if any caller matches.
	caller  string
	callees []string
	source  string
	harm    string
}

// knownRisks returns the reported risks with their sources. There are also reports of slowdowns by PGO
// (go.dev/issue/71400, 68815, 58298) that do not name particular functions: only a trial shows these.
func knownRisks() []knownRisk {
	return []knownRisk{
		{
			// The 16 KiB array exists up to v1.65 (internal/transport/controlbuf.go), and run calls processData
			// three times (github.com/grpc/grpc-go/issues/6991). Before v1.15 the package was grpc/transport.
			id: "grpc-stack-growth", source: "https://go.dev/issue/65532",
			callees: []string{
				"google.golang.org/grpc/internal/transport.(*loopyWriter).processData",
				"google.golang.org/grpc/transport.(*loopyWriter).processData",
			},
			harm: "in gRPC before v1.66 the stack of each connection grows by up to 48 KiB, and a service of many " +
				"connections took 18% more memory",
		},
		{
			// datadog-pgo (github.com/DataDog/datadog-pgo) uses a coarser workaround: it removes runtime.gopark
			// from profiles.
			id: "trace-deadlock", caller: "runtime.ReadTrace", callees: []string{"runtime.gopark"},
			source: "https://go.dev/issue/74045",
			harm:   "with Go 1.24, a program could hang for ever when an execution trace ended",
		},
		{
			id: "block-profile-frames", callees: []string{"runtime.blockevent", "runtime.mutexevent"},
			source: "https://go.dev/issue/69747",
			harm:   "block and mutex profiles of the program can lack the function that waited",
		},
	}
}

func (k *knownRisk) matches(e *Edge) bool {
	return (k.caller == "" || e.Caller == k.caller) && slices.ContainsFunc(k.callees, func(callee string) bool {
		// The path of a vendored package may start with the path of its vendor folder (GOPATH).
		return e.Callee == callee || strings.HasSuffix(e.Callee, "/vendor/"+callee)
	})
}

// risksOf returns the known risks of hot calls that are not inlined yet.
func risksOf(hot []HotEdge) []Risk {
	var risks []Risk
	for _, known := range knownRisks() {
		share, callee := 0.0, ""
		for i := range hot {
			if e := &hot[i]; !e.Inlined && known.matches(&e.Edge) {
				share += e.Share
				callee = e.Callee
			}
		}
		if callee != "" {
			risks = append(risks, Risk{
				ID: known.id, Function: callee, Block: callee, Source: known.source,
				Message: fmt.Sprintf("%s is hot (%.2g%% of the calls); where it is inlined, %s", callee, 100*share,
					known.harm), //nolint:mnd // percent
			})
		}
	}
	return risks
}
