package history

import (
	"strings"
	"testing"
	"unicode/utf8"
)

const project = "/home/dev/proj"

// Variations of one command.
func TestTheSameCommand(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"npm run dev", "  npm   run\tdev\n", "cd /home/dev/proj && npm run dev", "cd . && npm run dev", "cd /home/dev/proj; npm run dev", "cd /home/dev/proj/ && npm run dev", "PORT=3000 npm run dev", "cd /home/dev/proj && PORT=1 HOST=0.0.0.0 npm run dev", "API_URL=http://x:3 npm run dev", "FORCE_COLOR=1 cd . && npm run dev"},
		{"python3 -m http.server 8000", "python3 -m http.server 9999"},
		{"vite --port 3000", "vite --port 5173"},
		{"vite --port=3000", "vite --port=80"},
		{"curl http://localhost:3000/x", "curl http://localhost:8080/x"},
		{"curl http://127.0.0.1:3000", "curl http://10.0.0.7:80", "curl http://127.0.0.1"},
		{"sleep 90", "sleep 3600", "sleep 0.5"},
		{"make -j8 all", "make -j16 all"},
		{"npx jest -w 4", "npx jest -w 2"},
		{"git bisect run 1a2b3c4d", "git bisect run deadbee7", "git bisect run 9999999"},
		{"x 62dfedaf-72b8-418a-a11c-30c406412c34", "x ef985de4-8e92-4a59-b6d2-da721217fd3f"},
		{"backup 2026-11-30", "backup 2027-1-2"},
		{"python /tmp/tmp.aXb1/server.py", "python /tmp/claude-1000/x/y/server.py", "python /var/folders/zz/T/server.py", "python $TMPDIR/server.py"},
		{`python C:\Users\a\AppData\Local\Temp\x\server.py`, `python D:\Temp\server.py`},
		{"make >/tmp/a/log 2>&1", "make >/tmp/b/c/log 2>&1"},
		{"/home/dev/proj/node_modules/.bin/vite", "node_modules/.bin/vite"},
		{"make -C /home/dev/proj", "make -C ."},
		{"tail -n 100 -f log", "tail -n 5 -f log"},
		{".claude/worktrees/agent-a85c14a6928672ba4/run", ".claude/worktrees/agent-aafe2df7955317069/run"},
	} {
		for _, other := range same[1:] {
			if a, b := Normal(same[0], project), Normal(other, project); a != b {
				t.Errorf("%q is %q, %q is %q", same[0], a, other, b)
			}
		}
	}
}

// Commands that look alike and are not the same.
func TestAnotherCommand(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"npm run dev", "npm run build"},
		{"cd web && npm start", "cd api && npm start"},
		{"cd web && npm start", "npm start"},
		{"cd /home/dev/project2 && npm start", "npm start"},
		{"CI=1 npm test", "npm test"},
		{"NODE_ENV=production npm start", "npm start"},
		{"WATCH=1 make", "make"},
		{`PORT="$(x y)" npm run dev`, `npm run dev`},
		{"python3 x.py", "python2 x.py"},
		{"./e2e.sh", "./e3e.sh"},
		{"npx jest", "npx jest --watch"},
		{"python /tmp/x/server.py", "python /tmp/x/build.py"},
		{"python /tmp/x/server.py", "python server.py"},
		{"tail -f log", "tail log"},
		{"docker compose up", "docker compose up -d"},
		{"sleep 90", "sleep infinity"},
		{"timeout 60 npm run dev", "npm run dev"},
		{"npm run dev", "npm run dev; echo $?"},
		{"npm run dev", ": stopgate-ignore; npm run dev"},
		{"feedface", "deadbeef"}, // words, not ids
		{"mytmp/x", "/tmp/x"},
	} {
		if a, b := Normal(c[0], project), Normal(c[1], project); a == b {
			t.Errorf("%q and %q are both %q", c[0], c[1], a)
		}
	}
	if Normal("cd /home/dev/proj && x", project) != Normal("cd /srv/other && x", "/srv/other") {
		t.Error("the place of the project counts")
	}
}

// The client cuts commands, but not everywhere.
func TestACommandThatWasCut(t *testing.T) {
	t.Parallel()
	long := "npm run dev -- " + strings.Repeat("--option value ", 100)
	if Normal(long, project) != Normal(long[:1000], project) || Normal(long, project) != Normal(long[:999]+"…", project) {
		t.Error("cut and whole differ")
	}
}

func FuzzNormal(f *testing.F) {
	for _, s := range []string{"", "npm run dev", "cd . && cd . && x", "PORT= x", "\x00\xff", "/tmp/", `\Temp\`, strings.Repeat("1-", 600), "a=b c=d", "-j8", "/home/dev/proj/home/dev/proj", strings.Repeat("é", 600), "cd .; "} {
		f.Add(s, project)
	}
	f.Add("x/x", "x")
	f.Add("//", "/")
	f.Fuzz(func(t *testing.T, command, project string) {
		normal := Normal(command, project)
		if !utf8.ValidString(normal) || len(normal) > 2*maxCommand {
			t.Errorf("%q became %q", command, normal)
		}
		if Normal(command, project) != normal || Normal(" "+command+"\n", project) != normal && len(command) < maxCommand-2 {
			t.Errorf("%q is not always %q", command, normal)
		}
	})
}
