package balance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

// Verdict is the predicted behaviour of Milvus's own balancer on a replica.
type Verdict struct {
	// Balancer is queryCoord.balancer, e.g. "ScoreBasedBalancer". BalancerFrom is the origin of the value,
	// "default" if it is not set.
	Balancer, BalancerFrom string
	// Modelled is false if the behaviour is not computed. Why holds the reason.
	Modelled bool
	// Round is the number of segments in the first round, Moves all moves until the balancer stops, and After the
	// spread at that point.
	Round int
	Moves []Move
	After Spread
	// Acts reports whether it would move anything now: it is on, and has a move.
	Acts bool
	// Behavior describes the behaviour of the balancer when it is on, and why it does no more. Why also includes
	// whether it is on.
	Behavior, Why string
}

// hasQuotas reports whether a version's score based balancer has quotas. The generations of that balancer:
//
//   - Up to 2.3.4 it is not modelled. Neither is the row count based balancer, the default before 2.2.9 (pull
//     requests 23805, 23806).
//   - From 2.3.5 (29209) to 2.3.18 and 2.4.6, nodes above the average give away their smallest segments. Growing
//     rows count, since 2.3.8 (30293) with queryCoord.growingRowCountWeight.
//   - Since 2.3.19 and 2.4.7 (34600, 34889) it has quotas: each node has a part of the score, by its memory since
//     2.4.13, and nodes with delegators get less. A round moves few segments. Growing rows count once.
func hasQuotas(version string) bool {
	n := numbers(version)
	return n == nil || slices.Compare(n, []int{2, 4, 7}) >= 0 ||
		slices.Compare(n, []int{2, 3, 19}) >= 0 && slices.Compare(n, []int{2, 4, 0}) < 0
}

// isUnmodeled reports whether a version's score based balancer is not modelled.
func isUnmodeled(version string) bool {
	n := numbers(version)
	return n != nil && slices.Compare(n, []int{2, 3, 5}) < 0
}

// Settings with Milvus's defaults if QueryCoord reports no value (pkg/util/paramtable/component_param.go).
const (
	globalFactorKey  = "queryCoord.globalRowCountFactor"
	tolerationKey    = "queryCoord.scoreUnbalanceTolerationFactor"
	reverseKey       = "queryCoord.reverseUnBalanceTolerationFactor"
	growingWeightKey = "queryCoord.growingRowCountWeight"
	delegatorKey     = "queryCoord.delegatorMemoryOverloadFactor"
	batchKey         = "queryCoord.collectionBalanceSegmentBatchSize"
	// BalancerKey is the setting with the name of the balancer.
	BalancerKey = "queryCoord.balancer"
)

// Milvus computes the moves of Milvus's own balancer on a replica, with the factors of this cluster's QueryCoord.
// It ignores running tasks and channels.
func (s *Survey) Milvus(g *Group) *Verdict {
	v := &Verdict{After: g.Spread}
	v.Balancer, v.BalancerFrom = s.setting(BalancerKey, s.defaultBalancer())
	if v.Behavior = s.unmodelled(g, v.Balancer); v.Behavior != "" {
		v.Why = v.Behavior
		return v
	}
	v.Modelled = true
	m := s.newScoreBalancer(g)
	for range maxRounds {
		moves := m.round()
		if len(v.Moves) == 0 {
			v.Round = len(moves)
		}
		if len(moves) == 0 {
			break
		}
		v.Moves = append(v.Moves, moves...)
	}
	v.Moves = mergeMoves(v.Moves)
	v.After = spreadOf(sharesAfterMoves(g, v.Moves, s.items()[g]))
	v.Acts = s.Auto.Known && s.Auto.On && len(v.Moves) > 0
	v.Behavior = v.behavior(m)
	v.Why = v.why(&s.Auto)
	return v
}

// maxRounds is more than a balancer needs to stop.
const maxRounds = 200

func (s *Survey) setting(key, fallback string) (value, from string) {
	if x, ok := s.cluster.Setting(key, QueryCoords()...); ok && strings.TrimSpace(x.Value) != "" {
		return strings.TrimSpace(x.Value), x.From
	}
	return fallback, "default"
}

// factor returns a numeric setting, or fallback if it is missing or invalid.
func (s *Survey) factor(key string, fallback float64) float64 {
	value, _ := s.setting(key, "")
	if x, err := strconv.ParseFloat(value, 64); err == nil && x >= 0 {
		return x
	}
	return fallback
}

