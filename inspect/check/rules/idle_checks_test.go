package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// TestSwitchInEtcd checks that a fix turns on a switch by its existing dynamic key, regardless of the key's
// spelling. With several keys it uses the one that Milvus reads last.
func TestSwitchInEtcd(t *testing.T) {
	leaders := func(keys ...string) *rulestest.Scene {
		s := rulestest.NewScene("true", 11, 12, 13)
		s.Live("querycoord", 1).Config.Values["querycoordautobalancechannel"] = "false"
		s.Load(7, "rg", map[model.NodeID]int{11: 5, 12: 5, 13: 5})
		s.Lead(11, 7, 6)
		return s.Dynamic(keys...)
	}
	for _, x := range []struct {
		check, want string
		scene       *rulestest.Scene
	}{
		{
			"auto-balance-off", "etcdctl put by-dev/config/queryCoord/autoBalance true",
			rulestest.Spread("false", 5, 5, 0),
		},
		{
			"auto-balance-off", "etcdctl put by-dev/config/querycoord.autobalance true",
			rulestest.Spread("false", 5, 5, 0).Dynamic("querycoord.autobalance"),
		},
		{"imbalance-leaders", "etcdctl put by-dev/config/queryCoord/autoBalanceChannel true", leaders()},
		{
			"imbalance-leaders", "etcdctl put by-dev/config/queryCoord.autoBalanceChannel true",
			leaders("queryCoord/autoBalance", "queryCoord.autoBalanceChannel"),
		},
		{
			"imbalance-leaders", "etcdctl put by-dev/config/queryCoord/autoBalanceChannel true",
			leaders("queryCoord.autoBalanceChannel", "queryCoord/autoBalanceChannel"),
		},
	} {
		r := x.scene.Run(rulestest.ByID(x.check))
		if len(r.Findings) != 1 || string(r.Findings[0].Command().Command) != x.want {
			t.Errorf("%s: %s, want one finding, and %s", x.check, rulestest.Format(r), x.want)
		}
	}
}
