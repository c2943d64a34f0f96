package command

import (
	"slices"
	"strings"
	"unicode"
)

// The words of which the names of scripts, targets and files are made.
const (
	// serving words say that it goes on.
	serving list = "dev,develop,development,serve,server,watch,watcher,preview,storybook,studio,emulators," +
		"tunnel,devserver,hot,livereload,tdd,start"
	// doing words say that it does something and ends.
	doing list = "build,builds,compile,bundle,test,tests,lint,check,checks,typecheck,tsc,format,fmt,fix," +
		"install,setup,seed,migrate,migration,migrations,reset,clean,deploy,publish,release," +
		"generate,gen,codegen,once,stop,kill,down,init,ci,prepare,export,import,push,pull,sync," +
		"deps,dependencies,bootstrap,create,delete,remove,update,upgrade,status,restart,reload," +
		"wait,validate,verify,bench,benchmark,download,upload,backup,restore,package,pack,dist," +
		"audit,version,bump,prune,cleanup,provision,config,configure,token,cert,certs,keys," +
		"typegen,types"
	// runs are tests by other names: alone they end.
	runs list = "e2e,unit,integration,coverage,typecheck,smoke,spec"
	// parts are what is started of a system: start:web serves.
	parts list = "dev,development,watch,debug,local,web,www,server,client,api,app,ui,frontend,backend," +
		"docs,site,website,storybook,mock,mocks,admin,mobile,host,hmr"
	// around are what a system needs before it can serve: often only started.
	around list = "db,database,docker,up,infra,env,data,services,user,users"
)

// nameWords are the words of a name: start-dev_server:webApp has five.
func nameWords(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if unicode.IsUpper(r) && lower {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool { return strings.ContainsRune(" :-_./+*", r) })
}

// named guesses from the name of a script or a target.
func named(name string) verdict {
	words := nameWords(name)
	if len(words) == 0 {
		return unclear()
	}
	first, last := words[0], words[len(words)-1]
	does, serves := doing.first(words), serving.first(words)
	if last == "watch" {
		return never("watch")
	}
	if last == "open" && list("cypress,cy,e2e").first(words) != "" {
		return never("open")
	}
	switch {
	case does != "" && serves != "":
		return unclear(serves, does)
	case does != "":
		return ends(does)
	case serves == "":
		if run := runs.first(words); run != "" {
			return ends(run)
		}
		return unclear()
	}
	if first == "start" && len(words) > 1 {
		if part := parts.first(words); part != "" && !list("prod,production,all").has(last) {
			return never("start", part)
		}
		return unclear("start")
	}
	if last == "start" && len(words) > 1 && parts.first(words) == "" {
		return unclear("start")
	}
	if other := around.first(words); other != "" && first == serves {
		return unclear(serves, other)
	}
	if serving.has(first) || serving.has(last) {
		return never(serves)
	}
	return unclear(serves)
}

// script judges a script of a project by its name and what it is given.
func script(name string, words []string) verdict {
	c := read("", words, nil)
	c.path = nil
	v := named(name)
	if word := c.ended(); word != "" {
		return ends(word).within(v.words...)
	}
	// What stands behind -- is the script's.
	if i := slices.Index(words, "--"); i >= 0 {
		c = read("", append(words[:i:i], words[i+1:]...), nil)
		c.path = nil
		if word := c.ended(); word != "" {
			return ends(word).within(v.words...)
		}
	}
	if o := c.given(neverOptions); o != "" {
		return never(o)
	}
	if v.answer == Never && len(c.free) > 0 {
		return unclear(v.words...) // a task for it, as it seems
	}
	return v
}

// tasks judges the targets of make and its like.
func tasks(c *call) verdict {
	targets := slices.DeleteFunc(slices.Clone(c.args), assignment)
	if len(targets) == 0 {
		return c.say(c.line.bare)
	}
	if o := c.given(watchOptions); o != "" {
		return c.never(o)
	}
	if c.line.args > 0 {
		targets = targets[:min(c.line.args, len(targets))]
	}
	v := c.ends()
	for i, t := range targets {
		in := named(t)
		if i == 0 && list("start,studio,test").has(t) && in.answer != Ends {
			in.answer = Unclear // a target that starts something may leave it there
		}
		v = worse(v, in.within(c.path...))
	}
	return v
}

