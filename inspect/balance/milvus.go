package balance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

// Verdict is what Milvus's own balancer makes of a replica.
type Verdict struct {
	// Balancer is queryCoord.balancer: "ScoreBasedBalancer". BalancerFrom is who says so, "default" if nobody does.
	Balancer, BalancerFrom string
	// Modelled is false if what it would do is not computed; Why says why.
	Modelled bool
	// Round is how many segments it would move at once, Moves all until it rests, After how even the replica is then.
	Round int
	Moves []Move
	After Spread
	// Acts reports whether it would move anything now: it is on, and finds something to move.
	Acts bool
	// Does says in words what it does when it is on, and why not more; Why whether it is on, and that.
	Does, Why string
}

// Generations of the score based balancer: up to 2.3.4 it is not modelled, nor is the row count based one, the default before 2.2.9 (pull
// requests 23805, 23806). From 2.3.5 (29209) to 2.3.18 and 2.4.6 nodes above the average give their smallest segments; growing rows count,
// since 2.3.8 (30293) with queryCoord.growingRowCountWeight. From 2.3.19 and 2.4.7 on (34600, 34889) it has quotas: each node has a part of
// the score, by its memory since 2.4.13, and delegators are given less; a round moves few segments; growing rows count once.
func hasQuotas(version string) bool {
	n := numbers(version)
	return n == nil || slices.Compare(n, []int{2, 4, 7}) >= 0 || slices.Compare(n, []int{2, 3, 19}) >= 0 && slices.Compare(n, []int{2, 4, 0}) < 0
}

// beforeAverages reports whether a version's score based balancer is one that is not modelled.
func beforeAverages(version string) bool {
	n := numbers(version)
	return n != nil && slices.Compare(n, []int{2, 3, 5}) < 0
}

// Defaults of Milvus where QueryCoord tells no value (pkg/util/paramtable/component_param.go).
const (
	globalFactorKey  = "queryCoord.globalRowCountFactor"
	tolerationKey    = "queryCoord.scoreUnbalanceTolerationFactor"
	reverseKey       = "queryCoord.reverseUnBalanceTolerationFactor"
	growingWeightKey = "queryCoord.growingRowCountWeight"
	delegatorKey     = "queryCoord.delegatorMemoryOverloadFactor"
	batchKey         = "queryCoord.collectionBalanceSegmentBatchSize"
	// BalancerKey names the balancer.
	BalancerKey = "queryCoord.balancer"
)

// Milvus works out what Milvus's own balancer would do with a replica, with the factors of this
// cluster's QueryCoord. Tasks that are under way, and channels, are left out.
func (s *Survey) Milvus(g *Group) *Verdict {
	v := &Verdict{After: g.Spread}
	v.Balancer, v.BalancerFrom = s.setting(BalancerKey, s.defaultBalancer())
	if v.Does = s.unmodelled(g, v.Balancer); v.Does != "" {
		v.Why = v.Does
		return v
	}
	v.Modelled = true
	m := s.newMachine(g)
	for range mostRounds {
		moves := m.round()
		if len(v.Moves) == 0 {
			v.Round = len(moves)
		}
		if len(moves) == 0 {
			break
		}
		v.Moves = append(v.Moves, moves...)
	}
	v.Moves = joined(v.Moves)
	v.After = spreadOf(moved(g, v.Moves, s.items()[g]))
	v.Acts = s.Auto.Known && s.Auto.On && len(v.Moves) > 0
	v.Does = v.does(m)
	v.Why = v.why(&s.Auto)
	return v
}

// mostRounds is more than a balancer needs to come to rest.
const mostRounds = 200

func (s *Survey) setting(key, otherwise string) (value, from string) {
	if x, ok := s.cluster.Setting(key, QueryCoords()...); ok && strings.TrimSpace(x.Value) != "" {
		return strings.TrimSpace(x.Value), x.From
	}
	return otherwise, "default"
}

// factor reads a number of the configuration.
func (s *Survey) factor(key string, otherwise float64) float64 {
	value, _ := s.setting(key, "")
	if x, err := strconv.ParseFloat(value, 64); err == nil && x >= 0 {
		return x
	}
	return otherwise
}

// defaultBalancer is the row count based one before 2.2.9 (pull requests 23805, 23806).
func (s *Survey) defaultBalancer() string {
	if n := numbers(s.cluster.Version.Text); n != nil && slices.Compare(n, []int{2, 2, 9}) < 0 {
		return "RowCountBasedBalancer"
	}
	return "ScoreBasedBalancer"
}

// exclusiveBalancer divides the nodes of a replica among its channels.
const exclusiveBalancer = "ChannelLevelScoreBalancer"

// Exclusive reports whether a replica's nodes are divided among its channels (2.4 and later): then a segment stays on nodes of its
// own channel, and channels of different sizes are uneven by nature. Records of it outlive the balancer that wrote
// them (replica.go: ChannelNodeInfos), so that what QueryCoord tells of its balancer counts.
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

// ByRoom reports whether Milvus gives a node rows by the memory that it has: pull request 36466, in 2.5.0, and 36625 of
// 2024-09-30, in 2.4.13. A version that nobody tells counts as a new one.
func ByRoom(version string) bool {
	n := numbers(version)
	return n == nil || slices.Compare(n, []int{2, 4, 13}) >= 0
}

// numbers are the three numbers of a version, nil if it has none.
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

// unmodelled says why a balancer's doings cannot be worked out, "" if they can.
func (s *Survey) unmodelled(g *Group, balancer string) string {
	switch balancer {
	case "ScoreBasedBalancer":
	case exclusiveBalancer:
		if s.Exclusive(g) {
			return "its nodes are divided among channels, and " + balancer + " balances within them: not computed"
		}
	default:
		return "what " + balancer + " would do is not computed"
	}
	if beforeAverages(s.cluster.Version.Text) {
		return "what the balancer of Milvus before 2.3.5 would do is not computed"
	}
	if why := s.unread(); why != "" {
		return why
	}
	takers := 0
	for _, x := range g.Shares {
		if !x.takes {
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

// does says what the balancer does when it is on.
func (v *Verdict) does(m *machine) string {
	switch {
	case len(v.Moves) == 1:
		return v.Balancer + " moves one segment"
	case len(v.Moves) > 0:
		return fmt.Sprintf("%s moves %d segments, %d of them at once", v.Balancer, len(v.Moves), v.Round)
	case m.tolerated():
		return fmt.Sprintf("%s moves nothing: scores differ by %.1f%%, tolerance %.4g%%", v.Balancer, 100*m.difference(), 100*m.toleration)
	}
	return v.Balancer + " moves nothing: every move would only reverse the difference"
}

// why says whether it is on, and what it does.
func (v *Verdict) why(a *Auto) string {
	switch {
	case !a.Known:
		return "auto-balance unknown; if on, " + v.Does
	case !a.On:
		return fmt.Sprintf("auto-balance is off (%s: %s=%s); if on: %s", a.From, SwitchKey, a.Value, v.Does)
	}
	return v.Does
}

// joined leaves of several moves of one segment where it comes from and where it ends.
func joined(moves []Move) []Move {
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
