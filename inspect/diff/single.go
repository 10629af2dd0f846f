package diff

import "kitescope/inspect/model"

// Describe names a single object of the model and what it belongs to, and says what it is like, as of one that was added. Text is ""
// for types that are not compared.
func Describe(object any) (ref model.Ref, collection model.CollectionID, text string) {
	if s := singleOf(object); s != nil {
		return s.single(object)
	}
	return model.Ref{}, 0, ""
}

// Fields are what of an object has another value than before; both are of the same type. What moves by itself is left out.
func Fields(before, after any) []Change {
	s := singleOf(before)
	if s == nil {
		return nil
	}
	p := &pair{diff: &Diff{}}
	s.singleFields(p, before, after)
	return p.diff.Changes
}

// single is a kind, whatever its type.
type single interface {
	single(object any) (model.Ref, model.CollectionID, string)
	singleFields(p *pair, before, after any)
}

func singleOf(object any) single {
	switch object.(type) {
	case *model.Database:
		return databases
	case *model.Collection:
		return collections
	case *model.Partition:
		return partitions
	case *model.Field:
		return fields
	case *model.Alias:
		return aliases
	case *model.Index:
		return indexes
	case *model.LoadState:
		return loadStates
	case *model.Replica:
		return replicas
	case *model.ResourceGroup:
		return resourceGroups
	case *model.Session:
		return nodes
	case *model.PrivilegeGroup:
		return privilegeGroups
	case *model.ConfigEntry:
		return config
	case *model.Task:
		return tasks
	}
	return nil
}

func (k kind[T]) single(object any) (model.Ref, model.CollectionID, string) {
	x := typed[T](object)
	var collection model.CollectionID
	if k.collection != nil {
		collection = k.collection(x)
	}
	return k.ref(x), collection, k.describe(x)
}

func (k kind[T]) singleFields(p *pair, before, after any) {
	x, y := typed[T](before), typed[T](after)
	for _, f := range k.fields {
		if f.moving {
			continue
		}
		if from, to := f.text(x), f.text(y); from != to {
			p.add(Change{Kind: Changed, Object: k.ref(y), Field: f.name, From: from, To: to})
		}
	}
}

// typed is an object as the type that a kind compares: a field knows its collection itself.
func typed[T any](object any) T {
	if f, ok := object.(*model.Field); ok {
		object = fieldOf{f, f.Collection}
	}
	x, _ := object.(T)
	return x
}
