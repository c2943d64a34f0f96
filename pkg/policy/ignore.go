package policy

import (
	"regexp"
	"strings"
	"sync"
)

// OptOut at the start of a command says that it is not meant to end. The shell
// ignores it.
const OptOut = ": stopgate-ignore;"

// Endless are the built-in patterns of commands that are not meant to end:
// servers, watchers, log followers, port forwards. They are matched at the start
// of each stage of the last command in a line, behind assignments and wrappers
// such as env or nohup, and never behind timeout, which ends what it runs.
// docs/ignore.md lists them for people.
var Endless = []string{
	// log followers
	`tail( \S+)* (-[a-zA-Z]*[fF]\w*|--follow\S*|--retry)\b`,
	`journalctl( \S+)* (-[a-zA-Z]*f\w*|--follow)\b`,
	`(kubectl|oc|docker|podman|docker-compose|heroku|pm2|stern)( \S+)* logs?( \S+)* (-[a-zA-Z]*f\w*|--follow)\b`,
	`stern\b`,
	`dmesg( \S+)* (-[a-zA-Z]*w\w*|--follow)\b`,
	`less \+F\b`,
	// watchers
	`watch( |$)`,
	`(nodemon|entr|watchexec|fswatch|air|reflex|modd|chokidar|browser-sync|bacon|guard|livereload|gow)( |$)`,
	`inotifywait( \S+)* (-[a-zA-Z]*m\w*|--monitor)\b`,
	`cargo watch\b`,
	`dotnet watch\b`,
	`mix phx\.server\b`,
	`(tsc|webpack|rollup|esbuild|jest|mocha|ava|sass|tailwindcss|postcss|babel|parcel|vitest|tsup|swc|nx|turbo|pytest-watch|ptw)( \S+)* (-w|--watch(All)?(=true)?)( |$)`,
	`(vitest watch|parcel( watch| serve)?)$`,
	`ptw\b`,
	// servers
	`(npm|pnpm|yarn|bun|deno)( run| task)? (dev|start|serve|watch|preview|storybook|serve:\S+|watch:\S+)( |$)`,
	`(vite|astro|next|nuxt|nuxi|remix|gatsby|svelte-kit|expo|ng|vue-cli-service|react-scripts|webpack|webpack-dev-server|parcel|quasar|ember|wrangler|netlify|vercel|serverless|firebase|storybook|start-storybook|docusaurus|eleventy|gridsome|rspack|farm)( (dev|serve|start|server|develop|preview|emulators:start))( |$)`,
	`(vite|webpack-dev-server|start-storybook)( -\S+( \S+)?)*$`,
	`(http-server|live-server|json-server|serve|miniserve|static-web-server|caddy run|nginx -g|httpd -D|apachectl -D|traefik|envoy|haproxy -f|vault server|consul agent|minio server|etcd|zookeeper-server-start\S*|kafka-server-start\S*|memcached|mongod|redis-server|mysqld\S*|postgres -D|elasticsearch|rabbitmq-server|nats-server|mailhog|mailpit|localstack start|prometheus|grafana-server)( |$)`,
	`(python|python2|python3|py)(\.?\d+)*( -\S+)* -m (http\.server|SimpleHTTPServer|flask run|uvicorn|gunicorn|hypercorn|streamlit run|jupyter\S*|aiohttp\.web)\b`,
	`(python|python3)?\s*(\S*/)?manage\.py (runserver|runserver_plus|qcluster|livereload)\b`,
	`(flask( \S+)* run|uvicorn|gunicorn|hypercorn|daphne|waitress-serve|streamlit run|fastapi (dev|run)|celery( \S+)* (worker|beat)|rq worker|mkdocs serve|sphinx-autobuild|jupyter[ -](lab|notebook|server))\b`,
	`(bundle exec )?(rails (s|server)|puma|unicorn|thin start|rackup|sidekiq|jekyll (s|serve)|middleman server|foreman start|overmind (s|start)|hivemind)( |$)`,
	`php( \S+)* -S \S+`,
	`php artisan (serve|queue:work|queue:listen|horizon|schedule:work)\b`,
	`symfony (server:start|serve)\b`,
	`(hugo|zola) (server|serve)\b`,
	`(docker|podman)[ -]compose( -\S+( \S+)?)* up( [^-]\S*| --(build|force-recreate|remove-orphans|no-deps))*$`,
	`(\./)?(gradlew|gradle|mvnw|mvn)( \S+)* (bootRun|spring-boot:run|quarkus:dev|quarkusDev|jetty:run|appRun|--continuous|-t)( |$)`,
	`(skaffold dev|tilt up|garden dev|devspace dev|okteto up|minikube tunnel|supervisord -n|pm2-runtime)\b`,
	// port forwards and tunnels
	`kubectl( \S+)* (port-forward|proxy)\b`,
	`ssh( \S+)* -[a-zA-Z]*N\w*\b`,
	`(ngrok|lt --port|cloudflared( \S+)* tunnel|bore local|frpc|tailscale (serve|funnel)|socat \S*LISTEN\S*|autossh|stripe listen|gh webhook forward|smee)\b`,
	`(tcpdump|tshark|strace|dtruss)( \S+)* -p\b`,
	`adb logcat( |$)`,
	`sleep infinity\b`,
}

var endless = sync.OnceValue(compileEndless)

func compileEndless() *regexp.Regexp {
	return regexp.MustCompile(`^(` + strings.Join(Endless, "|") + `)`)
}

