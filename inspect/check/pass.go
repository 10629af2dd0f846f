package check

import (
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Before returns the TSO of the time d before the cluster's time. Objects with a later TSO are too young to
// be judged. Comparing TSOs is cheaper than comparing times, and each segment has two or three. If the time
// is unknown, Before returns 0 because nothing is known to be old, and notes that the check is incomplete.
func (p *Pass) Before(d time.Duration) model.TSO {
	if p.timeUnknown() {
		return 0
	}
	return model.TSOFromTime(p.Now.Add(-d))
}

// timeUnknown reports whether the time of the metadata is unknown, so nothing is known to be old. It also notes
// this as unseen.
func (p *Pass) timeUnknown() bool {
	if !p.Now.IsZero() {
		return false
	}
	p.noteUnseenOnce("ages: the time of the metadata is unknown")
	return true
}

func (p *Pass) noteUnseenOnce(what string) {
	if !slices.Contains(p.result.Unseen, what) {
		p.NoteUnseen(what)
	}
}

// Dynamic returns the dynamic configuration keys in etcd. If they were not read, it notes this: Birdwatcher's
// backups omit them.
func (p *Pass) Dynamic() []*model.ConfigEntry {
	if !p.Loaded.Has(model.PartConfig) {
		p.noteUnseenOnce("dynamic keys in etcd: not read")
	}
	return p.Config
}

// DynamicKey returns the full key in etcd for a setting; set reports whether it exists. Of several spellings
// it returns the effective one (model.DynamicEntry), because a key with another spelling may have no effect.
func (p *Pass) DynamicKey(key string) (full string, set bool) {
	name := strings.ReplaceAll(key, ".", "/")
	if e := model.DynamicEntry(p.Dynamic(), key); e != nil {
		name, set = e.Name, true
	}
	return path.Join(p.Origin.Root, "config", name), set
}

// noteUnknownSetting records a setting that is unknown. noteUnknownSettings reports all of them together.
func (p *Pass) noteUnknownSetting(key, why string) {
	if !slices.Contains(p.unknownSettings[why], key) {
		p.unknownSettings[why] = append(p.unknownSettings[why], key)
	}
}

func (p *Pass) noteUnknownSettings() {
	for _, why := range slices.Sorted(maps.Keys(p.unknownSettings)) {
		p.NoteUnseen("settings (" + words.Summarize(p.unknownSettings[why]) + "): " + why)
	}
}

// OlderThan reports whether t is known to be at least d ago. If t is not recorded, it returns unknown.
func (p *Pass) OlderThan(t time.Time, d time.Duration, unknown bool) bool {
	if t.IsZero() {
		return unknown
	}
	if p.timeUnknown() {
		return false
	}
	return p.Now.Sub(t) >= d
}
