package rules

import (
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// orphanGrant finds privileges on names without a collection or alias.
var orphanGrant = &check.Check{
	ID:       "orphan-grant",
	Title:    "A role has privileges on a collection or alias that is gone",
	Severity: check.Info,
	Symptoms: []string{check.Leftovers},
	Starts:   "collection_dropped privilege_granted role_dropped | database_dropped user_dropped",
	Parts:    model.PartObjects | model.PartUsers,
	Doc: `A role still has privileges on the name of a dropped collection. The check looks for privileges (object type
` + "`Collection`" + `) on names without a collection or alias in the database, because it or the database was dropped
or renamed. Info for each role: nothing fails now, but a new object with that name gives the role these privileges.

Milvus keeps grants by name. Up to 2.6.10 it compares the name in a request, alias or not, with that of the grant, and
keeps grants of dropped or renamed objects. Since 2.6.11 it can first resolve an alias to its collection
(` + "`proxy.resolveAliasForPrivilege`" + `), and removes or moves grants with the collection (Milvus issue 47850).
Those of an alias stay in every version.

Not reported: privileges on all collections (` + "`*`" + `), on other object types, and on an alias that exists but
points to nothing (` + "`records-missing`" + `). Names may be granted before they exist: accept the finding in a
baseline.`,
	Remedy: `Revoke with ` + "`Role(NAME).revoke(\"Collection\", object_name, privilege, db_name)`" + ` or
` + "`MilvusClient.revoke_privilege(...)`" + `; list the rest with ` + "`describe_role(role_name, db_name)`" + `.`,
	Run:   runOrphanGrant,
	Whole: true,
}

// mostRevoked is the maximum number of privileges that one fix revokes.
const mostRevoked = 50

// granted is the name of an object with privileges. Database "*" means all databases.
type granted struct{ database, object string }

func runOrphanGrant(p *check.Pass) {
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
}

// namesInUse returns the names of existing collections and aliases, each in its database and in "*".
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
		if !a.State.Dropped() {
			add(a.Database, a.Name)
		}
	}
	return named
}

// isName reports whether the object of a grant is the name of one collection, i.e. begins with a letter or an
// underscore. Other objects are "*" for all collections, or belong to future versions.
func isName(object string) bool {
	return object != "" && (object[0] == '_' || object[0]|0x20 >= 'a' && object[0]|0x20 <= 'z')
}

// reportGrants reports the privileges of one role on names that are gone. list is sorted.
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
		f.Evidence = append(f.Evidence, check.Fact("privileges on "+name, words.Summarize(privileges[name]), "etcd"))
	}
	f.Message = fmt.Sprintf("role %s has %s on %s: no such %s",
		role, words.Plural(len(list), "privilege"), words.Summarize(names),
		words.Agree(len(names), "collection or alias", "collections or aliases"))
	f.Impact = "None now. A new collection or alias of that name is open to all users of the role."
	var revokes check.Hint
	for _, g := range list[:min(len(list), mostRevoked)] {
		revokes += check.Python("\nrole.revoke(\"Collection\", %s, %s, db_name=%s)", g.Object, g.Privilege, g.Database)
	}
	revoke := check.PymilvusIn(p.Cluster, "", "role = Role(%s)%s", role, revokes).
		Does("revokes them; skip this if the names will be used again").
		Interrupting(time.Minute, "nothing")
	left := check.Shell(check.Kitescope("get grants").Arg("role=" + role)).Does("lists the remaining privileges")
	if len(list) > mostRevoked {
		revoke = revoke.Does("revokes the first %d of %d; skip this if the names will be used again",
			mostRevoked, len(list)).
			Interrupting(0, "nothing")
		left = check.Shell(check.Kitescope("diagnose --only orphan-grant")).
			Does("then prints the commands for the next")
	}
	f.Fix = check.Fix(revoke, left)
	p.Report(f)
}
