package live

import "kitescope/inspect/model"

// Narrow makes the room for answers under way so small that they have to wait for each other.
func (c *Client) Narrow() { c.room.own, c.room.shared = 4<<10, 16<<10 }

// Idle reports whether nothing is held of any answer.
func (c *Client) Idle() bool {
	c.room.mu.Lock()
	defer c.room.mu.Unlock()
	return c.room.used == 0 && c.room.turn == nil && len(c.large) == 0
}

// WritesToPulsar is why a proxy of a cluster is not asked for its dependencies.
func WritesToPulsar(c *model.Cluster, queue string) string { return hintOf(c).writesToPulsar(queue) }
