package pgo

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"kitescope/internal/words"
)

// What profiles are held against each other.
const (
	betweenWindows  = "windows"
	betweenNodes    = "nodes"
	betweenProfiles = "profiles"
	betweenHalves   = "halves"
)

// alike says how alike the profiles of a set are that should be: windows of one process, processes of one role.
type alike struct {
	between string
	// share is what most of the samples' profiles have in common with most of their peers: a single odd one, or one of
	// few samples, does not change it. NaN where all pairs are of one with far fewer samples than the other.
	share float64
	// chance is what they would have if all samples were of one load, with as many samples as they have; NaN if unknown.
	chance float64
	// odd are the profiles that are unlike their peers, and what these have in common with most of theirs.
	odd []oddOne
}

// oddOne is a profile, what it has in common with most of its peers, and how many samples most of these have.
type oddOne struct {
	profile      int
	share, peers float64
}

// asChance is how far below what chance leaves two profiles of one load can be: that is a median of a few draws.
const asChance = 0.04

// differ reports whether profiles differ more than the number of their samples makes them.
func (a *alike) differ() bool { return math.IsNaN(a.chance) || a.share < a.chance-asChance }

// overlaps compares windows of one process, processes of one role, and, if nothing else can be compared, profiles of
// unknown processes; and always the halves of the whole.
func (j *judge) overlaps(ctx context.Context) error {
	for _, kind := range []struct {
		between  string
		compared func(a, b *Input) bool
	}{
		{betweenWindows, func(a, b *Input) bool { return nodesKnown(a, b) && a.Node == b.Node }},
		{betweenNodes, func(a, b *Input) bool { return nodesKnown(a, b) && a.Node != b.Node && roleOf(a) == roleOf(b) }},
		{betweenProfiles, func(a, b *Input) bool { return len(j.groups) == 0 && !nodesKnown(a, b) }},
	} {
		if err := j.between(ctx, kind.between, kind.compared); err != nil {
			return err
		}
	}
	if share := j.pool.halves(); !math.IsNaN(share) {
		j.Overlaps = append(j.Overlaps, Overlap{Between: betweenHalves, A: "one half of all samples", B: "the other", Share: share})
	}
	return nil
}

func nodesKnown(a, b *Input) bool { return a.Node != "" && b.Node != "" }

// roleOf is a node's name without its number: processes of one role have the same work.
func roleOf(in *Input) string {
	if role := in.Profile.Origin.Role; role != "" {
		return role
	}
	return strings.TrimRight(in.Node, "-_.:0123456789")
}

// mostCompared bounds the pairs of one kind: a hundred profiles have 4,950. Of more profiles, each is held against those
// that come after it by name, as many as that leaves.
const mostCompared = 10_000

// pair are two profiles that were compared.
type pair struct {
	a, b  int
	share float64
}

// between compares profiles of a kind.
func (j *judge) between(ctx context.Context, what string, compared func(a, b *Input) bool) error {
	order := make([]int, len(j.profiles))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &j.inputs[j.of[a]], &j.inputs[j.of[b]]
		return cmp.Or(strings.Compare(x.Node, y.Node), strings.Compare(x.Name, y.Name), strings.Compare(x.SHA256, y.SHA256))
	})
	each := max(1, mostCompared/max(1, len(order)))
	var pairs []pair
	for at, i := range order {
		if err := ctx.Err(); err != nil {
			return err
		}
		left := each
		for _, k := range order[at+1:] {
			if left == 0 {
				break
			}
			a, b := &j.inputs[j.of[i]], &j.inputs[j.of[k]]
			if !compared(a, b) {
				continue
			}
			left--
			if share := j.pool.overlap(i, k); !math.IsNaN(share) {
				pairs = append(pairs, pair{i, k, share})
				j.Overlaps = append(j.Overlaps, Overlap{Between: what, A: a.Name, B: b.Name, Share: share})
			}
		}
	}
	if len(pairs) > 0 {
		j.groups = append(j.groups, j.alikeOf(what, pairs))
	}
	return nil
}

// fewerSamples is how many times fewer samples a profile has that does not speak for a load: merged with the other it
// changes next to nothing.
const fewerSamples = 10

// alikeOf says how alike profiles are, by their pairs.
func (j *judge) alikeOf(what string, pairs []pair) alike {
	a := alike{between: what, share: math.NaN(), chance: math.NaN()}
	heard := slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool {
		x, y := j.pool.of[p.a].total, j.pool.of[p.b].total
		return fewerSamples*min(x, y) < max(x, y)
	})
	if own, total := j.ofEach(heard); len(own) > 0 {
		sum := 0.0
		const half = 0.5
		for _, o := range own {
			if sum += j.pool.of[o.profile].total; sum >= half*total {
				a.share = o.share
				break
			}
		}
	}
	if a.share < j.options.MinOverlap {
		nearest := slices.MinFunc(heard, func(x, y pair) int { return cmp.Compare(math.Abs(x.share-a.share), math.Abs(y.share-a.share)) })
		a.chance, _ = j.pool.byChance(nearest.a, nearest.b)
	}
	own, _ := j.ofEach(pairs)
	for _, o := range own {
		idle := fewerSamples*j.pool.of[o.profile].total < o.peers
		if o.share < j.options.MinOverlap && (idle || o.share < a.share && !j.asAlikeAsChance(o, pairs)) {
			a.odd = append(a.odd, o)
		}
	}
	return a
}

