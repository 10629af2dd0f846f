package rules

import (
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/place"
	"kitescope/internal/words"
)

// hostStarved reports hosts without enough CPU for their processes.
var hostStarved = &check.Check{
	ID:       "host-starved", // check.HostStarved
	Title:    "Host lacks CPU: its processes are slow",
	Severity: check.Warning,
	Slowness: true,
	Symptoms: []string{check.SearchesSlow, check.WritesFail},
	Starts:   "node_joined collection_loading | segment_compacted task_created",
	Parts:    model.PartSessions,
	Needs:    check.NeedProcesses,
	Doc: `Processes on one host respond late because it lacks CPU. The check looks at hosts with at least three
registered processes. A host lacks CPU if at least half of them keep kitescope waiting for their state for 20% of the
time, or respond three times as late as before.

Warning if requests are slower than before; info if they are not and the processes use 90% of the processors. Other
checks of slowness (` + "`requests-slow`" + `, ` + "`process-slow`" + `, ` + "`component-hanging`" + `,
` + "`worker-slow`" + `, ` + "`wal-append-slow`" + ` and the like) then follow from it and are info. In Kubernetes each
pod is a host of its own: look at the CPU of the machines.`,
	Remedy: `Find out what uses the CPU of the machine (` + "`top`" + `, ` + "`kitescope get nodes --sort -cpu`" + `).
Stop other work, add processors, or move processes to other machines. If it is Milvus itself, run
` + "`kitescope why`" + ` to break its work down.`,
	Run: runHostStarved,
}

// onHost reports whether a finding names a process of the host, or no process at all.
func onHost(_ *model.Cluster, effect, cause *check.Finding) bool {
	processes := slices.DeleteFunc(append(slices.Clone(effect.Objects), effect.Object), func(r model.Ref) bool {
		return r.Resource != "nodes"
	})
	return len(processes) == 0 || slices.ContainsFunc(processes, cause.Mentions)
}

// withHostStarved returns the causes of a check that finds slow processes. A starved host is one, because it slows
// all its processes.
func withHostStarved(others ...check.Cause) []check.Cause {
	return append(check.CausedBy(onHost, check.HostStarved), others...)
}

func runHostStarved(p *check.Pass) {
	if len(slownesses(p)) == 0 {
		p.Skip(probedOnce)
		return
	}
	noteUnseenProcesses(p)
	for _, s := range p.Places().Components {
		waited := affectsClients(p, s)
		if s.Component.Kind != place.Host || s.Strength < place.Medium || !waited && s.Strength < place.Strong {
			continue
		}
		f := check.Finding{
			Severity: check.Info,
			Object: model.Ref{
				Resource: "dependencies", ID: "host/" + s.Component.Name, Name: "host/" + s.Component.Name,
			},
			Message:  componentText(s.Component) + " lacks CPU: " + words.FirstOf(s.Texts(), 2, ", and "),
			Evidence: statusFacts(s),
			Impact:   "All its processes are slow; none of them is the cause.", Fix: lookSteps(p, s),
		}
		if waited {
			f.Severity = check.Warning
		}
		for _, x := range p.Sessions {
			if place.HostOf(x) == s.Component.Name {
				f.Objects = append(f.Objects, model.Ref{Resource: "nodes", ID: x.Name(), Name: x.Name()})
			}
		}
		p.Report(f)
	}
}
