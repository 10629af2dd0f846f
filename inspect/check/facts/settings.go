package facts

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
)

// Setting returns a setting like Cluster.Setting. If no source reports it, it has the default of its version only
// if a process reported its configuration without it. Otherwise it is unknown, and Setting calls OnUnknownSetting.
func (f *Facts) Setting(key string, roles ...string) (model.Setting, bool) {
	s, ok := f.Cluster.Setting(key, roles...)
	if !ok && f.OnUnknownSetting != nil {
		if why := f.whyNoConfig(key, roles); why != "" {
			f.OnUnknownSetting(key, why)
		}
	}
	return s, ok
}

// AutoBalance returns the state of Milvus's own balancer. Like Setting it calls OnUnknownSetting if the setting is
// unknown.
func (f *Facts) AutoBalance() balance.Auto {
	f.Setting(balance.SwitchKey, balance.QueryCoords()...)
	return f.Balance.Auto
}

// Exclusive returns the result of Survey.Exclusive for a replica. If that is true, it calls OnUnknownSetting if the
// setting of the balancer is unknown.
func (f *Facts) Exclusive(g *balance.Group) bool {
	exclusive := f.Balance.Exclusive(g)
	if exclusive {
		f.Setting(balance.BalancerKey, balance.QueryCoords()...)
	}
	return exclusive
}

// whyNoConfig returns the reason why no process of the given roles reported its configuration, "" if one did. MixCoord
// responds like RootCoord, with only RootCoord's keys (Milvus 2.6, internal/coordinator/mix_coord.go,
// ShowConfigurations). In that case a proxy's configuration may replace its own.
func (f *Facts) whyNoConfig(key string, roles []string) string {
	if f.Runtime == nil {
		return NotAsked
	}
	component, _, _ := strings.Cut(key, ".")
	why := "no " + strings.Join(roles, " or ") + " found"
	for _, n := range slices.Backward(f.Runtime.Nodes) {
		switch {
		case !slices.Contains(roles, n.Role):
		case n.Config == nil:
			why = n.Name() + ": " + WhySilent(n)
		case n.Role == "mixcoord" && !n.Config.HasComponent(component):
			if copied, _ := f.Runtime.SubstituteConfig(key, roles...); copied != nil {
				return ""
			}
			why = n.Name() + " reports only RootCoord's settings" + f.WhyNoConfigPage()
		default:
			return ""
		}
	}
	return why
}

// WhyNoConfigPage returns the reason why no page of the HTTP servers supplied the keys that MixCoord does not report,
// "" if no page was requested for them.
func (f *Facts) WhyNoConfigPage() string {
	for _, p := range f.Runtime.Processes {
		for i := range p.Calls {
			if c := &p.Calls[i]; c.OfConfigs() && c.Outcome != model.Answered {
				return " (" + c.Node.Name(c.Role) + " " + c.Method + ": " + c.Outcome.With(c.Reason) + ")"
			}
		}
	}
	return ""
}

// SettingSeconds returns a configured number of seconds, or def if no process and no dynamic key has it.
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

// SettingCount returns a configured integer, or def if no source has it.
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

// setting returns a number from the cluster's configuration, or fallback, and its source.
func (f *Facts) setting(key string, fallback float64, roles ...string) (value float64, from string) {
	if s, ok := f.Setting(key, roles...); ok {
		if v, err := strconv.ParseFloat(strings.TrimSpace(s.Value), 64); err == nil {
			return v, s.From
		}
	}
	return fallback, "Milvus default"
}

// SettingSource returns the source of a setting of DataCoord, "default" if no source has it.
func (f *Facts) SettingSource(key string) string {
	if s, ok := f.Setting(key, DataCoords()...); ok {
		return s.From
	}
	return "default"
}

// DataCoords returns the roles that report DataCoord's settings.
func DataCoords() []string { return []string{"datacoord", "mixcoord", "indexcoord"} }
