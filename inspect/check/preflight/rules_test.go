package preflight

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
)

var update = flag.Bool("update", false, "rewrite generated files")

// TestRules changes one property of a captured cluster for each case. It checks the findings, and that there are
// none if the plan does not cross the version.
func TestRules(t *testing.T) {
	base := capture(t, "cluster-2.3.5-t1").Parts
	coll := base.Collections[0]
	segment := func(change func(*model.Segment)) func(*model.Parts) {
		return func(p *model.Parts) {
			s := *p.Segments[0]
			s.State = model.SegmentFlushed
			change(&s)
			p.Segments = []*model.Segment{&s}
		}
	}
	field := func(change func(*model.Field)) func(*model.Parts) {
		return func(p *model.Parts) {
			x, f := *coll, model.Field{ID: 200, Name: "extra", Type: "Int64"}
			change(&f)
			x.Fields = append(slices.Clip(x.Fields), &f)
			p.Collections = []*model.Collection{&x}
		}
	}
	set := func(key, value string) func(*model.Parts) {
		return func(p *model.Parts) { p.Config = []*model.ConfigEntry{{Name: key, Value: value}} }
	}
	grant := func(g model.Grant) func(*model.Parts) {
		return func(p *model.Parts) {
			p.Aliases = []*model.Alias{{Name: "shop", Collection: coll.ID}}
			p.Grants = []*model.Grant{&g}
		}
	}
	kinds := func(names ...string) func(*model.Parts) {
		return func(p *model.Parts) {
			p.KeysByKind = map[string]int64{}
			for _, name := range names {
				p.KeysByKind[name] = 1
			}
		}
	}
	// index sets one record with files: of index 7 on a number, 8 on a vector, or of an unknown index.
	index := func(r model.SegmentIndex) func(*model.Parts) {
		return func(p *model.Parts) {
			segment(func(s *model.Segment) {
				r.Segment, r.State, r.Files = s.ID, model.IndexFinished, 1
				s.Indexes = []model.SegmentIndex{r}
			})(p)
			x := *coll
			x.ID = p.Segments[0].Collection
			x.Fields = []*model.Field{{ID: 201, Name: "n", Type: "Int64"}, {ID: 202, Name: "v", Type: "FloatVector"}}
			p.Collections = []*model.Collection{&x}
			p.Indexes = []*model.Index{{ID: 7, Collection: x.ID, Field: 201}, {ID: 8, Collection: x.ID, Field: 202}}
		}
	}
	engine := func(version int32) func(*model.Parts) { return index(model.SegmentIndex{EngineVersion: version}) }
	for _, x := range []struct {
		name, check, from, to string
		back                  bool
		change                func(*model.Parts)
		want                  string // a part of the message, "" for no finding
	}{
		{
			"an import runs", "upgrade-tasks", "2.3.5", "2.4.17", false,
			func(p *model.Parts) { p.Tasks = []*model.Task{{ID: 1, Type: "import", State: "InProgress"}} },
			"1 import task",
		},
		{
			"an import has ended", "upgrade-tasks", "2.3.5", "2.4.17", false,
			func(p *model.Parts) { p.Tasks = []*model.Task{{ID: 1, Type: "import", State: "Completed"}} }, "",
		},
		{
			"storage version 3", "upgrade-logs", "3.0.2", "2.6.22", true,
			segment(func(s *model.Segment) { s.StorageVersion = 3 }), "storage version 3: 2.6.22 cannot read it",
		},
		{
			"storage version 2, to a release that reads it", "upgrade-logs", "3.0.2", "2.6.22", true,
			segment(func(s *model.Segment) { s.StorageVersion = 2 }), "",
		},
		{
			"storage version 2", "upgrade-logs", "2.6.22", "2.5.16", true,
			segment(func(s *model.Segment) { s.StorageVersion = 2 }), "storage version 2",
		},
		{
			"level 0", "upgrade-logs", "2.4.17", "2.3.5", true,
			segment(func(s *model.Segment) { s.Level = model.LevelL0 }), "level 0",
		},
		{
			"a geometry", "upgrade-features", "2.6.22", "2.5.16", true,
			field(func(f *model.Field) { f.Type = "Geometry" }), "extra (Geometry, since 2.6)",
		},
		{
			"a geometry, within 2.6", "upgrade-features", "2.6.22", "2.6.10", true,
			field(func(f *model.Field) { f.Type = "Geometry" }), "",
		},
		{
			"JSON, which 2.2.16 has", "upgrade-features", "2.3.5", "2.2.16", true,
			field(func(f *model.Field) { f.Type = "JSON" }), "",
		},
		{
			"JSON", "upgrade-features", "2.3.5", "2.2.8", true, field(func(f *model.Field) { f.Type = "JSON" }),
			"extra (JSON, since 2.2.9)",
		},
		{"a queue of numbers", "upgrade-queue", "2.3.5", "2.2.16", true, nil, "if RocksMQ is the queue"},
		{"a queue of numbers, within what reads it", "upgrade-queue", "2.4.17", "2.3.5", true, nil, ""},
		{
			"RocksMQ", "upgrade-queue", "2.3.5", "2.2.16", true, set("mq/type", "rocksmq"),
			"RocksMQ is the queue, and 2.2.16 cannot open",
		},
		{"RocksMQ, and a broker that is left over", "upgrade-queue", "2.3.5", "2.2.16", true, func(p *model.Parts) {
			p.Config = []*model.ConfigEntry{
				{Name: "mq/type", Value: "rocksmq"}, {Name: "kafka/brokerList", Value: "10.0.0.9:9092"},
			}
		}, "RocksMQ is the queue"},
		{"Kafka by name", "upgrade-queue", "2.3.5", "2.2.16", true, set("mq/type", "kafka"), ""},
		{"Kafka by address", "upgrade-queue", "2.3.5", "2.2.16", true, set("kafka/brokerList", "10.0.0.9:9092"), ""},
		{"Pulsar", "upgrade-queue", "2.3.5", "2.2.16", true, func(p *model.Parts) {
			p.VChannels = []*model.VChannel{{Name: "c_1v0", Checkpoint: model.Checkpoint{Message: make([]byte, 24)}}}
		}, ""},
		{
			"null", "upgrade-features", "2.5.16", "2.4.17", true, field(func(f *model.Field) { f.Nullable = true }),
			"extra (nullable, since 2.5)",
		},
		{
			"a grant on an alias", "upgrade-access", "2.5.16", "2.6.22", false,
			grant(model.Grant{Role: "r", ObjectType: "Collection", Object: "shop", Privilege: "Search"}),
			"1 grant of r is on an alias",
		},
		{
			"a grant on a collection", "upgrade-access", "2.5.16", "2.6.22", false,
			grant(model.Grant{Role: "r", ObjectType: "Collection", Object: coll.Name, Privilege: "Search"}), "",
		},
		{
			"cluster_admin", "upgrade-access", "2.6.22", "3.0.2", false,
			grant(model.Grant{Role: "r", ObjectType: "Global", Object: "*", Privilege: "ClusterAdmin"}),
			"may no longer rename",
		},
		{
			"no object", "upgrade-access", "2.4.11", "2.5.16", false,
			grant(model.Grant{Role: "r", ObjectType: "Global", Privilege: "CreateCollection"}), "without an object",
		},
		{
			"an index of 3.0", "upgrade-index-versions", "3.0.2", "2.6.22", true, engine(10),
			"vector index files of version 10 or later: 2.6.22 cannot read them",
		},
		{
			"an index of which nobody knows", "upgrade-index-versions", "2.6.22", "2.5.16", true, engine(6),
			"unknown whether 2.5.16 can read them",
		},
		{"an older index", "upgrade-index-versions", "3.0.2", "2.6.22", true, engine(0), ""},
		{
			"files below the collection", "upgrade-index-versions", "3.0.2", "2.6.22", true,
			index(model.SegmentIndex{ByCollection: true}),
			"has collection-rooted index files (index_v1): 2.6.22 cannot",
		},
		{
			"files below the collection, within 3.0", "upgrade-index-versions", "3.0.2", "3.0.1", true,
			index(model.SegmentIndex{ByCollection: true}), "",
		},
		{
			"scalar version 4", "upgrade-index-versions", "3.0.2", "2.6.22", true,
			index(model.SegmentIndex{Index: 7, ScalarVersion: 4}), "has scalar index files of version 4: 2.6.22 cannot",
		},
		{
			"scalar version 4 of nobody knows which index", "upgrade-index-versions", "3.0.2", "2.6.22", true,
			index(model.SegmentIndex{ScalarVersion: 4}), "scalar index files of version 4",
		},
		{
			"scalar version 4, beside a vector index", "upgrade-index-versions", "3.0.2", "2.6.22", true,
			index(model.SegmentIndex{Index: 8, ScalarVersion: 4}), "",
		},
		{
			"vector version 10, beside a scalar index", "upgrade-index-versions", "3.0.2", "2.6.22", true,
			index(model.SegmentIndex{Index: 7, EngineVersion: 10}), "",
		},
		{
			"scalar version 3", "upgrade-index-versions", "3.0.2", "2.6.22", true,
			index(model.SegmentIndex{Index: 7, ScalarVersion: 3}), "",
		},
		{
			"scalar version 3, within 2.6", "upgrade-index-versions", "2.6.22", "2.6.11", true,
			index(model.SegmentIndex{Index: 7, ScalarVersion: 3}), "has scalar index files of version 3: 2.6.11 cannot",
		},
		{"no files yet", "upgrade-index-versions", "3.0.2", "2.6.22", true, segment(func(s *model.Segment) {
			s.Indexes = []model.SegmentIndex{{Segment: s.ID, State: model.IndexInProgress, ByCollection: true}}
		}), ""},
		{
			"a commit timestamp", "upgrade-logs", "3.0.2", "2.6.22", true,
			segment(func(s *model.Segment) { s.Details = &model.SegmentDetails{CommitAt: 1} }),
			"a commit timestamp: 2.6.22 cannot read it",
		},
		{
			"a commit timestamp, within 3.0", "upgrade-logs", "3.0.2", "3.0.1", true,
			segment(func(s *model.Segment) { s.Details = &model.SegmentDetails{CommitAt: 1} }), "",
		},
		{
			"a manifest", "upgrade-logs", "3.0.2", "2.6.22", true,
			segment(func(s *model.Segment) { s.Details = &model.SegmentDetails{ManifestPath: "x"} }),
			"storage version 3: 2.6.22 cannot read it",
		},
		{"two forms", "upgrade-logs", "3.0.2", "2.5.16", true, segment(func(s *model.Segment) {
			s.StorageVersion, s.Details = 2, &model.SegmentDetails{CommitAt: 1}
		}), "storage version 2 and a commit timestamp"},
		{
			"keys of 2.5", "upgrade-keys", "2.5.16", "2.4.17", true,
			func(p *model.Parts) { p.KeysByKind = map[string]int64{"stats-task": 3} },
			"3 keys of kinds that 2.4.17 does not know",
		},
		{
			"files of 3.0", "upgrade-keys", "3.0.2", "2.6.22", true, kinds("copy-segment-job"),
			"1 key of kinds that 2.6.22 does not know",
		},
		{
			"schemas of the WAL", "upgrade-keys", "2.6.22", "2.5.16", true, kinds("wal-schema"),
			"1 key of kinds that 2.5.16 does not know",
		},
		{"targets, which 2.3.22 has", "upgrade-keys", "2.4.17", "2.3.22", true, kinds("target"), ""},
		{
			"targets", "upgrade-keys", "2.4.17", "2.3.5", true, kinds("target"),
			"1 key of kinds that 2.3.5 does not know",
		},
		{
			"keys of 2.4", "upgrade-keys", "2.5.16", "2.4.17", true,
			func(p *model.Parts) { p.KeysByKind = map[string]int64{"compaction-task": 3} }, "",
		},
		{"etcd is half full", "upgrade-space", "2.3.5", "2.4.17", false, nil, "1.2 GiB"},
		{
			"2.6 has other roles", "upgrade-order", "2.5.16", "2.6.22", false, nil,
			"new: mixcoord and streamingnode; removed: ",
		},
	} {
		p := base
		if x.change != nil {
			x.change(&p)
		}
		c := model.Build(p)
		if x.check == "upgrade-space" {
			c = c.WithEtcd(&model.Etcd{
				Members: []model.EtcdMember{{Endpoint: "10.0.0.5:2379", DBSize: 5 << 28, DBInUse: 1 << 28}},
			})
		}
		list := findings(runPlan(t, c, x.from, x.to, x.back), x.check)
		switch {
		case x.want == "" && len(list) > 0:
			t.Errorf("%s: %s", x.name, list[0].Message)
		case x.want != "" && (len(list) != 1 || !strings.Contains(list[0].Message, x.want)):
			t.Errorf("%s: want one finding with %q, got %d", x.name, x.want, len(list))
			for _, f := range list {
				t.Log(f.Message)
			}
		}
	}
}

