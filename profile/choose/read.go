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

// Read reads the profile and sets the name, node and role of its Origin.
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

// Merge merges all profiles into one. Nodes stay separate by their label, or are added up if collapse is set.
func (c *Choice) Merge(ctx context.Context, collapse bool) (*profile.Profile, error) {
	if len(c.List) == 1 && (c.List[0].Node == "" || collapse) {
		return c.List[0].readCollapsed(ctx, collapse)
	}
	// In a record of several rounds, equal names are the same process. Elsewhere they may belong to two
	// clusters.
	again := slices.ContainsFunc(c.List, func(p Profile) bool { return p.Round > 0 })
	m := profile.NewMerger(profile.MergeOptions{Nodes: !collapse, SameNodes: again, Count: len(c.List)})
	for i := range c.List {
		p, err := c.List[i].readCollapsed(ctx, collapse)
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

// readCollapsed is like Read, but adds up the nodes of the profile if collapse is set.
func (p *Profile) readCollapsed(ctx context.Context, collapse bool) (*profile.Profile, error) {
	q, err := p.Read(ctx)
	if err == nil && collapse {
		q = q.Collapse()
	}
	return q, err
}

// Inputs returns the profiles as inputs for package pgo, which judges them together. A profile that cannot be
// read becomes an input with its error. Inputs returns an error only if ctx is done.
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
	in := pgo.Input{
		Name: redacted([]string{p.Name})[0], Node: p.Node, Profile: q, Err: err, BuildID: p.BuildID, SHA256: p.sha256(),
	}
	if q == nil {
		return in
	}
	in.GoVersion = pgo.GoVersionOf(q)
	if in.BuildID == "" && len(q.Mappings) > 0 {
		in.BuildID = q.Mappings[0].BuildID // of the main binary (google/pprof)
	}
	return in
}

// isPreprofile reports whether the file was written by `go tool preprofile`. No profile reader supports that
// format.
func (p *Profile) isPreprofile() bool {
	if p.Open == nil {
		return false
	}
	f, err := p.Open()
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 64) // longer than its first line
	n, _ := io.ReadFull(f, head)
	return pgo.IsPreprofile(head[:n])
}

// sha256 returns the hash of the profile's file, "" if the file cannot be read again.
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
