package diff

import (
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

var databases = kind[*model.Database]{
	resource: "databases", needs: model.PartObjects,
	list: func(c *model.Cluster) []*model.Database { return c.Databases },
	id:   func(d *model.Database) string { return d.ID.String() },
	name: func(d *model.Database) string { return d.Name },
	fields: []field[*model.Database]{
		{name: "name", text: func(d *model.Database) string { return d.Name }},
		{name: "state", text: func(d *model.Database) string { return string(d.State) }},
		{name: "properties", text: func(d *model.Database) string { return pairsText(d.Properties) }},
	},
}

var collections = kind[*model.Collection]{
	resource: "collections", needs: model.PartObjects,
	list:       func(c *model.Cluster) []*model.Collection { return c.Collections },
	id:         func(x *model.Collection) string { return x.ID.String() },
	name:       func(x *model.Collection) string { return x.Name },
	collection: func(x *model.Collection) model.CollectionID { return x.ID },
	fields: []field[*model.Collection]{
		{name: "name", text: func(x *model.Collection) string { return x.Name }},
		{name: "state", text: func(x *model.Collection) string { return string(x.State) }},
		{name: "database_id", text: func(x *model.Collection) string { return x.Database.String() }},
		{name: "shards", text: func(x *model.Collection) string { return strconv.Itoa(x.Shards) }},
		{name: "consistency_level", text: func(x *model.Collection) string { return x.ConsistencyLevel }},
		{name: "vchannels", text: func(x *model.Collection) string { return sortedText(x.VChannels) }},
		{name: "properties", text: func(x *model.Collection) string { return pairsText(x.Properties) }},
		{name: "description", text: func(x *model.Collection) string { return x.Description }},
		{name: "layout", text: func(x *model.Collection) string { return x.Layout }},
	},
}

var partitions = kind[*model.Partition]{
	resource: "partitions", needs: model.PartObjects,
	list:       func(c *model.Cluster) []*model.Partition { return c.Partitions },
	id:         func(x *model.Partition) string { return x.ID.String() },
	name:       func(x *model.Partition) string { return x.Name },
	collection: func(x *model.Partition) model.CollectionID { return x.Collection },
	fields: []field[*model.Partition]{
		{name: "name", text: func(x *model.Partition) string { return x.Name }},
		{name: "state", text: func(x *model.Partition) string { return string(x.State) }},
	},
}

// fieldOf is a field of a schema with its collection.
type fieldOf struct {
	*model.Field
	collection model.CollectionID
}

var fields = kind[fieldOf]{
	resource: "fields", needs: model.PartObjects,
	list: func(c *model.Cluster) []fieldOf {
		var list []fieldOf
		for _, x := range c.Collections {
			for _, f := range x.Fields {
				list = append(list, fieldOf{f, x.ID})
			}
		}
		return list
	},
	id:         func(f fieldOf) string { return f.collection.String() + "/" + f.ID.String() },
	name:       func(f fieldOf) string { return f.Name },
	collection: func(f fieldOf) model.CollectionID { return f.collection },
	fields: []field[fieldOf]{
		{name: "name", text: func(f fieldOf) string { return f.Name }},
		{name: "type", text: func(f fieldOf) string { return f.Type }},
		{name: "element_type", text: func(f fieldOf) string { return f.ElementType }},
		{name: "state", text: func(f fieldOf) string { return f.State }},
		{name: "params", text: func(f fieldOf) string { return pairsText(f.Params) }},
		{name: "index_params", text: func(f fieldOf) string { return pairsText(f.IndexParams) }},
		{name: "default", text: func(f fieldOf) string { return f.Default }},
		{name: "primary_key", text: func(f fieldOf) string { return flagText(f.PrimaryKey) }},
	},
}

var aliases = kind[*model.Alias]{
	resource: "aliases", needs: model.PartObjects,
	list:       func(c *model.Cluster) []*model.Alias { return c.Aliases },
	id:         func(x *model.Alias) string { return x.Database.String() + "/" + x.Name },
	name:       func(x *model.Alias) string { return x.Name },
	collection: func(x *model.Alias) model.CollectionID { return x.Collection },
	fields: []field[*model.Alias]{
		{name: "collection_id", text: func(x *model.Alias) string { return x.Collection.String() }},
		{name: "state", text: func(x *model.Alias) string { return string(x.State) }},
	},
}

var vchannels = kind[*model.VChannel]{
	resource: "vchannels", needs: model.PartObjects | model.PartChannels,
	list:       func(c *model.Cluster) []*model.VChannel { return c.VChannels },
	id:         func(x *model.VChannel) string { return x.Name },
	name:       func(x *model.VChannel) string { return x.Name },
	collection: func(x *model.VChannel) model.CollectionID { return x.Collection },
	fields: []field[*model.VChannel]{
		{name: "pchannel", text: func(x *model.VChannel) string { return x.PChannel }},
		{name: "watcher", text: watcherText},
		{name: "watch_state", text: func(x *model.VChannel) string { return x.WatchState }},
		{name: "other_watchers", text: func(x *model.VChannel) string { return nodesText(x.OtherWatchers) }},
		{name: "removal", text: func(x *model.VChannel) string { return x.Removal }},
		{name: "state", text: func(x *model.VChannel) string { return x.State }},
		{name: "checkpoint_at", text: func(x *model.VChannel) string { return tsoText(x.Checkpoint.At) }, moving: true},
	},
}

func watcherText(x *model.VChannel) string {
	if !x.Watched || x.Watcher == model.UnassignedNode {
		return ""
	}
	return x.Watcher.String()
}

var pchannels = kind[*model.PChannel]{
	resource: "pchannels", needs: model.PartObjects | model.PartChannels,
	list: func(c *model.Cluster) []*model.PChannel { return c.PChannels },
	id:   func(x *model.PChannel) string { return x.Name },
	name: func(x *model.PChannel) string { return x.Name },
	fields: []field[*model.PChannel]{
		{name: "state", text: func(x *model.PChannel) string { return x.State }},
		{name: "node", text: func(x *model.PChannel) string {
			if x.Node == 0 {
				return ""
			}
			return x.Node.String()
		}},
		{name: "access_mode", text: func(x *model.PChannel) string { return x.AccessMode }},
		{name: "checkpoint_at", text: func(x *model.PChannel) string { return tsoText(x.Checkpoint.At) }, moving: true},
	},
}

var indexes = kind[*model.Index]{
	resource: "indexes", needs: model.PartObjects | model.PartIndexes,
	list:       func(c *model.Cluster) []*model.Index { return c.Indexes },
	id:         func(x *model.Index) string { return x.ID.String() },
	name:       func(x *model.Index) string { return x.Name },
	collection: func(x *model.Index) model.CollectionID { return x.Collection },
	fields: []field[*model.Index]{
		{name: "name", text: func(x *model.Index) string { return x.Name }},
		{name: "field_id", text: func(x *model.Index) string { return x.Field.String() }},
		{name: "type", text: func(x *model.Index) string { return x.Type }},
		{name: "metric", text: func(x *model.Index) string { return x.Metric }},
		{name: "params", text: func(x *model.Index) string { return pairsText(x.Params) }},
		{name: "deleted", text: func(x *model.Index) string { return flagText(x.Deleted) }},
	},
}

var loadStates = kind[*model.LoadState]{
	resource: "load-states", needs: model.PartObjects | model.PartServing,
	list:       func(c *model.Cluster) []*model.LoadState { return c.LoadStates },
	id:         func(x *model.LoadState) string { return x.Collection.String() },
	name:       func(*model.LoadState) string { return "" },
	collection: func(x *model.LoadState) model.CollectionID { return x.Collection },
	fields: []field[*model.LoadState]{
		{name: "state", text: func(x *model.LoadState) string { return x.Status }},
		{name: "replicas", text: func(x *model.LoadState) string { return int32Text(x.Replicas) }},
		{name: "load_type", text: func(x *model.LoadState) string { return x.LoadType }},
		{name: "partitions", text: func(x *model.LoadState) string {
			parts := make([]string, len(x.Partitions))
			for i, p := range x.Partitions {
				parts[i] = p.Partition.String() + ":" + p.Status
			}
			return sortedText(parts)
		}},
		{name: "percent", text: func(x *model.LoadState) string {
			if x.Percent == nil {
				return "" // not recorded
			}
			return int32Text(*x.Percent)
		}, moving: true},
	},
}

var replicas = kind[*model.Replica]{
	resource: "replicas", needs: model.PartObjects | model.PartServing,
	list:       func(c *model.Cluster) []*model.Replica { return c.Replicas },
	id:         func(x *model.Replica) string { return x.ID.String() },
	name:       func(*model.Replica) string { return "" },
	collection: func(x *model.Replica) model.CollectionID { return x.Collection },
	fields: []field[*model.Replica]{
		{name: "resource_group", text: func(x *model.Replica) string { return x.ResourceGroup }},
		{name: "nodes", text: func(x *model.Replica) string { return nodesText(x.Nodes) }},
		{name: "ro_nodes", text: func(x *model.Replica) string { return nodesText(x.RONodes) }},
		{name: "streaming_nodes", text: func(x *model.Replica) string { return nodesText(x.StreamingNodes) }},
		{name: "ro_streaming_nodes", text: func(x *model.Replica) string { return nodesText(x.ROStreamingNodes) }},
	},
}

var resourceGroups = kind[*model.ResourceGroup]{
	resource: "resource-groups", needs: model.PartServing,
	list: func(c *model.Cluster) []*model.ResourceGroup { return c.ResourceGroups },
	id:   func(x *model.ResourceGroup) string { return x.Name },
	name: func(x *model.ResourceGroup) string { return x.Name },
	fields: []field[*model.ResourceGroup]{
		{name: "nodes", text: func(x *model.ResourceGroup) string { return nodesText(x.Nodes) }},
		{name: "capacity", text: func(x *model.ResourceGroup) string { return int32Text(x.Capacity) }},
		{name: "requests", text: func(x *model.ResourceGroup) string { return int32Text(x.Requests) }},
		{name: "limits", text: func(x *model.ResourceGroup) string { return int32Text(x.Limits) }},
	},
}

var nodes = kind[*model.Session]{
	resource: "nodes", needs: model.PartSessions,
	list: func(c *model.Cluster) []*model.Session { return c.Sessions },
	id:   func(x *model.Session) string { return x.Role + "-" + x.Node.String() },
	name: func(x *model.Session) string { return x.Role + "-" + x.Node.String() },
	fields: []field[*model.Session]{
		{name: "address", text: func(x *model.Session) string { return x.Address }},
		{name: "version", text: func(x *model.Session) string { return x.Version }},
		{name: "state", text: func(x *model.Session) string { return x.State() }},
		{name: "host", text: func(x *model.Session) string { return x.HostName }},
		{name: "labels", text: func(x *model.Session) string { return pairsText(x.Labels) }},
	},
}

var users = kind[*model.User]{
	resource: "users", needs: model.PartUsers,
	list: func(c *model.Cluster) []*model.User { return c.Users },
	id:   func(x *model.User) string { return x.Name },
	name: func(x *model.User) string { return x.Name },
	fields: []field[*model.User]{
		{name: "roles", text: func(x *model.User) string { return sortedText(x.Roles) }},
	},
}

// roles are compared for existence: their users and grants are compared as such.
var roles = kind[*model.Role]{
	resource: "roles", needs: model.PartUsers,
	list: func(c *model.Cluster) []*model.Role { return c.Roles },
	id:   func(x *model.Role) string { return x.Name },
	name: func(x *model.Role) string { return x.Name },
}

var grants = kind[*model.Grant]{
	resource: "grants", needs: model.PartUsers,
	list: func(c *model.Cluster) []*model.Grant { return c.Grants },
	id: func(x *model.Grant) string {
		return strings.Join([]string{x.Role, x.ObjectType, x.Database, x.Object, x.Privilege}, "/")
	},
	name: func(x *model.Grant) string { return x.Role + " " + x.Privilege },
	fields: []field[*model.Grant]{
		{name: "grantor", text: func(x *model.Grant) string { return x.Grantor }},
	},
}

var privilegeGroups = kind[*model.PrivilegeGroup]{
	resource: "privilege-groups", needs: model.PartUsers,
	list: func(c *model.Cluster) []*model.PrivilegeGroup { return c.PrivilegeGroups },
	id:   func(x *model.PrivilegeGroup) string { return x.Name },
	name: func(x *model.PrivilegeGroup) string { return x.Name },
	fields: []field[*model.PrivilegeGroup]{
		{name: "privileges", text: func(x *model.PrivilegeGroup) string { return sortedText(x.Privileges) }},
	},
}

var config = kind[*model.ConfigEntry]{
	resource: "config", needs: model.PartConfig,
	list: func(c *model.Cluster) []*model.ConfigEntry { return c.Config },
	id:   func(x *model.ConfigEntry) string { return x.Name },
	name: func(x *model.ConfigEntry) string { return x.Name },
	fields: []field[*model.ConfigEntry]{
		{name: "value", text: func(x *model.ConfigEntry) string { return x.Value }},
		{name: "mod_revision", text: func(x *model.ConfigEntry) string { return strconv.FormatInt(x.ModRevision, 10) }, moving: true},
	},
}

var tasks = kind[*model.Task]{
	resource: "tasks", needs: model.PartObjects | model.PartTasks,
	list:       func(c *model.Cluster) []*model.Task { return c.Tasks },
	id:         func(x *model.Task) string { return x.Type + "/" + strconv.FormatInt(x.ID, 10) },
	name:       func(x *model.Task) string { return x.Type + " " + strconv.FormatInt(x.ID, 10) },
	collection: func(x *model.Task) model.CollectionID { return x.Collection },
	fields: []field[*model.Task]{
		{name: "state", text: func(x *model.Task) string { return x.State }},
		{name: "reason", text: func(x *model.Task) string { return x.Reason }},
		{name: "node", text: func(x *model.Task) string {
			if x.Node == 0 {
				return ""
			}
			return x.Node.String()
		}},
		{name: "progress", text: func(x *model.Task) string { return x.Progress }, moving: true},
	},
}
