package layout

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"kitescope/inspect/model"
	"kitescope/replay/schedule"
)

// The settings of a query node's read scheduler. queryNode.scheduler.receiveChanSize, .unsolvedQueueSize and
// .scheduleReadPolicy.maxPendingTask are not among them: they bound no search that is ready to run (see schedule.Knobs).
const (
	keyConcurrency = "queryNode.scheduler.maxReadConcurrentRatio"
	keyCPURatio    = "queryNode.scheduler.cpuRatio"
	keyPolicy      = "queryNode.scheduler.scheduleReadPolicy.name"
	keyPerUser     = "queryNode.scheduler.scheduleReadPolicy.maxPendingTaskPerUser"
	keyCrossUser   = "queryNode.scheduler.scheduleReadPolicy.enableCrossUserGrouping"
	keyGrouping    = "queryNode.grouping.enabled"
	keyMaxNQ       = "queryNode.grouping.maxNQ"
	keyTopKRatio   = "queryNode.grouping.topKMergeRatio"
)

// knobs are a node's own settings, then those of any query node, then dynamic ones, then the release's defaults. From has who told each.
func (b *builder) knobs(id model.NodeID, cores float64) schedule.Knobs {
	k := schedule.Defaults(b.l.Version, cores)
	k.From = make(map[string]string)
	x := &knobReader{b: b, id: id, from: k.From}
	x.float(keyConcurrency, &k.ConcurrencyRatio)
	if b.before(3) { // later releases keep these keys and do not read them
		x.float(keyCPURatio, &k.CPURatio)
		x.flag(keyGrouping, &k.Grouping)
	} else {
		x.count(keyPerUser, &k.WaitingPerUser)
		x.flag(keyCrossUser, &k.CrossUser)
	}
	x.count(keyMaxNQ, &k.MaxNQ)
	x.float(keyTopKRatio, &k.TopKRatio)
	if text, ok := x.value(keyPolicy); ok {
		for name, policy := range map[string]schedule.Policy{"fifo": schedule.FIFO, "user-task-polling": schedule.UserTaskPolling} {
			if strings.EqualFold(text, name) {
				k.Policy = policy
				x.took(keyPolicy)
			}
		}
	}
	return k
}

// keyChunkRows is how many rows of a growing segment a node searches at a time: each chunk is a search of its own in knowhere.
const keyChunkRows = "queryNode.segcore.chunkRows"

// chunkRows is the setting of any query node, else the release's: 1024 in the configurations that 2.1.0 and 2.2.16 come with, 128 in that of 2.3.5.
func (b *builder) chunkRows() int {
	rows := 128
	if b.before(3) {
		rows = 1024
	}
	if s, ok := b.Setting(keyChunkRows, "querynode"); ok {
		if v, err := strconv.Atoi(strings.TrimSpace(s.Value)); err == nil && v > 0 {
			rows = v
		}
	}
	return rows
}

// knobReader reads the settings of one node, and keeps who told them.
type knobReader struct {
	b    *builder
	id   model.NodeID
	from map[string]string
	last string
}

func (x *knobReader) value(key string) (text string, ok bool) {
	if n := x.b.Runtime.LiveNode("querynode", x.id); n != nil {
		if text, ok = n.Config.Get(key); ok {
			x.last = n.Name()
			return strings.TrimSpace(text), true
		}
	}
	s, ok := x.b.Setting(key, "querynode")
	x.last = s.From
	return strings.TrimSpace(s.Value), ok
}

func (x *knobReader) took(key string) { x.from[key] = x.last }

func (x *knobReader) float(key string, to *float64) {
	text, ok := x.value(key)
	if v, err := strconv.ParseFloat(text, 64); ok && err == nil && v > 0 && !math.IsInf(v, 0) {
		*to = v
		x.took(key)
	}
}

func (x *knobReader) count(key string, to *int) {
	text, ok := x.value(key)
	if v, err := strconv.Atoi(text); ok && err == nil && v > 0 {
		*to = v
		x.took(key)
	}
}

func (x *knobReader) flag(key string, to *bool) {
	text, ok := x.value(key)
	if v, err := strconv.ParseBool(text); ok && err == nil {
		*to = v
		x.took(key)
	}
}

// defaultsNote says which settings nobody told, "" if all were.
func defaultsNote(k *schedule.Knobs) string {
	keys := []string{keyConcurrency, keyMaxNQ, keyTopKRatio, keyPolicy}
	var missing []string
	for _, key := range keys {
		if k.From[key] == "" {
			missing = append(missing, key)
		}
	}
	switch len(missing) {
	case 0:
		return ""
	case len(keys):
		return "no query node reported its read scheduler settings: using the defaults of " + k.Rules
	}
	return fmt.Sprintf("%s: not reported, using the defaults of %s", strings.Join(missing, ", "), k.Rules)
}
