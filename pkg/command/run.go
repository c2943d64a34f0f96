package command

import (
	"slices"
	"strings"
)

// Options that mean the same nearly everywhere.
var (
	// endOptions make what would serve or watch say or do something and end.
	endOptions = []string{
		"--help", "-help", "--version", "-version", "--usage", "--help-all", "--dry-run", "--dryrun",
		"--once", "--run-once", "--oneshot", "--one-shot", "--single-run", "--check-config",
		"--validate-config", "--print-config", "--show-config", "--dump-config", "--list",
		"--list-tests", "--detach", "--detached", "--daemon", "--daemonize", "--background", "--bg",
		"--stop", "--kill", "--shutdown", "--exit", "--stop-when-empty", "--no-watch", "--no-follow",
		"--build-only", "--configtest", "--print-defaults", "--runtime-control",
	}
	// endPrefixes begin options of that kind.
	endPrefixes = []string{
		"--help-", "--list-", "--print-config", "--show-config", "--dump-", "--test-config",
		"--version-",
	}
	// watchOptions make anything watch.
	watchOptions = []string{"--watch", "--watchAll", "--watch-all"}
	// neverOptions keep what is not known to end from it.
	neverOptions = []string{
		"--watch", "--watchAll", "--watch-all", "--hot", "--hot-reload", "--live-reload",
		"--livereload", "--continuous", "--serve", "--foreground", "--nodaemon",
	}
	// followOptions follow a log.
	followOptions = []string{"-f", "--follow", "--tail", "-t"}

	// neverCommands are subcommands that serve or watch, endCommands ones that do
	// something and end, quickCommands those of them that no folder is called.
	neverCommands = []string{
		"dev", "serve", "watch", "develop", "serve-web", "dev-server", "devserver", "runserver",
		"tail",
	}
	// aloneCommands say so where nothing follows them.
	aloneCommands = []string{"dev", "server", "daemon"}
	endCommands   = []string{
		"help", "version", "list", "ls", "status", "stop", "build", "check", "lint", "test",
		"format", "fmt", "install", "add", "remove", "rm", "uninstall", "init", "create", "new",
		"generate", "gen", "migrate", "validate", "config", "info", "login", "logout", "whoami",
		"deploy", "publish", "export", "import", "clean", "completion", "completions", "update",
		"upgrade", "doctor", "compile", "bundle", "release", "sync", "delete", "get", "set", "show",
		"describe", "inspect", "apply", "plan", "push", "pull", "reload", "restart",
	}
	quickCommands = []string{
		"help", "version", "init", "status", "stop", "completion", "completions", "list", "ls",
		"check", "validate", "login", "logout", "whoami", "info", "doctor", "upgrade", "uninstall",
		"install", "verify", "reload",
	}
)

// run judges a simple command by its words.
func (j *judge) run(words []string) verdict {
	j.depth++
	defer func() { j.depth-- }()
	ci := j.ci
	defer func() { j.ci = ci }()
	for len(words) > 0 && assignment(words[0]) {
		if name, value, _ := strings.Cut(words[0], "="); name == "CI" && value != "false" {
			j.ci = true
		}
		words = words[1:]
	}
	if len(words) == 0 {
		return ends()
	}
	if j.spent() {
		return unclear()
	}
	if f, ok := j.funcs[words[0]]; ok {
		return j.apart(func(in *judge) verdict { return in.stmt(f) })
	}
	name, lines := j.find(words[0])
	if lines == nil {
		return j.stranger(words)
	}
	c := read(name, words[1:], lines)
	v := j.known(&c)
	switch {
	case c.line.cutter || c.has(c.line.cut...):
		v.role = cutter
	case c.line.filter && v.role == other:
		v.role = filter
	}
	return v
}

// assignment tells that a word sets a variable for the command behind it.
func assignment(word string) bool {
	name, _, found := strings.Cut(word, "=")
	return found && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") == "" && (name[0] < '0' || name[0] > '9')
}

// program is what the table says of a name.
type program struct {
	name  string
	lines []line
}

// find looks a program up by the word that names it: as it stands, without its
// folder, without what a system or a version adds.
func (j *judge) find(word string) (string, []line) {
	if p, ok := j.programs[word]; ok {
		return p.name, p.lines
	}
	var p program
	if name := base(word); known(name) {
		names := []string{word, name, unversioned(name), strings.TrimSuffix(name, ".js")}
		if strings.HasPrefix(name, "qemu-system-") {
			names = append(names, "qemu-system-*")
		}
		p.name, p.lines = lookup(slices.Compact(names)...)
	}
	j.programs[word] = p
	return p.name, p.lines
}

