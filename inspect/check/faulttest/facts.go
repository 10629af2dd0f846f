package faulttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// etcdFact implements the following edits:
//
//	etcd member NAME [leader] [learner] [db=BYTES] [inuse=BYTES] [quota=BYTES] [error=TEXT] [problem=TEXT]
//	etcd activity over=60s revisions=N writes=N [KEY=WRITES]...
//	etcd reads [linear=DURATION] [local=DURATION]
//	etcd problem TEXT
//	etcd elsewhere KEY
func (w *World) etcdFact(args []word) error {
	if w.etcd == nil {
		w.etcd = &model.Etcd{At: w.now}
	}
	if len(args) < 2 {
		return errors.New("etcd wants member, reads, activity, elsewhere or problem, and what of it")
	}
	switch args[0].text {
	case "member":
		return w.etcdMember(args[1:])
	case "activity":
		return w.etcdActivity(args[1:])
	case "reads":
		return w.etcdReads(args[1:])
	case "problem":
		w.etcd.Problem = args[1].text
		return nil
	case "elsewhere":
		w.etcd.Elsewhere = append(w.etcd.Elsewhere, args[1].text)
		return nil
	}
	return fmt.Errorf("etcd %s: unknown", args[0].text)
}

// etcdReads implements "etcd reads linear=DURATION local=DURATION": the duration of reads of one key.
func (w *World) etcdReads(args []word) error {
	for _, a := range args {
		name, value, _ := strings.Cut(a.text, "=")
		d, err := time.ParseDuration(value)
		switch {
		case err != nil:
			return err
		case name == "linear":
			w.etcd.Linear = []time.Duration{d, d, d}
		case name == "local":
			w.etcd.Local = []time.Duration{d, d, d}
		default:
			return fmt.Errorf("etcd has no reads %q", name)
		}
	}
	return nil
}

func (w *World) etcdMember(args []word) error {
	m := model.EtcdMember{Name: args[0].text, Endpoint: args[0].text + ":2379", Version: "3.5.9"}
	for _, a := range args[1:] {
		name, value, _ := strings.Cut(a.text, "=")
		var err error
		switch name {
		case "leader":
			m.Leader = true
		case "learner":
			m.Learner = true
		case "error":
			m.Errors = append(m.Errors, value)
		case "problem":
			m.Problem = value
		case "db":
			m.DBSize, err = parseBytesSize(value)
		case "inuse":
			m.DBInUse, err = parseBytesSize(value)
		case "quota":
			m.DBQuota, err = parseBytesSize(value)
		default:
			err = fmt.Errorf("etcd member has no %q", name)
		}
		if err != nil {
			return err
		}
	}
	w.etcd.Members = append(w.etcd.Members, m)
	return nil
}

// parseBytesSize parses a size in bytes: 2GiB, 300MiB, 4KiB or a plain number.
func parseBytesSize(text string) (int64, error) {
	for suffix, unit := range map[string]int64{"GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10} {
		if number, ok := strings.CutSuffix(text, suffix); ok {
			f, err := strconv.ParseFloat(number, 64)
			return int64(f * float64(unit)), err
		}
	}
	return strconv.ParseInt(text, 10, 64)
}

func (w *World) etcdActivity(args []word) error {
	a, err := w.activity(args)
	w.etcd.Activity = a
	return err
}

// history implements "history over=57s revisions=N writes=N [KEY=WRITES]...": the activity according to the
// past revisions in a file.
func (w *World) history(args []word) error {
	a, err := w.activity(args)
	if err != nil {
		return err
	}
	w.store.header.Recent = a
	return nil
}

