package main

// opensUI reports whether a command line opens the UI.
func (p *program) opensUI(args []string) bool {
	cmd, _, err := p.tree.Find(args)
	if err != nil {
		return false
	}
	return !cmd.HasParent() || cmd.Name() == "ui" || cmd.Name() == "demo"
}