// defaultBalancer returns the default balancer: the row count based one before 2.2.9 (pull requests 23805, 23806).
func (s *Survey) defaultBalancer() string {
	if n := numbers(s.cluster.Version.Text); n != nil && slices.Compare(n, []int{2, 2, 9}) < 0 {
		return "RowCountBasedBalancer"
	}
	return "ScoreBasedBalancer"
}

// exclusiveBalancer divides the nodes of a replica among its channels.
const exclusiveBalancer = "ChannelLevelScoreBalancer"

// Exclusive reports whether a replica's nodes are divided among its channels (2.4 and later). A segment then stays
// on the nodes of its own channel, and channels of different sizes are uneven by design. The records outlive the
// balancer that wrote them (replica.go: ChannelNodeInfos), so the balancer that QueryCoord reports takes
// precedence.
func (s *Survey) Exclusive(g *Group) bool {
	if g.Replica == nil {
		return false
	}
	if balancer, from := s.setting(BalancerKey, exclusiveBalancer); from != "default" && balancer != exclusiveBalancer {
		return false
	}
	for _, nodes := range g.Replica.ChannelNodes {
		if len(nodes) > 0 {
			return true
		}
	}
	return false
}

// AssignsByMemory reports whether Milvus assigns rows to a node by its memory: pull request 36466, in 2.5.0, and 36625
// of 2024-09-30, in 2.4.13. An unknown version counts as a new one.
func AssignsByMemory(version string) bool {
	n := numbers(version)
	return n == nil || slices.Compare(n, []int{2, 4, 13}) >= 0
}

// numbers returns the three numbers of a version, nil if it has fewer than two.
func numbers(version string) []int {
	var n []int
	for part := range strings.SplitSeq(strings.TrimPrefix(version, "v"), ".") {
		digits := part
		if i := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
			digits = part[:i]
		}
		x, err := strconv.Atoi(digits)
		if err != nil {
			break
		}
		n = append(n, x)
	}
	if len(n) < 2 {
		return nil
	}
	return append(n, 0)[:3]
}

// unmodelled returns the reason why the balancer's moves cannot be computed, "" if they can.
func (s *Survey) unmodelled(g *Group, balancer string) string {
	switch balancer {
	case "ScoreBasedBalancer":
	case exclusiveBalancer:
		if s.Exclusive(g) {
			return "its nodes are divided among channels: moves of " + balancer + " are not computed"
		}
	default:
		return "moves of " + balancer + " are not computed"
	}
	if isUnmodeled(s.cluster.Version.Text) {
		return "moves of the balancer before Milvus 2.3.5 are not computed"
	}
	if why := s.unreadParts(); why != "" {
		return why
	}
	takers := 0
	for _, x := range g.Shares {
		if !x.assignable {
			continue
		}
		takers++
		if !x.Known || x.FromMetrics {
			return x.Name() + " did not report its segments"
		}
	}
	if g.Replica == nil || takers < 2 {
		return "nothing to balance: fewer than two nodes take its segments"
	}
	return ""
}

// behavior describes the balancer's behaviour when it is on.
func (v *Verdict) behavior(m *scoreBalancer) string {
	switch {
	case len(v.Moves) == 1:
		return v.Balancer + " moves one segment"
	case len(v.Moves) > 0:
		return fmt.Sprintf("%s moves %d segments, %d in the first round", v.Balancer, len(v.Moves), v.Round)
	case m.tolerated():
		return fmt.Sprintf("%s moves nothing: scores differ by %.1f%%, tolerance %.4g%%", v.Balancer,
			100*m.difference(), 100*m.toleration)
	}
	return v.Balancer + " moves nothing: every move would only reverse the difference"
}

// why describes whether it is on, and its behaviour.
func (v *Verdict) why(a *Auto) string {
	switch {
	case !a.Known:
		return "auto-balance unknown; if on, " + v.Behavior
	case !a.On:
		return fmt.Sprintf("auto-balance is off (%s: %s=%s); if on: %s", a.From, SwitchKey, a.Value, v.Behavior)
	}
	return v.Behavior
}

// mergeMoves merges several moves of a segment into a single move, and drops segments that return to their node.
func mergeMoves(moves []Move) []Move {
	at := make(map[model.SegmentID]int, len(moves))
	var list []Move
	for _, m := range moves {
		if i, ok := at[m.Segment]; ok {
			list[i].To = m.To
			continue
		}
		at[m.Segment] = len(list)
		list = append(list, m)
	}
	return slices.DeleteFunc(list, func(m Move) bool { return m.From == m.To })
}