// base is the name of a program without its folder and the suffixes of Windows.
func base(word string) string {
	word = word[strings.LastIndexAny(word, `/\`)+1:]
	for _, suffix := range []string{".exe", ".cmd", ".bat"} {
		if name, ok := strings.CutSuffix(word, suffix); ok {
			return name
		}
	}
	return word
}

// unversioned takes the version off a name: serve@14, python3.12.
func unversioned(name string) string {
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		name = name[:i]
	}
	plain := strings.TrimRight(name, "0123456789.")
	if slices.Contains([]string{"python", "pypy", "pip", "php", "ruby", "node", "java", "lua", "perl", "jupyter"}, plain) {
		return plain
	}
	return name
}

// known judges a program of the table.
func (j *judge) known(c *call) verdict {
	l := &c.line
	if l.verdict == "ends!" {
		return ends(c.path...)
	}
	if v, ok := c.ended(); ok {
		return v
	}
	for _, o := range l.text {
		if text, ok := c.value(o); ok {
			return j.text(text, false).within(c.told(o)...)
		}
	}
	if l.verdict == "wrap" {
		return j.wrapped(c)
	}
	if o, ok := c.given(l.never); ok {
		return never(c.told(o)...)
	}
	if handle, ok := strings.CutPrefix(l.verdict, "@"); ok {
		return j.special(handle, c)
	}
	for _, a := range c.args {
		if i := slices.Index(l.words, a[strings.LastIndexByte(a, ':')+1:]); i >= 0 {
			return never(c.told(l.words[i])...)
		}
		if i := slices.Index(l.words, a); i >= 0 {
			return never(c.told(l.words[i])...)
		}
	}
	return c.byDefault()
}

// ended tells whether an option makes the command end, whatever else it says.
func (c *call) ended() (verdict, bool) {
	l := &c.line
	if o, ok := c.given(l.ends); ok {
		return ends(c.told(o)...), true
	}
	if l.verdict == "wrap" && len(c.command) == 0 {
		return verdict{}, false
	}
	for _, o := range endOptions {
		if c.has(o) && !l.takes(o) && !slices.Contains(l.never, o) {
			return ends(c.told(o)...), true
		}
	}
	for _, o := range c.opts {
		for _, p := range endPrefixes {
			if strings.HasPrefix(o.name, p) && !falsy(o.value) && !l.takes(o.name) {
				return ends(c.told(p)...), true
			}
		}
		if o.name == "-h" && o.last && !l.takes("-h") && !slices.Contains(l.never, "-h") {
			return ends(c.told("-h")...), true
		}
	}
	if o, ok := c.switchedOff(append(l.never[:len(l.never):len(l.never)], watchOptions...)); ok {
		return ends(c.told(o)...), true
	}
	return verdict{}, false
}

// byDefault is the answer of the table where no option decides.
func (c *call) byDefault() verdict {
	l := &c.line
	always := watchOptions
	if l.verdict == "unclear" {
		always = neverOptions
	}
	if o, ok := c.given(always); ok {
		return never(c.told(o)...)
	}
	if l.verdict != "ends" && len(c.args) > 0 && !l.stop && len(l.subs) == 0 {
		list := quickCommands
		if l.verdict == "unclear" {
			list = endCommands
		}
		if i := slices.Index(list, c.args[0]); i >= 0 {
			return ends(c.told(list[i])...)
		}
		if l.verdict == "unclear" {
			if v, ok := c.serves(); ok {
				return v
			}
		}
	}
	if l.args > 0 && len(c.args) >= l.args {
		return ends(c.path...)
	}
	answer := l.verdict
	if len(c.args) == 0 && l.bare != "" {
		answer = l.bare
	}
	return c.say(answer)
}

func (c *call) say(answer string) verdict {
	switch answer {
	case "never":
		return never(c.path...)
	case "ends":
		return ends(c.path...)
	}
	return unclear(c.path...)
}

// serves tells whether the arguments say of any program that it serves, watches
// or follows.
func (c *call) serves() (verdict, bool) {
	if i := slices.Index(neverCommands, c.args[0]); i > 0 {
		return never(c.told(neverCommands[i])...), true
	}
	if i := slices.Index(aloneCommands, c.args[0]); i >= 0 && len(c.free) == 1 && c.free[0] == c.args[0] {
		return never(c.told(aloneCommands[i])...), true
	}
	if slices.Contains([]string{"logs", "log"}, c.args[0]) {
		for _, o := range c.opts {
			if slices.Contains(followOptions, o.name) && o.value == "" && (o.last || o.name != "--tail") {
				return never(c.told("logs", "--follow")...), true
			}
		}
	}
	if len(c.args) == 2 && !slices.Contains(endCommands, c.args[0]) {
		if i := slices.Index([]string{"dev", "serve", "watch"}, c.args[1]); i >= 0 {
			return never(c.told(neverCommands[i])...), true
		}
	}
	return verdict{}, false
}

// stranger judges a program that is not in the table, by what most programs mean
// by their words. Nothing of its own text is told.
func (j *judge) stranger(words []string) verdict {
	c := read("", words[1:], nil)
	c.path = nil
	if v, ok := c.ended(); ok {
		return v
	}
	if o, ok := c.given(neverOptions); ok {
		return never(o)
	}
	own := strings.ContainsAny(words[0], `/\`) || strings.Contains(words[0], ".sh")
	for _, o := range c.opts {
		if o.name == "--follow" && o.last || o.name == "--reload" && own {
			return never(o.name)
		}
	}
	if v, ok := fileName(words[0], c.free); ok {
		return v
	}
	if len(c.args) > 0 && known(words[0]) {
		if v, ok := c.serves(); ok && (!own || v.words[0] != "dev") {
			return v
		}
	}
	return unclear()
}
