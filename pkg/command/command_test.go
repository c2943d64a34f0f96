package command

import (
	"strings"
	"testing"
)

// Each row is a kind of command; the lists beside it have many of each.
func TestWhatDecides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ situation, command, want string }{
		{"a server", "npm run dev", "never ends: npm run dev"},
		{"a follower of logs", "tail -n 20 -F app.log", "never ends: tail -F"},
		{"a build", "cargo build --release", "ends: cargo"},
		{"a program that nobody knows", "./app", "unclear"},
		{"a program that nobody knows, with a word that everybody uses", "frobnicate serve --port 1", "never ends: serve"},
		{"nothing", "", "ends"},
		{"only a comment", "# npm run dev", "ends"},

		// options
		{"an option that makes a server end", "uvicorn app:app --version", "ends: uvicorn --version"},
		{"an option that makes a script end", "npm run dev -- --help", "ends: npm run dev --help"},
		{"an option that follows a process", "tail -f x --pid 12", "ends: tail --pid"},
		{"an option with a no behind it", "webpack --watch=false", "ends: webpack --watch"},
		{"an option with a no before it", "vitest --no-watch", "ends: vitest --no-watch"},
		{"a letter among others", "journalctl -fu nginx", "never ends: journalctl -f"},
		{"the letter is another option's value", "kubectl apply -n logs -f x.yaml", "ends: kubectl apply"},
		{"the letter means something else here", "mvn -t toolchains.xml package", "ends: mvn"},
		{"a long option with one dash", "bitcoind -chain=main", "never ends: bitcoind"},
		{"detached", "docker compose up --build -d", "ends: docker compose up -d"},
		{"a value that decides", `nginx -g "daemon off;"`, "never ends: nginx -g"},

		// runners and wrappers
		{"a runner's own options", "npm --prefix web -w api run dev", "never ends: npm run dev"},
		{"a workspace", "yarn workspace web start", "never ends: yarn workspace start"},
		{"a wrapper with options", "sudo -u www nice -n 5 tail -f y", "never ends: sudo nice tail -f"},
		{"a wrapper with --", "doppler run -p x -- pnpm dev", "never ends: doppler run pnpm dev"},
		{"a container", "docker exec -it -u root web npm run dev", "never ends: docker exec npm run dev"},
		{"a module", "python3 -um http.server 80", "never ends: python -m http.server"},
		{"a folder before the name", ".venv/bin/uvicorn app:app", "never ends: uvicorn"},
		{"a folder of Windows", `.venv\Scripts\python.exe -m flask run`, "never ends: python -m flask run"},
		{"a version behind the name", "npx -y serve@14 dist", "never ends: npx serve"},
		{"a shell in a shell", `bash -lc "cd web && sh -c 'npm start'"`, "never ends: bash -c sh -c npm start"},
		{"another machine", "ssh -p 22 host 'tail -f x'", "never ends: ssh tail -f"},
		{"timeout", "timeout 30 npm run dev", "ends: timeout"},
		{"timeout without a time", "timeout 0 npm run dev", "never ends: timeout npm run dev"},
		{"some together", `concurrently "npm:dev:*" "tsc -p ."`, "never ends: concurrently dev"},
		{"some together, the first ends all", `concurrently -k "npm run dev" "npm test"`, "unclear: concurrently -k"},
		{"a variable", `CMD="npm run dev"; $CMD`, "never ends: npm run dev"},
		{"a function", "serve() { python -m http.server; }; serve", "never ends: python -m http.server"},
		{"a function that calls itself", "f() { f; }; f", "unclear"},
		{"an environment", "CI=1 npx react-scripts test", "unclear: npx react-scripts test"},

		// scripts and targets
		{"a script that watches", "npm run build:watch", "never ends: npm run watch"},
		{"a script of that name that does something", "npm run dev:setup", "unclear: npm run dev setup"},
		{"a script that is given a task", `npm run dev "Build a TODO list"`, "unclear: npm run dev"},
		{"a script that is given an option", "pnpm dev --port 3001", "never ends: pnpm dev"},
		{"a script that is a program", "npm run tauri dev", "never ends: npm run tauri dev"},
		{"a target", "make -C web serve", "never ends: make serve"},
		{"a target that starts something", "make start", "unclear: make start"},
		{"the target of a project", "nx run shop:serve", "never ends: nx serve"},
		{"a file", "node dist/server.js --port 1", "never ends: node server"},
		{"a file that tests a server", "python test_server.py", "unclear: python server test"},
		{"services that do something", "docker compose up migrate", "ends: docker compose up"},
		{"services that serve", "docker compose up db redis", "never ends: docker compose up"},

		// lists
		{"what stands behind a server is never reached", "npm run dev; echo $?", "never ends: npm run dev"},
		{"what stands before a server has ended", "npm ci && npm run dev", "never ends: npm run dev"},
		{"the second of two that may not be needed", "curl -sf localhost:1 || npm run dev", "unclear: npm run dev"},
		{"the background keeps nobody", "npm run dev & sleep 5; curl -s localhost:3000; kill %1", "ends: sleep"},
		{"unless it is waited for", "npm run a:dev & npm run b:dev & wait", "never ends: wait npm run dev"},
		{"but it was ended", "npm run dev & npm test; kill $!; wait", "ends: npm test"},
		{"both ways", "if test -f x; then npm run dev; else vite; fi", "never ends: npm run dev"},
		{"one way", "if test -f x; then npm run dev; fi", "unclear"},
		{"the shell has left", "exit 0; npm run dev", "ends: exit"},
		{"only said", `echo "npm run dev" >> README.md`, "ends: echo"},
		{"a file's text", "cat > x.sh <<'E'\nnpm run dev\nE", "ends: cat"},
		{"inside another", "x=$(npm run dev)", "never ends: npm run dev"},

		// loops
		{"a loop without an end", "while true; do date; sleep 5; done", "never ends: while"},
		{"a loop with a way out", "while true; do curl -sf localhost && break; sleep 1; done", "unclear: while"},
		{"a loop that asks", "until grep -q READY log; do sleep 1; done", "unclear: until"},
		{"a loop over a list", "for f in a b; do npm test; done", "ends: npm test"},
		{"a server in a loop", "for p in web api; do npm -w $p run dev; done", "never ends: npm run dev"},

		// pipelines
		{"a filter behind it", "tail -f x | grep ERROR | tee log", "never ends: tail -f"},
		{"something that has seen enough", "tail -f x | grep -m1 READY", "ends: grep"},
		{"the same behind a filter", "npm run dev 2>&1 | tee log | head -50", "ends: head"},
		{"sed that quits", "tail -f x | sed '/READY/q'", "ends: sed"},
		{"sed that does not", "tail -f x | sed 's/q/r/'", "never ends: tail -f"},
		{"a loop that reads", "tail -f x | while read l; do echo $l; done", "never ends: tail -f"},
		{"a loop that reads and leaves", "tail -f x | while read l; do case $l in *OK*) break;; esac; done", "ends"},
		{"a watcher behind something", "ls *.c | entr make", "never ends: entr"},
		{"answers for a question", "yes | apt-get install x", "ends: apt-get"},
		{"one that may have seen enough", "tail -f x | ./scan", "unclear"},
		{"what is left in the background holds the pipe", "(tail -f x &) | cat", "never ends: tail -f"},
		{"unless it writes somewhere else", "(npm run dev >log 2>&1 &) | cat", "ends: cat"},
		{"it holds what reads it as well", "x=$(npm run dev &)", "never ends: npm run dev"},
	} {
		if got := Judge(c.command).String(); got != c.want {
			t.Errorf("%s: %s: %s, want %s", c.situation, c.command, got, c.want)
		}
	}
}

