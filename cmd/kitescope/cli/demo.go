package cli

import (
	"context"
	"strconv"
	"sync"
	"time"

	"kitescope/inspect/session/demo"
	"kitescope/inspect/source"
)

// SetDemoClock sets the clock to the time of the demo's capture, unless --now sets it. The counters of the
// demo's processes keep running, so that they have rates.
func (a *App) SetDemoClock() {
	if a.clock == nil {
		a.stopClock(demo.Now())
		a.Demo.clock = a.Streams.Now
	}
}

// ReadsDemo reports whether flags, environment or context select the demo.
func (a *App) ReadsDemo() bool {
	c, err := a.Connection()
	return err == nil && c.From == demo.From
}

// LazyDemo starts the demo cluster on first use. All sources in a process share its servers.
type LazyDemo struct {
	// clock is the clock for the counters of the demo's processes. Nil means that the counters do not change.
	clock   func() time.Time
	once    sync.Once
	cluster *demo.Cluster
	err     error
}

func (d *LazyDemo) start(ctx context.Context) (*demo.Cluster, error) {
	d.once.Do(func() { d.cluster, d.err = demo.Start(ctx, d.clock) })
	return d.cluster, d.err
}

func (d *LazyDemo) open(ctx context.Context, root string) (source.Source, error) {
	c, err := d.start(ctx)
	if err != nil {
		return nil, err
	}
	return c.Source(root)
}

// proxyPort returns the metrics port of the demo's proxy, because the proxy does not report it. It returns 0 if
// the demo cannot be started; opening the demo returns that error.
func (d *LazyDemo) proxyPort() int {
	c, err := d.start(context.Background()) // it reads memory
	if err != nil {
		return 0
	}
	port, _ := strconv.Atoi(c.ProxyPort())
	return port
}

// counters returns the time of the counters of the demo's processes.
func (d *LazyDemo) counters() time.Time {
	c, err := d.start(context.Background()) // it reads memory
	if err != nil {
		return demo.Now()
	}
	return c.Counters()
}

// Close stops the servers of the demo if it was started.
func (d *LazyDemo) Close() {
	if d.cluster != nil {
		d.cluster.Close()
	}
}
