package layout

import (
	"fmt"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
	"kitescope/internal/words"
	"kitescope/replay"
)

// Balanced is where inspect/balance's plan, the one that `balance --plan` shows, would put the sealed segments of a layout's
// collection: the node of each segment in the first replica, and how many moves lead there, of all replicas. Where there is no
// plan, place is what the layout has and notes say why. An error means that the layout is of another cluster.
func Balanced(c *model.Cluster, l *replay.Layout) (place map[int64]int64, moves int, notes []string, err error) {
	if c.Collection(model.CollectionID(l.Collection.ID)) == nil {
		return nil, 0, nil, fmt.Errorf("plan the balance of collection %s: the cluster has no collection with id %d", l.Collection.Name, l.Collection.ID)
	}
	place = make(map[int64]int64, len(l.Segments))
	for i := range l.Segments {
		if s := &l.Segments[i]; len(s.On) > 0 && s.On[0] != 0 {
			place[s.ID] = s.On[0]
		}
	}
	if l.Assumed {
		return place, 0, []string{"no plan: no node reported the segments it serves"}, nil
	}
	survey := balance.Take(c)
	var groups []*balance.Group
	for _, g := range survey.Groups {
		if int64(g.ID) == l.Collection.ID {
			groups = append(groups, g)
		}
	}
	if len(groups) == 0 {
		return place, 0, []string{"no plan: the collection is not loaded"}, nil
	}
	for _, p := range survey.Plans(groups, balance.Options{}) {
		moves += len(p.Moves)
		first := p.Group.Replica == nil || len(l.Replicas) > 0 && int64(p.Group.Replica.ID) == l.Replicas[0].ID
		for _, m := range p.Moves {
			if first {
				place[int64(m.Segment)] = int64(m.To)
			}
		}
		notes = append(notes, planNotes(p)...)
	}
	return place, moves, notes, nil
}

// planNotes are what a plan comes to.
func planNotes(p *balance.Plan) (notes []string) {
	about := "the collection"
	if p.Group.Replica != nil {
		about = "replica " + p.Group.Replica.ID.String()
	}
	switch {
	case p.Unplanned:
		return []string{about + ": no plan: " + p.Why}
	case len(p.Moves) == 0 && p.Reached:
		notes = append(notes, fmt.Sprintf("%s: already even, the busiest node has %.2f times the mean", about, p.Before.MaxMean))
	default:
		notes = append(notes, fmt.Sprintf("%s: %s take the busiest node from %.2f to %.2f times the mean", about,
			words.Count(len(p.Moves), "move would", "moves would"), p.Before.MaxMean, p.After.MaxMean))
	}
	if p.Why != "" {
		notes = append(notes, about+": "+p.Why)
	}
	return notes
}
