package session_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/model"
)

// TestConfigIsTakenOver checks that setting and deleting a dynamic key of a followed real cluster raises no
// config-drift alarm while processes answer with the old value for a few seconds, and that it does half a minute
// later.
func TestConfigIsTakenOver(t *testing.T) {
	c, answers := loadCapture(t, "healthy-idle")
	const name = "quotaAndLimits/limitWriting/forceDeny"
	parts := c.Parts
	parts.Config = append(slices.Clone(c.Config), &model.ConfigEntry{
		Name: name, Value: "true", ModRevision: c.Origin.Revision + 1,
	})
	set := c.Update(parts)
	f := follow()
	drifts := func() (list []string) {
		for _, x := range f.alarms() {
			if strings.HasPrefix(x, "config-drift ") {
				list = append(list, x)
			}
		}
		return list
	}
	// after returns the answers of processes queried at a duration from now. Every second process, or all, have
	// applied a value.
	after := func(d time.Duration, value string, all bool) *model.Runtime {
		r := answers.RuntimeParts
		r.From, r.To = time.Now().Add(d), time.Now().Add(d+100*time.Millisecond)
		r.Nodes = slices.Clone(r.Nodes)
		for i, n := range r.Nodes {
			if n.Config == nil || !all && i%2 == 0 {
				continue
			}
			told, config := *n, *n.Config
			config.Values = maps.Clone(n.Config.Values)
			config.Values[model.FoldConfigKey(name)] = value
			told.Config = &config
			r.Nodes[i] = &told
		}
		return model.BuildRuntime(r)
	}
	quiet := func(what string) {
		t.Helper()
		if list := drifts(); len(list) > 0 {
			t.Errorf("%s: %q", what, list)
		}
	}
	f.FeedDriver.OnCluster(c)
	f.OnAnswers(answers, c)
	quiet("before")
	f.FeedDriver.OnCluster(set)
	quiet("set, and nobody was asked since")
	f.OnAnswers(after(2*time.Second, "true", false), set)
	quiet("half of them have taken it over")
	f.OnAnswers(after(30*time.Second, "true", false), set)
	if len(drifts()) == 0 {
		t.Error("half a minute later half of them have it not, and nothing is said")
	}
	f.OnAnswers(after(30*time.Second, "true", true), set)
	quiet("all have it")
	parts.Config = c.Config
	f.FeedDriver.OnCluster(set.Update(parts))
	quiet("deleted, and nobody was asked since")
	f.OnAnswers(after(5*time.Second, "true", false), f.Last())
	quiet("deleted, and half of them have it still")
	f.OnAnswers(after(30*time.Second, "true", false), f.Last())
	if len(drifts()) == 0 {
		t.Error("half a minute after it was deleted half of them have it still, and nothing is said")
	}
}
