package command

import "strings"

// Options that mean the same nearly everywhere.
const (
	// endOptions make what would serve or watch say or do something and end.
	endOptions list = "--help,-help,--version,-version,--usage,--help-all,--dry-run,--dryrun,--once,--run-once," +
		"--oneshot,--one-shot,--single-run,--check-config,--validate-config,--print-config," +
		"--show-config,--dump-config,--list,--list-tests,--detach,--detached,--daemon," +
		"--daemonize,--background,--bg,--stop,--kill,--shutdown,--exit,--stop-when-empty," +
		"--no-watch,--no-follow,--build-only,--configtest,--print-defaults,--runtime-control"
	// endPrefixes begin options of that kind.
	endPrefixes list = "--help-,--list-,--print-config,--show-config,--dump-,--test-config,--version-"
	// watchOptions make anything watch.
	watchOptions list = "--watch,--watchAll,--watch-all"
	// neverOptions keep what is not known to end from it.
	neverOptions list = "--watch,--watchAll,--watch-all,--hot,--hot-reload,--live-reload,--livereload," +
		"--continuous,--serve,--foreground,--nodaemon"
	// followOptions follow a log.
	followOptions list = "-f,--follow,--tail,-t"

	// neverCommands are subcommands that serve or watch, endCommands ones that do
	// something and end, quickCommands those of them that no folder is called.
	neverCommands list = "serve,watch,develop,serve-web,dev-server,devserver,runserver,tail"
	// aloneCommands say so where nothing follows them.
	aloneCommands list = "dev,server,daemon"
	endCommands   list = "help,version,list,ls,status,stop,build,check,lint,test,format,fmt,install,add,remove,rm," +
		"uninstall,init,create,new,generate,gen,migrate,validate,config,info,login,logout,whoami," +
		"deploy,publish,export,import,clean,completion,completions,update,upgrade,doctor,compile," +
		"bundle,release,sync,delete,get,set,show,describe,inspect,apply,plan,push,pull,reload," +
		"restart"
	quickCommands list = "help,version,init,status,stop,completion,completions,list,ls,check,validate,login," +
		"logout,whoami,info,doctor,upgrade,uninstall,install,verify,reload"
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
	v := j.known(c)
	switch {
	case c.line.cutter || c.has(c.line.cut):
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
	lines []*line
}

// find looks a program up by the word that names it: as it stands, without its
// folder, without what a system or a version adds.
func (j *judge) find(word string) (string, []*line) {
	if p, ok := j.programs[word]; ok {
		return p.name, p.lines
	}
	var p program
	if name := base(word); known(name) {
		names := []string{word, name, unversioned(name), strings.TrimSuffix(name, ".js")}
		if strings.HasPrefix(name, "qemu-system-") {
			names = append(names, "qemu-system-*")
		}
		p.name, p.lines = lookup(names...)
	}
	j.programs[word] = p
	return p.name, p.lines
}

// base is the name of a program without its folder and the suffixes of Windows.
func base(word string) string {
	word = word[strings.LastIndexAny(word, `/\`)+1:]
	if i := strings.LastIndexByte(word, '.'); i > 0 && list(".exe,.cmd,.bat").has(word[i:]) {
		return word[:i]
	}
	return word
}

// unversioned takes the version off a name: serve@14, python3.12.
func unversioned(name string) string {
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		name = name[:i]
	}
	plain := strings.TrimRight(name, "0123456789.")
	if list("python,pypy,pip,php,ruby,node,java,lua,perl,jupyter").has(plain) {
		return plain
	}
	return name
}

// known judges a program of the table.
func (j *judge) known(c *call) verdict {
	l := c.line
	if l.verdict == "ends!" {
		return c.ends()
	}
	if word := c.ended(); word != "" {
		return c.ends(word)
	}
	if o := c.given(l.text); o != "" {
		text, _ := c.value(l.text)
		return j.text(text, false).within(c.with(o)...)
	}
	if l.verdict == "wrap" {
		return j.wrapped(c)
	}
	if o := c.given(l.never); o != "" {
		return c.never(o)
	}
	if way, ok := strings.CutPrefix(l.verdict, "@"); ok {
		return j.special(way, c)
	}
	for _, a := range c.args {
		for _, word := range []string{a, a[strings.LastIndexByte(a, ':')+1:]} {
			if found := l.words.find(word); found != "" {
				return c.never(found)
			}
		}
	}
	return c.byDefault()
}

// ended is the option that makes the command end, whatever else it says, or "".
func (c *call) ended() string {
	l := c.line
	if o := c.given(l.ends); o != "" {
		return o
	}
	if l.verdict == "wrap" && len(c.command) == 0 {
		return ""
	}
	for _, o := range c.opts {
		if falsy(o.value) || l.takes(o.name) || l.never.has(o.name) {
			continue
		}
		if found := endOptions.find(o.name); found != "" {
			return found
		}
		found := ""
		endPrefixes.each(func(p string) bool {
			if strings.HasPrefix(o.name, p) {
				found = p
			}
			return found != ""
		})
		if found == "" && o.name == "-h" && o.last {
			found = "-h"
		}
		if found != "" {
			return found
		}
	}
	if o := c.switchedOff(l.never); o != "" {
		return o
	}
	return c.switchedOff(watchOptions)
}

// byDefault is the answer of the table where no option decides.
func (c *call) byDefault() verdict {
	l := c.line
	unsure := l.verdict == "unclear"
	always := watchOptions
	if unsure {
		always = neverOptions
	}
	if o := c.given(always); o != "" {
		return c.never(o)
	}
	if l.verdict != "ends" && len(c.args) > 0 && !l.stop && len(l.subs) == 0 {
		does := quickCommands
		if unsure {
			does = endCommands
		}
		if found := does.find(c.args[0]); found != "" {
			return c.ends(found)
		}
		if v, ok := c.serves(); ok && unsure {
			return v
		}
	}
	if l.args > 0 && len(c.args) >= l.args {
		return c.ends()
	}
	if len(c.args) == 0 && l.bare != "" {
		return c.say(l.bare)
	}
	return c.say(l.verdict)
}

func (c *call) say(answer string) verdict {
	switch answer {
	case "never":
		return c.never()
	case "ends":
		return c.ends()
	}
	return c.unclear()
}

// serves tells whether the arguments, of which there are some, say of any program
// that it serves, watches or follows.
func (c *call) serves() (verdict, bool) {
	sub := c.args[0]
	if found := neverCommands.find(sub); found != "" {
		return c.never(found), true
	}
	if found := aloneCommands.find(sub); found != "" && len(c.free) == 1 && c.free[0] == sub {
		return c.never(found), true
	}
	if sub == "logs" || sub == "log" {
		for _, o := range c.opts {
			if followOptions.has(o.name) && o.value == "" && (o.last || o.name != "--tail") {
				return c.never("logs", "--follow"), true
			}
		}
	}
	if found := list("dev,serve,watch").find(c.args[len(c.args)-1]); found != "" && len(c.args) == 2 && !endCommands.has(sub) {
		return c.never(found), true
	}
	return verdict{}, false
}

// stranger judges a program that is not in the table, by what most programs mean
// by their words. Nothing of its own text is told.
func (j *judge) stranger(words []string) verdict {
	c := read("", words[1:], nil)
	c.path = nil
	if word := c.ended(); word != "" {
		return c.ends(word)
	}
	if o := c.given(neverOptions); o != "" {
		return c.never(o)
	}
	own := strings.ContainsAny(words[0], `/\`) || strings.Contains(words[0], ".sh")
	for _, o := range c.opts {
		switch {
		case o.name == "--follow" && o.last:
			return c.never("--follow")
		case o.name == "--reload" && own:
			return c.never("--reload")
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
