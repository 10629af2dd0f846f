package faulttest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// World is a copy of a base under edits.
type World struct {
	base *Base
	// now is the time of the judge's clock. Times in edits are relative to it.
	now     time.Time
	names   names
	layouts []layout

	store   *store
	records []live.Record
	// noRuntime is true if no process was queried.
	noRuntime bool
	etcd      *model.Etcd
	profiles  *model.Profiles
	storage   *model.Storage
	changes   []model.ConfigChange
	starts    []model.Start
}

// verb is one kind of edit.
type verb struct {
	// least and most bound the number of words after the verb. A most of -1 means no limit.
	least, most int
	// fixed holds the required words by position, e.g. "to" in "move SEGMENT to NODE".
	fixed map[int]string
	run   func(*World, []word) error
}

func verbs() map[string]verb {
	return map[string]verb{
		"del":        {1, 1, nil, (*World).deleteKeys},
		"put":        {2, 2, nil, (*World).putKey},
		"raw":        {2, 2, nil, (*World).putRaw},
		"set":        {2, -1, nil, (*World).setFields},
		"history":    {3, -1, nil, (*World).history},
		"rewrite":    {2, 2, nil, (*World).rewrite},
		"copy":       {2, -1, nil, (*World).copyKeys},
		"version":    {1, 1, nil, (*World).version},
		"unreadable": {1, 1, nil, (*World).hide},
		"answer":     {3, -1, nil, (*World).answer},
		"reply":      {3, 3, nil, (*World).reply},
		"config":     {2, 2, nil, (*World).config},
		"metric":     {2, 2, nil, (*World).metric},
		"counted":    {2, 2, nil, (*World).counted},
		"ended":      {3, -1, nil, (*World).ended},
		"took":       {3, 3, nil, (*World).took},
		"timed":      {4, 4, nil, (*World).timed},
		"searched":   {3, -1, nil, (*World).searched},
		"down":       {2, 2, nil, (*World).down},
		"fail":       {3, 3, nil, (*World).failCall},
		"drop":       {2, 2, nil, (*World).dropCall},
		"forget":     {1, 1, nil, (*World).forget},
		"recorded":   {1, 1, nil, (*World).recorded},
		"again":      {1, -1, nil, (*World).scrapedAgain},
		"offline":    {0, 0, nil, (*World).offline},
		"join":       {3, 4, map[int]string{1: "like"}, (*World).join},
		"started":    {2, 2, nil, func(w *World, args []word) error { return w.startedAt(args[0].text, args[1].text) }},
		"move":       {3, 4, map[int]string{1: "to"}, (*World).moveSegment},
		"serve":      {3, 4, map[int]string{1: "on"}, (*World).serveSegment},
		"unserve":    {1, 1, nil, (*World).unserveSegment},
		"grow":       {2, 2, nil, (*World).growSegment},
		"takeover":   {1, 1, nil, (*World).takeOver},
		"twolead":    {4, 4, map[int]string{1: "on"}, (*World).leadTwice},
		"ungrow":     {1, 1, nil, (*World).ungrowSegment},
		"flush":      {3, 3, nil, (*World).flushSegment},
		"compact":    {6, 6, map[int]string{1: "into", 3: "on"}, (*World).compactSegment},
		"idle":       {1, 1, nil, (*World).idle},
		"lead":       {3, 3, map[int]string{1: "on"}, (*World).lead},
		"etcd":       {1, -1, nil, (*World).etcdFact},
		"queue":      {1, -1, nil, (*World).queueFact},
		"depends":    {3, -1, nil, (*World).dependsOn},
		"pulsar":     {2, -1, nil, (*World).pulsarFact},
		"profile":    {1, -1, nil, (*World).profiled},
		"pace":       {2, -1, nil, (*World).paced},
		"registered": {3, 3, nil, (*World).registered},
		"changed":    {2, 2, nil, (*World).addConfigChange},
		"storage":    {1, -1, nil, (*World).setStorage},
	}
}

// apply applies the edits of one line.
func (w *World) apply(l Line) error {
	lines, err := w.names.each(l.Text)
	if err != nil {
		return l.errorf("%w", err)
	}
	for _, text := range lines {
		if text, err = w.names.expand(text); err != nil {
			return l.errorf("%w", err)
		}
		if err := w.applyOne(text); err != nil {
			return l.errorf("%s: %w", text, err)
		}
	}
	return nil
}

func (w *World) applyOne(text string) error {
	words, err := split(text)
	if err != nil {
		return err
	}
	v, ok := verbs()[words[0].text]
	args := words[1:]
	switch {
	case !ok:
		return errors.New("unknown edit")
	case len(args) < v.least || v.most >= 0 && len(args) > v.most:
		return errors.New("wrong number of words; see testdata/faults/README.md")
	}
	for at, want := range v.fixed {
		if args[at].text != want {
			return fmt.Errorf("%q where %q belongs", args[at].text, want)
		}
	}
	return v.run(w, args)
}

// cluster decodes the edited keys and records with the real decoders.
func (w *World) cluster(ctx context.Context) (*model.Cluster, error) {
	c, err := load(ctx, w.store)
	if err != nil {
		return nil, err
	}
	if w.etcd != nil {
		c = c.WithEtcd(w.etcd)
	}
	if w.profiles != nil {
		c = c.WithProfiles(w.profiles)
	}
	if w.storage != nil {
		c = c.WithStorage(w.storage)
	}
	if w.changes != nil {
		c = c.WithConfigChanges(w.changes)
	}
	if w.starts != nil {
		c = c.WithStarts(w.starts)
	}
	if w.noRuntime {
		return c, nil
	}
	d := live.NewDecoder()
	for _, r := range w.records {
		d.Add(r)
	}
	return c.WithRuntime(d.Runtime("recording", w.base.Name)), nil
}

// Play applies a case's edits and runs the checks on the result.
func (c *Case) Play(ctx context.Context, b *Base) (*check.Report, error) {
	cluster, now, err := c.Cluster(ctx, b)
	if err != nil {
		return nil, err
	}
	return check.Run(cluster, now, rules.All()), nil
}

// modelNode converts a number to a node id of the model.
func modelNode(id int64) model.NodeID { return model.NodeID(id) }

// at parses a time relative to the judge's clock: now-30m.
func (w *World) at(text string) (time.Time, error) {
	written, ok, err := parseTime("nanos("+text+")", w.now)
	if err == nil && !ok {
		err = fmt.Errorf("%q is no time: write now, now-30m", text)
	}
	nanos, _ := strconv.ParseInt(written, 10, 64)
	return time.Unix(0, nanos).UTC(), err
}

// Cluster applies a case's edits. It returns the edited cluster and the time of the judge's clock.
func (c *Case) Cluster(ctx context.Context, b *Base) (*model.Cluster, time.Time, error) {
	w, err := b.world(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	w.now = w.now.Add(c.Now)
	for _, l := range c.Edits {
		if err := w.apply(l); err != nil {
			return nil, time.Time{}, fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	cluster, err := w.cluster(ctx)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("%s: %w", c.Name, err)
	}
	return cluster, w.now, nil
}
