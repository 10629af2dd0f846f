package view

import (
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

var users = define(definition[*model.User]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "users", Names: []string{"name"}, Shorthands: map[string]string{"user": "name", "role": "roles"},
		},
		Doc:   "Users of Milvus's access control; passwords are never read.",
		Needs: model.PartUsers,
	},
	rows: func(e *Env) []*model.User { return e.Cluster.Users },
	columns: []column[*model.User]{
		col(table.Column{Name: "name", Doc: "Name of the user."}, func(_ *Env, u *model.User) table.Cell {
			return text(u.Name)
		}),
		col(table.Column{Name: "roles", Kind: table.List, Doc: "Roles that the user has."},
			func(_ *Env, u *model.User) table.Cell { return list(u.Roles) }),
	},
	ref: func(_ *Env, u *model.User) Ref { return Ref{ID: u.Name, Name: u.Name} },
	links: func(_ *Env, u *model.User) []Link {
		if len(u.Roles) == 0 {
			return nil
		}
		return []Link{link("roles", "roles", "name="+anyOf(u.Roles)), link("grants", "grants", "role="+anyOf(u.Roles))}
	},
	sections: func(s *scope, u *model.User) []Section {
		return []Section{section(s, "grants", "grants", grantsTo(s.Env, u.Roles...))}
	},
})

var roles = define(definition[*model.Role]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "roles", Names: []string{"name"}, Shorthands: map[string]string{"role": "name", "user": "users"},
		},
		Doc:   "Roles: named sets of grants.",
		Needs: model.PartUsers,
	},
	rows: func(e *Env) []*model.Role { return e.Cluster.Roles },
	columns: []column[*model.Role]{
		col(table.Column{Name: "name", Doc: "Name of the role."}, func(_ *Env, r *model.Role) table.Cell {
			return text(r.Name)
		}),
		col(table.Column{Name: "users", Kind: table.List, Doc: "Users that have the role."},
			func(_ *Env, r *model.Role) table.Cell { return list(r.Users) }),
		col(table.Column{Name: "grants", Kind: table.Int, Doc: "Privileges granted to it."},
			func(e *Env, r *model.Role) table.Cell { return count(int64(len(grantsTo(e, r.Name)))) }),
	},
	ref: func(_ *Env, r *model.Role) Ref { return Ref{ID: r.Name, Name: r.Name} },
	links: func(_ *Env, r *model.Role) []Link {
		return []Link{
			link("grants", "grants", "role="+anyOf([]string{r.Name})),
			link("users", "users", "roles="+anyOf([]string{r.Name})),
		}
	},
	sections: func(s *scope, r *model.Role) []Section {
		return []Section{section(s, "grants", "grants", grantsTo(s.Env, r.Name))}
	},
})

var grants = define(definition[*model.Grant]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "grants", Names: []string{"role", "privilege"}, Handle: "path",
			Shorthands: map[string]string{"type": "object_type", "db": "database"},
		},
		Doc:   "Privileges of roles on objects.",
		Needs: model.PartUsers,
	},
	rows: func(e *Env) []*model.Grant { return e.Cluster.Grants },
	columns: []column[*model.Grant]{
		col(table.Column{Name: "role", Doc: "Role that has the privilege."}, func(_ *Env, g *model.Grant) table.Cell {
			return text(g.Role)
		}),
		col(table.Column{Name: "object_type", Priority: 1, Doc: "Global, Collection or User.", Vocabulary: true},
			func(_ *Env, g *model.Grant) table.Cell { return text(g.ObjectType) }),
		col(table.Column{Name: "database", Priority: 2, Doc: "Database of the object, * for all; none before 2.2.9."},
			func(_ *Env, g *model.Grant) table.Cell { return text(g.Database) }),
		col(table.Column{Name: "object", Doc: "Name of the object, * for all."},
			func(_ *Env, g *model.Grant) table.Cell { return text(g.Object) }),
		col(table.Column{Name: "privilege", Doc: "The privilege, or a privilege group."},
			func(_ *Env, g *model.Grant) table.Cell { return text(g.Privilege) }),
		col(table.Column{Name: "grantor", Priority: 3, Doc: "User who granted it."},
			func(_ *Env, g *model.Grant) table.Cell { return text(g.Grantor) }),
		col(table.Column{
			Name: "path", Show: table.Hidden, Doc: "role/object_type/database/object/privilege: the name of the grant.",
		},
			func(_ *Env, g *model.Grant) table.Cell { return text(g.Path()) }),
	},
	ref: func(_ *Env, g *model.Grant) Ref { return Ref{ID: g.Path(), Name: g.Role + " " + g.Privilege} },
	owner: func(_ *Env, g *model.Grant) (Ref, bool) {
		return Ref{Resource: "roles", ID: g.Role, Name: g.Role}, true
	},
	links: func(_ *Env, g *model.Grant) []Link {
		return []Link{link("role", "roles", "name="+anyOf([]string{g.Role}))}
	},
})

var privilegeGroups = define(definition[*model.PrivilegeGroup]{
	Resource: Resource{
		Schema:  table.Schema{Name: "privilege-groups", Names: []string{"name"}},
		Aliases: []string{"pg"},
		Doc:     "Named sets of privileges (2.5 and later).",
		Needs:   model.PartUsers,
	},
	rows: func(e *Env) []*model.PrivilegeGroup { return e.Cluster.PrivilegeGroups },
	columns: []column[*model.PrivilegeGroup]{
		col(table.Column{Name: "name", Doc: "Name of the group."}, func(_ *Env, g *model.PrivilegeGroup) table.Cell {
			return text(g.Name)
		}),
		col(table.Column{Name: "privileges", Kind: table.List, Doc: "Privileges in it."},
			func(_ *Env, g *model.PrivilegeGroup) table.Cell { return list(g.Privileges) }),
	},
	ref: func(_ *Env, g *model.PrivilegeGroup) Ref { return Ref{ID: g.Name, Name: g.Name} },
	links: func(_ *Env, g *model.PrivilegeGroup) []Link {
		return []Link{link("grants", "grants", "privilege="+anyOf([]string{g.Name}))}
	},
})

func grantsTo(e *Env, roles ...string) []*model.Grant {
	var list []*model.Grant
	for _, g := range e.Cluster.Grants {
		if slices.Contains(roles, g.Role) {
			list = append(list, g)
		}
	}
	return list
}

// anyOf quotes each value and joins them with commas, for a selection that parses them back unchanged.
func anyOf(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = table.Quote(v)
	}
	return strings.Join(quoted, ",")
}
