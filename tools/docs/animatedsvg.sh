#!/usr/bin/env bash
# Records docs/pictures/demo.svg, the moving picture of the README: a real terminal in which keys are pressed. Needs tmux.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
screen=kitescope-moving-$$
trap 'tmux kill-session -t "$screen" 2>/dev/null || true; rm -rf "$work"' EXIT
columns=100 rows=30
CGO_ENABLED=0 go build -o "$work/kitescope" ./cmd/kitescope
mkdir "$work/frames"
order=0

# shot MILLISECONDS: the screen as it is, which is to stand for so long
shot() {
	tmux capture-pane -e -p -t "$screen" >"$work/frames/$(printf %03d "$order")-$1.ansi"
	order=$((order + 1))
}

# key MILLISECONDS KEY...: press keys, and show what comes of them
key() {
	local stands=$1
	shift
	tmux send-keys -t "$screen" "$@"
	sleep 1
	shot "$stands"
}

tmux new-session -d -s "$screen" -x $columns -y $rows "env COLORTERM=truecolor TERM=tmux-256color PS1='\$ ' bash --norc"
sleep 1
tmux send-keys -t "$screen" "PATH=$work:\$PATH; clear" Enter
sleep 1
tmux send-keys -t "$screen" 'kitescope demo'
sleep 1
shot 1200
tmux send-keys -t "$screen" Enter
sleep 6
shot 3000
key 2500 2
key 3500 Right
key 2000 y
key 800 Escape
key 3500 7
key 800 Escape
key 3500 0
tmux send-keys -t "$screen" q
go -C tools run ./animatedsvg -columns $columns -rows $rows -title "kitescope demo: the overview of a cluster, its findings with the command that cures, the balance of query nodes, the timeline" "$work/frames" >docs/pictures/demo.svg
ls -l docs/pictures/demo.svg
