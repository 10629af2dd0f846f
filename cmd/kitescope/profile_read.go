package main

import (
	"context"
	"fmt"
	"slices"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile"
	"kitescope/words/hints"
)

// profile reads it, and says which node it is of.
func (p *chosenProfile) profile(ctx context.Context) (*profile.Profile, error) {
	q, err := p.load(ctx)
	if err != nil {
		return nil, err
	}
	named := *q
	named.Origin.Name = p.name
	if p.node != "" {
		named.Origin.Node, named.Origin.Role = p.node, p.role
	}
	return &named, nil
}

// oneProfile reads what words name and makes one profile of it, with nodes apart by their label.
func (in *profileInput) oneProfile(ctx context.Context, a *cli.App, words []string) (*profile.Profile, error) {
	return in.mergedProfile(ctx, a, words, false)
}

// mergedProfile is oneProfile, with the nodes added up where collapse is set.
func (in *profileInput) mergedProfile(ctx context.Context, a *cli.App, words []string, collapse bool) (*profile.Profile, error) {
	choice, err := in.chooseProfiles(ctx, a, words)
	if err != nil {
		return nil, err
	}
	defer choice.close()
	if len(choice.list) > 1 {
		defer a.Collector.Often()()
	}
	p, err := choice.merge(ctx, collapse)
	if err == nil {
		p = inNodes(p, in.nodes)
		warnEmpty(a, p)
	}
	return p, err
}

// inNodes leaves the samples of some nodes, where a file's own labels tell them.
func inNodes(p *profile.Profile, nodes []string) *profile.Profile {
	if len(nodes) == 0 {
		return p
	}
	return p.Filter(&profile.Filter{Nodes: nodes})
}

// warnEmpty says why there may be nothing to see.
func warnEmpty(a *cli.App, p *profile.Profile) {
	if p.Len() > 0 {
		return
	}
	for _, t := range p.Types {
		if t.Type == "contentions" {
			a.Note("%s has no samples: the process samples no locks unless it sets a rate (runtime.SetMutexProfileFraction, SetBlockProfileRate)", p.Origin.Name)
			return
		}
	}
	a.Note("%s has no samples", p.Origin.Name)
}

func (c *profileChoice) merge(ctx context.Context, collapse bool) (*profile.Profile, error) {
	list := c.list
	if len(list) == 1 && (list[0].node == "" || collapse) {
		p, err := list[0].profile(ctx)
		if err == nil && collapse {
			p = p.Collapse()
		}
		return p, err
	}
	// In a record of several rounds a process is met again; elsewhere equal names may be of two clusters.
	again := slices.ContainsFunc(list, func(p chosenProfile) bool { return p.round > 0 })
	m := profile.NewMerger(profile.MergeOptions{Nodes: !collapse, SameNodes: again, Compatible: true, Count: len(list)})
	for i := range list {
		p, err := list[i].profile(ctx)
		if err != nil {
			return nil, err
		}
		if collapse {
			p = p.Collapse()
		}
		if err := m.Add(p); err != nil {
			return nil, err
		}
	}
	p := m.Profile()
	if len(list) > 1 && c.words != "" {
		p.Origin.Name = fmt.Sprintf("%s (%d profiles)", c.words, len(list))
	}
	return p, nil
}

// maxSeries bounds how many profiles are held at once; one of Milvus takes some 400 KB.
const maxSeries = 5000

// profileSeries reads what words name, one profile each, for what follows them over time.
func (in *profileInput) profileSeries(ctx context.Context, a *cli.App, words []string) ([]*profile.Profile, error) {
	choice, err := in.chooseProfiles(ctx, a, words)
	if err != nil {
		return nil, err
	}
	defer choice.close()
	if n := len(choice.list); n > maxSeries {
		return nil, &hints.Error{
			Err:    fmt.Errorf("%d profiles side by side are more than the limit of %d", n, maxSeries),
			Advice: "choose one process: --node querynode-3; or name fewer rounds: record/20261120T16*",
		}
	}
	series := make([]*profile.Profile, len(choice.list))
	for i := range choice.list {
		if series[i], err = choice.list[i].profile(ctx); err != nil {
			return nil, err
		}
		if choice.list[i].node == "" {
			series[i] = inNodes(series[i], in.nodes)
		}
	}
	return series, nil
}
