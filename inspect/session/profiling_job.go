package session

import (
	"context"
	"fmt"

	"kitescope/inspect/live"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/profile/pull"
)

// Job is a pull with resolved options.
type Job struct {
	loader *Loader
	spec   *Spec
	named  []pull.Target
	// Options holds the options of each pull. Targets sets Root.
	Options pull.Options
}

// NewJob returns a Job for the cluster of spec, which may be nil, and for named services. options holds the options to
// connect to them, including the timeout of each connection.
func NewJob(loader *Loader, spec *Spec, named []pull.Target, options live.Options, o pull.Options) (*Job, error) {
	client, err := live.Open(options)
	if err != nil {
		return nil, err
	}
	o.Timeout, o.Dial, o.Now = options.Timeout, client.Dial, loader.Now
	return &Job{loader: loader, spec: spec, named: named, Options: o}, nil
}

// NotLiveError is returned if profiles are requested from a file.
type NotLiveError struct{ From string }

func (e *NotLiveError) Error() string {
	return fmt.Sprintf("profiles come from running processes, but %s is a file", e.From)
}

// Hint implements hints.Hinter.
func (e *NotLiveError) Hint() string {
	return "name a live cluster: --from etcd://host:2379, or the URL of a process"
}

// Targets returns the processes to profile. It returns a *NotLiveError if the source is a file.
func (j *Job) Targets(ctx context.Context) ([]pull.Target, error) {
	if j.spec == nil {
		return j.named, nil
	}
	c, err := Processes(ctx, j.loader, j.spec)
	if err != nil {
		return nil, err
	}
	j.Options.Root = c.Origin.Root
	return WithNamed(c, ProfileTargets(c), j.named), nil
}

// Processes loads a cluster with the state of its processes, to find targets in. It returns an error if no process
// is registered, and a *NotLiveError if the source is a file.
func Processes(ctx context.Context, loader *Loader, spec *Spec) (*model.Cluster, error) {
	src, err := loader.Open(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	etcd, ok := src.(source.Live)
	if !ok {
		return nil, &NotLiveError{spec.From}
	}
	c, err := loader.Metadata(ctx, src, meta.Want{Parts: NodeNeeds})
	if err != nil {
		return nil, err
	}
	way := spec.Nodes
	way.Window = 0 // rates are not needed
	if c, err = Ask(ctx, etcd, way, c, nil); err != nil {
		return nil, err
	}
	if len(c.Runtime.Nodes) == 0 {
		return nil, fmt.Errorf("no process registered at %s: nothing to profile", spec.From)
	}
	return c, nil
}