// The client cuts commands. What was cut off can end what is seen, or never end.
func TestACommandThatWasCut(t *testing.T) {
	t.Parallel()
	long := func(begin, end string) string {
		return begin + strings.Repeat("x", Cut-len(begin)-len(end)) + end
	}
	for _, c := range []struct{ situation, command, want string }{
		{"its end is missing", long("npm test; echo ", ""), "unclear"},
		{"it could have gone on in a pipe", long("echo ", "; tail -f x"), "unclear"},
		{"what never ends stands before", long("tail -f x; echo ", ""), "never ends: tail -f"},
		{"in the middle of a quote", long(`npm run dev; echo "`, ""), "never ends: npm run dev"},
		{"in the middle of a text", long("cat > x <<E\n", "\nnpm run dev"), "unclear"},
		{"counted as the client counts", strings.Repeat("\U0001f600", Cut/2) + "; npm run dev", "unclear"},
		{"it is longer than the client tells", long("echo ", "") + "; npm run dev", "unclear"},
	} {
		if got := Judge(c.command).String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.situation, got, c.want)
		}
	}
	if got := Judge(long("echo ", "; tail -f x")[:Cut-1] + "x").String(); got != "unclear" {
		t.Errorf("a whole command of that length: %s", got)
	}
	if got := Judge("echo " + strings.Repeat("x", Cut-20) + "; tail -f x").String(); got != "never ends: tail -f" {
		t.Errorf("a long command that is whole: %s", got)
	}
}

