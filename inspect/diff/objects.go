package diff

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/model"
)

// comparisons are all kinds of objects but segments, in the order of the output.
var comparisons = []func(*pair){
	databases.compare, collections.compare, partitions.compare, fields.compare, aliases.compare,
	vchannels.compare, pchannels.compare, indexes.compare, loadStates.compare, replicas.compare,
	resourceGroups.compare, nodes.compare, users.compare, roles.compare, grants.compare,
	privilegeGroups.compare, config.compare, tasks.compare,
}

// kind says how objects of one kind are matched and compared.
type kind[T any] struct {
	resource string
	needs    model.Part
	list     func(*model.Cluster) []T
	// id and name are those of the object's Ref; see model.Ref.
	id, name func(T) string
	// collection is nil where objects belong to none.
	collection func(T) model.CollectionID
	fields     []field[T]
}

// field is a column that is compared.
type field[T any] struct {
	name   string
	text   func(T) string
	moving bool
}

func (k kind[T]) compare(p *pair) {
	if !p.reads(k.resource, k.needs) {
		return
	}
	before := make(map[string]T)
	for _, x := range k.list(p.a) {
		if _, twice := before[k.id(x)]; !twice { // the first counts, on both sides
			before[k.id(x)] = x
		}
	}
	after := make(map[string]bool)
	for _, y := range k.list(p.b) {
		id := k.id(y)
		if after[id] {
			continue
		}
		after[id] = true
		x, ok := before[id]
		if !ok {
			p.add(Change{Kind: Added, Object: k.ref(y), Collection: k.owner(p, y), To: k.describe(y)})
			continue
		}
		k.compareFields(p, x, y)
	}
	for _, x := range k.list(p.a) {
		if id := k.id(x); !after[id] {
			after[id] = true
			p.add(Change{Kind: Removed, Object: k.ref(x), Collection: k.owner(p, x), From: k.describe(x)})
		}
	}
}

func (k kind[T]) compareFields(p *pair, x, y T) {
	for _, f := range k.fields {
		if f.moving && !p.options.Moving {
			continue
		}
		if from, to := f.text(x), f.text(y); from != to {
			p.add(Change{Kind: Changed, Object: k.ref(y), Collection: k.owner(p, y), Field: f.name, From: from, To: to})
		}
	}
}

func (k kind[T]) ref(x T) model.Ref {
	return model.Ref{Resource: k.resource, ID: k.id(x), Name: k.name(x)}
}

func (k kind[T]) owner(p *pair, x T) model.Ref {
	if k.collection == nil {
		return model.Ref{}
	}
	return p.collectionRef(k.collection(x))
}

// describe is what an added or removed object is like: its fields that stand still.
func (k kind[T]) describe(x T) string {
	var parts []string
	for _, f := range k.fields {
		if text := f.text(x); text != "" && !f.moving && f.name != "name" {
			parts = append(parts, f.name+"="+text)
		}
	}
	return strings.Join(parts, " ")
}

func pairsText(list []model.Pair) string {
	parts := make([]string, len(list))
	for i, p := range list {
		parts[i] = p.Key + "=" + p.Value
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

func sortedText(list []string) string {
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return strings.Join(sorted, ",")
}

func nodesText(list []model.NodeID) string {
	parts := make([]string, len(list))
	for i, n := range slices.Sorted(slices.Values(list)) {
		parts[i] = n.String()
	}
	return strings.Join(parts, ",")
}

// flagText is empty for false, so that descriptions name what is set.
func flagText(b bool) string {
	if b {
		return "true"
	}
	return ""
}

func int32Text(n int32) string { return strconv.Itoa(int(n)) }

func tsoText(t model.TSO) string { return timeText(t.Time()) }

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