// ofEach says what each profile of some pairs has in common with most of its peers, the least first, and how many
// samples all of them have.
func (j *judge) ofEach(pairs []pair) (own []oddOne, samples float64) {
	shares, peers := map[int][]float64{}, map[int][]float64{}
	for _, p := range pairs {
		shares[p.a], shares[p.b] = append(shares[p.a], p.share), append(shares[p.b], p.share)
		peers[p.a], peers[p.b] = append(peers[p.a], j.pool.of[p.b].total), append(peers[p.b], j.pool.of[p.a].total)
	}
	for i, list := range shares {
		slices.Sort(list)
		own = append(own, oddOne{i, list[len(list)/2], median(peers[i])})
		samples += j.pool.of[i].total
	}
	slices.SortFunc(own, func(a, b oddOne) int {
		return cmp.Or(cmp.Compare(a.share, b.share), strings.Compare(j.name(a.profile), j.name(b.profile)))
	})
	return own, samples
}

// asAlikeAsChance reports whether a profile with few samples is as like its peers as so few samples can be.
func (j *judge) asAlikeAsChance(o oddOne, pairs []pair) bool {
	for _, p := range pairs {
		if (p.a == o.profile || p.b == o.profile) && p.share == o.share {
			_, least := j.pool.byChance(p.a, p.b)
			return o.share >= least-asChance
		}
	}
	return false
}

// words are how a kind of comparison is spoken of.
func (a *alike) words() string {
	switch a.between {
	case betweenWindows:
		return "windows of one process"
	case betweenNodes:
		return "processes of one role"
	}
	return "the profiles"
}

// unlike says that profiles of one load differ too much, nil if they do not. What was compared decides: windows,
// else nodes, else profiles of unknown processes. Where they have too few samples each to be alike, and where there
// is one profile only, the halves of the whole decide.
func (j *judge) unlike() *Refusal {
	if i := slices.IndexFunc(j.groups, func(a alike) bool { return !math.IsNaN(a.share) }); i >= 0 {
		switch a := &j.groups[i]; {
		case a.share >= j.options.MinOverlap:
			return nil
		case a.differ():
			return j.differing(a)
		}
	}
	for i := range j.Overlaps {
		switch o := &j.Overlaps[i]; {
		case o.Between != betweenHalves:
		case o.Share >= j.options.MinOverlap:
			return nil
		default:
			return &Refusal{
				"unlike-halves", fmt.Sprintf("two halves of the samples share only %s of their calls (needs %s): too few samples for so many different calls",
					below(o.Share, j.options.MinOverlap), ratio(j.options.MinOverlap)), "profile longer, or add profiles of other nodes",
			}
		}
	}
	return &Refusal{"no-overlap", "cannot compare profiles: there are no calls between Go functions", ""}
}

// differing says that the profiles of a group are of different loads, or why else they differ.
func (j *judge) differing(a *alike) *Refusal {
	r := &Refusal{
		"unlike", fmt.Sprintf("%s share only %s of their calls (needs %s)", a.words(), below(a.share, j.options.MinOverlap), ratio(j.options.MinOverlap)),
		"profile the load that counts, at all of them for as long; what differs is in the overlaps",
	}
	for _, c := range j.Cautions {
		if c.ID == "two-go-versions" || c.ID == "two-builds" {
			r.Message += ": " + c.Message
			return r
		}
	}
	if !math.IsNaN(a.chance) {
		r.Message += ": their loads differ; samples of one load would share " + ratio(a.chance)
	}
	return r
}

// ratio writes a share as the tables do.
func ratio(share float64) string { return fmt.Sprintf("%.2f", share) }

// below writes a share that is less than what is wanted, and does not round it up to that.
func below(share, wanted float64) string {
	const digits = 100
	if math.Round(digits*share) >= digits*wanted {
		return ratio(math.Floor(digits*share) / digits)
	}
	return ratio(share)
}

// cautionUnlike names the profiles that are unlike their peers, and groups that differ though they do not decide.
func (j *judge) cautionUnlike() {
	for i := range j.groups {
		a := &j.groups[i]
		if a.share < j.options.MinOverlap && a.differ() {
			if r := j.differing(a); !slices.Contains(j.Refusals, *r) {
				j.Cautions = append(j.Cautions, *r)
			}
		}
		var names []string
		for _, o := range a.odd {
			name := j.name(o.profile) + " (" + ratio(o.share)
			if own := j.pool.of[o.profile]; own.counted {
				name += ", " + words.Plural(int(own.total), "sample")
			}
			names = append(names, name+")")
		}
		if len(names) > 0 {
			others := peers(a.between)
			if !math.IsNaN(a.share) {
				others += ", they have " + ratio(a.share) + " of their calls in common"
			}
			j.Cautions = append(j.Cautions, Refusal{
				"odd-ones", fmt.Sprintf("unlike the other %s: %s", others, words.FirstOf(names, 3, ", ")),
				"idle, or under another load? leave out what does not count",
			})
		}
	}
}

func peers(between string) string {
	if between == betweenNodes {
		return "processes of their role"
	}
	return between
}
