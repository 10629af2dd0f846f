package facts

import (
	"strconv"
	"strings"
	"time"
)

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
