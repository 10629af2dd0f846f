package preflight

import (
	"fmt"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

var access = rule{
	forward: true,
	Check: check.Check{
		ID:       "upgrade-access",
		Title:    "Grants work differently in the new version",
		Severity: check.Warning,
		Parts:    model.PartObjects | model.PartUsers,
		Doc: `Looks for grants that are lost or change:

- on an alias: since 2.6.12 Milvus resolves aliases before it looks for grants (Milvus issue 47850, pull request
  48052; ` + "`proxy.resolveAliasForPrivilege`" + `).
- RenameCollection of cluster_admin: in 3.0 it moves to database_admin (pkg/util/paramtable at 2.6.22 and 3.0.1).
- without an object, from before 2.5: users reported them as lost (Milvus issues 40355, 43369).

New privileges of a release, e.g. for partitions and flush states in 2.3.4 (Milvus issue 31939), are not fully
covered.`,
		Remedy: `Grant the same privileges on the collection, and test each role with a client.`,
	},
	run: runAccess,
}

func runAccess(p *check.Pass, plan Plan) {
	if !plan.From.Before(plan.To) {
		return
	}
	aliases := map[string]*model.Alias{}
	for _, a := range p.Aliases {
		aliases[a.Name] = a
	}
	var onAlias, renaming, wide []*model.Grant
	for _, g := range p.Grants {
		switch {
		case g.ObjectType == "Collection" && aliases[g.Object] != nil && !plan.To.Release.Before(release(2, 6)) &&
			plan.From.Before(Version{release(2, 6), 12}):
			onAlias = append(onAlias, g)
		case plan.crosses(release(3, 0)) && strings.Contains(strings.ToLower(g.Privilege), "clusteradmin"):
			renaming = append(renaming, g)
		case plan.crosses(release(2, 5)) && g.ObjectType == "Global" && g.Object == "" ||
			plan.crosses(release(2, 5)) && g.ObjectType == "Collection" && g.Object == "":
			wide = append(wide, g)
		}
	}
	reportGrants(p, onAlias, "on an alias, which is resolved before grants are checked",
		"Roles lose these rights on the collections behind the aliases.",
		check.Do("grant the same privileges on the collections behind the aliases"))
	reportGrants(p, renaming, "for cluster_admin, which may no longer rename collections",
		"These roles can no longer rename collections.",
		check.Do("also grant database_admin to roles that rename collections"))
	reportGrants(p, wide, "without an object, which 2.5 reportedly does not honor", "Roles may lose these rights.",
		check.Do("grant the same privileges on *, and test each role with a client after the upgrade"))
}

func reportGrants(p *check.Pass, list []*model.Grant, what, impact string, fix check.Step) {
	if len(list) == 0 {
		return
	}
	f := check.Finding{Severity: check.Warning, Impact: impact, Object: model.Ref{Resource: "roles", ID: list[0].Role}}
	var roles []string
	seen := map[string]bool{}
	for _, g := range list {
		if len(f.Evidence) < facts.MaxObjects {
			f.Evidence = append(f.Evidence, check.Fact("grant", g.Path(), "etcd"))
		}
		if !seen[g.Role] {
			seen[g.Role] = true
			roles = append(roles, g.Role)
		}
	}
	f.Message = fmt.Sprintf("%s of %s %s %s", words.Plural(len(list), "grant"), words.Summarize(roles),
		words.Agree(len(list), "is", "are"), what)
	f.Fix = check.Fix(check.Shell(check.Kitescope("get grants")).Does("lists them"), fix)
	p.Report(f)
}