// scripts judges runners that take the name of a script, or else a command.
func (j *judge) scripts(c *call) verdict {
	if len(c.command) == 0 {
		return c.say(c.line.bare)
	}
	name := c.command[0]
	if i := strings.LastIndexByte(name, ':'); i > 0 && c.path[0] == "hatch" {
		name = name[i+1:]
	}
	return j.scriptOrProgram(name, c.command[1:]).within(c.path...)
}

// scriptOrProgram judges a name that can be a project's script or a program.
func (j *judge) scriptOrProgram(name string, words []string) verdict {
	program, lines := j.find(name)
	plain := serving.has(name) || doing.has(name)
	if lines != nil && !plain && program != "" {
		return j.run(append([]string{name}, words...))
	}
	if v, ok := fileName(name, read("", words, nil).free); ok && strings.ContainsAny(name, "./") {
		return v
	}
	return script(name, words)
}

// nx judges the targets of a monorepo's projects: nx serve app, nx run app:serve,
// nx run-many -t serve.
func nx(c *call) verdict {
	if o := c.given(watchOptions); o != "" {
		return c.never(o)
	}
	v := c.unclear()
	if target, ok := c.value("-t,--target,--targets"); ok {
		v = c.ends()
		for _, t := range strings.Split(target, ",") {
			v = worse(v, named(t).within(c.path...))
		}
		return v
	}
	if len(c.args) == 0 {
		return v
	}
	target := c.args[0]
	if target == "run" && len(c.args) > 1 {
		parts := strings.Split(c.args[1], ":")
		target = parts[min(1, len(parts)-1)]
	}
	return named(target).within(c.path...)
}

// suffixes are those of files that an interpreter runs.
const suffixes list = ".sh,.bash,.zsh,.py,.mjs,.cjs,.js,.mts,.cts,.ts,.tsx,.rb,.php,.pl,.jar,.ps1,.go,.exs,.ex," +
	".command"

// fileName guesses from the name of a file that is run, with what it is given that
// is no option.
func fileName(word string, free []string) (verdict, bool) {
	name := base(word)
	path := strings.ContainsAny(word, `/\`)
	if i := strings.LastIndexByte(name, '.'); i > 0 && suffixes.has(name[i:]) {
		name, path = name[:i], true
	}
	if !path {
		switch {
		case strings.HasSuffix(name, "-server"), strings.HasSuffix(name, "_server"), strings.HasPrefix(name, "mcp-server"):
			return never("server"), true
		case strings.HasSuffix(name, "_exporter"):
			return never("exporter"), true
		}
		return verdict{}, false
	}
	if entry := strings.Split(strings.Trim(word, `/\`), "/"); list("index,main,app").has(name) && len(entry) > 1 && entry[len(entry)-2] == "server" {
		name = "server"
	}
	v := named(name)
	if v.answer != Never {
		return v, len(v.words) > 0
	}
	// A file's name says less than a script's: every word of it has to be known,
	// and what it is given must not be for something else.
	words := nameWords(name)
	other := func(w string) bool {
		return !serving.has(w) && !parts.has(w) && !programWords.has(w)
	}
	last := words[len(words)-1]
	switch {
	case slices.ContainsFunc(words, other):
		v.answer = Unclear
	case words[0] == "start" && !slices.Contains(words, "server") && !slices.Contains(words, "dev"):
		v.answer = Unclear
	case len(free) > 0 && (last != "server" || slices.ContainsFunc(free, task)):
		v.answer = Unclear
	}
	return v, true
}

// programWords are further words in the names of programs that serve.
const programWords list = "run,http,https,ws,websocket,mcp,grpc,static,file,simple,proxy,main,node,express,flask," +
	"fastapi,django,hot,linux,dedicated"

// task tells that an argument gives something something to do.
func task(arg string) bool {
	return strings.ContainsAny(arg, " \n") || slices.ContainsFunc(nameWords(arg), func(w string) bool { return doing.has(w) })
}
