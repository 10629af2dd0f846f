package choose

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"kitescope/profile"
	"kitescope/profile/pgo"
)

// Read reads a profile, and says what it is of.
func (p *Profile) Read(ctx context.Context) (*profile.Profile, error) {
	q, err := p.load(ctx)
	if err != nil {
		return nil, err
	}
	named := *q
	named.Origin.Name = p.Name
	if p.Node != "" {
		named.Origin.Node, named.Origin.Role = p.Node, p.Role
	}
	return &named, nil
}

// Merge makes one profile of all: with nodes apart by their label, or added up.
func (c *Choice) Merge(ctx context.Context, collapse bool) (*profile.Profile, error) {
	if len(c.List) == 1 && (c.List[0].Node == "" || collapse) {
		return c.List[0].whole(ctx, collapse)
	}
	// In a record of several rounds a process is met again; elsewhere equal names may be of two clusters.
	again := slices.ContainsFunc(c.List, func(p Profile) bool { return p.Round > 0 })
	m := profile.NewMerger(profile.MergeOptions{Nodes: !collapse, SameNodes: again, Count: len(c.List)})
	for i := range c.List {
		p, err := c.List[i].whole(ctx, collapse)
		if err != nil {
			return nil, err
		}
		if err := m.Add(p); err != nil {
			return nil, err
		}
	}
	p := m.Profile()
	if len(c.List) > 1 && c.Name != "" {
		p.Origin.Name = fmt.Sprintf("%s (%d profiles)", c.Name, len(c.List))
	}
	return p, nil
}

// whole is Read, with its nodes added up if collapse is set.
func (p *Profile) whole(ctx context.Context, collapse bool) (*profile.Profile, error) {
	q, err := p.Read(ctx)
	if err == nil && collapse {
		q = q.Collapse()
	}
	return q, err
}

// Inputs are the profiles for a judgement by pgo, which is about all of them: what cannot be read is an input with its reason.
// The error is that of ctx.
func (c *Choice) Inputs(ctx context.Context) ([]pgo.Input, error) {
	inputs := make([]pgo.Input, len(c.List))
	for i := range c.List {
		inputs[i] = c.List[i].input(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return inputs, nil
}

func (p *Profile) input(ctx context.Context) pgo.Input {
	q, err := p.load(ctx)
	if err != nil && p.isPreprofile() {
		err = pgo.ErrPreprofile
	}
	in := pgo.Input{Name: redacted([]string{p.Name})[0], Node: p.Node, Profile: q, Err: err, BuildID: p.BuildID, SHA256: p.sha256()}
	if q == nil {
		return in
	}
	in.GoVersion = pgo.GoVersionOf(q)
	if in.BuildID == "" && len(q.Mappings) > 0 {
		in.BuildID = q.Mappings[0].BuildID // the main binary's (google/pprof)
	}
	return in
}

// isPreprofile reports whether a file is what `go tool preprofile` writes, which no reader of profiles knows.
func (p *Profile) isPreprofile() bool {
	if p.Open == nil {
		return false
	}
	f, err := p.Open()
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 64) // more than its first line
	n, _ := io.ReadFull(f, head)
	return pgo.IsPreprofile(head[:n])
}

// sha256 is the hash of the file that a profile lies in, "" if it cannot be read again.
func (p *Profile) sha256() string {
	if p.Open == nil {
		return ""
	}
	f, err := p.Open()
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
