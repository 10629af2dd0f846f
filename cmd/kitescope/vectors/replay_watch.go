package vectors

import (
	"context"
	"net"
	"slices"
	"time"

	"kitescope/cmd/kitescope/cli"
	processes "kitescope/inspect/live"
	"kitescope/inspect/model"
	"kitescope/replay"
	"kitescope/replay/live"
	"kitescope/replay/load"
)

// watchProcesses has a run ask the cluster's processes for their metrics before and after each point, where there are processes to ask: of a live
// source, by the way that flags and context name. What cannot be asked is no reason to measure nothing.
func (f *runFlags) watchProcesses(a *cli.App, data *loaded, o *replay.RunOptions) error {
	c := data.cluster
	if c == nil || c.Runtime == nil || !c.Loaded.Has(model.PartSessions) || len(f.in.nodes.Recordings) > 0 || !live.IsMilvus(f.load.target) {
		return nil
	}
	conn, err := a.Connection()
	if err != nil {
		return err
	}
	spec, err := a.Asking(conn, f.in.nodes)
	if err != nil || !spec.Live || spec.Prometheus != nil || !spec.IsLive() {
		return err
	}
	spec.Nodes.Window = 0 // the point itself is the window
	client, err := processes.Open(spec.Nodes)
	if err != nil {
		return err
	}
	here, cpu := ownAddresses(), cli.CPUClock()
	o.Watch = func(ctx context.Context) func(context.Context, *load.Point) {
		if _, err := client.Ask(ctx, c); err != nil {
			return func(_ context.Context, p *load.Point) { unwatched(p, err) }
		}
		began := cpu()
		return func(ctx context.Context, p *load.Point) {
			used := cpu() - began
			// The point is whole even where the run was interrupted: processes are asked all the same, and not for long.
			ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*spec.Nodes.Patience()+time.Second)
			defer stop()
			r, err := client.Ask(ctx, c)
			if err == nil {
				if p.Served, err = replay.ServedOf(c.WithRuntime(r), c, here); err == nil {
					p.Served.Client = used
					countCPU(p)
					return
				}
			}
			unwatched(p, err)
		}
	}
	return nil
}

// countCPU gives a point the CPU of a query, of all of the cluster's processes together, where nobody else counted it.
func countCPU(p *load.Point) {
	if p.CPUPerQuery != 0 || p.Asked == 0 || p.Queries == 0 {
		return
	}
	var all time.Duration
	for i := range p.Served.Processes {
		all += p.Served.Processes[i].CPU
	}
	queries := p.Served.Requests * float64(p.Queries) / float64(max(1, p.Asked-p.Failed))
	p.CPUPerQuery = time.Duration(float64(all) / queries)
	p.Notes = append(p.Notes, "CPU of a query is that of all of the cluster's processes, by their metrics, including other work meanwhile")
}

func unwatched(p *load.Point, err error) {
	p.Notes = append(p.Notes, "what the cluster's processes did is unknown: "+err.Error())
}

// ownAddresses are those of this machine, without the loopback ones, which all machines have.
func ownAddresses() (list []net.IP) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && !slices.ContainsFunc(list, n.IP.Equal) {
			list = append(list, n.IP)
		}
	}
	return list
}
