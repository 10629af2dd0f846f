package faulttest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kitescope/inspect/model"
)

// role returns the sessions of a role, by node id.
func (n names) role(role string) []*model.Session {
	var list []*model.Session
	for _, s := range n.c.Sessions {
		if s.Role == role {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *model.Session) int { return cmp.Compare(a.Node, b.Node) })
	return list
}

func (n names) sessions(path string) ([]object, error) {
	return convert(n.role(path), func(s *model.Session) object {
		key := s.Key
		if i := strings.LastIndex(key, "session/"); i >= 0 {
			key = key[i:]
		}
		return object{s.Name(), []string{key}}
	}), nil
}

func (n names) nodeIDs(path string) ([]object, error) {
	return convert(n.role(path), func(s *model.Session) object { return object{id: s.Node.String()} }), nil
}

func (n names) addresses(path string) ([]object, error) {
	return convert(n.role(path), func(s *model.Session) object { return object{id: s.Address} }), nil
}

// toNodeIDs converts the results of f from names of sessions to their node ids.
func toNodeIDs(f func(string) ([]object, error)) func(string) ([]object, error) {
	return func(path string) ([]object, error) {
		list, err := f(path)
		for i := range list {
			_, list[i].id, _ = cutLast(list[i].id)
		}
		return list, err
	}
}

// holders returns, for each segment of COLLECTION/STATE, the query node that has it in memory.
func (n names) holders(path string) ([]object, error) {
	return n.perSegment(path, n.serves)
}

// bystanders returns, for each segment, the first query node that does not have it.
func (n names) bystanders(path string) ([]object, error) {
	return n.perSegment(path, func(s *model.Segment, x *model.LiveNode) bool { return !n.serves(s, x) })
}

func (n names) serves(s *model.Segment, x *model.LiveNode) bool {
	return slices.ContainsFunc(n.c.Runtime.Served(s.ID), func(y model.Served) bool { return y.Node == x })
}

func (n names) perSegment(path string, fits func(*model.Segment, *model.LiveNode) bool) ([]object, error) {
	found, err := n.segmentsIn(path)
	if err != nil {
		return nil, err
	}
	list := make([]object, len(found))
	for i, s := range found {
		for _, x := range n.c.Runtime.QueryNodes() {
			if list[i].id == "" && fits(s, x) {
				list[i].id = x.Name()
			}
		}
		if list[i].id == "" {
			return nil, fmt.Errorf("no such query node for segment %d", s.ID)
		}
	}
	return list, nil
}

// leaders returns the query nodes that lead a collection's shards, in the order of shards.
func (n names) leaders(path string) ([]object, error) { return n.perShard(path, true) }

// followers returns, for each shard, the first query node that does not lead it.
func (n names) followers(path string) ([]object, error) { return n.perShard(path, false) }

func (n names) perShard(path string, leads bool) (list []object, err error) {
	return n.shards(path, func(v *model.VChannel) object {
		for _, x := range n.c.Runtime.QueryNodes() {
			if slices.ContainsFunc(n.c.Runtime.ShardViews(v.Name),
				func(y model.ShardView) bool { return y.Node == x }) == leads {
				return object{id: x.Name()}
			}
		}
		return object{id: "none"}
	})
}
