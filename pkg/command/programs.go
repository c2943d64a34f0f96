package command

import (
	"slices"
	"strings"
)

// installing are what package managers themselves do: all of it ends.
const installing list = "install,i,in,ci,clean-install,add,a,remove,rm,r,un,uninstall,update,up,upgrade," +
	"upgrade-interactive,publish,audit,outdated,ls,ll,la,list,view,info,show,pack,link,ln," +
	"unlink,version,prune,dedupe,ddp,rebuild,rb,config,c,get,set,cache,login,logout,adduser," +
	"whoami,dist-tag,deprecate,fund,explain,why,search,ping,doctor,token,team,access,org," +
	"owner,profile,help,store,patch-commit,approve-builds,fetch,import,licenses,root,bin," +
	"prefix,pkg,create,init,pm,global,autoclean,completion,shrinkwrap,sbom,stop,plugin," +
	"constraints,self-update,licences,policies,generate-lock-entry,versions,import-lock," +
	"catalog,ignored-builds,cat-file,build"

// npm judges npm and those like it: the scripts of a project, the programs it has
// installed, and what they do themselves.
func (j *judge) npm(c *call) verdict {
	if len(c.command) == 0 {
		return c.ends()
	}
	return j.npmCommand(c.command).within(c.path...)
}

func (j *judge) npmCommand(words []string) verdict {
	j.depth++
	defer func() { j.depth-- }()
	if j.spent() {
		return unclear()
	}
	sub, rest := words[0], words[1:]
	switch sub {
	case "run", "run-script", "rum", "urn":
		return j.npmRun(rest).within("run")
	case "start", "restart":
		v := script("start", rest)
		return v
	case "test", "t", "tst":
		return script("test", rest)
	case "exec", "x", "dlx":
		return j.run(append([]string{"npx"}, rest...))
	case "node":
		return j.run(words)
	case "workspace":
		if len(rest) > 1 {
			return j.npmCommand(rest[1:]).within("workspace")
		}
		return ends("workspace")
	case "workspaces", "recursive", "multi", "m":
		if i := slices.Index(rest, "run"); i >= 0 && len(rest) > i+1 {
			return j.npmCommand(rest[i:]).within("workspaces")
		}
		return ends("workspaces")
	}
	if does := installing.find(sub); does != "" {
		if c := read("", rest, nil); c.has(watchOptions) {
			return never(does, "--watch")
		}
		return ends(does)
	}
	return j.scriptOrProgram(sub, rest)
}

// npmRun judges what stands behind run: options of the runner, the script, and
// what the script is given.
func (j *judge) npmRun(words []string) verdict {
	const value list = "-w,--workspace,--prefix,-C,--dir,--filter,-F,--cwd,--env-file,--config"
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "--":
		case watchOptions.has(w) || w == "--hot":
			return never("--watch")
		case strings.HasPrefix(w, "-"):
			if value.has(w) {
				i++
			}
		default:
			return j.scriptOrProgram(w, runnerOptions(words[i+1:], value))
		}
	}
	return ends()
}

// runnerOptions takes out of the words behind a script's name the options that
// are still the runner's, with their values.
func runnerOptions(words []string, value list) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		if words[i] == "--" {
			return append(out, words[i:]...)
		}
		if value.has(words[i]) {
			i++
			continue
		}
		out = append(out, words[i])
	}
	return out
}

// python judges a module or a file that python runs. What stands behind either is
// not python's.
func (j *judge) python(c *call) verdict {
	for i := 0; i < len(c.words); i++ {
		w := c.words[i]
		rest := c.words[i+1:]
		switch {
		case len(w) < 2 || w[0] != '-':
			if _, lines := j.find(w); lines != nil {
				return j.run(c.words[i:]).within(c.path...)
			}
			return j.stranger(file(c.words[i:])).within(c.path...)
		case strings.HasPrefix(w, "--"):
		case strings.HasSuffix(w, "m") && len(rest) > 0:
			return j.module(rest).within(c.with("-m")...)
		case strings.ContainsRune(w, 'c'):
			return c.unclear("-c")
		case w == "-W" || w == "-X":
			i++
		case w == "-V":
			return c.ends("-V")
		}
	}
	if word := c.ended(); word != "" {
		return c.ends(word)
	}
	return c.unclear()
}

