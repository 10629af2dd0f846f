package cli

import (
	"context"
	"strconv"
	"sync"
	"time"

	"kitescope/inspect/session/demo"
	"kitescope/inspect/source"
)

// StopForDemo lets ages count to the time of the capture, if --now names no other. What processes count runs on then, for rates.
func (a *App) StopForDemo() {
	if a.clock == nil {
		a.stopClock(demo.Now())
		a.Demo.runs = a.Streams.Now
	}
}

// ReadsDemo reports whether the demo is the cluster that flags, environment or context name.
func (a *App) ReadsDemo() bool {
	c, err := a.Connection()
	return err == nil && c.From == demo.From
}

// LazyDemo is the demo once it is wanted: all sources of one run have the same servers.
type LazyDemo struct {
	// runs is the clock by which what its processes count runs on; nil: it stands still.
	runs    func() time.Time
	once    sync.Once
	cluster *demo.Cluster
	err     error
}

func (d *LazyDemo) start(ctx context.Context) (*demo.Cluster, error) {
	d.once.Do(func() { d.cluster, d.err = demo.Start(ctx, d.runs) })
	return d.cluster, d.err
}

func (d *LazyDemo) open(ctx context.Context, root string) (source.Source, error) {
	c, err := d.start(ctx)
	if err != nil {
		return nil, err
	}
	return c.Source(root)
}

// proxyPort is where the metrics of its proxy are asked for, which does not tell; 0 if it could not be started: whoever opens it
// is told why.
func (d *LazyDemo) proxyPort() int {
	c, err := d.start(context.Background()) // it reads memory
	if err != nil {
		return 0
	}
	port, _ := strconv.Atoi(c.ProxyPort())
	return port
}

// counters dates what its processes count.
func (d *LazyDemo) counters() time.Time {
	c, err := d.start(context.Background()) // it reads memory
	if err != nil {
		return demo.Now()
	}
	return c.Counters()
}

// Close ends its servers, if it was started.
func (d *LazyDemo) Close() {
	if d.cluster != nil {
		d.cluster.Close()
	}
}
