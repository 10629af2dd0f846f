package enginecmd

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

// watchProcesses makes a run query the metrics of the cluster's processes before and after each point. It does
// so only for a live Milvus target, and connects by the flags and the context. Processes that cannot be queried
// do not stop the run.
func (f *runFlags) watchProcesses(a *cli.App, data *loadedData, o *replay.RunOptions) error {
	c := data.cluster
	if c == nil || c.Runtime == nil || !c.Loaded.Has(model.PartSessions) || len(f.in.nodes.Recordings) > 0 ||
		!live.IsMilvus(f.load.target) {
		return nil
	}
	conn, err := a.Connection()
	if err != nil {
		return err
	}
	spec, err := a.LiveSpec(conn, f.in.nodes)
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
			return func(_ context.Context, p *load.Point) { noteUnknownActivity(p, err) }
		}
		began := cpu()
		return func(ctx context.Context, p *load.Point) {
			used := cpu() - began
			// Query the processes even if the run was interrupted, because the point is complete, but with a
			// short timeout.
			ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*spec.Nodes.MaxWait()+time.Second)
			defer stop()
			r, err := client.Ask(ctx, c)
			if err == nil {
				if p.Served, err = replay.ServerUsage(c.WithRuntime(r), c, here); err == nil {
					p.Served.Client = used
					countCPU(p)
					return
				}
			}
			noteUnknownActivity(p, err)
		}
	}
	return nil
}

// countCPU sets the CPU time per query of a point to that of all of the cluster's processes, unless it is
// already known.
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
	p.Notes = append(p.Notes,
		"CPU of a query covers all of the cluster's processes, by their metrics, including other work meanwhile")
}

func noteUnknownActivity(p *load.Point, err error) {
	p.Notes = append(p.Notes, "activity of the cluster's processes is unknown: "+err.Error())
}

// ownAddresses returns the IP addresses of this machine, without duplicates.
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