// activity parses the number of writes, in total and per key.
func (w *World) activity(args []word) (*model.EtcdActivity, error) {
	a := &model.EtcdActivity{}
	for _, x := range args {
		name, value, _ := strings.Cut(x.text, "=")
		var err error
		switch name {
		case "over":
			a.Over, err = time.ParseDuration(value)
		case "revisions":
			a.Revisions, err = strconv.ParseInt(value, 10, 64)
		case "writes":
			a.Writes, err = strconv.ParseInt(value, 10, 64)
		default:
			var n int64
			n, err = strconv.ParseInt(value, 10, 64)
			a.Hot = append(a.Hot, model.KeyWrites{Key: w.store.absolute(name), Writes: n})
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(a.Hot, func(x, y model.KeyWrites) int { return int(y.Writes - x.Writes) })
	return a, nil
}

// addConfigChange implements "changed KEY TIME": a reader of etcd saw that a dynamic key was set or deleted at
// TIME.
func (w *World) addConfigChange(args []word) error {
	at, err := w.at(args[1].text)
	w.changes = append(w.changes, model.ConfigChange{Name: args[0].text, At: at})
	return err
}

// registered implements "registered NODE ADDRESS TIME": a session was registered with an address at TIME.
func (w *World) registered(args []word) error {
	at, err := w.at(args[2].text)
	role, id, _ := cutLast(args[0].text)
	node, numeric := strconv.ParseInt(id, 10, 64)
	w.starts = append(w.starts, model.Start{Role: role, Node: modelNode(node), Address: args[1].text, At: at})
	return errors.Join(err, numeric)
}

// queueFact implements the following edits:
//
//	queue TOPIC=FIRST..END...: Kafka's offsets
//	queue behind MESSAGES [TOPIC=FIRST..END]...: each topic ends MESSAGES after the checkpoint
//	queue down OUTCOME
//	queue skipped REASON
func (w *World) queueFact(args []word) error {
	r := live.Record{Role: "kafka", Address: "127.0.0.1:9092", Method: live.MethodKafka, At: w.now}
	switch {
	case args[0].text == "skipped" && len(args) == 2:
		w.records = append(w.records, live.Record{
			Method: "message queue", Outcome: model.NotAsked.String(), Error: args[1].text,
		})
		return nil
	case args[0].text == "down" && len(args) == 2:
		r.Outcome, r.Error = strings.ReplaceAll(args[1].text, "-", " "),
			"dial tcp 127.0.0.1:9092: connect: connection refused"
		if _, ok := model.OutcomeOf(r.Outcome); !ok {
			return fmt.Errorf("unknown outcome %s", args[1].text)
		}
		w.records = append(w.records, r)
		return nil
	}
	var offsets live.QueueOffsets
	if args[0].text == "behind" && len(args) > 1 {
		topics, err := w.topicsBehind(args[1].text)
		if err != nil {
			return err
		}
		offsets.Topics, args = topics, args[2:]
	}
	for _, x := range args {
		t := live.TopicOffsets{}
		name, numbers, ok := strings.Cut(x.text, "=")
		if n, err := fmt.Sscanf(numbers, "%d..%d", &t.First, &t.End); !ok || n != 2 || err != nil {
			return fmt.Errorf("%s: not TOPIC=FIRST..END", x.text)
		}
		t.Name = name
		offsets.Topics = slices.DeleteFunc(offsets.Topics, func(had live.TopicOffsets) bool { return had.Name == name })
		offsets.Topics = append(offsets.Topics, t)
	}
	var err error
	r.Response, err = json.Marshal(offsets)
	w.records = append(w.records, r)
	return err
}

var sample = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?=(\S+)$`)

// metric implements "metric NODE NAME{LABEL=VALUE,...}=VALUE": it sets every sample with these labels, or
// adds one.
func (w *World) metric(args []word) error {
	list, err := w.calls(args[0].text, "GET_/metrics")
	if err != nil {
		return err
	}
	m := sample.FindStringSubmatch(args[1].text)
	if m == nil {
		return fmt.Errorf("%q is not NAME{LABEL=VALUE}=VALUE", args[1].text)
	}
	value := m[3]
	if at, ok, err := parseTime(value, w.now); err != nil {
		return err
	} else if ok {
		value = at
	}
	for _, r := range list {
		if err := setSample(r, m[1], m[2], value); err != nil {
			return fmt.Errorf("%s: %w", sessionName(r), err)
		}
	}
	return nil
}

// counted implements "counted NODE NAME{LABEL=VALUE,...}=BEFORE..NOW": the values of a counter in the first
// and in the second of two scrapes.
func (w *World) counted(args []word) error {
	list, err := w.calls(args[0].text, "GET_/metrics")
	if err != nil {
		return err
	}
	m := sample.FindStringSubmatch(args[1].text)
	if m == nil {
		return fmt.Errorf("%q is not NAME{LABEL=VALUE}=BEFORE..NOW", args[1].text)
	}
	before, now, two := strings.Cut(m[3], "..")
	for _, r := range list {
		value := now
		if !two || r.At.Before(w.now) {
			value = before
		}
		if err := setSample(r, m[1], m[2], value); err != nil && !errors.Is(err, errNoChange) {
			return fmt.Errorf("%s: %w", sessionName(r), err)
		}
	}
	if !two || before == now || len(list) < 2 {
		return fmt.Errorf("%s: the counter has to differ between two scrapes: see again", m[3])
	}
	return nil
}

// setSample sets the value of a sample in the text of a scrape.
func setSample(r *live.Record, name, labels, value string) error {
	lines := scrapeLines(r)
	if err := lines.set(name, labels, value); err != nil {
		return err
	}
	lines.write(r)
	return nil
}

// scrape holds the lines of a response of /metrics.
type scrape []string

func scrapeLines(r *live.Record) scrape {
	return strings.Split(strings.TrimSuffix(string(r.Response), "\n"), "\n")
}

func (s scrape) write(r *live.Record) { r.Response = []byte(strings.Join(s, "\n") + "\n") }

// set changes the value of all samples that have the name and labels, or adds a sample if there is none. It
// returns errNoChange if all had the value.
func (s *scrape) set(name, labels, value string) error {
	pairs := labelPairs(labels)
	lines := *s
	hits, changed := 0, false
	last := len(lines) - 1
	for i, line := range lines {
		if !strings.HasPrefix(line, name) { // most lines
			continue
		}
		head, old, ok := cutSample(line)
		if ok && (head == name || strings.HasPrefix(head, name+"{")) {
			last = i
			if !slices.ContainsFunc(pairs, func(p string) bool { return !strings.Contains(head, p) }) {
				hits++
				changed = changed || old != value
				lines[i] = head + " " + value
			}
		}
	}
	if hits == 0 {
		slices.Sort(pairs)
		line := name + " " + value
		if len(pairs) > 0 {
			line = name + "{" + strings.Join(pairs, ",") + "} " + value
		}
		*s = slices.Insert(lines, last+1, line)
	} else if !changed {
		return errNoChange
	}
	return nil
}

// labelPairs returns labels in the syntax of a scrape.
func labelPairs(labels string) (pairs []string) {
	for pair := range strings.SplitSeq(labels, ",") {
		if key, text, ok := strings.Cut(pair, "="); ok {
			pairs = append(pairs, key+`="`+strings.Trim(text, `"`)+`"`)
		}
	}
	return pairs
}

func cutSample(line string) (head, value string, ok bool) {
	i := strings.LastIndexByte(line, ' ')
	if i < 0 || strings.HasPrefix(line, "#") {
		return "", "", false
	}
	return line[:i], line[i+1:], true
}

// startedAt sets the start time of a session's process in its metrics and in its response to GetMetrics.
func (w *World) startedAt(node, text string) error {
	at, err := w.at(text)
	if err != nil {
		return err
	}
	if list, err := w.calls(node, "GET_/metrics"); err == nil {
		for _, r := range list {
			seconds := strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', -1, 64)
			if err := setSample(r, "process_start_time_seconds", "", seconds); err != nil {
				return err
			}
		}
	}
	created := at.UTC().Format("2006-01-02 15:04:05.999999999 -0700 MST")
	return w.answer([]word{{text: node}, {text: "GetMetrics"}, {text: `response.created_time="` + created + `"`}})
}