func TestANameIsLookedUpAsAWhole(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{
		"cp": 1, "logout": 1, "openssl": 3, // in the middle, before another that holds it, with subcommands
		"logou": 0, "": 0, "#": 0, "ls,cp": 0, "openssl s_server": 0, "s_server": 0, "ends": 0, "=": 0, "cp\n": 0,
	} {
		if got := linesOf(name); len(got) != want {
			t.Errorf("%q has %d lines, want %d", name, len(got), want)
		}
	}
}

// Each line of the table can be read, and is one that counts.
func TestTheTable(t *testing.T) {
	t.Parallel()
	ways := map[string]bool{"ends": true, "never": true, "unclear": true, "ends!": true, "wrap": true}
	for _, way := range []string{"shell", "cmd", "power", "eval", "ssh", "timeout", "find", "together", "sleep", "wait", "kill", "sed", "code", "npm", "tasks", "scripts", "nx", "python", "node", "file", "go", "run", "up", "cargo", "socat", "inotifywait", "sbt", "logs", "interval"} {
		ways["@"+way] = true
	}
	seen := map[string]bool{}
	for row := range strings.Lines(table) {
		if row = strings.TrimSuffix(row, "\n"); row == "" || row[0] == '#' {
			continue
		}
		key, rest, found := strings.Cut(row, " = ")
		fields := strings.Fields(rest)
		if !found || len(fields) == 0 || !ways[fields[0]] {
			t.Errorf("cannot be read: %s", row)
			continue
		}
		for _, f := range fields[1:] {
			name, list, given := strings.Cut(f, ":")
			switch name {
			case "filter", "cutter", "long", "stop", "deep":
				if given {
					t.Errorf("%s has no values: %s", name, row)
				}
			case "ends", "never", "value", "text", "rest", "words", "args", "bare", "skip", "cut":
				if list == "" || strings.Contains(list, ",,") || strings.HasSuffix(list, ",") {
					t.Errorf("%s is not whole: %s", f, row)
				}
			default:
				t.Errorf("unknown field %s: %s", f, row)
			}
		}
		parts := strings.Fields(key)
		for _, name := range strings.Split(parts[0], ",") {
			if name == "" {
				t.Errorf("a name is empty: %s", row)
			}
			if k := name + " " + strings.Join(parts[1:], " ") + strings.Join(fields, " "); seen[k] {
				t.Errorf("twice: %s in %s", name, row)
			} else {
				seen[k] = true
			}
		}
	}
}
