// Package prefs reads and changes config.yaml, the one file of what a person has chosen: contexts and preferences. What enters is
// the file's text; what leaves are values of the types that describe it, what is wrong with it, line by line, its JSON Schema
// and its reference, both made of the same types, and the text with one value changed and all comments kept.
//
// The file is never required. A part of it that is wrong is as if it were not there, and is said; the other parts hold.
package prefs

// Preferences are what config.yaml says beside contexts. The zero value is what holds without a file.
type Preferences struct {
	Theme     string            `yaml:"theme,omitempty" doc:"colours of the UI: auto, terminal, dark, light, mono, or the path of a theme file, from the folder of config.yaml on" default:"auto"`
	ASCII     string            `yaml:"ascii,omitempty" enum:"auto,always,never" doc:"draw with ASCII characters alone; auto: where the locale (LC_ALL, LC_CTYPE, LANG) is not UTF-8" default:"auto"`
	Mouse     *bool             `yaml:"mouse,omitempty" doc:"let the UI have the mouse" default:"true"`
	Start     string            `yaml:"start,omitempty" doc:"the page that the UI opens with, as you would type it behind \":\"" default:"overview"`
	Clipboard string            `yaml:"clipboard,omitempty" enum:"auto,tmux,wl-copy,xclip,xsel,pbcopy,clip.exe,osc52,none" doc:"where copied text goes; auto: the first that is there, else OSC 52, which asks the terminal" default:"auto"`
	Keys      map[string]Words  `yaml:"keys,omitempty" doc:"keys by the name of an action (docs/reference/keys.md lists them); they take the place of that action's usual keys"`
	Aliases   map[string]string `yaml:"aliases,omitempty" doc:"short names for \":\", \"kitescope get\" and the start page: a page or resource, and what follows it"`
	Views     map[string]View   `yaml:"views,omitempty" doc:"columns and order by resource; :keep writes what the screen shows"`
	Actions   []Action          `yaml:"actions,omitempty" doc:"commands of your own, run from the row under the cursor"`
}

// Words is a list of words; one may stand without brackets.
type Words []string

// View is how the table of a resource looks.
type View struct {
	Columns Words `yaml:"columns,omitempty" doc:"the columns, in this order; kitescope get RESOURCE --help lists them"`
	Sort    Words `yaml:"sort,omitempty" doc:"columns to sort by; - before a name: descending"`
}

// Action is a command of the person's own. kitescope itself writes to no cluster; what an action does is up to its command.
type Action struct {
	Name    string `yaml:"name" doc:"what \":\" calls it"`
	Key     string `yaml:"key,omitempty" doc:"a key that runs it, such as ctrl+g, before any other meaning of that key; without one it is run by its name"`
	On      Words  `yaml:"on,omitempty" doc:"the resources that it is for; all, if none is named"`
	Run     string `yaml:"run" doc:"a command for sh. {COLUMN} becomes that column of the row, quoted; outside of quotes only"`
	Confirm *bool  `yaml:"confirm,omitempty" doc:"show the command and ask before it runs; false leaves that out where no value had to be quoted" default:"true"`
}

// Asks reports whether the command is shown before it runs.
func (a *Action) Asks() bool { return a.Confirm == nil || *a.Confirm }

// HasMouse reports whether the UI has the mouse.
func (p *Preferences) HasMouse() bool { return p.Mouse == nil || *p.Mouse }
