package objects

import (
	"fmt"
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// orphanGrant finds privileges on names that nothing has.
var orphanGrant = &check.Check{
	ID:       "orphan-grant",
	Title:    "A role has privileges on a collection or alias that is gone",
	Severity: check.Info,
	Since:    "0.9",
	Parts:    model.PartObjects | model.PartUsers,
	Doc: `Looks for privileges on collections (object type ` + "`Collection`" + `) whose object is the name of no collection and of no alias of its database, as their database or they themselves were dropped or renamed.
An information for each role: nothing fails by it now, but whoever makes a collection or an alias of that name later gives the role these privileges on it.

Milvus keeps grants by name. Up to 2.6.10 it compares the name that a request uses, alias or not, with that of the grant, and keeps grants of what is dropped or renamed; from 2.6.11 on it can look up
first which collection an alias leads to (` + "`proxy.resolveAliasForPrivilege`" + `), and removes or moves the grants with the collection (milvus issue 47850). Those of an alias stay in every version.

No finding are privileges on all collections (` + "`*`" + `), those of other object types, and those on an alias that is there but leads to nothing: that is orphan-alias. Names may be granted before they are made; then accept the finding in a baseline.`,
	Remedy: "`MilvusClient.revoke_privilege(role_name, \"Collection\", privilege, object_name, db_name)` takes a privilege away, `describe_role(role_name, db_name)` lists what is left.",
	Run:    runOrphanGrant,
}

// granted is a name that privileges are on. Database "*" is all of them.
type granted struct{ database, object string }

func runOrphanGrant(p *check.Pass) error {
	if !p.Whole() {
		return nil
	}
	named := namesInUse(p.Cluster)
	gone := make(map[string][]*model.Grant) // by role
	var roles []string
	for _, g := range p.Grants {
		if g.ObjectType != "Collection" || !isName(g.Object) || named[granted{g.Database, g.Object}] {
			continue
		}
		if gone[g.Role] == nil {
			roles = append(roles, g.Role)
		}
		gone[g.Role] = append(gone[g.Role], g)
	}
	for _, role := range roles {
		reportGrants(p, role, gone[role])
	}
	return nil
}

// namesInUse are the names of collections and aliases that are there, each in its database and in "*".
func namesInUse(c *model.Cluster) map[granted]bool {
	named := make(map[granted]bool)
	add := func(database model.DatabaseID, name string) {
		named[granted{c.DatabaseName(database), name}] = true
		named[granted{"*", name}] = true
	}
	for _, x := range c.Collections {
		if !x.Dropped() {
			add(x.Database, x.Name)
		}
	}
	for _, a := range c.Aliases {
		if !a.State.Gone() {
			add(a.Database, a.Name)
		}
	}
	return named
}

// isName reports whether the object of a grant is the name of one collection: a letter or an underscore comes first. Else it is "*" for
// all of them, or something that only versions to come know.
func isName(object string) bool {
	return object != "" && (object[0] == '_' || object[0]|0x20 >= 'a' && object[0]|0x20 <= 'z')
}

// reportGrants reports the privileges of one role on names that are gone. They are in order.
func reportGrants(p *check.Pass, role string, list []*model.Grant) {
	var names []string
	privileges := make(map[string][]string) // by name
	f := check.Finding{Severity: check.Info, Object: model.Ref{Resource: "roles", ID: role, Name: role}}
	for _, g := range list {
		name := g.Object
		if g.Database != "default" {
			name = g.Database + "." + g.Object
		}
		if privileges[name] == nil {
			names = append(names, name)
		}
		privileges[name] = append(privileges[name], g.Privilege)
		if len(f.Objects) < facts.MaxObjects {
			f.Objects = append(f.Objects, model.Ref{Resource: "grants", ID: g.Path(), Name: g.Role + " " + g.Privilege})
		}
	}
	slices.Sort(names)
	for _, name := range names[:min(len(names), facts.MaxObjects)] {
		f.Evidence = append(f.Evidence, check.Fact("privileges on "+name, words.Few(privileges[name]), "etcd"))
	}
	f.Message = fmt.Sprintf("role %s has %s on %s, which %s neither a collection nor an alias",
		role, words.Plural(len(list), "privilege"), words.Few(names), words.Agree(len(names), "is", "are"))
	f.Impact = "None now; whoever makes a collection or an alias of that name gives these privileges on it to all users of the role."
	g := list[0]
	f.Hint = check.Python("MilvusClient.revoke_privilege(%s, \"Collection\", %s, %s, db_name=%s), and so on for each privilege, unless the name is to come back", role, g.Privilege, g.Object, g.Database)
	p.Report(f)
}
