package view

import "kitescope/inspect/model"

// Single returns a table of one object, which need not be in the Env's cluster. It returns nil for types
// without such a table.
func Single(env *Env, object any) Table {
	switch x := object.(type) {
	case *model.Database:
		return tableOf(env, databases, x)
	case *model.Collection:
		return tableOf(env, collections, x)
	case *model.Partition:
		return tableOf(env, partitions, x)
	case *model.Field:
		return tableOf(env, fields, fieldRow{x, &model.Collection{ID: x.Collection}})
	case *model.Alias:
		return tableOf(env, aliases, x)
	case *model.Index:
		return tableOf(env, indexes, &indexRow{Index: x})
	case *model.LoadState:
		return tableOf(env, loadStates, x)
	case *model.Replica:
		return tableOf(env, replicas, x)
	case *model.ResourceGroup:
		return tableOf(env, resourceGroups, x)
	case *model.Session:
		return tableOf(env, nodes, x)
	case *model.PrivilegeGroup:
		return tableOf(env, privilegeGroups, x)
	case *model.ConfigEntry:
		return tableOf(env, configEntries, x)
	case *model.Task:
		return tableOf(env, tasks, x)
	}
	return nil
}

// tableOf returns a table of the given rows of a resource.
func tableOf[T any](env *Env, r *Resource, rows ...T) *boundTable[T] {
	return &boundTable[T]{resource: r, def: r.def.(*definition[T]), env: env, rows: rows}
}