// TestLostKinds checks that the losses of keys that the old version ignores are reported separately.
func TestLostKinds(t *testing.T) {
	p := capture(t, "cluster-2.3.5-t1").Parts
	p.KeysByKind = map[string]int64{"predicate-deltalog": 3, "snapshot": 1, "export-snapshot-job": 2, "query-view": 4}
	r := runPlan(t, model.Build(p), "3.0.2", "2.6.22", true)
	got, keys := map[string]string{}, map[string]bool{}
	for _, f := range findings(r, "upgrade-keys") {
		got[f.Severity.String()+" "+f.Object.ID], keys[f.Key()] = f.Message+": "+f.Impact, true
	}
	want := map[string]string{
		"error by-dev/meta/datacoord-meta/predicate-deltalog/": "3 keys of kinds that 2.6.22 does not know: Rows " +
			"that were deleted by a condition come back in searches.",
		"error by-dev/meta/datacoord-meta/snapshot/": "1 key of kinds that 2.6.22 does not know: Garbage collection " +
			"deletes files that only snapshots hold: they can no longer be restored.",
		"warning ": "6 keys of kinds that 2.6.22 does not know: The old version loses data that only these keys " +
			"hold: tasks, statistics, WAL positions.",
	}
	if diff := cmp.Diff(want, got); diff != "" || len(keys) != len(want) {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDocs compares docs/PREFLIGHT.md with the checks.
func TestDocs(t *testing.T) {
	const path = "../../../docs/PREFLIGHT.md"
	var b strings.Builder
	fmt.Fprintf(&b, `# Preflight checks

The %d checks of `+"`kitescope preflight --to VERSION`"+` (`+"`--back`"+
		`: a rollback), with the source of each fact, to plan an upgrade.
`+"`kitescope explain CHECK`"+` prints the same and lists the data that the check reads. Checks of settings in `+
		"`milvus.yaml`"+` need the processes,
`+"`upgrade-space`"+` needs a live etcd.
First fix the errors and the unfinished DDL that preflight takes over from `+"`diagnose`"+`.

Sources: Milvus's code, documents and issues up to 3.0.1, and a real upgrade from 2.1.0 to 2.2.16 and back. No server newer than 2.3.5 was available.
A check that does not cover a release is reported as *could not run*, never as *ok*. Generated: `+
		"`go test ./inspect/check/preflight -update`"+`.

| check | worst severity | forward | back | finds |
|---|---|---|---|---|
`, len(allRules()))
	yes := map[bool]string{true: "yes"}
	for _, r := range allRules() {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | %s | %s |\n", r.ID, r.ID, r.Severity, yes[r.forward], yes[r.back],
			r.Title)
	}
	for _, x := range All() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n**Fix.** %s\n", x.ID, strings.TrimSpace(x.Doc), strings.TrimSpace(x.Remedy))
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(text)); diff != "" {
		t.Errorf("%s is out of date: go test ./inspect/check/preflight -run TestDocs -update\n%s", path, diff)
	}
}

// TestRulesComplete checks that every rule is complete, because a rule without a direction would never run.
func TestRulesComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range allRules() {
		if !r.forward && !r.back || r.run == nil || r.Doc == "" || r.Remedy == "" || seen[r.ID] {
			t.Errorf("%s is for no direction, lacks something, or is there twice", r.ID)
		}
		seen[r.ID] = true
	}
	for _, back := range []bool{false, true} {
		r := runPlan(t, model.Build(model.Parts{}), "2.6.22", map[bool]string{true: "2.5.16", false: "3.0.2"}[back],
			back)
		for _, x := range r.Results {
			if x.Status == check.OK {
				t.Errorf("%s is ok of a cluster of which nothing was read", x.Check.ID)
			}
		}
	}
}
