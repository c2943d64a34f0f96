package policy

import (
	"regexp"
	"testing"
)

func TestCommandsThatAreNotMeantToEndAreIgnored(t *testing.T) {
	for _, command := range []string{
		"npm run dev", "cd web && npm run dev", "cd web; PORT=3000 npm start", "pnpm dev --port 4000",
		"npx vite", "npx vite --host 0.0.0.0", "next dev", "python3 -m http.server 8000",
		"python manage.py runserver", "uvicorn app:app --reload", "flask --app x run",
		"tail -f /var/log/syslog", "tail -n 5 -F app.log | grep ERROR | tee x", "journalctl -u x -f",
		"kubectl logs -f pod/x", "docker compose logs -f web", "kubectl port-forward svc/x 8080:80",
		"ssh -N -L 1:localhost:2 host", "ngrok http 80", "docker compose up", "docker-compose up --build web",
		"watch -n 1 date", "tsc --watch", "npx tsc -w", "cargo watch -x test", "nodemon server.js",
		"nohup redis-server", "(npm run dev)", "npm run dev > log 2>&1", "npm run dev 2>&1 | tee dev.log",
		"exec rails server", "hugo server -D", "php -S localhost:8000", "adb logcat", "sleep infinity",
		"  : stopgate-ignore; make everything", "sudo -u www tail -f y", `bash -c "npm run dev"`, "sh -lc 'cd web && npm start'", "bash -c 'x'; tail -f y",
	} {
		if !(Policy{}).Ignored(command) {
			t.Errorf("is waited for: %s", command)
		}
	}
}

func TestCommandsThatEndAreWaitedFor(t *testing.T) {
	for _, command := range []string{
		"", "npm run build", "npm test", "npm run dev-build", "make", "cargo build", "go test ./...",
		"vite build", "next build", "sleep 45; echo DONE", "python3 -c 'import time;time.sleep(9)'",
		"tail -n 100 build.log", "kubectl logs pod/x --tail 50", "docker compose up -d", "docker build .",
		"timeout 60 npm run dev", "npm run dev & sleep 5; curl localhost:3000; kill %1",
		"docker compose up --abort-on-container-exit", "kubectl apply -f x.yaml", "jest --watchAll=false",
		"echo 'npm run dev'", "grep -r 'tail -f' .", "ssh host make", "vitest run", "vitest",
		"git log --follow x", "terraform apply -auto-approve", "watchman version", "npx playwright test",
		"echo : stopgate-ignore; make", "tail -f log | grep -m1 READY", "tail -f log | head -5", "npm run dev:build",
		`bash -c "make"`, "sudo make install", "bash -c",
		// The shell has ended at once, and the task with it.
		"nohup redis-server &", "npm run dev > log 2>&1 &",
	} {
		if (Policy{}).Ignored(command) {
			t.Errorf("is ignored: %s", command)
		}
	}
}

func TestTheUsersPatternsMatchAnywhere(t *testing.T) {
	p := Policy{Ignore: []*regexp.Regexp{regexp.MustCompile(`my-daemon\b`)}}
	if !p.Ignored("cd x && ./my-daemon --port 1; true") || p.Ignored("make") {
		t.Error("a pattern of the user decides wrongly")
	}
}

// What a command says of itself counts only at its very start: a name, a file or a
// text that holds the words is nobody's word.
func TestACommandOptsOutAtItsStartOnly(t *testing.T) {
	for command, want := range map[string]bool{
		": stopgate-ignore; make": true, "\n\t : stopgate-ignore; make": true,
		": stopgate-ignore": false, ":stopgate-ignore; make": false, "make # : stopgate-ignore;": false, "echo ': stopgate-ignore;'; make": false,
	} {
		if got := OptedOut(command); got != want {
			t.Errorf("%q opts out: %v", command, got)
		}
	}
}

// What somebody says of a command counts before what its text tells: --ignore, then
// the files' patterns in their order.
func TestWhoSaysWhatOfACommand(t *testing.T) {
	re := regexp.MustCompile
	p := Policy{
		Ignore: []*regexp.Regexp{re("^lab")},
		Patterns: []Pattern{
			{Expr: re("dev:check"), Wait: true, From: "project"},
			{Expr: re("check"), From: "project"},
			{Expr: re("^lab|serve|check"), Wait: true, From: "person"},
			{Expr: re("batch"), From: "person"},
		},
	}
	for command, want := range map[string]bool{
		"lab serve":                            true,  // --ignore
		"npm run dev:check":                    false, // the project waits for it
		"npm run check":                        true,  // the project does not
		"python -m http.serve":                 false, // the person waits for it
		"npm run serve":                        false,
		"batch":                                true,
		"npm run dev":                          true, // its text
		"npm run build":                        false,
		": stopgate-ignore; npm run dev:check": true, // the command itself
	} {
		if got := p.Ignored(command); got != want {
			t.Errorf("%s is ignored: %v", command, got)
		}
	}
}
