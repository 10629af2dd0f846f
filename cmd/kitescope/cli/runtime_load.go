package cli

import (
	"context"
	"errors"
	"fmt"

	"kitescope/inspect/live/prometheus"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/internal/hints"
)

// prometheus returns the options of --prometheus, or nil if the flag is not set.
func (a *App) prometheus(n *NodeFlags) (*prometheus.Options, error) {
	switch {
	case n.prometheus == "":
		return nil, nil
	case len(n.Recordings) > 0:
		return nil, Usage(errors.New("--prometheus and --runtime both provide metrics"), "use only one of them")
	case n.live.Changed && n.Live:
		return nil,
			Usage(errors.New("--live queries processes, --prometheus reads their metrics"), "use only one of them")
	}
	if _, err := prometheus.Parse(n.prometheus); err != nil {
		return nil, Usage(err, hints.Of(err))
	}
	return &prometheus.Options{URL: n.prometheus, Token: a.Getenv("KITESCOPE_PROMETHEUS_TOKEN"), Timeout: n.Timeout},
		nil
}

// LoadRuntime is like LoadLive, but does not need a cluster if recordings or a Prometheus are given. Without a
// cluster, the result holds only process data.
func (a *App) LoadRuntime(ctx context.Context, n *NodeFlags, want meta.Want) (*model.Cluster, error) {
	if _, err := a.Connection(); len(n.Recordings) == 0 && n.prometheus == "" || !errors.Is(err, errNoCluster) {
		return a.LoadLive(ctx, n, want)
	}
	none := model.Build(model.Parts{})
	from, err := a.prometheus(n)
	if err != nil {
		return nil, err
	}
	at := a.Flags.At
	if !at.IsZero() && (from == nil || !at.IsTime()) {
		return nil, Usage(fmt.Errorf("--at %s needs a cluster", &at), "add --from, or --prometheus")
	}
	if from != nil {
		moment := a.Now()
		if at.IsTime() {
			moment = at.When(moment)
		}
		r, gaps, err := prometheus.Read(ctx, *from, none, moment)
		if err != nil {
			return nil, err
		}
		return none.WithRuntime(r).WithGaps(gaps...), nil
	}
	r, gaps, err := session.ReadRecordings(n.Recordings)
	if err != nil {
		return nil, err
	}
	return none.WithRuntime(r).WithGaps(gaps...), nil
}
