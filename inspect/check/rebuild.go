package check

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// Rebuild returns a step that builds indexes of a collection again with the same definitions. A loaded
// collection is released first, and loaded again as before once all indexes are built. An earlier load would
// hang at the next index.
func Rebuild(c *model.Cluster, x *model.Collection, indexes ...*model.Index) Step {
	var anew Hint
	for _, i := range indexes {
		anew += create(x, i, AsDefined(i))
	}
	return rebuild(c, x, anew)
}

// Redefine is like Rebuild for one index with another definition.
func Redefine(c *model.Cluster, x *model.Collection, i *model.Index, definition Hint) Step {
	return rebuild(c, x, create(x, i, definition))
}

func rebuild(c *model.Cluster, x *model.Collection, recreate Hint) Step {
	if c.LoadState(x.ID) == nil {
		return Pymilvus(c, x.Database, "c = Collection(%s)%s", x.Name, recreate).Interrupting(5*time.Minute, "nothing")
	}
	return Pymilvus(c, x.Database, "c = Collection(%s)\nc.release()%s%s", x.Name, recreate, LoadAgain(c, x)).
		Interrupting(5*time.Minute, "searches of %s until it is loaded again", x.Name)
}

// create returns the lines that drop an index and create it again.
func create(x *model.Collection, i *model.Index, definition Hint) Hint {
	return Python("\nc.drop_index(index_name=%s)\nc.create_index(%s, %s, index_name=%[1]s)", i.Name,
		facts.FieldLabel(x, i.Field), definition)
}

// LoadAgain returns a line that loads a collection again as before, "" if it is not loaded.
func LoadAgain(c *model.Cluster, x *model.Collection) Hint {
	if c.LoadState(x.ID) == nil {
		return ""
	}
	return "\nc." + LoadCall(c, x)
}

// LoadCall returns the method call that loads a collection as it is loaded now: with the same number of
// replicas, resource groups, partitions and fields.
func LoadCall(c *model.Cluster, x *model.Collection) Hint {
	load := c.LoadState(x.ID)
	if load == nil {
		return "load()"
	}
	var args []Hint
	if load.LoadType == "LoadPartition" {
		var names []string
		for _, part := range c.PartitionsOf(x.ID) {
			if slices.ContainsFunc(load.Partitions,
				func(l model.PartitionLoad) bool { return l.Partition == part.ID }) {
				names = append(names, part.Name)
			}
		}
		args = append(args, Python("partition_names=%s", literals(names)))
	}
	return Python("load(%s)", joinHints(append(args, loadArgs(c, x, load)...)))
}

// LoadPartitionCall returns the method call that loads a partition of a loaded collection with the same
// replicas. QueryCoord rejects another number of replicas.
func LoadPartitionCall(c *model.Cluster, x *model.Collection) Hint {
	load := c.LoadState(x.ID)
	if load == nil {
		return "load()"
	}
	return Python("load(%s)", joinHints(loadArgs(c, x, load)))
}

// loadArgs returns the arguments for the replicas, resource groups and fields of a load.
func loadArgs(c *model.Cluster, x *model.Collection, load *model.LoadState) (args []Hint) {
	if load.Replicas > 1 {
		args = append(args, Python("replica_number=%d", load.Replicas))
	}
	// Milvus accepts only these numbers of groups
	if groups := groupsOf(c, x.ID); len(groups) == 1 || len(groups) > 0 && len(groups) == int(load.Replicas) {
		args = append(args, Python("_resource_groups=%s", literals(groups)))
	}
	if fields := loadedFields(x, load); len(fields) > 0 {
		args = append(args, Python("load_fields=%s", literals(fields)))
	}
	return args
}

// groupsOf returns the resource groups of a collection's replicas, sorted, without duplicates. It returns nil
// if all are in the default group.
func groupsOf(c *model.Cluster, id model.CollectionID) []string {
	var groups []string
	for _, r := range c.ReplicasOf(id) {
		if r.ResourceGroup != "" && !slices.Contains(groups, r.ResourceGroup) {
			groups = append(groups, r.ResourceGroup)
		}
	}
	if len(groups) == 1 && groups[0] == facts.DefaultGroup {
		return nil
	}
	slices.Sort(groups)
	return groups
}

// loadedFields returns the loaded fields of a collection, nil if all are loaded.
func loadedFields(x *model.Collection, load *model.LoadState) []string {
	var names []string
	all := true
	for _, f := range x.Fields {
		switch {
		case f.System():
		case len(load.Fields) == 0 || slices.Contains(load.Fields, f.ID):
			names = append(names, f.Name)
		default:
			all = false
		}
	}
	if all {
		return nil
	}
	return names
}

// literals returns a Python list.
func literals(names []string) Hint {
	list := make([]Hint, len(names))
	for i, name := range names {
		list[i] = Python("%s", name)
	}
	return Python("[%s]", joinHints(list))
}

func joinHints(list []Hint) (all Hint) {
	for i, x := range list {
		if i > 0 {
			all += ", "
		}
		all += x
	}
	return all
}

// Definition returns the argument of create_index that defines an index.
func Definition(kind, metric string, params []model.Pair) Hint {
	parts := []Hint{Python(`"index_type": %s`, kind)}
	if metric != "" {
		parts = append(parts, Python(`"metric_type": %s`, metric))
	}
	list := make([]Hint, 0, len(params))
	for _, kv := range params {
		if strings.HasPrefix(kv.Key, "bm25") && !strings.EqualFold(metric, "BM25") {
			continue
		}
		if number, err := strconv.ParseFloat(kv.Value, 64); err == nil &&
			kv.Value == strconv.FormatFloat(number, 'f', -1, 64) {
			list = append(list, Python("%s: %v", kv.Key, number))
		} else {
			list = append(list, Python("%s: %s", kv.Key, kv.Value))
		}
	}
	return Python("{%s}", joinHints(append(parts, Python(`"params": {%s}`, joinHints(list)))))
}

// AsDefined returns the definition of an index as its user gave it. For an AUTOINDEX it has no parameters
// because Milvus chooses them.
func AsDefined(i *model.Index) Hint {
	if kind := UserType(i); kind == i.Type {
		return Definition(kind, i.Metric, i.Params)
	}
	return Definition(UserType(i), i.Metric, nil)
}

// UserType returns the type of an index as its user gave it.
func UserType(i *model.Index) string {
	for _, kv := range i.UserParams {
		if kv.Key == "index_type" {
			return kv.Value
		}
	}
	return cmp.Or(i.Type, "AUTOINDEX")
}
