package history

import (
	"strings"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
)

// rule makes events from the object of a key before and after a change; either may be nil. It returns false
// if the change is not an event.
type rule = func(c *change) bool

// rules are the rules by kind of key, as named in package meta. Segments, their indexes, checkpoints and watches
// are handled without rules.
var rules = map[string]rule{
	"session":             sessionChanged,
	"pchannel":            pchannelChanged,
	"database":            simpleRule(databaseCreated, databaseAltered, databaseDropped),
	"collection":          collectionChanged,
	"partition":           partitionChanged,
	"field":               fieldChanged,
	"struct-array-field":  fieldChanged,
	"function":            functionChanged,
	"alias":               simpleRule(aliasCreated, aliasAltered, aliasDropped),
	"index":               indexChanged,
	"index-2.1":           indexChanged,
	"collection-load":     loadChanged,
	"collection-load-2.1": loadChanged,
	"partition-load":      partitionLoadChanged,
	"replica":             simpleRule(replicaCreated, replicaChanged, replicaRemoved),
	"replica-2.1":         simpleRule(replicaCreated, replicaChanged, replicaRemoved),
	"resource-group":      simpleRule(groupCreated, groupChanged, groupRemoved),
	"config":              configRule,
	"user":                userChangedRule,
	"role": nameRule(roleCreated, roleDropped, func(x any) model.Ref {
		return ref("roles", x.(*model.Role).Name)
	}),
	"user-role":       userRoleChanged,
	"grantee":         grantChanged,
	"grant":           grantChanged,
	"privilege-group": simpleRule(privilegeGroupChanged, privilegeGroupChanged, privilegeGroupChanged),
	"import-job":      taskRule,
	"preimport-task":  taskRule,
	"import-task":     taskRule,
	"import-task-2.3": taskRule,
	"compaction-task": taskRule,
	"analyze-task":    taskRule,
	"stats-task":      taskRule,
	"broadcast-task":  taskRule,

	"copy-segment-job": taskRule, "copy-segment-task": taskRule, "export-snapshot-job": taskRule,
	"external-collection-refresh-job": taskRule, "external-collection-refresh-task": taskRule,
}

func ref(resource, name string) model.Ref { return model.Ref{Resource: resource, ID: name, Name: name} }

// simpleRule returns the rule of objects that are created, altered and removed.
func simpleRule(created, altered, gone kindID) rule {
	return func(c *change) bool {
		switch {
		case c.before == nil:
			return c.emitObject(created)
		case c.after == nil:
			return c.emitObject(gone)
		}
		return c.emitAltered(altered)
	}
}

// nameRule returns the rule of objects that consist of a name only.
func nameRule(created, gone kindID, of func(any) model.Ref) rule {
	return func(c *change) bool {
		switch {
		case c.before == nil:
			return c.emit(occurrence{kind: created, object: of(c.after)})
		case c.after == nil:
			return c.emit(occurrence{kind: gone, object: of(c.before)})
		}
		return false
	}
}

// Details of a setting that is set on one side only.
const (
	settingNew     = "new"
	settingRemoved = "removed"
)

// configRule reports changed values of settings. Package meta has redacted the secrets.
func configRule(c *change) bool {
	n := occurrence{kind: configChanged}
	before, _ := c.before.(*model.ConfigEntry)
	after, _ := c.after.(*model.ConfigEntry)
	switch {
	case after == nil:
		n.object, n.before, n.detail = ref("config", before.Name), before.Value, settingRemoved
	case before == nil:
		n.object, n.after, n.detail = ref("config", after.Name), after.Value, settingNew
	case before.Value == after.Value && !after.Redacted:
		return false
	default:
		n.object, n.before, n.after = ref("config", after.Name), before.Value, after.Value
	}
	return c.emit(n)
}

func userChangedRule(c *change) bool {
	user := func(x any) model.Ref { return ref("users", x.(*model.User).Name) }
	if c.before != nil && c.after != nil {
		return c.emit(occurrence{kind: userChanged, object: user(c.after)})
	}
	return nameRule(userCreated, userDropped, user)(c)
}

func userRoleChanged(c *change) bool {
	n := occurrence{kind: roleGranted}
	x, ok := c.after.(*meta.UserRole)
	if !ok {
		n.kind = roleRevoked
		x = c.before.(*meta.UserRole)
	} else if c.before != nil {
		return false
	}
	n.object = ref("roles", x.Role)
	if ok {
		n.after = x.User
	} else {
		n.before = x.User
	}
	return c.emit(n)
}

// grantChanged joins the two keys of a grant: one holds the role and the object, the other the privilege.
func grantChanged(c *change) bool {
	x, given := c.after.(*meta.GrantPart)
	if !given {
		x = c.before.(*meta.GrantPart)
	}
	if x.Privilege == "" { // a grantee; its privileges follow
		if given {
			c.grantees[x.ID] = x.Grant
		}
		return false
	}
	if given && c.before != nil {
		return false
	}
	grant, known := c.grantees[x.ID]
	grant.Privilege = x.Privilege
	n := occurrence{
		kind:   privilegeGranted,
		object: model.Ref{Resource: "grants", ID: grant.Path(), Name: grant.Role + " " + grant.Privilege},
	}
	text := strings.TrimSpace(grant.ObjectType + " " + grant.Object)
	if !known {
		n.object = model.Ref{Resource: "grants", ID: x.ID + "/" + x.Privilege, Name: x.Privilege}
	}
	if given {
		n.after = text
	} else {
		n.kind, n.before = privilegeRevoked, text
	}
	return c.emit(n)
}

// taskRule reports the state changes of a task. Progress is not an event.
func taskRule(c *change) bool {
	before, _ := c.before.(*model.Task)
	after, _ := c.after.(*model.Task)
	switch {
	case before == nil:
		return c.emitObject(taskCreated)
	case after == nil:
		return c.emitObject(taskRemoved)
	case before.State == after.State:
		return false
	}
	kind := taskChanged
	if strings.Contains(strings.ToLower(after.State), "fail") {
		kind = taskFailed
	}
	return c.emitAltered(kind)
}
