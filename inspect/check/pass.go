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

// Before is the first TSO of the moment that lies d before the cluster's time: what has a later one
// is too young to be judged. Comparing TSOs is cheaper than times, of which there are two or three a segment.
// Without a time nothing is old enough, and the check has not seen all.
func (p *Pass) Before(d time.Duration) model.TSO {
	if p.timeless() {
		return 0
	}
	return model.TSOFromTime(p.Now.Add(-d))
}

// timeless reports whether the time of the metadata is unknown, and notes it: then nothing is known to be old.
func (p *Pass) timeless() bool {
	if !p.Now.IsZero() {
		return false
	}
	p.unseenOnce("ages: the time of the metadata is unknown")
	return true
}

func (p *Pass) unseenOnce(what string) {
	if !slices.Contains(p.result.Unseen, what) {
		p.Unseen(what)
	}
}

// Dynamic are the dynamic keys in etcd. Birdwatcher's backups leave them out, which is noted.
func (p *Pass) Dynamic() []*model.ConfigEntry {
	if !p.Loaded.Has(model.PartConfig) {
		p.unseenOnce("dynamic keys in etcd: not read")
	}
	return p.Config
}

// DynamicKey is the full key in etcd that sets a setting, and set whether it is there. Of several spellings the one
// that decides (model.DynamicEntry): a key of another one may change nothing.
func (p *Pass) DynamicKey(key string) (full string, set bool) {
	name := strings.ReplaceAll(key, ".", "/")
	if e := model.DynamicEntry(p.Dynamic(), key); e != nil {
		name, set = e.Name, true
	}
	return path.Join(p.Origin.Root, "config", name), set
}

// noteUnread keeps a setting that is unknown; unseenSettings tells of all together.
func (p *Pass) noteUnread(key, why string) {
	if !slices.Contains(p.unread[why], key) {
		p.unread[why] = append(p.unread[why], key)
	}
}

func (p *Pass) unseenSettings() {
	for _, why := range slices.Sorted(maps.Keys(p.unread)) {
		p.Unseen("settings (" + words.Few(p.unread[why]) + "): " + why)
	}
}

// OlderThan reports whether a moment is known to lie at least d back. One that is not recorded does, if unknown says so.
func (p *Pass) OlderThan(t time.Time, d time.Duration, unknown bool) bool {
	if t.IsZero() {
		return unknown
	}
	if p.timeless() {
		return false
	}
	return p.Now.Sub(t) >= d
}
