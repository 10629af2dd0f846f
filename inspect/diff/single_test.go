package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kitescope/inspect/model"
)

func TestSingle(t *testing.T) {
	before := &model.Replica{ID: 9, Collection: 7, ResourceGroup: "a", Nodes: []model.NodeID{4, 5}}
	after := &model.Replica{ID: 9, Collection: 7, ResourceGroup: "b", Nodes: []model.NodeID{5, 4}}
	ref, collection, text := Describe(before)
	if want := (model.Ref{Resource: "replicas", ID: "9"}); ref != want || collection != 7 ||
		text != "resource_group=a nodes=4,5" {
		t.Errorf("a replica is %v of %d: %q", ref, collection, text)
	}
	want := []Change{
		{Kind: Changed, Object: ref, Field: "resource_group", From: "a", To: "b", FromNames: "a", ToNames: "b"},
	}
	if diff := cmp.Diff(want, Fields(before, after), cmpopts.IgnoreUnexported(Change{})); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	field := &model.Field{ID: 100, Collection: 7, Name: "pk", Type: "Int64"}
	if ref, collection, _ := Describe(field); ref.ID != "7/100" || collection != 7 {
		t.Errorf("a field is %v of %d", ref, collection)
	}
	if ref, _, text := Describe(&model.Allocator{}); ref != (model.Ref{}) || text != "" ||
		Fields(&model.Allocator{}, nil) != nil {
		t.Errorf("what is not compared is %v: %q", ref, text)
	}
	// These objects can be described without a cluster.
	for _, object := range []any{
		&model.Database{}, &model.Collection{}, &model.Partition{}, &model.Alias{}, &model.Index{}, &model.LoadState{},
		&model.ResourceGroup{},
		&model.Session{}, &model.PrivilegeGroup{}, &model.ConfigEntry{}, &model.Task{},
	} {
		if ref, _, _ := Describe(object); ref.Resource == "" {
			t.Errorf("%T has no name", object)
		}
		if changes := Fields(object, object); len(changes) > 0 {
			t.Errorf("%T differs from itself: %v", object, changes)
		}
	}
}
