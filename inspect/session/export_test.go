package session

import (
	"kitescope/inspect/history"
	"kitescope/inspect/model"
)

// Followed is the state of a Feed, driven by method calls instead of a source. Its methods call those of liveFeed.
type Followed struct{ l *liveFeed }

// NewFollowed returns a Followed that calls emit with each update.
func NewFollowed(emit func(history.Update)) Followed {
	return Followed{&liveFeed{first: make(chan struct{}), fresh: make(chan struct{}, 1), emit: emit}}
}

// Followed handles a new cluster.
func (f Followed) Followed(c *model.Cluster) { f.l.followed(c, nil) }

// AnsweredBy handles answers of processes.
func (f Followed) AnsweredBy(r *model.Runtime, before *model.Cluster) { f.l.answeredBy(r, before) }

// Examined handles the result of a health query.
func (f Followed) Examined(e *model.Etcd) { f.l.examined(e) }

// Last returns the last emitted cluster.
func (f Followed) Last() *model.Cluster { return f.l.last }
