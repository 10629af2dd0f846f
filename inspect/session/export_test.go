package session

import (
	"kitescope/inspect/history"
	"kitescope/inspect/model"
)

// Followed is what a Feed knows, told step by step and not by a source. Its methods are those of liveFeed.
type Followed struct{ l *liveFeed }

// NewFollowed has emit called with each update.
func NewFollowed(emit func(history.Update)) Followed {
	return Followed{&liveFeed{first: make(chan struct{}), fresh: make(chan struct{}, 1), emit: emit}}
}

// Followed takes a new cluster.
func (f Followed) Followed(c *model.Cluster) { f.l.followed(c, nil) }

// AnsweredBy takes what processes said.
func (f Followed) AnsweredBy(r *model.Runtime, before *model.Cluster) { f.l.answeredBy(r, before) }

// Examined takes news of etcd's health.
func (f Followed) Examined(e *model.Etcd) { f.l.examined(e) }

// Last is the cluster that was told last.
func (f Followed) Last() *model.Cluster { return f.l.last }
