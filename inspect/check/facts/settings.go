package facts

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
)

// Setting is a setting as Cluster.Setting has it. One that nobody tells has the default of its version only if a process told its
// configuration without it: else it is unknown, which Unread is told.
func (f *Facts) Setting(key string, roles ...string) (model.Setting, bool) {
	s, ok := f.Cluster.Setting(key, roles...)
	if !ok && f.Unread != nil {
		if why := f.untold(key, roles); why != "" {
			f.Unread(key, why)
		}
	}
	return s, ok
}

// AutoBalance is the switch of Milvus's own balancer, and like Setting of it.
func (f *Facts) AutoBalance() balance.Auto {
	f.Setting(balance.SwitchKey, balance.QueryCoords()...)
	return f.Balance.Auto
}

// Exclusive is what Survey.Exclusive says of a replica, and like Setting of the balancer.
func (f *Facts) Exclusive(g *balance.Group) bool {
	exclusive := f.Balance.Exclusive(g)
	if exclusive {
		f.Setting(balance.BalancerKey, balance.QueryCoords()...)
	}
	return exclusive
}

// untold says why none of some roles told its configuration, "" if one did. MixCoord answers as RootCoord does, with the keys
// of that (Milvus 2.6, internal/coordinator/mix_coord.go, ShowConfigurations); then a proxy's configuration may stand for its own.
func (f *Facts) untold(key string, roles []string) string {
	if f.Runtime == nil {
		return NotAsked
	}
	component, _, _ := strings.Cut(key, ".")
	why := "there is no " + strings.Join(roles, " or ")
	for _, n := range slices.Backward(f.Runtime.Nodes) {
		switch {
		case !slices.Contains(roles, n.Role):
		case n.Config == nil:
			why = n.Name() + ": " + WhySilent(n)
		case n.Role == "mixcoord" && !n.Config.HasBelow(component):
			if copied, _ := f.Runtime.CopiedConfig(key, roles...); copied != nil {
				return ""
			}
			why = n.Name() + " reports those of RootCoord only" + f.Unfilled()
		default:
			return ""
		}
	}
	return why
}

// Unfilled says why no page of the HTTP servers filled in what MixCoord does not report, "" if none was asked for that.
func (f *Facts) Unfilled() string {
	for _, p := range f.Runtime.Processes {
		for i := range p.Calls {
			if c := &p.Calls[i]; c.OfConfigs() && c.Outcome != model.Answered {
				return " (" + c.Node.Name(c.Role) + " " + c.Method + ": " + c.Outcome.With(c.Reason) + ")"
			}
		}
	}
	return ""
}

// SettingSeconds is a configured number of seconds, the default if no process and no dynamic key tells it.
func (f *Facts) SettingSeconds(key string, def time.Duration, roles ...string) time.Duration {
	s, ok := f.Setting(key, roles...)
	if !ok {
		return def
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(s.Value), 64)
	if err != nil || v < 0 {
		return def
	}
	return time.Duration(v * float64(time.Second))
}

// SettingCount is a configured number, the default if nobody tells it.
func (f *Facts) SettingCount(key string, def int64, roles ...string) int64 {
	s, ok := f.Setting(key, roles...)
	if !ok {
		return def
	}
	v, err := strconv.ParseInt(strings.TrimSpace(s.Value), 10, 64)
	if err != nil {
		return def
	}
	return v
}

// setting reads a number of the cluster's own configuration, else its default; from says which.
func (f *Facts) setting(key string, fallback float64, roles ...string) (value float64, from string) {
	if s, ok := f.Setting(key, roles...); ok {
		if v, err := strconv.ParseFloat(strings.TrimSpace(s.Value), 64); err == nil {
			return v, s.From
		}
	}
	return fallback, "default of Milvus"
}

// SettingSource says where a setting of DataCoord's was told, "default" if nowhere.
func (f *Facts) SettingSource(key string) string {
	if s, ok := f.Setting(key, DataCoords()...); ok {
		return s.From
	}
	return "default"
}

// DataCoords are the roles that DataCoord's settings are told by.
func DataCoords() []string { return []string{"datacoord", "mixcoord", "indexcoord"} }