// prefix is what may stand before the command proper.
var prefix = sync.OnceValue(compilePrefix)

func compilePrefix() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(([A-Za-z_]\w*=("[^"]*"|'[^']*'|\S*)|\(|\{|exec|env|nohup|sudo(\s+(-[ugCDhprtT]\s+\S+|-\S+))*|command|setsid|stdbuf( -\S+)*|nice( -n ?-?\d+)?|time|npx( -\S+)*|pnpx|bunx|pnpm exec|pnpm dlx|yarn dlx|uv run|poetry run|pipenv run|bundle exec|direnv exec \S+)\s*)+`)
}

// Ignored tells whether a command is not to be waited for: it opts out, matches
// one of the user's patterns anywhere, or is of the built-in kinds.
func (p Policy) Ignored(command string) bool {
	if command == "" {
		return false
	}
	if strings.HasPrefix(strings.TrimLeft(command, " \t\n"), OptOut) {
		return true
	}
	for _, re := range p.Ignore {
		if re.MatchString(command) {
			return true
		}
	}
	if !hinted(command) {
		return false
	}
	stages := lastCommand(command)
	for i, stage := range stages {
		stage = strings.TrimSpace(stage)
		stage = stage[len(prefix().FindString(stage)):]
		if inner, ok := quoted(stage); ok && len(command) > len(inner) {
			return p.Ignored(inner)
		}
		if endless().MatchString(stage) {
			return !cutShort(stages[i+1:])
		}
	}
	return false
}

// cutShort tells whether a later stage of a pipeline ends by itself, and with it
// what writes to it.
func cutShort(stages []string) bool {
	for _, stage := range stages {
		for _, ender := range []string{"head", "grep -m", "grep -q", "sed -n '/", "sed '/"} {
			if strings.HasPrefix(strings.TrimSpace(stage), ender) {
				return true
			}
		}
	}
	return false
}

// quoted is the command that a shell is given with -c.
func quoted(stage string) (string, bool) {
	for _, shell := range []string{"sh", "bash", "zsh", "dash"} {
		rest, found := strings.CutPrefix(stage, shell+" -")
		if !found {
			continue
		}
		flags, rest, found := strings.Cut(rest, " ")
		rest = strings.TrimSpace(rest)
		if found && strings.HasSuffix(flags, "c") && len(rest) > 1 && (rest[0] == '\'' || rest[0] == '"') && rest[len(rest)-1] == rest[0] {
			return rest[1 : len(rest)-1], true
		}
	}
	return "", false
}

// hints are words of which every command of the built-in kinds holds one. Most
// commands hold none, which saves compiling the patterns.
var hints = []string{
	"tail", "journalctl", "log", "stern", "dmesg", "less", "watch", "nodemon", "entr", "air", "reflex", "modd",
	"chokidar", "browser-sync", "bacon", "guard", "livereload", "gow", "inotifywait", "phx", "ptw",
	"dev", "start", "serve", "preview", "storybook", "vite", "webpack", "eleventy", "parcel", "tsc -w", " -w",
	"caddy", "nginx", "httpd", "apachectl", "traefik", "envoy", "haproxy", "vault", "consul", "minio", "etcd",
	"memcached", "mongod", "mysqld", "postgres", "elasticsearch", "mailhog", "mailpit", "prometheus", "http.server",
	"SimpleHTTPServer", "uvicorn", "gunicorn", "hypercorn", "streamlit", "jupyter", "aiohttp", "manage.py", "flask",
	"daphne", "waitress", "fastapi", "celery", "rq worker", "autobuild", "rails", "puma", "unicorn", "thin", "rackup",
	"sidekiq", "jekyll", "foreman", "overmind", "hivemind", "php", "compose", "Run", "run ", ":run", "--continuous", " -t",
	"tilt", "garden", "okteto", "tunnel", "supervisord", "pm2", "port-forward", "proxy", "ssh", "ngrok", "lt --port",
	"cloudflared", "bore", "frpc", "funnel", "socat", "stripe", "webhook", "smee", "tcpdump", "tshark", "strace",
	"dtruss", "adb", "infinity",
}

func hinted(command string) bool {
	for _, h := range hints {
		if strings.Contains(command, h) {
			return true
		}
	}
	return false
}

// lastCommand is the command that decides when a line ends, as the stages of its
// pipeline. What stands before it has ended by then, or runs in the background.
func lastCommand(line string) []string {
	stages := []string{""}
	var quote byte
	flush := func(pipe bool) {
		last := strings.TrimSpace(stages[len(stages)-1])
		switch {
		case pipe:
			stages = append(stages, "")
		case last != "" || len(stages) > 1:
			stages = []string{""}
		}
	}
	add := func(s string) { stages[len(stages)-1] += s }
	line = strings.TrimRight(line, " \t\n;&)}")
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && quote != '\'' && i+1 < len(line):
			add(line[i : i+2])
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
			add(string(c))
		case c == '\'' || c == '"':
			quote = c
			add(string(c))
		case c == '|' && i+1 < len(line) && line[i+1] == '|':
			flush(false)
			i++
		case c == '|':
			flush(true)
		case c == '&' && (i > 0 && line[i-1] == '>' || i+1 < len(line) && line[i+1] == '>'):
			add(string(c)) // 2>&1, &>file
		case c == ';' || c == '\n' || c == '&':
			flush(false)
		default:
			add(string(c))
		}
	}
	return stages
}