// module judges a module of python.
func (j *judge) module(words []string) verdict {
	if _, lines := j.find(words[0]); lines != nil {
		return j.run(words)
	}
	return j.stranger(append([]string{"./" + strings.ReplaceAll(words[0], ".", "/")}, words[1:]...))
}

// file makes it plain that a word names a file.
func file(words []string) []string {
	return append([]string{"./" + words[0]}, words[1:]...)
}

// node judges what runs JavaScript: a file, a program of the project by its file,
// or code.
func (j *judge) node(c *call) verdict {
	if name, ok := c.value("--run"); ok {
		return script(name, c.args).within(c.with("--run")...)
	}
	if len(c.command) == 0 {
		return c.unclear()
	}
	if strings.Contains(c.command[0], "node_modules/") || !strings.ContainsAny(c.command[0], "./") {
		if _, lines := j.find(c.command[0]); lines != nil {
			return j.run(c.command).within(c.path...)
		}
	}
	return j.stranger(file(c.command)).within(c.path...)
}

// file judges an interpreter's file by its name alone.
func (j *judge) file(c *call) verdict {
	if len(c.command) == 0 {
		return c.say(c.line.bare)
	}
	name := strings.TrimSuffix(base(c.command[0]), ".jar")
	name = strings.TrimRight(strings.TrimRight(name, "0123456789."), "-_")
	if _, lines := j.find(name); lines != nil {
		return j.run(append([]string{name}, c.command[1:]...)).within(c.path...)
	}
	return j.stranger(file(c.command)).within(c.path...)
}

// goRun judges the program that go run builds, by the last part of its path.
func (j *judge) goRun(c *call) verdict {
	if len(c.command) == 0 {
		return c.unclear()
	}
	path, version, _ := strings.Cut(c.command[0], "@")
	words := append([]string{base(strings.TrimSuffix(path, "/"))}, c.command[1:]...)
	if version != "" {
		if _, lines := j.find(words[0]); lines != nil {
			return j.run(words).within(c.path...)
		}
	}
	return j.stranger(file(words)).within(c.path...)
}

// byValue judges programs by the value of an option or an argument.
func byValue(handle string, c *call) verdict {
	switch handle {
	case "cargo": // run: the program's name
		if name, ok := c.value("--bin,--example,-p,--package"); ok {
			if v, ok := fileName("./"+name, nil); ok {
				return v.within(c.path...)
			}
		}
	case "socat":
		for _, a := range c.args {
			if strings.Contains(a, ",fork") {
				return c.never("fork")
			}
		}
	case "inotifywait":
		if !c.has("-m,--monitor") {
			return c.ends()
		}
		if !c.has("-t,--timeout") {
			return c.never("-m")
		}
	case "interval": // every so often, or so many times
		numbers := 0
		for _, a := range c.args {
			if strings.Trim(a, "0123456789.") == "" {
				numbers++
			}
		}
		if numbers == 1 {
			return c.never()
		}
		return c.ends()
	case "sbt":
		for _, a := range c.args {
			if strings.HasPrefix(a, "~") {
				return c.never("~")
			}
		}
		if len(c.args) > 0 {
			return c.ends()
		}
	case "logs":
		// Followed, they end with what they are of: a job does.
		if !c.has("-f,--follow") {
			return c.ends()
		}
		if !slices.ContainsFunc(c.args, func(a string) bool {
			return strings.HasPrefix(a, "job/") || strings.HasPrefix(a, "job.batch/") || a == "job"
		}) {
			return c.never("-f")
		}
	}
	return c.unclear()
}
