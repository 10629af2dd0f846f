package facts

import (
	"slices"

	"kitescope/inspect/model"
)

// startSetting is a setting that a process reads only when it starts: it reports a later value from etcd but does
// not apply it.
type startSetting struct {
	key   string // folded
	roles []string
	// refreshed is the first release that applies later values, zero if no release does; source is the place in
	// Milvus that reads the value.
	refreshed Release
	source    string
}

// startSettings returns the settings of this kind that checks judge. All other keys that checks advise to set
// are read at each use.
func startSettings() []startSetting {
	searchers, queryCoords := []string{"querynode", "streamingnode"}, []string{"querycoord", "mixcoord"}
	dataCoords := []string{"datacoord", "mixcoord"}
	return []startSetting{
		{
			"querynodeschedulermaxreadconcurrentratio", searchers,
			Release{},
			"internal/querynodev2/tasks/concurrent_safe_scheduler.go, newScheduler",
		},
		{
			"querynodesegcoreknowherethreadpoolnumratio", searchers,
			Release{Major: 2, Minor: 6},
			"internal/querynodev2/server.go, InitSegcore",
		},
		{
			"querynodesegcoreinterimindexenableindex", searchers,
			Release{},
			"internal/util/initcore, InitInterminIndexConfig",
		},
		{
			"commonsimdtype",
			[]string{"querynode", "streamingnode", "indexnode"},
			Release{},
			"internal/querynodev2/server.go, InitSegcore",
		},
		{
			"querycoordcheckinterval", queryCoords,
			Release{},
			"internal/querycoordv2/checkers/controller.go, startChecker",
		},
		{"querycoorddistpullinterval", queryCoords, Release{}, "internal/querycoordv2/dist/dist_handler.go, start"},
		{"datacoordenablecompaction", dataCoords, Release{}, "internal/datacoord/server.go, startServerLoop"},
		{
			"datacoordenablegarbagecollection", dataCoords,
			Release{},
			"internal/datacoord/server.go, initGarbageCollection",
		},
	}
}

// ReadAtStart returns the roles that read a folded key only when they start, and the place in Milvus where they do.
// It returns nil if processes apply later values.
func ReadAtStart(c *model.Cluster, key string) (roles []string, source string) {
	for _, s := range startSettings() {
		if s.key == key && (s.refreshed == Release{} || ReleaseOf(c).Before(s.refreshed)) {
			return s.roles, s.source
		}
	}
	return nil, ""
}

// StartedBefore returns the sessions that read the key of e only when they start, and that registered before its
// newest value was written.
func StartedBefore(c *model.Cluster, e *model.ConfigEntry) (list []*model.Session) {
	roles, _ := ReadAtStart(c, model.FoldConfigKey(e.Name))
	for _, s := range c.Sessions {
		if slices.Contains(roles, s.Role) && s.Revision > 0 && s.Revision < e.ModRevision {
			list = append(list, s)
		}
	}
	return list
}
